"""Automatic relevance determination: components that the data do not need shrink away (Tan & Févotte 2013).

Column k of W and row k of H share a scale λ_k, the component's relevance, with an inverse-Gamma density of its own:

    l1:  p(a | λ_k) = exp(−a / λ_k) / λ_k                     l2:  p(a | λ_k) ∝ λ_k^(−½) exp(−a² / (2 λ_k))
    p(λ_k) ∝ λ_k^(−a−1) exp(−b / λ_k)

With f(a) = |a| (l1) or ½ a² (l2), and c = n + m + a + 1 (l1) or (n + m) / 2 + a + 1 (l2), the best relevance for
given factors is λ_k = (f(w_k) + f(h_k) + b) / c, and what remains of the negative log-density is

    c Σ_k log[ (f(w_k) + f(h_k) + b) / b ],

up to a constant chosen so that a component of zeros costs nothing. `ARD` is what a user asks for, `Relevance` that
sum.

A scale shared by both factors also settles how they share their size. With rates of their own, learned without
hyperprior, n log λ_W + m log λ_H falls without bound when W is divided by a number and H multiplied by it (n > m);
f(c w) + f(h / c) has one minimum, where f(w_k) = f(h_k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from partwise.priors.base import Pairing, Prior
from partwise.priors.elastic_net import ElasticNet
from partwise.priors.terms import NO_TERMS, Terms


@dataclass(frozen=True)
class ARD(Prior):
    """Relevance of each component, learned: give the same `ARD` as `prior_W` and `prior_H` of `NMF`.

    `n_components` is then the largest number of components; those that the data do not need are removed.

    Parameters
    ----------
    norm : {"l2", "l1"}
        Half-normal ("l2") or exponential ("l1") entries. "l1" has sparser parts and removes more of them.
    shape : float, optional
        Shape a of the inverse-Gamma density of the relevances. By default 2 ("l2") or 3 ("l1"), the least whole
        number for which the default `scale` exists: the larger, the more components stay.
    scale : float, optional
        Scale b of that density. By default the one for which W H has the mean of the data (the method of
        moments of Tan & Févotte 2013), which needs a shape above 1 ("l2") or 2 ("l1").
    dispersion : float, optional
        φ by which the loss is divided to be a negative log-likelihood: the noise variance for the Frobenius loss. By
        default 1 for the losses that are likelihoods of counts or of yes and no, else estimated from a fit with all
        components; "auto" estimates it for these too, which suits data that are not counts.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF
    >>> from partwise.priors import ARD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(rng.exponential(2.0, (60, 3)) @ rng.exponential(2.0, (3, 40)))
    >>> model = NMF(10, beta_loss="kl", prior_W=ARD(), prior_H=ARD()).fit(X)
    >>> model.n_components_
    3
    """

    norm: str = "l2"
    shape: float | None = None
    scale: float | None = None
    dispersion: float | str | None = None

    def __post_init__(self) -> None:
        if self.norm not in ("l1", "l2"):
            raise ValueError(f"ARD's norm must be 'l1' or 'l2'; got {self.norm!r}.")
        least = {"l1": 2.0, "l2": 1.0}[self.norm] if self.scale is None else 0.0
        if self.shape is not None and (
            not isinstance(self.shape, int | float | np.number) or not least < self.shape < float("inf")
        ):
            more = ", unless scale is given" if self.scale is None else ""
            raise ValueError(
                f"ARD(norm={self.norm!r}) needs one shape above {least:g} for all components{more}; got "
                f"{self.shape!r}."
            )
        for name in ("scale", "dispersion"):
            value = getattr(self, name)
            if value is None or (name == "dispersion" and value == "auto"):
                continue
            if not isinstance(value, int | float | np.number) or not 0 < value < float("inf"):
                raise ValueError(f"ARD's {name} must be one number above 0; got {value!r}.")

    @property
    def a(self) -> float:
        """The shape in use."""
        return {"l1": 3.0, "l2": 2.0}[self.norm] if self.shape is None else float(self.shape)

    def terms(self) -> Terms:
        """None: what is said of W depends on H."""
        return NO_TERMS

    def moment_scale(self, mean: float, n_components: int) -> float:
        """The b for which W H has this mean, E[v] = K E[w h].

        Parameters
        ----------
        mean : float
            Mean of the observed data.
        n_components : int
            Number of components K.

        Returns
        -------
        float
            `scale` where it was given.
        """
        if self.scale is not None:
            return float(self.scale)
        a = self.a
        if self.norm == "l1":
            return float(np.sqrt((a - 1.0) * (a - 2.0) * mean / n_components))
        return float(np.pi * (a - 1.0) * mean / (2.0 * n_components))

    def pairing(
        self,
        mean: float,
        n_components: int,
        n_rows: float,
        n_columns: int,
        dispersion: float,
    ) -> Relevance:
        """The penalty on both factors.

        Parameters
        ----------
        mean : float
            Mean of the observed data.
        n_components : int
            Number of components to begin with.
        n_rows : float
            Rows of W, or the sum of their weights.
        n_columns : int
            Columns of H.
        dispersion : float
            φ.

        Returns
        -------
        Relevance
            For unweighted rows.
        """
        sides = n_rows + n_columns
        count = (sides if self.norm == "l1" else sides / 2.0) + self.a + 1.0
        return Relevance(self.norm, float(dispersion), count, self.moment_scale(mean, n_components))


@dataclass(frozen=True, eq=False)
class Relevance(Pairing):
    """Penalty weight · count · Σ_k log(1 + [f(w_k) + f(h_k)] / floor), f the sum of entries or half that of squares.

    The logarithm is concave: at fixed relevances it lies below terms weight / λ_k, linear (l1) or quadratic (l2).

    Parameters
    ----------
    norm : {"l1", "l2"}
        Which f.
    weight, count, floor : float
        φ, c and b of Tan & Févotte (2013).
    row_weight : array of shape (n_samples,), optional
        How much each row of W counts.
    size_W, size_H : float
        What f of each factor is multiplied by, where they are in other units.
    transposed : bool
        Whether the rows that have weights are those of Hᵀ.
    """

    scale_free: ClassVar[bool] = False
    norm: str
    weight: float
    count: float
    floor: float
    row_weight: np.ndarray | None = None
    size_W: float = 1.0
    size_H: float = 1.0
    transposed: bool = False

    def sizes(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """``f(w_k) + f(h_k)`` of each component.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        array of shape (n_components,)
            Zero for components that are not used.
        """
        (W, r), (Ht, s) = self._weighted(W, Ht)
        return self.size_W * self._sums(W, r) + self.size_H * self._sums(Ht, s)

    def relevance(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """``λ_k = (f(w_k) + f(h_k) + b) / c``, the best for these factors.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        array of shape (n_components,)
            At least b / c.
        """
        return (self.sizes(W, Ht) + self.floor) / self.count

    def relevant(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """The components that are used.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        array of int
            Those of whose relevance the factors say more than the hyperprior: f(w_k) + f(h_k) > b, that is,
            λ_k above twice its least value b / c. Smaller ones fit single entries.
        """
        used = W.any(axis=0) & Ht.any(axis=0)
        return np.flatnonzero(used & (self.sizes(W, Ht) > self.floor))

    def prior_at(self, relevance: np.ndarray) -> Prior:
        """What these relevances say of the entries of W: the prior of new rows.

        Parameters
        ----------
        relevance : array of shape (n_components,)
            λ.

        Returns
        -------
        Prior
            Linear or quadratic with strength φ / λ_k.
        """
        strength = self.weight * self.size_W / relevance
        return ElasticNet(l1=strength) if self.norm == "l1" else ElasticNet(l2=strength)

    def balanced(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factors at the scale where f(w_k) = f(h_k), which costs least.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        W : array of shape (n_samples, n_components)
            Columns multiplied by a number.
        Ht : array of shape (n_features, n_components)
            Columns divided by it.
        """
        (_, r), (_, s) = self._weighted(W, Ht)
        of_W, of_H = self.size_W * self._sums(W, r), self.size_H * self._sums(Ht, s)
        used = (of_W > 0) & (of_H > 0)
        ratio = np.where(used, of_H / np.where(used, of_W, 1.0), 1.0) ** (0.5 if self.norm == "l1" else 0.25)
        return (W * ratio).astype(W.dtype), (Ht / ratio).astype(Ht.dtype)

    def value(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """``φ c Σ_k log(1 + (f(w_k) + f(h_k)) / b)``."""
        return self.weight * self.count * float(np.log1p(self.sizes(W, Ht) / self.floor).sum())

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``φ / λ_k`` (l1), or that times the entry (l2); times the weight of the row."""
        out = []
        for (A, weights), size in zip(self._weighted(W, Ht), (self.size_W, self.size_H)):
            slope = np.broadcast_to(self.weight * size / self.relevance(W, Ht), A.shape)
            slope = slope if weights is None else slope * weights[:, None]
            out.append(np.array(slope) if self.norm == "l1" else slope * A)
        return out[0], out[1]

    def majorise(self, W: np.ndarray, Ht: np.ndarray) -> Terms:
        """Linear (l1) or quadratic (l2) terms at the relevances that are best here."""
        strength = (self.weight * self.size_W / self.relevance(W, Ht))[None]
        weights = self._weighted(W, Ht)[0][1]
        if weights is not None:
            strength = strength * weights[:, None]
        return Terms(linear=strength) if self.norm == "l1" else Terms(quadratic=strength)

    @property
    def T(self) -> Relevance:
        """The same with the factors in each other's place."""
        return replace(self, transposed=not self.transposed, size_W=self.size_H, size_H=self.size_W)

    def check(self, n_samples: int, n_features: int) -> None:
        """Raise ValueError unless there is a weight for each row."""
        n = n_features if self.transposed else n_samples
        if self.row_weight is not None and len(self.row_weight) != n:
            raise ValueError(f"{len(self.row_weight)} weights of rows were given for {n} rows.")

    def _weighted(
        self, W: np.ndarray, Ht: np.ndarray
    ) -> tuple[tuple[np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray | None]]:
        """Each factor with the weights of its rows."""
        if self.transposed:
            return (W, None), (Ht, self.row_weight)
        return (W, self.row_weight), (Ht, None)

    def _sums(self, A: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """F of each column, in double precision."""
        part = A.astype(float)
        part = part if self.norm == "l1" else 0.5 * part * part
        # Sums of NumPy rather than products of BLAS, whose last bits depend on the number of threads.
        return np.asarray((part if weights is None else part * weights[:, None]).sum(axis=0))
