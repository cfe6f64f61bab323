"""The contract of a prior: separable, and made of four terms that every solver knows how to minimise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Terms:
    """Negative log-density of an entry a ≥ 0, up to a constant.

        linear · a  +  ½ quadratic · a²  −  log · log a  +  concave · log(a + shift)

    `linear` and `quadratic` are numbers, or arrays with one number for each row of the factor.
    `log` and `concave` are never both positive.
    """

    linear: float | np.ndarray = 0.0
    quadratic: float | np.ndarray = 0.0
    log: float = 0.0
    concave: float = 0.0
    shift: float = 0.0

    def __add__(self, other: Terms) -> Terms:
        log, concave = self.log + other.log, self.concave + other.concave
        if (log > 0 and concave > 0) or (self.concave > 0 and other.concave > 0):
            raise ValueError("Two Gamma priors on one factor combine only when both shapes are at least 1.")
        return Terms(
            self.linear + other.linear,
            self.quadratic + other.quadratic,
            log,
            concave,
            max(self.shift, other.shift),
        )

    @property
    def empty(self) -> bool:
        """Whether there is nothing to add to the loss."""
        return not (np.any(self.linear) or np.any(self.quadratic) or self.log or self.concave)

    def rows(self, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `quadratic` with one number for each row, as the kernels read them."""
        return (
            np.ascontiguousarray(np.broadcast_to(np.asarray(self.linear, float), n_rows)),
            np.ascontiguousarray(np.broadcast_to(np.asarray(self.quadratic, float), n_rows)),
        )

    def slice(self, part: slice) -> Terms:
        """The terms of some of the rows."""
        linear, quadratic = (
            a if np.ndim(a) == 0 else np.asarray(a)[part] for a in (self.linear, self.quadratic)
        )
        return Terms(linear, quadratic, self.log, self.concave, self.shift)

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """The sum of the four terms over a factor's entries, rows weighted by `row_weight`."""
        if self.empty:
            return 0.0
        A = np.asarray(A, dtype=float)
        linear, quadratic = self.rows(len(A))
        rows = linear * A.sum(axis=1) + 0.5 * quadratic * np.einsum("ij,ij->i", A, A)
        if self.log:
            with np.errstate(divide="ignore"):
                rows -= self.log * np.log(A).sum(axis=1)
        if self.concave:
            rows += self.concave * np.log(A + self.shift).sum(axis=1)
        if row_weight is not None:
            # A row of weight 0 counts for nothing, even where its density is 0.
            return float(rows[row_weight > 0] @ row_weight[row_weight > 0])
        return float(rows.sum())

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Derivative of the four terms at each entry."""
        A = np.asarray(A, dtype=float)
        linear, quadratic = self.rows(len(A))
        out = linear[:, None] + quadratic[:, None] * A
        with np.errstate(divide="ignore"):
            if self.log:
                out = out - self.log / A
            if self.concave:
                out = out + self.concave / (A + self.shift)
        return out


NO_TERMS = Terms()


class Prior(ABC):
    """What we believe of a factor, entry by entry."""

    @abstractmethod
    def terms(self) -> Terms:
        """The prior's four terms; all that a solver asks of it."""

    def normaliser(self) -> float:
        """Log of the density's normalising constant for one entry; 0 where it cannot be normalised."""
        return 0.0

    def value(self, A: np.ndarray) -> float:
        """Negative log-density of a factor, up to a constant."""
        return self.terms().value(A)

    def log_density(self, A: np.ndarray) -> float:
        """Log-density of a factor, normalised wherever the prior has a normalising constant."""
        return np.size(A) * self.normaliser() - self.value(A)

    def prox(self, A: np.ndarray, step: float) -> np.ndarray:
        """Argmin over Z ≥ 0 of ‖Z − A‖² / (2 step) + value(Z), entry by entry."""
        t = self.terms()
        A = np.asarray(A, dtype=float)
        linear, quadratic = t.rows(len(A))
        p = 1.0 / step + quadratic[:, None]
        b = A / step - linear[:, None]
        if t.concave:
            # (p z − b)(z + ε) + c = 0 has the inner minimum as its larger root; 0 is the other candidate.
            s = b - p * t.shift
            disc = np.maximum(s * s + 4.0 * p * (b * t.shift - t.concave), 0.0)
            inner = np.maximum((s + np.sqrt(disc)) / (2.0 * p), 0.0)

            def cost(Z: np.ndarray) -> np.ndarray:
                return 0.5 * p * Z * Z - b * Z + t.concave * np.log(Z + t.shift)

            return np.where(cost(inner) < cost(np.zeros_like(inner)), inner, 0.0)
        root = np.sqrt(b * b + 4.0 * p * t.log)
        # For b < 0 the textbook root cancels; its conjugate does not.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(b >= 0, (b + root) / (2.0 * p), np.where(root > b, 2.0 * t.log / (root - b), 0.0))

    def __add__(self, other: Prior) -> SumPrior:
        return SumPrior((self, other))


@dataclass(frozen=True)
class SumPrior(Prior):
    """Several beliefs at once: their negative log-densities add."""

    parts: tuple[Prior, ...] = ()

    def terms(self) -> Terms:
        """The sum of the parts' terms."""
        return sum((part.terms() for part in self.parts), NO_TERMS)
