"""Counts as the E-steps read them: dense blocks of rows, or the positive entries row after row."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, xlogy

from partwise.matrix import InMemory, Matrix

#: Entries of one dense block.
BLOCK_ENTRIES = 1 << 21


class Counts:
    """Observed counts y with entry weights ω (0: missing) and row weights r.

    Everything is handed out as ω y and ω, in double precision: differences of log-likelihoods of thousands
    of nats decide what is learned.

    Parameters
    ----------
    X : Matrix
    background : float, optional
        δ, the rate of a pixel that no component reaches, so that log 0 never occurs; by default tiny against the
        mean of the counts.
    """

    def __init__(self, X: Matrix, background: float | None = None) -> None:
        if not isinstance(X, InMemory):
            raise TypeError("Counts are read in memory.")
        self.X = X
        self._background = background
        self.n_rows, self.n_features = X.shape
        r = X.row_weight
        self.row_weight = np.ones(self.n_rows) if r is None else np.asarray(r, dtype=float)

    @property
    def weighted(self) -> bool:
        """Whether entries are missing or weighted."""
        return self.X.weighted

    def rows(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows `start … stop` of ω y, and of ω unless that is 1 everywhere."""
        y, omega = self.X.arrays(start, stop)
        return y, omega if self.weighted else None

    def blocks(self, width: int | None = None) -> Any:
        """(slice, ω y, ω or None) over all rows; `width` columns of work beside each row set the height."""
        height = max(1, BLOCK_ENTRIES // max(1, width or self.n_features))
        for start in range(0, self.n_rows, height):
            stop = min(start + height, self.n_rows)
            yield (slice(start, stop), *self.rows(start, stop))

    @functools.cached_property
    def positives(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compressed rows of the entries ω y above zero: all that a Poisson log-likelihood needs, but for sums."""
        counts, columns, values = [np.zeros(1, np.int64)], [], []
        for _, y, _ in self.blocks():
            line, column = np.nonzero(y > 0)
            counts.append(np.bincount(line, minlength=len(y)))
            columns.append(column.astype(np.int64))
            values.append(y[line, column])
        return np.cumsum(np.concatenate(counts)), np.concatenate(columns), np.concatenate(values)

    @functools.cached_property
    def _row_terms(self) -> tuple[np.ndarray, np.ndarray]:
        factorials, saturated = np.empty(self.n_rows), np.empty(self.n_rows)
        for rows, u, omega in self.blocks():
            w = np.ones_like(u) if omega is None else omega
            y = np.divide(u, w, out=np.zeros_like(u), where=w > 0)
            factorials[rows] = (w * gammaln(y + 1.0)).sum(axis=1)
            saturated[rows] = (xlogy(u, y) - u).sum(axis=1)
        return factorials, saturated

    @property
    def log_factorials(self) -> np.ndarray:
        """Σ_d ω log y! of each row: the constant of its log-likelihood."""
        return self._row_terms[0]

    @property
    def saturated(self) -> np.ndarray:
        """Σ_d ω (y log y − y) of each row: what a model that reproduces it exactly would have."""
        return self._row_terms[1]

    @functools.cached_property
    def _square_terms(self) -> tuple[np.ndarray, np.ndarray]:
        squares, observed = np.empty(self.n_rows), np.full(self.n_rows, float(self.n_features))
        for rows, u, omega in self.blocks():
            y = u if omega is None else np.divide(u, omega, out=np.zeros_like(u), where=omega > 0)
            squares[rows] = (u * y).sum(axis=1)
            if omega is not None:
                observed[rows] = omega.sum(axis=1)
        return squares, observed

    @property
    def squares(self) -> np.ndarray:
        """Σ_d ω y² of each row."""
        return self._square_terms[0]

    @property
    def observed(self) -> np.ndarray:
        """Σ_d ω of each row."""
        return self._square_terms[1]

    @functools.cached_property
    def variance(self) -> float:
        """Variance of the observed entries; exactly 0 where all are the same number."""
        total, mean = float(self.row_weight @ self.observed), self.mean
        left = 0.0
        for rows, u, omega in self.blocks():
            w = np.ones_like(u) if omega is None else omega
            y = np.divide(u, w, out=np.full_like(u, mean), where=w > 0)
            # Rounding of the mean is no variance.
            off = np.where(np.abs(y - mean) <= 1e-12 * abs(mean), 0.0, y - mean)
            left += float(self.row_weight[rows] @ (w * off**2).sum(axis=1))
        return left / total if total > 0 else 0.0

    def _slabs(self) -> Any:
        """(slice, ω y) over all rows in double precision, sparse where the data are."""
        for slab in self.X.packed(0, self.n_rows):
            shape = slab.stop - slab.start, self.n_features
            u = slab.u.astype(float)
            dense = len(slab.indices) == 0 and len(u) == shape[0] * shape[1]
            yield (
                slice(slab.start, slab.stop),
                u.reshape(shape) if dense else sp.csr_array((u, slab.indices, slab.indptr), shape),
            )

    def product(self, W: np.ndarray) -> np.ndarray:
        """Σ_d ω y_nd W_hd for each row and component."""
        out = np.empty((self.n_rows, len(W)))
        Wt = np.ascontiguousarray(W.T)
        for rows, y in self._slabs():
            out[rows] = y @ Wt
        return out

    def summed(self, means: np.ndarray) -> np.ndarray:
        """Σ_n r_n ⟨s_h⟩_n ω y_nd as `cross` has it, in double precision whatever the data are."""
        out = np.zeros((self.n_features, means.shape[1]))
        for rows, y in self._slabs():
            out += y.T @ (means[rows] * self.row_weight[rows, None])
        return np.ascontiguousarray(out.T)

    def totals(self, W: np.ndarray) -> np.ndarray:
        """Σ_d ω_nd W_hd for each row and component; one row for all where nothing is missing."""
        if not self.weighted:
            return W.sum(axis=1)[None]
        out = np.tile(float(self.X.background) * W.sum(axis=1), (self.n_rows, 1))
        for slab in self.X.packed(0, self.n_rows):
            shape = slab.stop - slab.start, self.n_features
            dense = len(slab.indices) == 0 and len(slab.v) == shape[0] * shape[1]
            # Double precision also for float32 data: a row must not change with what is missing in other rows.
            v = slab.v.astype(float)
            omega = v.reshape(shape) if dense else sp.csr_array((v, slab.indices, slab.indptr), shape)
            out[slab.start : slab.stop] += omega @ W.T
        return out

    def cross(self, means: np.ndarray) -> np.ndarray:
        """Σ_n r_n ⟨s_h⟩_n ω y_nd, components by features."""
        A = (means * self.row_weight[:, None]).astype(self.X.dtype)
        # X.T weighs its inner index by r itself; the product alone does not.
        return np.asarray(self.X.T.product(np.ascontiguousarray(A)), dtype=float).T

    def exposure(self, means: np.ndarray) -> np.ndarray:
        """Σ_n r_n ⟨s_h⟩_n ω_nd: components by features, or components by 1 where nothing is missing."""
        A = means * self.row_weight[:, None]
        if not self.weighted:
            return A.sum(axis=0)[:, None]
        return np.asarray(self.X.T.weight_product(np.ascontiguousarray(A, dtype=self.X.dtype)), dtype=float).T

    @functools.cached_property
    def mean(self) -> float:
        """Mean of the observed counts."""
        return self.X.mean()

    @property
    def background(self) -> float:
        """δ."""
        return 1e-12 * max(self.mean, 1e-300) if self._background is None else self._background
