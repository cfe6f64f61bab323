"""tensorly's nonnegative PARAFAC by HALS, on a matrix, dense."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """`tensorly.decomposition.non_negative_parafac_hals` from given factors."""

    name: ClassVar[str] = "tensorly"

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It must be installed; Frobenius, dense."""
        if importlib.util.find_spec("tensorly") is None:
            return "not installed"
        if beta != 2.0:
            return "minimises only the Frobenius loss"
        return "takes dense data only" if hasattr(X, "tocsr") else None

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        self.X, self.W, self.Ht = X, W.copy(), np.ascontiguousarray(H.T)

    def advance(self, iterations: int) -> None:
        """One call from where the last ended."""
        from tensorly.cp_tensor import CPTensor
        from tensorly.decomposition import non_negative_parafac_hals

        k = self.W.shape[1]
        start = CPTensor((np.ones(k, self.W.dtype), [self.W, self.Ht]))
        weights, (W, Ht) = non_negative_parafac_hals(
            self.X, k, init=start, n_iter_max=iterations, tol=0, normalize_factors=False
        )
        self.W, self.Ht = W * weights, Ht

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """As returned."""
        return self.W, self.Ht.T
