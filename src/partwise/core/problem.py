"""The one objective that every solver lowers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partwise.losses import FROBENIUS, KL, Loss
from partwise.matrix import InMemory, Matrix
from partwise.priors import NO_PRIOR, Pairing, Prior, Terms


@dataclass(frozen=True)
class Problem:
    """Σ_i r_i [ Σ_j ω_ij d(x_ij | (W H)_ij + δ) + prior_W(w_i) ] + prior_H(H) + couplings.

    The row weights r multiply a row's loss *and* its prior: a row of weight 2 is a row that occurs twice.
    So they cancel from the row's own update, and act on H alone. Couplings, which tie rows together, have none.

    Parameters
    ----------
    X : Matrix
        Data x, entry weights ω and row weights r.
    loss : Loss
        d.
    prior_W, prior_H : Prior
        What is believed of each factor, and within which bounds; `prior_H` speaks of the rows of Hᵀ.
    free_W, free_H : array of int, optional
        Components of a factor that are learned; the others are held. All by default.
    update_H : bool
        Whether H is learned at all.
    shift : float
        δ, zero or tiny against the data; see `Loss.shift`.
    pairings : tuple of Pairing
        What is believed of both factors together.
    """

    X: Matrix
    loss: Loss = FROBENIUS
    prior_W: Prior = NO_PRIOR
    prior_H: Prior = NO_PRIOR
    free_W: np.ndarray | None = None
    free_H: np.ndarray | None = None
    update_H: bool = True
    shift: float = 0.0
    pairings: tuple[Pairing, ...] = ()

    def __post_init__(self) -> None:
        for prior, n_rows in ((self.prior_W, self.X.shape[0]), (self.prior_H, self.X.shape[1])):
            for coupling in prior.couplings():
                coupling.check(n_rows)
        for pairing in self.pairings:
            pairing.check(*self.X.shape)

    # -------------------------------------------------------------- the objective

    def data_loss(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """The divergence alone, row weights included.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        float
            Σ_i r_i Σ_j ω_ij d(x_ij | (W H)_ij + δ).
        """
        X = self.X
        if isinstance(X, InMemory) and X.inner_weight is not None:
            # The weights belong to the other side: sum there.
            X, W, Ht = X.T, Ht, W
        rows = X.row_divergence(W, Ht, self.loss, self.shift)
        return float(rows.sum() if X.row_weight is None else rows @ X.row_weight)

    def prior_value(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """What the priors add to the objective.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        float
            The priors of W and, where H is learned, of H; and the pairings.
        """
        value = self.prior_W.value(W, self.X.row_weight) + sum(one.value(W, Ht) for one in self.pairings)
        return value + (self.prior_H.value(Ht, self._inner_weight) if self.update_H else 0.0)

    def objective(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """Loss plus priors.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        float
            `data_loss` plus `prior_value`.
        """
        return self.data_loss(W, Ht) + self.prior_value(W, Ht)

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the objective by W and by Hᵀ.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        by_W : array of shape (n_samples, n_components)
            Derivatives by the entries of W.
        by_H : array of shape (n_features, n_components)
            Derivatives by the entries of Hᵀ.
        """

        def task(rows: slice, block: InMemory, A: np.ndarray) -> Any:
            num, den = block.ratio_sums(A, Ht, self.loss, self.shift)
            other_num, other_den = block.T.ratio_sums(Ht, A, self.loss, self.shift)
            return (den - num,), (other_den - other_num,)

        (by_W,), (by_H,) = self.X.map_reduce(task, W)
        by_W = by_W + self.terms_W.gradient(W)
        if self.X.row_weight is not None:
            by_W = by_W * self.X.row_weight[:, None]
        by_W = by_W + sum(one.gradient(W) for one in self.prior_W.couplings())
        by_H = by_H + self.prior_H.gradient(Ht)
        for pairing in self.pairings:
            by_W, by_H = (total + part for total, part in zip((by_W, by_H), pairing.gradient(W, Ht)))
        return np.asarray(by_W), np.asarray(by_H)

    @property
    def _inner_weight(self) -> np.ndarray | None:
        return self.X.inner_weight if isinstance(self.X, InMemory) else None

    # -------------------------------------------------------------- other views

    @property
    def T(self) -> Problem:
        """The same problem for Xᵀ ≈ Hᵀ Wᵀ: a W-step there is an H-step here. For data in memory."""
        if not isinstance(self.X, InMemory):
            raise ValueError(
                "X can be read by rows only, so the problem cannot be transposed; load X into memory."
            )
        return replace(
            self,
            X=self.X.T,
            prior_W=self.prior_H,
            prior_H=self.prior_W,
            free_W=self.free_H,
            free_H=self.free_W,
            pairings=tuple(one.T for one in self.pairings),
        )

    def rows(self, index: Any) -> Problem:
        """The problem of some of the rows, for minibatches.

        Parameters
        ----------
        index : slice or array of int
            The rows.

        Returns
        -------
        Problem
            The same objective summed over these rows only.
        """
        if self.pairings:
            raise ValueError(
                "What ties W and H together speaks of all rows; there is no problem of some of them."
            )
        return replace(self, X=self.X.rows(index), prior_W=self.prior_W.rows(index))

    # -------------------------------------------------------------- for half-steps

    @property
    def terms_W(self) -> Terms:
        """What the prior says of each entry of W."""
        return self._once("_terms_W", self.prior_W.terms)

    @property
    def terms_H(self) -> Terms:
        """What the prior says of each entry of Hᵀ."""
        return self._once("_terms_H", self.prior_H.terms)

    def terms_at_W(self, W: np.ndarray, Ht: np.ndarray) -> Terms:
        """The terms of a half-step of W: those of its entries, couplings and pairings majorised where it begins.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The factor at the beginning of the half-step.
        Ht : array of shape (n_features, n_components)
            The factor that is held.

        Returns
        -------
        Terms
            What the half-step adds to the loss.
        """
        ties = [one.majorise(W) for one in self.prior_W.couplings()]
        ties += [one.majorise(W, Ht) for one in self.pairings]
        return _with_ties(self.terms_W, ties, self.X.row_weight)

    def terms_at_H(self, Ht: np.ndarray, W: np.ndarray) -> Terms:
        """The terms of a half-step of Hᵀ; see `terms_at_W`.

        Parameters
        ----------
        Ht : array of shape (n_features, n_components)
            The factor at the beginning of the half-step.
        W : array of shape (n_samples, n_components)
            The factor that is held.

        Returns
        -------
        Terms
            What the half-step adds to the loss.
        """
        ties = [one.majorise(Ht) for one in self.prior_H.couplings()]
        ties += [one.T.majorise(Ht, W) for one in self.pairings]
        return _with_ties(self.terms_H, ties, self._inner_weight)

    def order_W(self, n_components: int) -> np.ndarray:
        """The components of W that may change, in their order.

        Parameters
        ----------
        n_components : int
            Number of all components.

        Returns
        -------
        array of int
            Their numbers.
        """
        return np.arange(n_components) if self.free_W is None else np.asarray(self.free_W)

    def order_H(self, n_components: int) -> np.ndarray:
        """The components of H that may change, in their order.

        Parameters
        ----------
        n_components : int
            Number of all components.

        Returns
        -------
        array of int
            Their numbers.
        """
        return np.arange(n_components) if self.free_H is None else np.asarray(self.free_H)

    # -------------------------------------------------------------- constants of the data

    def squared_norm(self) -> float:
        """Squared norm of the data, which a Frobenius solver needs once.

        Returns
        -------
        float
            Σ r ω x², computed at the first call.
        """
        return float(self._once("_squared_norm", self.X.squared_norm))

    def n_observed(self) -> float:
        """How many entries were observed, which a likelihood needs.

        Returns
        -------
        float
            Σ r ω, computed at the first call.
        """
        return float(self._once("_n_observed", lambda: self.X.column_observed().sum()))

    def entropy_terms(self) -> float:
        """The part of the Kullback-Leibler loss that does not depend on the factors.

        Returns
        -------
        float
            Σ r ω (x log x − x + δ), computed at the first call.
        """
        return float(self._once("_entropy_terms", self._entropy_terms))

    def _entropy_terms(self) -> float:
        X = self.X
        zero = np.zeros((X.shape[0], 1), X.dtype), np.zeros((X.shape[1], 1), X.dtype)
        r = np.ones(X.shape[0]) if X.row_weight is None else X.row_weight
        # d(x | 1) = x log x − x + 1.
        return float(r @ (X.row_divergence(*zero, KL, 1.0) + (self.shift - 1.0) * X.row_observed()))

    def constant(self) -> float:
        """The part of a quadratic or Poisson loss that does not depend on the factors.

        Returns
        -------
        float
            ½ `squared_norm` for the quadratic loss, else `entropy_terms`.
        """
        return 0.5 * self.squared_norm() if self.loss.newton == "quadratic" else self.entropy_terms()

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Something that depends on the problem alone, found when first asked for."""
        if name not in self.__dict__:
            object.__setattr__(self, name, compute())
        return self.__dict__[name]


def _with_ties(terms: Terms, ties: list[Terms], row_weight: np.ndarray | None) -> Terms:
    for more in ties:
        # A row's weight cancels from its own loss and prior; what ties rows has none, so it is divided by it instead.
        terms = terms + (more if row_weight is None else more.divided_by(row_weight))
    return terms
