"""Dense data, with or without weights, in either memory order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from partwise.matrix import kernels
from partwise.matrix.base import InMemory, RowSlab
from partwise.parallel import matmul, over_rows

#: Entries of one temporary block of reconstructions: about 2 MB in double precision, to stay in cache.
BLOCK_ENTRIES = 1 << 18


class Dense(InMemory):
    """An n × m array, its weights if any, and the knowledge of which way it lies in memory.

    `values` and `weights` are C-contiguous and never copied by transposition: `transposed` says that they
    hold the transpose of this matrix.
    """

    def __init__(
        self,
        values: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        transposed: bool = False,
        row_weight: np.ndarray | None = None,
        inner_weight: np.ndarray | None = None,
    ) -> None:
        self._u = values
        self._v = weights
        self._transposed = transposed
        self.row_weight = row_weight
        self.inner_weight = inner_weight
        self.shape = values.shape[::-1] if transposed else values.shape
        self.dtype = values.dtype
        # Without weights every entry, held or not, has weight 1, and v = ω − ω₀ vanishes.
        self.background = 1.0 if weights is None else 0.0

    @classmethod
    def of(
        cls, X: np.ndarray, weights: np.ndarray | None = None, row_weight: np.ndarray | None = None
    ) -> Dense:
        """Wrap X; where `weights` is 0 the entry of X is not looked at and may be NaN."""
        transposed = X.flags.f_contiguous and not X.flags.c_contiguous
        if transposed:
            X = X.T
            weights = None if weights is None else weights.T
        X = np.ascontiguousarray(X)
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=X.dtype)
            X = np.where(weights > 0, X, 0) * weights
        return cls(X, weights, transposed=transposed, row_weight=row_weight)

    @property
    def T(self) -> Dense:
        """The same memory, read the other way."""
        return Dense(
            self._u,
            self._v,
            transposed=not self._transposed,
            row_weight=self.inner_weight,
            inner_weight=self.row_weight,
        )

    @property
    def weighted(self) -> bool:
        """Whether there are entry weights."""
        return self._v is not None

    def product(self, B: np.ndarray) -> np.ndarray:
        """(ω X) · B, by BLAS."""
        return matmul(self._u.T if self._transposed else self._u, B)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """ω · B."""
        if self._v is None:
            return np.broadcast_to(B.sum(axis=0), (self.shape[0], B.shape[1])).copy()
        return self._v.T @ B if self._transposed else self._v @ B

    def _reconstructions(self, A: np.ndarray, B: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """A Bᵀ in the order of memory, block after block; each block overwrites the one before."""
        outer, inner = (B, A) if self._transposed else (A, B)
        n, m = self._u.shape
        height = max(1, min(n, BLOCK_ENTRIES // max(1, m)))
        buffer = np.empty((height, m), self.dtype)
        inner_t = np.ascontiguousarray(inner.T)
        for start in range(0, n, height):
            stop = min(start + height, n)
            yield slice(start, stop), np.matmul(outer[start:stop], inner_t, out=buffer[: stop - start])

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, beta: float, shift: float) -> np.ndarray:
        """Loss of each row."""
        out = np.zeros(self.shape[0])
        for part, Y in self._reconstructions(W, Ht):
            sums = out[:0] if self._transposed else out[part]
            over_rows(partial(self._divergence_rows, part, Y, sums, beta, shift), len(Y))
            if self._transposed:
                out += Y.sum(axis=0, dtype=float)
        return out

    def _held(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """U and v of some rows of memory; without weights v is empty."""
        return self._u[part], self._u[:0] if self._v is None else self._v[part]

    def _divergence_rows(
        self, part: slice, Y: np.ndarray, sums: np.ndarray, beta: float, shift: float, a: int, b: int
    ) -> None:
        u, v = self._held(part)
        kernels.dense_divergence(u[a:b], v[a:b], Y[a:b], beta, shift, sums[a:b])

    def _ratio_rows(
        self, part: slice, Y: np.ndarray, P: np.ndarray, beta: float, shift: float, a: int, b: int
    ) -> None:
        u, v = self._held(part)
        kernels.dense_ratios(u[a:b], v[a:b], Y[a:b], P[a:b], beta, shift)

    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, beta: float, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of the multiplicative update."""
        Bc = self.inner(B)
        if beta == 2.0 and self._v is None:
            return self.product(Bc), A @ (B.T @ Bc)
        flat_weights = self._v is None and beta == 1.0
        num, den = np.zeros_like(A), np.zeros_like(A)
        for part, Y in self._reconstructions(A, B):
            P = Y[:0] if flat_weights else np.empty_like(Y)
            over_rows(partial(self._ratio_rows, part, Y, P, beta, shift), len(Y))
            if self._transposed:
                num += Y.T @ Bc[part]
                if not flat_weights:
                    den += P.T @ Bc[part]
            else:
                num[part] = Y @ Bc
                if not flat_weights:
                    den[part] = P @ Bc
        if flat_weights:
            den[:] = Bc.sum(axis=0)
        return num, den

    def slabs(self) -> Iterator[RowSlab]:
        """Contiguous slabs of rows; columns of row-major memory are copied out a few at a time."""
        n, m = self.shape
        height = max(1, min(n, BLOCK_ENTRIES // max(1, m)))
        for start in range(0, n, height):
            stop = min(start + height, n)
            u = self._rows(self._u, start, stop)
            v = np.empty(0, self.dtype) if self._v is None else self._rows(self._v, start, stop).ravel()
            indptr = np.arange(stop - start + 1, dtype=np.int64) * m
            yield RowSlab(start, stop, indptr, np.empty(0, np.int32), u.ravel(), v)

    def _rows(self, array: np.ndarray, start: int, stop: int) -> np.ndarray:
        rows = np.ascontiguousarray(array[:, start:stop].T) if self._transposed else array[start:stop]
        return rows if self.inner_weight is None else rows * self.inner_weight.astype(self.dtype)
