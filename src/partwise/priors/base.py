"""The contract of a prior: what is believed of a factor before seeing data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.priors.terms import NO_TERMS, Terms


class Prior(ABC):
    """A belief about each entry of a factor on its own, made of the terms that solvers know."""

    @abstractmethod
    def terms(self) -> Terms:
        """The prior's terms; all that a solver asks of it.

        Returns
        -------
        Terms
            Terms whose sum over the entries is the negative log-density, up to a constant.
        """

    def couplings(self) -> tuple[Coupling, ...]:
        """The parts of this prior that tie rows of the factor together.

        Returns
        -------
        tuple of Coupling
            Empty for a prior on single entries.
        """
        return ()

    def rows(self, index: Any) -> Prior:
        """The prior of some of the rows.

        Parameters
        ----------
        index : slice or array of int
            The rows.

        Returns
        -------
        Prior
            The same prior with only these rows' terms.
        """
        return self

    def normaliser(self) -> Any:
        """Log of the density's normalising constant for one entry (or for each component).

        Returns
        -------
        float or array of shape (n_components,)
            The logarithm, which is 0 where the prior has no normalising constant.
        """
        return 0.0

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """Negative log-density of a factor, up to a constant, rows weighted by `row_weight`.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor: W, or the transpose of H.
        row_weight : array of shape (n_rows,), optional
            How much each row counts; all count once by default.

        Returns
        -------
        float
            What the prior adds to the objective.
        """
        return self.terms().value(A, row_weight)

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Derivative of `value` at each entry.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor.

        Returns
        -------
        array of shape (n_rows, n_components)
            The derivatives, without row weights.
        """
        return self.terms().gradient(A)

    def log_density(self, A: np.ndarray) -> float:
        """Log-density of a factor, normalised wherever the prior has a normalising constant.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor.

        Returns
        -------
        float
            The logarithm of the density at A.
        """
        return float(np.broadcast_to(self.normaliser(), np.shape(A)).sum()) - self.value(A)

    def prox(self, A: np.ndarray, step: float) -> np.ndarray:
        """Argmin over Z within the bounds of ‖Z − A‖² / (2 step) + value(Z), entry by entry.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The point to stay near.
        step : float
            Step size; the larger, the more the prior counts.

        Returns
        -------
        array of shape (n_rows, n_components)
            The minimiser Z.
        """
        return prox(self.terms(), A, step)

    def __add__(self, other: Prior) -> SumPrior:
        return SumPrior((self, other))


class Coupling(Prior):
    """A belief that ties the rows of a factor together: a graph, labels, the other factor.

    At the beginning of every half-step, `majorise` replaces it by terms that touch it where the factor stands and lie
    above it everywhere else. Rows are then independent inside the half-step, and the objective never rises.
    """

    def terms(self) -> Terms:
        """Nothing that could be said without knowing the factor."""
        return NO_TERMS

    def couplings(self) -> tuple[Coupling, ...]:
        """Itself."""
        return (self,)

    @abstractmethod
    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """What the coupling adds to the objective at A; row weights do not change it."""

    @abstractmethod
    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Its derivative at each entry."""

    @abstractmethod
    def majorise(self, A: np.ndarray) -> Terms:
        """Terms t with t(Z) − t(A) ≥ value(Z) − value(A) for every Z within the bounds.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor at the beginning of a half-step.

        Returns
        -------
        Terms
            Terms of single entries that touch the coupling at A and lie above it elsewhere.
        """

    @abstractmethod
    def check(self, n_rows: int) -> None:
        """Raise ValueError, with both sizes, if the coupling does not fit a factor of `n_rows` rows.

        Parameters
        ----------
        n_rows : int
            Number of rows of the factor.
        """

    def rows(self, index: Any) -> Prior:
        """A coupling has no meaning for a part of its rows."""
        raise ValueError(
            f"{type(self).__name__} ties all rows together; it cannot be used with minibatches of rows."
        )


@dataclass(frozen=True)
class SumPrior(Prior):
    """Several beliefs at once: their negative log-densities add.

    Parameters
    ----------
    parts : tuple of Prior
        The priors that are added.
    """

    parts: tuple[Prior, ...] = ()

    def terms(self) -> Terms:
        """The sum of the parts' terms."""
        return sum((part.terms() for part in self.parts), NO_TERMS)

    def couplings(self) -> tuple[Coupling, ...]:
        """Those of the parts."""
        return tuple(one for part in self.parts for one in part.couplings())

    def rows(self, index: Any) -> Prior:
        """Some of the rows of every part."""
        return SumPrior(tuple(part.rows(index) for part in self.parts))

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """The sum of the parts' values."""
        return self.terms().value(A, row_weight) + sum(one.value(A) for one in self.couplings())

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """The sum of the parts' gradients."""
        return np.asarray(self.terms().gradient(A) + sum(one.gradient(A) for one in self.couplings()))


class Pairing(ABC):
    """A belief about both factors together, such as a penalty that does not depend on how they share their scale.

    Like a `Coupling` it is replaced, at the beginning of every half-step, by terms of the factor that moves. These
    touch it there, and lie above it everywhere else while the other factor is held.

    Attributes
    ----------
    scale_free : bool
        Whether columns of W may be multiplied by a number and those of Hᵀ divided by it at no cost.
    """

    scale_free: ClassVar[bool] = True

    @property
    def tells_columns(self) -> bool:
        """Whether it says something of single columns of the data, so that they can be learned without an entry."""
        return False

    @abstractmethod
    def value(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """What is added to the objective.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        float
            The penalty.
        """

    @abstractmethod
    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `value` by W and by Hᵀ.

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

    @abstractmethod
    def majorise(self, W: np.ndarray, Ht: np.ndarray) -> Terms:
        """Terms of W, for a half-step of W that begins here.

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The factor that moves.
        Ht : array of shape (n_features, n_components)
            The factor that is held.

        Returns
        -------
        Terms
            Linear and quadratic terms.
        """

    @property
    @abstractmethod
    def T(self) -> Pairing:
        """The same with the factors in each other's place."""

    @abstractmethod
    def check(self, n_samples: int, n_features: int) -> None:
        """Raise ValueError unless this fits factors with so many rows.

        Parameters
        ----------
        n_samples, n_features : int
            Rows of W and of Hᵀ.
        """


def entrywise(prior: Prior | None) -> Prior:
    """The prior without its couplings.

    Parameters
    ----------
    prior : Prior or None
        Any prior; None is no prior.

    Returns
    -------
    Prior
        Its parts that concern single entries.
    """
    if prior is None or isinstance(prior, Coupling):
        return NO_PRIOR
    return SumPrior(tuple(entrywise(part) for part in prior.parts)) if isinstance(prior, SumPrior) else prior


#: Believes nothing.
NO_PRIOR = SumPrior()


def prox(terms: Terms, A: np.ndarray, step: float) -> np.ndarray:
    """Argmin over Z within the bounds of ‖Z − A‖² / (2 step) + terms(Z), entry by entry.

    Parameters
    ----------
    terms : Terms
        What is minimised beside the distance.
    A : array of shape (n, k)
        The point to stay near.
    step : float
        Step size.

    Returns
    -------
    array of shape (n, k)
        The minimiser Z.
    """
    A = np.asarray(A, dtype=float)
    p = 1.0 / step + terms.quadratic
    b = A / step - terms.linear
    log, concave, shift = (np.asarray(part) for part in (terms.log, terms.concave, terms.shift))
    if not (log.any() or concave.any()):
        return np.clip(b / p, terms.lower, terms.upper)
    root = np.sqrt(b * b + 4.0 * p * log)
    # For b < 0 the textbook root cancels; its conjugate does not.
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(b >= 0, (b + root) / (2.0 * p), np.where(root > b, 2.0 * log / (root - b), 0.0))
    if not concave.any():
        return np.clip(plain, terms.lower, terms.upper)
    # (p z − b)(z + ε) + c = 0 has the inner minimum as its larger root; the lower bound is the other candidate.
    s = b - p * shift
    inner = (s + np.sqrt(np.maximum(s * s + 4.0 * p * (b * shift - concave), 0.0))) / (2.0 * p)
    inner = np.clip(inner, terms.lower, terms.upper)

    def cost(Z: np.ndarray) -> np.ndarray:
        return 0.5 * p * Z * Z - b * Z + concave * np.log(Z + np.where(concave > 0, shift, 1.0))

    least = np.full_like(inner, terms.lower)
    return np.where(
        concave > 0,
        np.where(cost(inner) < cost(least), inner, least),
        np.clip(plain, terms.lower, terms.upper),
    )
