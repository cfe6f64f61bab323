"""The one objective that every solver lowers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from partwise.losses import BetaDivergence
from partwise.matrix import Matrix
from partwise.priors import NO_TERMS, Terms


@dataclass(frozen=True)
class Problem:
    """Σ_i r_i [ Σ_j ω_ij d_β(x_ij | (W H)_ij + δ) + prior_W(w_i) ] + prior_H(H),  W ≥ 0, H ≥ 0.

    The row weights r multiply a row's loss *and* its prior: a row of weight 2 is a row that occurs twice.
    So they cancel from the row's own update, and act on H alone.

    Parameters
    ----------
    X : Matrix
        Data x, entry weights ω and row weights r.
    loss : BetaDivergence
        d_β.
    prior_W, prior_H : Terms
        What is believed of each factor; `prior_H` speaks of the rows of Hᵀ.
    free_H : array of int, optional
        Components of H that are learned; the others are held. All by default.
    update_H : bool
        Whether H is learned at all.
    shift : float
        δ, zero or tiny against the data; see `BetaDivergence.shift`.
    """

    X: Matrix
    loss: BetaDivergence = field(default_factory=BetaDivergence)
    prior_W: Terms = NO_TERMS
    prior_H: Terms = NO_TERMS
    free_H: np.ndarray | None = None
    update_H: bool = True
    shift: float = 0.0

    def data_loss(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """The divergence alone, row weights included."""
        rows = self.X.row_divergence(W, Ht, self.loss.beta, self.shift)
        r = self.X.row_weight
        return float(rows.sum() if r is None else rows @ r)

    def prior_value(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """What the priors add."""
        value = self.prior_W.value(W, self.X.row_weight)
        return value + (self.prior_H.value(Ht) if self.update_H else 0.0)

    def objective(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """Loss plus priors."""
        return self.data_loss(W, Ht) + self.prior_value(W, Ht)

    def order_H(self, n_components: int) -> np.ndarray:
        """The components of H that may change, in their order."""
        return np.arange(n_components) if self.free_H is None else np.asarray(self.free_H)

    def squared_norm(self) -> float:
        """Σ r ω x², which a Frobenius solver needs once."""
        return self._once("_squared_norm", self.X.squared_norm)

    def entropy_terms(self) -> float:
        """Σ r ω (x log x − x + δ): what of the Kullback-Leibler loss does not depend on the factors."""
        return self._once("_entropy_terms", self._entropy_terms)

    def _entropy_terms(self) -> float:
        X = self.X
        zero = np.zeros((X.shape[0], 1), X.dtype), np.zeros((X.shape[1], 1), X.dtype)
        r = np.ones(X.shape[0]) if X.row_weight is None else X.row_weight
        # d(x | 1) = x log x − x + 1.
        return float(r @ (X.row_divergence(*zero, 1.0, 1.0) + (self.shift - 1.0) * X.row_observed()))

    def constant(self) -> float:
        """What of a Frobenius or Kullback-Leibler loss does not depend on the factors."""
        return 0.5 * self.squared_norm() if self.loss.beta == 2.0 else self.entropy_terms()

    def _once(self, name: str, compute: Callable[[], float]) -> float:
        """A number that depends on the data alone, found when first asked for."""
        if name not in self.__dict__:
            object.__setattr__(self, name, compute())
        return float(self.__dict__[name])
