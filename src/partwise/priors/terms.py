"""Terms: what a prior adds to the loss, in the form that every solver knows how to minimise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

#: A number; one for each row (n,) or (n, 1); one for each component (1, k); or one for each entry (n, k).
Entrywise = float | np.ndarray
#: A number, or one for each component (k,).
Columnwise = float | np.ndarray


class KernelTerms(NamedTuple):
    """Terms as compiled kernels read them: `linear` and `quadratic` have 1 or all rows, and 1 or all columns.

    Parameters
    ----------
    linear, quadratic : array of shape (1 or n_rows, 1 or n_components)
        Coefficients of a and of ½ a².
    log, concave, shift : array of shape (n_components,)
        Coefficients of −log a and of log(a + shift), and that shift.
    lower, upper : float
        The interval that entries lie in.
    """

    linear: np.ndarray
    quadratic: np.ndarray
    log: np.ndarray
    concave: np.ndarray
    shift: np.ndarray
    lower: float
    upper: float

    @property
    def bent(self) -> bool:
        """Whether a logarithm adds to the loss, so that it is not quadratic in an entry."""
        return bool(self.log.any() or self.concave.any())

    def rows(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `quadratic` of a range of rows.

        Parameters
        ----------
        start, stop : int
            The range.

        Returns
        -------
        linear : array
            Coefficients of these rows, or those that hold for all rows.
        quadratic : array
            The same for the quadratic term.
        """
        return _some_rows(self.linear, slice(start, stop)), _some_rows(self.quadratic, slice(start, stop))


@dataclass(frozen=True)
class Terms:
    """Negative log-density of an entry a, up to a constant, and the interval that it lies in.

        linear · a  +  ½ quadratic · a²  −  log · log a  +  concave · log(a + shift),      lower ≤ a ≤ upper

    Parameters
    ----------
    linear, quadratic : float or array
        One number, or one for each row (n,), component (1, k) or entry (n, k) of the factor.
    log, concave : float or array of shape (k,)
        One number, or one for each component. Never both positive.
    shift : float or array of shape (k,)
        Shift inside the concave logarithm.
    bounds : tuple of float, optional
        (lower, upper); (0, ∞) by default.
    """

    linear: Entrywise = 0.0
    quadratic: Entrywise = 0.0
    log: Columnwise = 0.0
    concave: Columnwise = 0.0
    shift: Columnwise = 0.0
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("linear", "quadratic"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.ndim > 2:
                raise ValueError(f"Terms.{name} must have at most two dimensions; got shape {value.shape}.")
            # A row of numbers is a number for each row: (n,) stands for (n, 1), so that sums broadcast rightly.
            kept = float(value) if value.ndim == 0 else value[:, None] if value.ndim == 1 else value
            object.__setattr__(self, name, kept)
        for name in ("log", "concave", "shift"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.ndim > 1:
                raise ValueError(
                    f"Terms.{name} must be a number or have one for each component; got shape {value.shape}."
                )
            object.__setattr__(self, name, float(value) if value.ndim == 0 else value)
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError(f"Bounds must be (lower, upper) with lower < upper; got {self.bounds}.")
        if self.signed and (np.any(self.log) or np.any(self.concave)):
            raise ValueError(
                "A Gamma prior is a density of nonnegative numbers; it cannot go with signed bounds."
            )

    @property
    def lower(self) -> float:
        """The least value an entry may take."""
        return 0.0 if self.bounds is None else float(self.bounds[0])

    @property
    def upper(self) -> float:
        """The largest value an entry may take."""
        return float("inf") if self.bounds is None else float(self.bounds[1])

    @property
    def signed(self) -> bool:
        """Whether entries may be negative."""
        return self.lower < 0.0

    @property
    def has_log(self) -> bool:
        """Whether zero is a pole."""
        return bool(np.any(self.log))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to add to the loss."""
        return not any(np.any(part) for part in (self.linear, self.quadratic, self.log, self.concave))

    @property
    def scale_free(self) -> bool:
        """Whether a factor may be multiplied by a positive number at no cost: no terms, and bounds 0 or ∞."""
        return self.empty and self.upper == float("inf") and self.lower in (0.0, -float("inf"))

    def __add__(self, other: Terms) -> Terms:
        log, concave = self.log + other.log, self.concave + other.concave
        if (np.asarray(log) * np.asarray(concave)).any() or (np.any(self.concave) and np.any(other.concave)):
            raise ValueError("Two Gamma priors on one factor combine only when both shapes are at least 1.")
        bounds = self.bounds if other.bounds is None else other.bounds
        if self.bounds is not None and other.bounds is not None:
            bounds = (max(self.lower, other.lower), min(self.upper, other.upper))
        return Terms(
            self.linear + other.linear,
            self.quadratic + other.quadratic,
            log,
            concave,
            np.maximum(self.shift, other.shift),
            bounds,
        )

    def for_kernels(self, n_rows: int, n_components: int) -> KernelTerms:
        """Arrays of fixed dimensions for a factor of this shape.

        Parameters
        ----------
        n_rows, n_components : int
            Shape of the factor.

        Returns
        -------
        KernelTerms
            The terms in the form that compiled kernels read.

        Raises
        ------
        ValueError
            If an array fits no factor of this shape.
        """
        wide = []
        for name in ("linear", "quadratic"):
            array = np.atleast_2d(np.asarray(getattr(self, name), dtype=float))
            if array.shape[0] not in (1, n_rows) or array.shape[1] not in (1, n_components):
                raise ValueError(
                    f"The terms of a prior do not fit its factor: {name} has shape {array.shape}, and the factor has "
                    f"{n_rows} rows and {n_components} components. Give one number, or one for each row "
                    f"({n_rows},), each component (1, {n_components}) or each entry ({n_rows}, {n_components})."
                )
            wide.append(np.ascontiguousarray(array))
        columns = []
        for name in ("log", "concave", "shift"):
            array = np.asarray(getattr(self, name), dtype=float)
            if array.ndim == 1 and array.shape[0] not in (1, n_components):
                raise ValueError(
                    f"The terms of a prior do not fit its factor: {name} has {array.shape[0]} numbers, and the "
                    f"factor has {n_components} components."
                )
            columns.append(np.ascontiguousarray(np.broadcast_to(array, n_components)))
        return KernelTerms(wide[0], wide[1], columns[0], columns[1], columns[2], self.lower, self.upper)

    def rows(self, index: Any) -> Terms:
        """The terms of some of the rows.

        Parameters
        ----------
        index : slice or array of int
            The rows.

        Returns
        -------
        Terms
            Terms of these rows; what is the same for all rows stays.
        """
        return replace(
            self, linear=_some_rows(self.linear, index), quadratic=_some_rows(self.quadratic, index)
        )

    def divided_by(self, row_weight: np.ndarray) -> Terms:
        """Terms of each row divided by its weight; tiny weights count as 1e-12 of the largest.

        Parameters
        ----------
        row_weight : array of shape (n_rows,)
            Weights of the rows.

        Returns
        -------
        Terms
            With `linear` and `quadratic` divided.
        """
        r = np.maximum(row_weight, 1e-12 * row_weight.max(initial=1e-300))[:, None]
        return replace(self, linear=self.linear / r, quadratic=self.quadratic / r)

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """The sum of the four terms over a factor's entries, rows weighted by `row_weight`.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor.
        row_weight : array of shape (n_rows,), optional
            How much each row counts; all count once by default.

        Returns
        -------
        float
            The sum.
        """
        if self.empty:
            return 0.0
        A = np.asarray(A, dtype=float)
        rows = _row_sums(self.linear, A) + 0.5 * _row_sums(self.quadratic, A, A)
        if self.has_log:
            with np.errstate(divide="ignore"):
                # A component whose logarithm has weight 0 may be zero.
                logs = np.log(np.where(np.asarray(self.log) > 0, A, 1.0))
            rows = rows - (self.log * logs).sum(axis=1)
        if np.any(self.concave):
            rows = rows + (
                self.concave * np.log(A + np.where(np.asarray(self.concave) > 0, self.shift, 1.0))
            ).sum(axis=1)
        if row_weight is not None:
            # A row of weight 0 counts for nothing, even where its density is 0.
            return float(rows[row_weight > 0] @ row_weight[row_weight > 0])
        return float(rows.sum())

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Derivative of the four terms at each entry.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor.

        Returns
        -------
        array of shape (n_rows, n_components)
            The derivatives.
        """
        A = np.asarray(A, dtype=float)
        out = self.linear + self.quadratic * A
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.has_log:
                out = out - np.where(np.asarray(self.log) > 0, self.log / A, 0.0)
            if np.any(self.concave):
                out = out + np.where(np.asarray(self.concave) > 0, self.concave / (A + self.shift), 0.0)
        return np.asarray(out)

    def check_inside(self, A: np.ndarray, name: str) -> None:
        """Raise ValueError if a factor to start from leaves the bounds.

        Parameters
        ----------
        A : array of shape (n_rows, n_components)
            The factor.
        name : str
            What the message calls it: "W" or "H".
        """
        low, high = (float(A.min()), float(A.max())) if A.size else (self.lower, self.lower)
        if low < self.lower or high > self.upper:
            worst = low if low < self.lower else high
            raise ValueError(
                f"The start of {name} has an entry {worst:g} outside its bounds [{self.lower:g}, {self.upper:g}]. "
                "Scale or clip the start, or widen the bounds."
            )


def _some_rows(value: Any, index: Any) -> Any:
    """Rows of an entrywise quantity; what is the same for all rows stays."""
    return value if np.ndim(value) == 0 or np.shape(value)[0] == 1 else value[index]


def _row_sums(weights: Entrywise, *factors: np.ndarray) -> np.ndarray:
    """Σ_k weights · (product of the factors) for each row, without an array of their size where it can be helped."""
    if np.ndim(weights) == 2 and np.shape(weights)[1] > 1:
        product = factors[0] if len(factors) == 1 else factors[0] * factors[1]
        return np.asarray((weights * product).sum(axis=1))
    sums = factors[0].sum(axis=1) if len(factors) == 1 else np.einsum("ij,ij->i", *factors)
    return np.asarray((weights[:, 0] if isinstance(weights, np.ndarray) else weights) * sums)


NO_TERMS = Terms()
