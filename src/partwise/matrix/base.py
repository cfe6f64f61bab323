"""The contract between data and solvers.

A `Matrix` is n × m data X with weights ω, seen only through sums over its entries. The one thing every
matrix can do is to hand out row blocks that fit in memory, in order; whatever a solver needs of the other
factor it adds up while the blocks pass by, so that one pass over the rows serves a whole iteration. Data in
memory are a single block.

A block stores, for each entry it holds, u = ω x and v = ω − ω₀, where ω₀ (`background`) is the weight of the
entries it does not hold: 1 for sparse data whose unstored entries are zeros and for dense data without
weights, 0 where unstored means unobserved. Every loss is then a sum over held entries plus ω₀
times a sum over all pairs of rows, which needs no data.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RowSlab:
    """Rows `start … stop` of a block, packed row after row.

    Dense rows hold all columns and have no `indices`; an empty `v` is zero everywhere.
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

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Row blocks in order, each with the rows it covers."""

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
        """(ω X) · B, of shape n × k."""
        return np.concatenate([block.product(B) for _, block in self.blocks()])

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """(ω X)ᵀ · A, of shape m × k."""
        parts = (block.T.product(A[rows]) for rows, block in self.blocks())
        return sum(parts, np.zeros((self.shape[1], A.shape[1]), self.dtype))

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """ω · B, of shape n × k."""
        return np.concatenate([block.weight_product(B) for _, block in self.blocks()])

    def transposed_weight_product(self, A: np.ndarray) -> np.ndarray:
        """ωᵀ · A, of shape m × k."""
        parts = (block.T.weight_product(A[rows]) for rows, block in self.blocks())
        return sum(parts, np.zeros((self.shape[1], A.shape[1]), self.dtype))

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, beta: float, shift: float) -> np.ndarray:
        """Σ_j ω_ij d_β(x_ij | (W H)_ij + shift) for each row i, in double precision.

        `shift` is 0 for β ≥ 2, which has no pole to keep away from.
        """
        return np.concatenate(
            [block.row_divergence(W[rows], Ht, beta, shift) for rows, block in self.blocks()]
        )

    def row_observed(self) -> np.ndarray:
        """Σ_j ω_ij: how much of each row was observed."""
        return self.weight_product(np.ones((self.shape[1], 1), self.dtype))[:, 0].astype(float)

    def column_observed(self) -> np.ndarray:
        """Σ_i r_i ω_ij: how much of each column was observed, with row weights r."""
        r = np.ones(self.shape[0], self.dtype) if self.row_weight is None else self.row_weight
        return self.transposed_weight_product(r.astype(self.dtype)[:, None])[:, 0].astype(float)

    def mean(self) -> float:
        """Σ r ω x / Σ r ω: mean of the observed entries."""
        r = np.ones(self.shape[0]) if self.row_weight is None else self.row_weight
        observed = self.row_observed() @ r
        total = self.product(np.ones((self.shape[1], 1), self.dtype))[:, 0].astype(float) @ r
        return float(total / observed) if observed > 0 else 0.0

    def digest(self) -> str:
        """A short hash of entries and weights, the same for the same data in the same form."""
        made = hashlib.blake2b(digest_size=12)
        for _, block in self.blocks():
            for slab in block.packed(0, block.shape[0]):
                for part in (slab.indptr, slab.indices, slab.u, slab.v):
                    made.update(np.ascontiguousarray(part).data)
        if self.row_weight is not None:
            made.update(np.ascontiguousarray(self.row_weight).data)
        return made.hexdigest()

    def squared_norm(self) -> float:
        """Σ r_i ω_ij x_ij²."""
        zeros = np.zeros((self.shape[0], 1), self.dtype), np.zeros((self.shape[1], 1), self.dtype)
        rows = 2.0 * self.row_divergence(*zeros, 2.0, 0.0)
        return float(rows.sum() if self.row_weight is None else rows @ self.row_weight)


class InMemory(Matrix):
    """A block: data whose rows and columns are both at hand."""

    #: Weights of the inner dimension: the row weights of the matrix that this one transposes.
    inner_weight: np.ndarray | None = None
    #: ω₀, the weight of the entries that are not held.
    background: float = 0.0

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
        """ω · B."""

    @abstractmethod
    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, beta: float, shift: float) -> np.ndarray:
        """Loss of each row."""

    @abstractmethod
    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, beta: float, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positive and negative part of −∂D/∂A: with y = A Bᵀ + shift and c the inner weights,

        num_ik = Σ_j c_j ω_ij x_ij y_ij^(β−2) B_jk   and   den_ik = Σ_j c_j ω_ij y_ij^(β−1) B_jk.
        """

    @abstractmethod
    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """Rows `start … stop` in slabs of moderate size, inner weights multiplied in.

        For solvers that work row by row; may be called from several threads.
        """

    def inner(self, B: np.ndarray) -> np.ndarray:
        """B with its rows multiplied by the inner weights."""
        return B if self.inner_weight is None else B * self.inner_weight.astype(B.dtype)[:, None]

    def transposed_product(self, A: np.ndarray) -> np.ndarray:
        """(ω X)ᵀ · A."""
        return self.T.product(A)

    def transposed_weight_product(self, A: np.ndarray) -> np.ndarray:
        """ωᵀ · A."""
        return self.T.weight_product(A)
