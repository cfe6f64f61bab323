"""The score of all racers: the full objective, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.losses import BetaDivergence
from partwise.matrix import Dense, Sparse
from partwise.parallel import own_threads


class Objective:
    """D(X | WH) for one data set and one β."""

    def __init__(self, X: Any, beta: float) -> None:
        self.X = X.astype(np.float64)
        self.matrix = Sparse.of(self.X) if hasattr(X, "tocsr") else Dense.of(self.X)
        self.loss = BetaDivergence(beta)
        self.shift = self.loss.shift(self.matrix.mean(), self.matrix.dtype)

    def __call__(self, W: np.ndarray, H: np.ndarray) -> float:
        """The objective at these factors, whatever their type and layout."""
        W64 = np.ascontiguousarray(W, dtype=np.float64)
        Ht64 = np.ascontiguousarray(np.asarray(H, dtype=np.float64).T)
        # Without BLAS's own threads: they go on spinning for a while, at the cost of the next measurement.
        with own_threads():
            return float(self.matrix.row_divergence(W64, Ht64, self.loss, self.shift).sum())


def starting_point(X: Any, n_components: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The factors every racer starts from."""
    rng = np.random.default_rng(seed)
    scale = np.sqrt(X.mean() / n_components)
    W = scale * np.abs(rng.standard_normal((X.shape[0], n_components)))
    H = scale * np.abs(rng.standard_normal((n_components, X.shape[1])))
    return W.astype(X.dtype), H.astype(X.dtype)
