"""Coordinate descent on the relaxed problem, factors in [0, 1]: a good place to begin the search among bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from partwise.parallel import over_rows


def relaxed_factors(
    X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5, max_iter: int = 60, tol: float = 1e-4
) -> tuple[np.ndarray, np.ndarray]:
    """W (n × k) and Ht (m × k) in [0, 1] that lower ½‖X − W Hᵀ‖² + sparsity (|W| + |H|), from a random start.

    `X` is a float array or a sparse matrix. Starts are scaled by √(mean / k): unscaled ones collapse to zero on
    the first step.
    """
    n, m = X.shape
    scale = np.sqrt(max(float(X.mean()), 1e-12) / rank)
    W = np.minimum(scale * 2.0 * rng.random((n, rank)), 1.0).astype(X.dtype)
    Ht = np.minimum(scale * 2.0 * rng.random((m, rank)), 1.0).astype(X.dtype)
    transposed = X.T.tocsr() if hasattr(X, "tocsr") else X.T
    for step in range(max_iter):
        # The penalty grows in, or it wipes out parts before they have found their place.
        level = sparsity * min(1.0, (step + 1) / 20)
        moved = bounded_sweep(W, np.asarray(X @ Ht), Ht.T @ Ht, level)
        moved += bounded_sweep(Ht, np.asarray(transposed @ W), W.T @ W, level)
        if step > 20 and moved <= tol * (float((W**2).sum()) + float((Ht**2).sum())):
            break
    return W, Ht


def bounded_sweep(A: np.ndarray, N: np.ndarray, G: np.ndarray, sparsity: float) -> float:
    """Two rounds over the coordinates of every row, in place; how far the rows moved, squared."""
    moved = np.zeros(len(A))
    kind = A.dtype.type
    over_rows(lambda a, b: bounded_rows(A[a:b], N[a:b], G, kind(sparsity), moved[a:b]), len(A), grain=64)
    return float(moved.sum())


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def bounded_rows(A: np.ndarray, N: np.ndarray, G: np.ndarray, sparsity: float, moved: np.ndarray) -> None:
    """Exact minimisation over one coordinate after the other, cut to [0, 1]."""
    n, k = A.shape
    for i in range(n):
        total = 0.0
        for _ in range(2):
            for t in range(k):
                g = G[t, t]
                if g <= 0:
                    continue
                slope = N[i, t] - sparsity
                for r in range(k):
                    slope -= G[t, r] * A[i, r]
                value = min(max(A[i, t] + slope / g, 0.0), 1.0)
                total += (value - A[i, t]) ** 2
                A[i, t] = value
        moved[i] = total
