"""The contract between data and solvers.

A `Matrix` is n × m data X with weights ω, seen only through sums over its entries. The one thing every
matrix can do is to hand out row blocks that fit in memory, in order; whatever a solver needs of the other
factor it adds up while the blocks pass by, so that one pass over the rows serves a whole iteration. Data in
memory are a single block, or several of fixed heights where they are large.

A block stores, for each entry it holds, u = ω x and v = ω − ω₀, where ω₀ (`background`) is the weight of the
entries it does not hold: 1 for sparse data whose unstored entries are zeros and for dense data without
weights, 0 where unstored means unobserved. Every loss is then a sum over held entries plus ω₀
times a sum over all pairs of rows, which needs no data.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.losses import FROBENIUS, Loss
from partwise.parallel import own_threads

Arrays = tuple[np.ndarray, ...]
#: (rows, block, parts of row arrays) → (row results, sums); see `Matrix.map_reduce`.
Task = Callable[..., tuple[Arrays, Arrays]]
#: Entries of a dense row block: 128 MB in double precision. The blocks of an array in memory and of the same array
#: in a file are the same, so that both are added up in the same order.
BLOCK_ENTRIES = 1 << 24


def block_height(n_features: int) -> int:
    """Rows of a dense block."""
    return max(1, BLOCK_ENTRIES // max(1, n_features))


def stored_most() -> int:
    """Entries that a sparse block stores, at most: with places, and transposed, the memory of a dense one."""
    return BLOCK_ENTRIES // 4


def stored_cuts(indptr: np.ndarray) -> list[int]:
    """Where sparse row blocks begin, and where the last one ends.

    A block takes rows while it stores at most `stored_most` entries, and at least one row. Where it ends depends on
    no row before it, so rows that come one after the other are cut in the same places as rows in memory.
    """
    n, most = len(indptr) - 1, stored_most()
    cuts = [0]
    while int(indptr[-1]) - int(indptr[cuts[-1]]) > most:
        full = int(np.searchsorted(indptr, int(indptr[cuts[-1]]) + most, side="right")) - 1
        cuts.append(max(full, cuts[-1] + 1))
    return cuts if cuts[-1] == n and n else [*cuts, n]


@dataclass(frozen=True)
class RowSlab:
    """Rows `start … stop` of a block, packed row after row.

    Parameters
    ----------
    start, stop : int
        The range of rows.
    indptr : array of int of shape (stop − start + 1,)
        Where each row begins in `u`, and where the last one ends.
    indices : array of int
        Column of each entry; empty for dense rows, which hold all columns.
    u : array
        ω x of each entry.
    v : array
        ω − ω₀ of each entry; empty if that is zero everywhere.
    """

    start: int
    stop: int
    indptr: np.ndarray
    indices: np.ndarray
    u: np.ndarray
    v: np.ndarray


class Matrix(ABC):
    """Data that can be read at least by row blocks."""

    shape: tuple[int, int]
    dtype: np.dtype
    #: How much each row counts in the objective; None when all count once.
    row_weight: np.ndarray | None = None
    _mean: float | None = None

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Row blocks in order; the same blocks at every call.

        Yields
        ------
        rows : slice
            The rows that the block covers.
        block : InMemory
            The block.
        """

    @abstractmethod
    def rows(self, index: Any) -> InMemory:
        """Some of the rows, in memory.

        Parameters
        ----------
        index : slice or array of int
            The rows; row numbers may repeat.

        Returns
        -------
        InMemory
            These rows, in this order.
        """

    def map_reduce(self, task: Task, *by_row: np.ndarray) -> tuple[Arrays, Arrays]:
        """Call ``task(rows, block, *parts)`` for every row block and put the results together.

        Parameters
        ----------
        task : callable
            Given the slice of rows, the block, and those rows of each array of `by_row`, which it must not change. It
            returns two tuples of arrays: results with a row for each row of the block, and sums over its rows.
        *by_row : arrays
            Arrays with a row for each row of the matrix.

        Returns
        -------
        tuple of arrays, tuple of arrays
            The row results of all blocks one after the other, and the sums of their sums, in the order of the rows.
        """
        found = [task(rows, block, *(part[rows] for part in by_row)) for rows, block in self.blocks()]
        if len(found) == 1:
            return found[0]
        stacked = tuple(np.concatenate(parts) for parts in zip(*(one[0] for one in found)))
        sums = [np.array(part) for part in found[0][1]]
        for _, more in found[1:]:
            for total, part in zip(sums, more):
                total += part
        return stacked, tuple(sums)

    @property
    @abstractmethod
    def weighted(self) -> bool:
        """Whether some entries are missing or weighted (beyond `row_weight`)."""

    @property
    def entries(self) -> int:
        """How many numbers one product with X touches; what a pass over the data costs, but for k."""
        return self.shape[0] * self.shape[1]

    @property
    def in_memory(self) -> bool:
        """Whether columns can be read as easily as rows."""
        return isinstance(self, InMemory)

    def product(self, B: np.ndarray) -> np.ndarray:
        """Product (ω X) · B.

        Parameters
        ----------
        B : array of shape (n_features, k)
            The other factor.

        Returns
        -------
        array of shape (n_samples, k)
            The product.
        """
        return self._by_row(lambda rows, block: block.product(B))

    def _by_row(self, task: Callable[..., np.ndarray], *by_row: np.ndarray) -> np.ndarray:
        """What `task(rows, block, …)` gives for the rows of every block."""
        return self.map_reduce(lambda *given: ((task(*given),), ()), *by_row)[0][0]

    def _summed(self, task: Callable[..., np.ndarray], *by_row: np.ndarray) -> np.ndarray:
        """The sum over blocks of what `task(rows, block, …)` gives."""
        return self.map_reduce(lambda *given: ((), (task(*given),)), *by_row)[1][0]

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """Product (ω X)ᵀ · A.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The other factor.

        Returns
        -------
        array of shape (n_features, k)
            The product.
        """
        return self._summed(lambda rows, block, part: block.T.product(part), A)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B of the entry weights.

        Parameters
        ----------
        B : array of shape (n_features, k)
            The other factor.

        Returns
        -------
        array of shape (n_samples, k)
            The product.
        """
        return self._by_row(lambda rows, block: block.weight_product(B))

    def transposed_weight_product(self, A: np.ndarray) -> np.ndarray:
        """Product ωᵀ · A of the entry weights.

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The other factor.

        Returns
        -------
        array of shape (n_features, k)
            The product.
        """
        return self._summed(lambda rows, block, part: block.T.weight_product(part), A)

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row, in double precision: Σ_j ω_ij d(x_ij | (W H)_ij + shift).

        Parameters
        ----------
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.
        loss : Loss
            d.
        shift : float
            δ; 0 for losses without a pole at zero.

        Returns
        -------
        array of shape (n_samples,)
            The loss of each row, without row weights.
        """
        return self._by_row(lambda rows, block, part: block.row_divergence(part, Ht, loss, shift), W)

    def row_observed(self) -> np.ndarray:
        """How much of each row was observed.

        Returns
        -------
        array of shape (n_samples,)
            Σ_j ω_ij.
        """
        return self.weight_product(np.ones((self.shape[1], 1), self.dtype))[:, 0].astype(float)

    def largest_weight(self) -> float:
        """The largest weight of an entry.

        Returns
        -------
        float
            max ω_ij; 1 where entries have no weights, and where none was observed.
        """
        if not self.weighted:
            return 1.0
        return max((part.largest_weight() for _, part in self.blocks()), default=0.0) or 1.0

    def column_observed(self) -> np.ndarray:
        """How much of each column was observed, with row weights r.

        Returns
        -------
        array of shape (n_features,)
            Σ_i r_i ω_ij.
        """
        r = np.ones(self.shape[0], self.dtype) if self.row_weight is None else self.row_weight
        return self.transposed_weight_product(r.astype(self.dtype)[:, None])[:, 0].astype(float)

    def mean(self) -> float:
        """Mean of the observed entries, computed at the first call.

        Returns
        -------
        float
            Σ r ω x / Σ r ω.
        """
        if self._mean is None:
            self._mean = self._find_mean()
        return self._mean

    def _find_mean(self) -> float:
        r = np.ones(self.shape[0]) if self.row_weight is None else self.row_weight
        observed = self.row_observed() @ r
        with own_threads():
            total = self.product(np.ones((self.shape[1], 1), self.dtype))[:, 0].astype(float) @ r
        return float(total / observed) if observed > 0 else 0.0

    def digest(self) -> str:
        """A short hash of entries and weights, the same for the same data in the same form.

        Returns
        -------
        str
            24 hexadecimal digits.
        """
        made = hashlib.blake2b(digest_size=12)
        for _, block in self.blocks():
            for slab in block.packed(0, block.shape[0]):
                for part in (slab.indptr, slab.indices, slab.u, slab.v):
                    made.update(np.ascontiguousarray(part).data)
        if self.row_weight is not None:
            made.update(np.ascontiguousarray(self.row_weight).data)
        return made.hexdigest()

    def squared_norm(self) -> float:
        """Squared norm of the data.

        Returns
        -------
        float
            Σ r_i ω_ij x_ij².
        """
        rows = np.concatenate([block.row_squares() for _, block in self.blocks()])
        return float(rows.sum() if self.row_weight is None else rows @ self.row_weight)


class InMemory(Matrix):
    """A block: data whose rows and columns are both at hand."""

    #: Weights of the inner dimension: the row weights of the matrix that this one transposes.
    inner_weight: np.ndarray | None = None
    #: ω₀, the weight of the entries that are not held.
    background: float = 0.0
    #: Whether rows can be packed, entry by entry.
    has_entries: bool = True

    @property
    def only_observed(self) -> bool:
        """Whether the entries that are held were observed, each with weight 1, and the others were not."""
        return False

    def row_squares(self) -> np.ndarray:
        """Sum of the squares of each row.

        Returns
        -------
        array of shape (n_samples,)
            Σ_j ω_ij x_ij², in double precision.
        """
        zeros = np.zeros((self.shape[0], 1), self.dtype), np.zeros((self.shape[1], 1), self.dtype)
        return 2.0 * self.row_divergence(*zeros, FROBENIUS, 0.0)

    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """The whole, once."""
        yield slice(0, self.shape[0]), self

    @property
    @abstractmethod
    def T(self) -> InMemory:
        """The transposed matrix: what is a W-step here is an H-step there."""

    @abstractmethod
    def product(self, B: np.ndarray) -> np.ndarray:
        """(ω X) · B."""

    @abstractmethod
    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B."""

    @abstractmethod
    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row."""

    @abstractmethod
    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, loss: Loss, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positive and negative part of −∂D/∂A, with y = A Bᵀ + shift and inner weights c.

            num_ik = Σ_j c_j ω_ij pull(x_ij, y_ij) B_jk,
            den_ik = Σ_j c_j ω_ij [push(y_ij) + drag(x_ij, y_ij)] B_jk

        Parameters
        ----------
        A : array of shape (n_samples, k)
            The factor that is updated.
        B : array of shape (n_features, k)
            The other factor.
        loss : Loss
            d, which gives pull, push and drag.
        shift : float
            δ; 0 for losses without a pole at zero.

        Returns
        -------
        num : array of shape (n_samples, k)
            The positive part.
        den : array of shape (n_samples, k)
            The negative part.
        """

    @abstractmethod
    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """Rows `start … stop` in slabs of moderate size, inner weights multiplied in.

        For solvers that work row by row; may be called from several threads.

        Parameters
        ----------
        start, stop : int
            The range of rows.

        Yields
        ------
        RowSlab
            Some of the rows, in order.
        """

    def arrays(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows `start … stop` of ω x and of ω as dense arrays in double precision.

        Parameters
        ----------
        start, stop : int
            The range of rows.

        Returns
        -------
        u : array of shape (stop − start, n_features)
            ω x.
        omega : array of shape (stop − start, n_features)
            ω.
        """
        height, m = stop - start, self.shape[1]
        u, omega = np.zeros((height, m)), np.full((height, m), float(self.background))
        for slab in self.packed(start, stop):
            at = slice(slab.start - start, slab.stop - start)
            if len(slab.indices) == 0 and len(slab.u) == (slab.stop - slab.start) * m:
                u[at] = slab.u.reshape(-1, m)
                if len(slab.v):
                    omega[at] += slab.v.reshape(-1, m)
                continue
            line = np.repeat(np.arange(at.start, at.stop), np.diff(slab.indptr))
            u[line, slab.indices] = slab.u
            if len(slab.v):
                omega[line, slab.indices] += slab.v
        return u, omega

    @classmethod
    def stacked(cls, parts: Sequence[Any]) -> InMemory:
        """Row blocks of this kind on top of each other.

        Parameters
        ----------
        parts : sequence of InMemory
            Blocks of this class with the same columns.

        Returns
        -------
        InMemory
            One block with all their rows.
        """
        raise NotImplementedError(f"{cls.__name__} blocks cannot be stacked")

    def inner(self, B: np.ndarray) -> np.ndarray:
        """Multiply the rows of B by the inner weights.

        Parameters
        ----------
        B : array of shape (n_features, k)
            The other factor.

        Returns
        -------
        array of shape (n_features, k)
            The product; B itself where there are no inner weights.
        """
        return B if self.inner_weight is None else B * self.inner_weight.astype(B.dtype)[:, None]

    @property
    def row_groups(self) -> np.ndarray | None:
        """Which rows share a Gram matrix; None if all do. See `gram`."""
        return None

    def gram(self, B: np.ndarray) -> np.ndarray:
        """What the update of a row under the Frobenius loss needs of the other factor, beside `product`.

        Parameters
        ----------
        B : array of shape (n_features, k)
            The other factor.

        Returns
        -------
        array of shape (k, k), or (n_groups, k, k)
            Bᵀ B with the inner weights; one for each group of rows where there are `row_groups`.
        """
        return B.T @ self.inner(B)

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """(ω X)ᵀ · A."""
        return self.T.product(A)

    def transposed_weight_product(self, A: np.ndarray) -> np.ndarray:
        """Product ωᵀ · A."""
        return self.T.weight_product(A)
