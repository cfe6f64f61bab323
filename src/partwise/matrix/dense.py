"""Dense data, with or without weights, in either memory order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from partwise.losses import Loss
from partwise.matrix.base import InMemory, Matrix, RowSlab, block_height
from partwise.matrix.kernels import (
    add_column_squares,
    copy_columns,
    keep_observed,
    row_squares,
    square_errors,
)
from partwise.matrix.loss_kernels import kernels_for
from partwise.parallel import matmul, over_rows, own_threads, worthwhile

#: Entries of one temporary part of reconstructions: about 2 MB in double precision, to stay in cache.
PART_ENTRIES = 1 << 18


class Dense(InMemory):
    """An n × m array in either memory order, with its weights if any.

    Parameters
    ----------
    values : array
        ω x, C-contiguous.
    weights : array of the shape of `values`, optional
        ω, C-contiguous.
    transposed : bool
        Whether `values` and `weights` hold the transpose of this matrix; transposition copies nothing.
    row_weight : array of shape (n,), optional
        How much each row counts.
    inner_weight : array of shape (m,), optional
        The row weights of the matrix that this one transposes.
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
        """Wrap an array.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The data. Where `weights` is 0 the entry is not looked at and may be NaN.
        weights : array of shape (n_samples, n_features), optional
            ω; 1 everywhere by default.
        row_weight : array of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        Dense
            The matrix; X is not copied if it is contiguous and without weights.
        """
        transposed = X.flags.f_contiguous and not X.flags.c_contiguous
        if transposed:
            X = X.T
            weights = None if weights is None else weights.T
        X = np.ascontiguousarray(X)
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=X.dtype)
            X = np.where(weights > 0, X, 0) * weights
        return cls(X, weights, transposed=transposed, row_weight=row_weight)

    @classmethod
    def stacked(cls, parts: Sequence[Any]) -> Dense:
        """Row blocks on top of each other; blocks without weights beside blocks with some count fully."""
        weights = None
        if any(part._v is not None for part in parts):
            held = (
                np.ones(p.shape, p.dtype) if p._v is None else p._rows(p._v, 0, p.shape[0]) for p in parts
            )
            weights = np.concatenate(list(held))
        row_weight = None if parts[0].row_weight is None else np.concatenate([p.row_weight for p in parts])
        return cls(
            np.concatenate([part._rows(part._u, 0, part.shape[0]) for part in parts]),
            weights,
            row_weight=row_weight,
        )

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

    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Ranges of rows that share this memory; columns that lie next to each other are one block."""
        n, m = self.shape
        height = n if self._transposed else block_height(m)
        if n <= height:
            yield slice(0, n), self
            return
        for start in range(0, n, height):
            part = slice(start, min(start + height, n))
            yield part, self.rows(part)

    def rows(self, index: Any) -> Dense:
        """Some of the rows; a slice shares the memory."""
        u, v = (
            None if held is None else held[:, index].T if self._transposed else held[index]
            for held in (self._u, self._v)
        )
        assert u is not None
        return Dense(
            np.ascontiguousarray(u),
            None if v is None else np.ascontiguousarray(v),
            row_weight=None if self.row_weight is None else self.row_weight[index],
            inner_weight=self.inner_weight,
        )

    @property
    def weighted(self) -> bool:
        """Whether there are entry weights."""
        return self._v is not None

    @property
    def _several_blocks(self) -> bool:
        """Whether sums go block by block, as they do over the same array in a file."""
        return not self._transposed and self.shape[0] > block_height(self.shape[1])

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """(ω X)ᵀ · A."""
        return Matrix.transposed_product(self, A) if self._several_blocks else self.T.product(A)

    def product(self, B: np.ndarray) -> np.ndarray:
        """(ω X) · B, by BLAS."""
        if self._several_blocks:
            return Matrix.product(self, B)
        return matmul(self._u.T if self._transposed else self._u, B)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B."""
        if self._v is None:
            return np.broadcast_to(B.sum(axis=0), (self.shape[0], B.shape[1])).copy()
        return self._v.T @ B if self._transposed else self._v @ B

    @property
    def weights(self) -> np.ndarray:
        """ω as an array of the shape of this matrix, which may not be written to; all ones where there are none."""
        if self._v is None:
            return np.broadcast_to(np.ones((), self.dtype), self.shape)
        return self._v.T if self._transposed else self._v

    def largest_weight(self) -> float:
        """Of the weights that are held."""
        return 1.0 if self._v is None else float(self._v.max(initial=0.0)) or 1.0

    def observed_only(self) -> InMemory:
        """The same data with entries of weight 0 left out, for those who visit entries one by one.

        Returns
        -------
        Sparse
            With unstored entries unobserved.
        """
        import scipy.sparse as sp

        from partwise.matrix.sparse import Sparse

        v = self.weights
        u = self._u.T if self._transposed else self._u
        rows, columns = np.nonzero(v)
        weights = v[rows, columns]
        indptr = np.zeros(self.shape[0] + 1, np.int64)
        np.cumsum(np.count_nonzero(v, axis=1), out=indptr[1:])
        X = sp.csr_matrix((u[rows, columns] / weights, columns.astype(np.int32), indptr), self.shape)
        return Sparse.of(
            X, None if (weights == 1).all() else weights, self.row_weight, unstored_observed=False
        )

    def filled_product(self, A: np.ndarray, B: np.ndarray, Bc: np.ndarray) -> np.ndarray:
        """X̃ · Bc with X̃ the data where their weight is not 0, and A Bᵀ where it is.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The factor of the rows.
        B, Bc : arrays of shape (n_features, k)
            The other factor, and what the completed data are multiplied by.

        Returns
        -------
        array of shape (n_samples, k)
            The product.
        """
        out = np.empty((self.shape[0], Bc.shape[1]), self.dtype)

        def task(part: slice) -> None:
            Y, u, v = self._reconstruct(A, B, part)
            keep_observed(u, v, Y)
            out[part] = (Y.T if self._transposed else Y) @ Bc

        self._over_parts(task)
        return out

    def squared_error(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Σ_j (x − (A Bᵀ))² of each row, over entries whose weight is not 0; inner weights count.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The factor of the rows.
        B : array of shape (n_features, k)
            The factor of the columns.

        Returns
        -------
        array of shape (n_samples,)
            In double precision.
        """
        out = np.empty(self.shape[0])
        c = None if self.inner_weight is None else self.inner_weight

        def task(part: slice) -> None:
            Y, u, v = self._reconstruct(A, B, part)
            square_errors(u, v, Y)
            axis = 0 if self._transposed else 1
            if c is None:
                out[part] = Y.sum(axis=axis, dtype=float)
            else:
                out[part] = c @ Y if self._transposed else Y @ c

        self._over_parts(task)
        return out

    def row_squares(self) -> np.ndarray:
        """Without weights in one plain pass."""
        if self._v is not None:
            return super().row_squares()
        out = np.zeros(self.shape[0])
        if self._transposed:
            over_rows(lambda a, b: add_column_squares(self._u, out, a, b), len(out), grain=4096)
        else:
            over_rows(lambda a, b: row_squares(self._u, out, a, b), len(out), grain=worthwhile(self.shape[1]))
        return out

    def _over_parts(self, task: Callable[[slice], None]) -> None:
        """Call `task` for parts of the rows, each small enough for its reconstruction to stay in cache."""
        n, m = self.shape
        height = max(1, PART_ENTRIES // max(1, m))

        def range_task(start: int, stop: int) -> None:
            for first in range(start, stop, height):
                task(slice(first, min(first + height, stop)))

        # Here and in the pool's other threads BLAS would start threads of its own, which spin on the same cores.
        with own_threads() if n > height else nullcontext():
            over_rows(range_task, n, grain=worthwhile(10.0 * m, 16))

    def _reconstruct(self, A: np.ndarray, B: np.ndarray, part: slice) -> tuple[np.ndarray, ...]:
        """Rows `part` of A Bᵀ, with u and v beside them, as they lie in memory; without weights v is empty."""
        if self._transposed:
            where: Any = (slice(None), part)
            Y = B @ A[part].T
        else:
            where = part
            Y = A[part] @ B.T
        return Y, self._u[where], self._u[:0] if self._v is None else self._v[where]

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row."""
        if self._several_blocks:
            return Matrix.row_divergence(self, W, Ht, loss, shift)
        out = np.empty(self.shape[0])
        kernels = kernels_for(loss)

        def task(part: slice) -> None:
            Y, u, v = self._reconstruct(W, Ht, part)
            sums = np.zeros(Y.shape[0])
            kernels.dense_divergence(u, v, Y, loss.parameter, shift, sums)
            out[part] = Y.sum(axis=0, dtype=float) if self._transposed else sums

        self._over_parts(task)
        return out

    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, loss: Loss, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of the multiplicative update."""
        Bc = self.inner(B)
        if loss.gram and self._v is None:
            return self.product(Bc), A @ (B.T @ Bc)
        flat_weights = self._v is None and loss.flat
        kernels = kernels_for(loss)
        num, den = np.empty_like(A), np.empty_like(A)
        if flat_weights:
            den[:] = Bc.sum(axis=0)

        def task(part: slice) -> None:
            Y, u, v = self._reconstruct(A, B, part)
            P = Y[:0] if flat_weights else np.empty_like(Y)
            kernels.dense_ratios(u, v, Y, P, loss.parameter, shift)
            num[part] = (Y.T if self._transposed else Y) @ Bc
            if not flat_weights:
                den[part] = (P.T if self._transposed else P) @ Bc

        self._over_parts(task)
        return num, den

    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """Contiguous rows; columns of row-major memory are copied out a few at a time."""
        m = self.shape[1]
        height = max(1, PART_ENTRIES // max(1, m))
        for first in range(start, stop, height):
            last = min(first + height, stop)
            u = self._rows(self._u, first, last)
            v = np.empty(0, self.dtype) if self._v is None else self._rows(self._v, first, last).ravel()
            indptr = np.arange(last - first + 1, dtype=np.int64) * m
            yield RowSlab(first, last, indptr, np.empty(0, np.int32), u.ravel(), v)

    def _rows(self, array: np.ndarray, start: int, stop: int) -> np.ndarray:
        if self._transposed:
            rows = np.empty((stop - start, array.shape[0]), array.dtype)
            copy_columns(array, start, rows)
        else:
            rows = array[start:stop]
        return rows if self.inner_weight is None else rows * self.inner_weight.astype(self.dtype)
