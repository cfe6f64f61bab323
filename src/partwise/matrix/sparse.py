"""Sparse data, never made dense: unstored entries are zeros, or are unobserved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from partwise.losses import Loss
from partwise.matrix import kernels
from partwise.matrix.base import InMemory, Matrix, RowSlab, stored_cuts
from partwise.matrix.dense import PART_ENTRIES
from partwise.matrix.loss_kernels import kernels_for
from partwise.matrix.narrow import gathered
from partwise.parallel import get_threads, over_rows, own_threads
from partwise.well_formed import require_well_formed

_NONE = np.empty(0)


class Sparse(InMemory):
    """Compressed rows with u = ω x and v = ω − ω₀ for each stored entry.

    Parameters
    ----------
    indptr : array of int of shape (n + 1,)
        Where each row begins, and where the last one ends.
    indices : array of int
        Column of each stored entry.
    u : array
        ω x of each stored entry.
    v : array or None
        ω − ω₀ of each stored entry. None when no entry has a weight of its own: then it is 0 where unstored entries
        are zeros (background 1) and 1 where they are unobserved (background 0).
    shape : tuple of int
        Rows and columns.
    background : float
        ω₀, the weight of unstored entries.
    row_weight : array of shape (n,), optional
        How much each row counts.
    inner_weight : array of shape (m,), optional
        The row weights of the matrix that this one transposes.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        u: np.ndarray,
        v: np.ndarray | None,
        shape: tuple[int, int],
        background: float,
        *,
        row_weight: np.ndarray | None = None,
        inner_weight: np.ndarray | None = None,
    ) -> None:
        self._indptr, self._indices, self._u, self._v = indptr, indices, u, v
        self.shape = shape
        self.dtype = u.dtype
        self.background = background
        self.row_weight = row_weight
        self.inner_weight = inner_weight
        self._transposed: Sparse | None = None
        #: Whether rows are those of the data, which are cut into blocks; columns are one block.
        self._upright = True
        self._parts: list[tuple[slice, Sparse]] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        weights: np.ndarray | None = None,
        row_weight: np.ndarray | None = None,
        unstored_observed: bool = True,
    ) -> Sparse:
        """Wrap a CSR or CSC matrix.

        Parameters
        ----------
        X : sparse matrix of shape (n_samples, n_features)
            The data, in CSR or CSC format.
        weights : array of shape (nnz,), optional
            ω of each stored entry, in the order of ``X.data``; 1 by default.
        row_weight : array of shape (n_samples,), optional
            How much each row counts.
        unstored_observed : bool
            Whether unstored entries are zeros; otherwise they are unobserved.

        Returns
        -------
        Sparse
            The matrix.
        """
        require_well_formed(X)
        background = 1.0 if unstored_observed else 0.0
        u, v = X.data, None
        if weights is not None:
            weights = np.asarray(weights, dtype=X.dtype)
            u = np.where(weights > 0, X.data, 0) * weights
            v = weights - X.dtype.type(background)
        if X.format == "csc":
            columns = cls(X.indptr, X.indices, u, v, X.shape[::-1], background, inner_weight=row_weight)
            columns._upright = False
            return columns.T
        return cls(X.indptr, X.indices, u, v, X.shape, background, row_weight=row_weight)

    @classmethod
    def stacked(cls, parts: Sequence[Any]) -> Sparse:
        """Row blocks on top of each other."""
        starts = np.concatenate([[0], np.cumsum([len(part._u) for part in parts])])
        v = None
        if any(part._v is not None for part in parts):
            v = np.concatenate([np.full_like(p._u, p._flat_v) if p._v is None else p._v for p in parts])
        return cls(
            np.concatenate([[0], *(part._indptr[1:] + start for part, start in zip(parts, starts))]),
            np.concatenate([part._indices for part in parts]),
            np.concatenate([part._u for part in parts]),
            v,
            (sum(part.shape[0] for part in parts), parts[0].shape[1]),
            parts[0].background,
            row_weight=None if parts[0].row_weight is None else np.concatenate([p.row_weight for p in parts]),
        )

    @property
    def T(self) -> Sparse:
        """The transposed matrix, with compressed rows of its own; made once, then kept."""
        if self._transposed is None:
            indptr, indices, values = transposed(self._indptr, self._indices, self._values(), self.shape[1])
            other = Sparse(
                indptr,
                indices,
                values[0],
                None if self._v is None else values[1],
                self.shape[::-1],
                self.background,
                row_weight=self.inner_weight,
                inner_weight=self.row_weight,
            )
            other._transposed = self
            other._upright = not self._upright
            self._transposed = other
            # Whoever asks for all columns goes on with them: those of the blocks need not be kept beside them.
            for _, part in self._parts or ():
                if part is not self:
                    part._transposed = None
        return self._transposed

    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Ranges of rows that share this memory, the same as of rows that are read from a file."""
        yield from self._cut()

    def _cut(self) -> list[tuple[slice, Sparse]]:
        """The blocks, found once and kept, so that each is transposed once."""
        if self._parts is None:
            cuts = stored_cuts(self._indptr) if self._upright else [0, self.shape[0]]
            ranges = [slice(a, b) for a, b in pairwise(cuts)]
            if len(ranges) == 1:
                # (Not kept: a matrix that knows itself is freed late.)
                return [(ranges[0], self)]
            self._parts = [(rows, self.rows(rows)) for rows in ranges]
        return self._parts

    @property
    def _several_blocks(self) -> bool:
        """Whether sums go block by block, as they do over the same data in a file."""
        return len(self._cut()) > 1

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """(ω X)ᵀ · A."""
        return Matrix.transposed_product(self, A) if self._several_blocks else self.T.product(A)

    def transposed_weight_product(self, A: np.ndarray) -> np.ndarray:
        """Product ωᵀ · A."""
        if self._several_blocks:
            return Matrix.transposed_weight_product(self, A)
        return self.T.weight_product(A)

    def raised(self, exponents: np.ndarray) -> Sparse:
        """Each row times a power of two.

        Parameters
        ----------
        exponents : array of int of shape (n_samples,)
            Of the powers of two.

        Returns
        -------
        Sparse
            With values of its own.
        """
        return self._holding(np.ldexp(self._u, np.repeat(exponents, np.diff(self._indptr))), self._v)

    def narrowed(self) -> Sparse:
        """The same matrix in float32.

        Returns
        -------
        Sparse
            With values of its own.
        """
        return self._holding(
            self._u.astype(np.float32), None if self._v is None else self._v.astype(np.float32)
        )

    def _holding(self, u: np.ndarray, v: np.ndarray | None) -> Sparse:
        """Other values in the same places."""
        return Sparse(
            self._indptr,
            self._indices,
            u,
            v,
            self.shape,
            self.background,
            row_weight=self.row_weight,
            inner_weight=self.inner_weight,
        )

    def rows(self, index: Any) -> Sparse:
        """Some of the rows; a range of them shares the memory."""
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(self.shape[0])
            stop = max(start, stop)
            held = slice(int(self._indptr[start]), int(self._indptr[stop]))
            return Sparse(
                self._indptr[start : stop + 1] - self._indptr[start],
                self._indices[held],
                self._u[held],
                None if self._v is None else self._v[held],
                (stop - start, self.shape[1]),
                self.background,
                row_weight=None if self.row_weight is None else self.row_weight[index],
                inner_weight=self.inner_weight,
            )
        chosen = np.arange(self.shape[0])[index]
        lengths = np.diff(self._indptr)[chosen]
        indptr = np.zeros(len(chosen) + 1, dtype=self._indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        # The place of each entry of the result: its row's start, and how far into the row it is.
        place = np.arange(indptr[-1]) + np.repeat(self._indptr[:-1][chosen] - indptr[:-1], lengths)
        return Sparse(
            indptr,
            self._indices[place],
            self._u[place],
            None if self._v is None else self._v[place],
            (len(chosen), self.shape[1]),
            self.background,
            row_weight=None if self.row_weight is None else self.row_weight[index],
            inner_weight=self.inner_weight,
        )

    def _values(self) -> np.ndarray:
        return self._u[None] if self._v is None else np.stack([self._u, self._v])

    @property
    def only_observed(self) -> bool:
        """Whether stored entries have weight 1 and the others are missing, rows of the transpose alike."""
        return self._v is None and self.background == 0.0 and self.inner_weight is None

    @property
    def weighted(self) -> bool:
        """Whether stored entries have weights of their own, or unstored ones are unobserved."""
        return self._v is not None or self.background == 0.0

    @property
    def entries(self) -> int:
        """Those stored."""
        return len(self._u)

    @property
    def _flat_v(self) -> float:
        return 0.0 if self.background else 1.0

    def product(self, B: np.ndarray) -> np.ndarray:
        """(ω X) · B, by rows on several threads."""
        return self._stored_product(self._u, B)

    def _stored_product(self, data: np.ndarray, B: np.ndarray) -> np.ndarray:
        return gathered(self._indptr, self._indices, data, np.ascontiguousarray(B, dtype=self.dtype))

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B = ω₀ Σ_j B_j + Σ_stored v B."""
        v = self._v
        if v is None and self.background == 0.0:
            v = np.ones_like(self._u)
        out = np.zeros((self.shape[0], B.shape[1]), self.dtype) if v is None else self._stored_product(v, B)
        if self.background:
            out += B.sum(axis=0)
        return out

    def largest_weight(self) -> float:
        """Of stored entries, v + ω₀, or of those that are not stored, ω₀."""
        if self._v is None:
            return 1.0
        return max(self.background, self.background + float(self._v.max(initial=0.0))) or 1.0

    def row_squares(self) -> np.ndarray:
        """Without weights, sums over what is stored."""
        if self._v is not None:
            return super().row_squares()
        out = np.empty(self.shape[0])
        over_rows(lambda a, b: kernels.stored_squares(self._indptr, self._u, out, a, b), len(out), grain=1024)
        return out

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row: stored entries, plus ω₀ times what the loss would be if all entries were 0."""
        if self._several_blocks:
            return Matrix.row_divergence(self, W, Ht, loss, shift)
        out = self._zero_divergence(W, Ht, loss, shift) if self.background else np.zeros(self.shape[0])
        v = _NONE.astype(self.dtype) if self._v is None else self._v
        compiled = kernels_for(loss)
        over_rows(
            lambda a, b: compiled.sparse_divergence(
                self._indptr,
                self._indices,
                self._u,
                v,
                self._flat_v,
                self.background,
                W,
                Ht,
                loss.parameter,
                shift,
                out,
                a,
                b,
            ),
            self.shape[0],
        )
        return out

    def _zero_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Σ_j d(0 | y_ij) for each row."""
        W64, H64 = W.astype(float, copy=False), Ht.astype(float, copy=False)
        if loss.gram:
            return 0.5 * np.einsum("ij,ij->i", W64 @ (H64.T @ H64), W64)
        if loss.flat:
            # d(0 | y) = y.
            return W64 @ H64.sum(axis=0) + shift * self.shape[1]
        out = np.empty(self.shape[0])
        compiled = kernels_for(loss)

        def task(part: slice, Y: np.ndarray) -> None:
            compiled.zero_divergence(Y, loss.parameter, shift, out[part])

        self._over_reconstructions(W, Ht, task)
        return out

    def _over_reconstructions(
        self, A: np.ndarray, B: np.ndarray, task: Callable[[slice, np.ndarray], None]
    ) -> None:
        """Call `task(rows, A Bᵀ of these rows)`, a few rows at a time: most losses have no closed sum over zeros."""
        n, m = self.shape
        height = max(1, min(n, PART_ENTRIES // max(1, m)))
        Bt = np.ascontiguousarray(B.T)

        def range_task(start: int, stop: int) -> None:
            for first in range(start, stop, height):
                part = slice(first, min(first + height, stop))
                task(part, A[part] @ Bt)

        with own_threads():
            over_rows(range_task, n, grain=16)

    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, loss: Loss, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of the multiplicative update."""
        Bc = self.inner(B)
        num, den = np.zeros_like(A), np.zeros_like(A)
        compiled = kernels_for(loss)
        if self.background:
            if loss.gram:
                den = A @ (B.T @ Bc)
            elif loss.flat:
                den[:] = Bc.sum(axis=0)
            else:

                def task(part: slice, Y: np.ndarray) -> None:
                    compiled.zero_push(Y, loss.parameter, shift)
                    den[part] = Y @ Bc

                self._over_reconstructions(A, B, task)
        v = _NONE.astype(self.dtype) if self._v is None else self._v
        over_rows(
            lambda a, b: compiled.sparse_ratios(
                self._indptr,
                self._indices,
                self._u,
                v,
                self._flat_v,
                A,
                B,
                Bc,
                loss.parameter,
                shift,
                num,
                den,
                a,
                b,
            ),
            self.shape[0],
        )
        return num, den

    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """The rows as one slab; the data are not copied unless they are weighted."""
        part = slice(int(self._indptr[start]), int(self._indptr[stop]))
        indices, u = self._indices[part], self._u[part]
        v = None if self._v is None else self._v[part]
        if v is None and self.background == 0.0:
            v = np.ones_like(u)
        if self.inner_weight is not None:
            scale = self.inner_weight.astype(self.dtype)[indices]
            u = u * scale
            v = None if v is None else v * scale
        indptr = self._indptr[start : stop + 1].astype(np.int64) - part.start
        yield RowSlab(start, stop, indptr, indices, u, np.empty(0, self.dtype) if v is None else v)


def transposed(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compressed rows of the transpose: indptr, indices, and each row of `values` in the new order.

    Ranges of rows are counted, then placed, each on its own thread: the places of a range follow those of the ranges
    before it, so the order inside a column is that of the rows, however the rows were split.
    """
    n = len(indptr) - 1
    ranges = max(1, min(get_threads(), len(indices) >> 16))
    cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], ranges + 1)[1:-1])
    edges = [0, *cuts.tolist(), n]
    fill = np.zeros((ranges, n_columns), dtype=indptr.dtype)

    def count(a: int, b: int) -> None:
        for r in range(a, b):
            kernels.count_columns(indptr, indices, fill[r], edges[r], edges[r + 1])

    over_rows(count, ranges, grain=1)
    starts = np.zeros(n_columns + 1, dtype=indptr.dtype)
    np.cumsum(fill.sum(axis=0), out=starts[1:])
    fill[1:] = np.cumsum(fill[:-1], axis=0)
    fill[0] = 0
    fill += starts[:-1]
    rows_out = np.empty(len(indices), dtype=indices.dtype)
    values_out = np.empty_like(values, shape=(len(values), len(indices)))

    def place(a: int, b: int) -> None:
        for r in range(a, b):
            kernels.scatter_columns(
                indptr, indices, values, fill[r], rows_out, values_out, edges[r], edges[r + 1]
            )

    over_rows(place, ranges, grain=1)
    return starts, rows_out, values_out
