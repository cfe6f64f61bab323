"""A matrix known only as a product of two thin ones: X after compression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise.losses import Loss
from partwise.matrix.base import InMemory, RowSlab
from partwise.parallel import matmul


class LowRank(InMemory):
    """Q · B with Q tall and B wide. It has products, and nothing that needs single entries."""

    def __init__(self, Q: np.ndarray, B: np.ndarray) -> None:
        self.Q, self.B = Q, B
        self.shape = (Q.shape[0], B.shape[1])
        self.dtype = Q.dtype
        self.background = 1.0

    @property
    def T(self) -> LowRank:
        """Bᵀ · Qᵀ."""
        return LowRank(self.B.T, self.Q.T)

    @property
    def weighted(self) -> bool:
        """False: single entries are not kept, so all count once."""
        return False

    def rows(self, index: Any) -> LowRank:
        """Some rows of Q, with B."""
        return LowRank(self.Q[index], self.B)

    def product(self, B: np.ndarray) -> np.ndarray:
        """Product by Q (B · …), without forming Q B."""
        return matmul(self.Q, self.B @ B)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Column sums, for every row."""
        return np.broadcast_to(B.sum(axis=0), (self.shape[0], B.shape[1])).copy()

    def squared_norm(self) -> float:
        """‖Q B‖² from the small Gram matrices."""
        return float(np.vdot((self.Q.T @ self.Q).astype(float), (self.B @ self.B.T).astype(float)))

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """½‖q_i B − w_i H‖² for each row, from products; the Frobenius loss only."""
        self._only_frobenius(loss)
        square = np.einsum("ij,ij->i", self.Q @ (self.B @ self.B.T), self.Q, dtype=float)
        cross = np.einsum("ij,ij->i", self.product(Ht), W, dtype=float)
        model = np.einsum("ij,ij->i", W @ (Ht.T @ Ht), W, dtype=float)
        return 0.5 * square - cross + 0.5 * model

    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, loss: Loss, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """As for any complete matrix under the Frobenius loss."""
        self._only_frobenius(loss)
        return self.product(B), A @ (B.T @ B)

    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """There are no entries to pack."""
        raise NotImplementedError("a compressed matrix has no entries; use a solver that needs only products")

    @staticmethod
    def _only_frobenius(loss: Loss) -> None:
        if not loss.gram:
            raise NotImplementedError("a compressed matrix knows only the Frobenius loss")
