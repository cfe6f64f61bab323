"""Dense data, with or without weights, in either memory order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from threading import get_ident
from typing import Any

import numpy as np

from partwise.losses import Loss
from partwise.matrix.base import InMemory, Matrix, RowSlab, block_height
from partwise.matrix.fill_kernels import fill_rows, pack
from partwise.matrix.kernels import (
    add_column_squares,
    copy_columns,
    fill_and_measure,
    row_squares,
    square_errors,
)
from partwise.matrix.loss_kernels import kernels_for
from partwise.matrix.narrow import may_be_narrow, times
from partwise.parallel import over_rows, own_threads, worthwhile

#: Entries of one temporary part of reconstructions: about 2 MB in double precision, to stay in cache.
PART_ENTRIES = 1 << 18
#: Sums over the rows of memory are found in at most so many groups of parts, by whichever thread is free.
SUMS = 16


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

    def raised(self, exponents: np.ndarray) -> Dense:
        """Each row times a power of two.

        Parameters
        ----------
        exponents : array of int of shape (n_samples,)
            Of the powers of two.

        Returns
        -------
        Dense
            A copy.
        """
        powers = exponents if self._transposed else exponents[:, None]
        return self._holding(np.ldexp(self._u, powers), self._v)

    def narrowed(self) -> Dense:
        """The same matrix in float32.

        Returns
        -------
        Dense
            A copy.
        """
        return self._holding(
            self._u.astype(np.float32), None if self._v is None else self._v.astype(np.float32)
        )

    def _holding(self, values: np.ndarray, weights: np.ndarray | None) -> Dense:
        """Other values in the same places."""
        return Dense(
            values,
            weights,
            transposed=self._transposed,
            row_weight=self.row_weight,
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
        """(ω X) · B."""
        if self._several_blocks:
            return Matrix.product(self, B)
        return times(self._u.T if self._transposed else self._u, B)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B."""
        if self._v is None:
            return np.broadcast_to(B.sum(axis=0), (self.shape[0], B.shape[1])).copy()
        return times(self._v.T if self._transposed else self._v, B)

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

        fill = self._filling(A, B)
        self._over_ranges((out,), lambda part: (self._times(fill(part)[0], part, Bc),))
        return out

    def filled_product_and_error(
        self, A: np.ndarray, B: np.ndarray, Bc: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """As `filled_product`, and the squared error of A Bᵀ over observed entries, from the same reconstruction.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The factor of the rows.
        B, Bc : arrays of shape (n_features, k)
            The other factor, and what the completed data are multiplied by.

        Returns
        -------
        product : array of shape (n_samples, k)
            X̃ · Bc.
        error : float
            Σ r_i (x_ij − (A Bᵀ)_ij)² over entries whose weight is not 0.
        """
        if self._transposed and self.row_weight is not None:
            rows = self.squared_error(A, B)
            return self.filled_product(A, B, Bc), float(rows @ self.row_weight)
        out = np.empty((self.shape[0], Bc.shape[1]), self.dtype)
        errors: dict[int, float] = {}
        fill = self._filling(A, B)

        def task(part: slice) -> tuple[np.ndarray, ...]:
            Y, sums = fill(part)
            errors[part.start] = float(
                sums.sum() if self.row_weight is None else sums @ self.row_weight[part]
            )
            return (self._times(Y, part, Bc),)

        self._over_ranges((out,), task)
        return out, sum(errors[start] for start in sorted(errors))

    def _filling(self, A: np.ndarray, B: np.ndarray) -> Callable[[slice], tuple[np.ndarray, np.ndarray]]:
        """A function that fills in a range of rows of memory by A Bᵀ, until its next call on the same thread.

        It also returns the squared error of each row.
        """
        u, v = self._u, self._v
        assert v is not None
        left, right = (B, A) if self._transposed else (A, B)
        if not (may_be_narrow(right) and u.dtype == v.dtype == left.dtype == right.dtype):

            def by_blas(part: slice) -> tuple[np.ndarray, np.ndarray]:
                Y, errors = left[part] @ right.T, np.empty(len(u[part]))
                fill_and_measure(u[part], v[part], Y, errors)
                return Y, errors

            return by_blas
        packed, left = pack(right), np.ascontiguousarray(left)
        # Fresh memory for each part would take about as long to come by as to fill.
        held: dict[int, np.ndarray] = {}

        def fill(part: slice) -> tuple[np.ndarray, np.ndarray]:
            height, thread = len(u[part]), get_ident()
            if thread not in held or len(held[thread]) < height:
                held[thread] = np.empty((height, u.shape[1]), u.dtype)
            Y, errors = held[thread][:height], np.empty(height)
            fill_rows(left[part], packed, u[part], v[part], Y, errors)
            return Y, errors

        return fill

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
        c = self.inner_weight

        def task(part: slice, Y: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
            square_errors(u, v, Y)
            if self._transposed:
                return (Y.sum(axis=0, dtype=float) if c is None else c[part] @ Y,)
            return (Y.sum(axis=1, dtype=float) if c is None else Y @ c,)

        self._over_parts(A, B, (out,), task)
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

    def _over_parts(
        self,
        A: np.ndarray,
        B: np.ndarray,
        outs: tuple[np.ndarray, ...],
        task: Callable[[slice, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, ...]],
    ) -> None:
        """Reconstruct A Bᵀ a few rows of memory at a time, and put together what `task` makes of each part of it.

        A task is given a range of rows of memory, the reconstruction there, which it may write into, and u and v
        beside it (v is empty without weights).
        """
        left, right = (B, A) if self._transposed else (A, B)

        def piece(part: slice) -> tuple[np.ndarray, ...]:
            v = self._u[:0] if self._v is None else self._v[part]
            return task(part, left[part] @ right.T, self._u[part], v)

        self._over_ranges(outs, piece)

    def _over_ranges(
        self, outs: tuple[np.ndarray, ...], piece: Callable[[slice], tuple[np.ndarray, ...]]
    ) -> None:
        """Put together what `piece` makes of ranges of rows of memory.

        It returns a piece of each of `outs`: the rows of that range, or, where memory holds the transpose, what the
        range adds to all rows. Parts are small enough to stay in cache, and are added up in an order that depends on
        the shape alone.
        """
        n, m = self._u.shape
        height = max(1, PART_ENTRIES // max(1, m))
        starts = range(0, n, height)

        def pieces(start: int, stop: int) -> tuple[slice, tuple[np.ndarray, ...]]:
            part = slice(start, min(stop, n))
            return part, piece(part)

        def stack(first: int, last: int) -> None:
            for start in range(first, last, height):
                part, made = pieces(start, min(start + height, last))
                for out, piece in zip(outs, made):
                    out[part] = piece

        groups = np.array_split(np.asarray(starts), min(SUMS, max(1, len(starts))))
        totals = [[np.zeros_like(out) for out in outs] for _ in groups] if self._transposed else []

        def add(first: int, last: int) -> None:
            for group, total in zip(groups[first:last], totals[first:last]):
                for start in group:
                    for sums, piece in zip(total, pieces(int(start), int(start) + height)[1]):
                        sums += piece

        # Here and in the pool's other threads BLAS would start threads of its own, which spin on the same cores.
        with own_threads() if n > height else nullcontext():
            if not self._transposed:
                over_rows(stack, n, grain=worthwhile(10.0 * m, 16))
                return
            over_rows(add, len(groups), grain=1)
        for which, out in enumerate(outs):
            out[:] = sum((total[which] for total in totals[1:]), start=totals[0][which])

    def _times(self, Y: np.ndarray, part: slice, Bc: np.ndarray) -> np.ndarray:
        """What rows `part` of memory, as they stand in Y, contribute to the product with Bc."""
        return times(Y.T, Bc[part]) if self._transposed else times(Y, Bc)

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row."""
        if self._several_blocks:
            return Matrix.row_divergence(self, W, Ht, loss, shift)
        out = np.empty(self.shape[0])
        kernels = kernels_for(loss)

        def task(part: slice, Y: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
            sums = np.zeros(len(Y))
            kernels.dense_divergence(u, v, Y, loss.parameter, shift, sums)
            return (Y.sum(axis=0, dtype=float) if self._transposed else sums,)

        self._over_parts(W, Ht, (out,), task)
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

        def task(part: slice, Y: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
            P = Y[:0] if flat_weights else np.empty_like(Y)
            kernels.dense_ratios(u, v, Y, P, loss.parameter, shift)
            up = self._times(Y, part, Bc)
            return (up,) if flat_weights else (up, self._times(P, part, Bc))

        self._over_parts(A, B, (num,) if flat_weights else (num, den), task)
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
