"""Factors in [0, 1] by coordinate descent: a start for the search among bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.jit import njit
from partwise.parallel import over_rows


def relaxed_factors(
    X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5, max_iter: int = 60, tol: float = 1e-4
) -> tuple[np.ndarray, np.ndarray]:
    """Lower ½‖X − W Hᵀ‖² + sparsity (|W| + |H|) over W (n × k) and H (m × k) in [0, 1], from a random start.

    Random factors are scaled by √(mean of X / k): unscaled ones collapse to zero in the first step.

    Parameters
    ----------
    X : array or sparse matrix of float of shape (n, m)
    rank : int
    rng : numpy.random.Generator
    sparsity : float
    max_iter : int
    tol : float
        Ends when a round moves the factors, in squared norm, by no more than this share of theirs.

    Returns
    -------
    tuple
        W and H, of the dtype of X.
    """
    n, m = X.shape
    scale = np.sqrt(max(float(X.mean()), 1e-12) / rank)
    W = np.minimum(scale * 2.0 * rng.random((n, rank)), 1.0).astype(X.dtype)
    Ht = np.minimum(scale * 2.0 * rng.random((m, rank)), 1.0).astype(X.dtype)
    transposed = X.T.tocsr() if hasattr(X, "tocsr") else X.T
    for step in range(max_iter):
        # The penalty grows over the first steps: at full size it would wipe out components before they form.
        level = sparsity * min(1.0, (step + 1) / 20)
        moved = bounded_sweep(W, np.asarray(X @ Ht), Ht.T @ Ht, level)
        moved += bounded_sweep(Ht, np.asarray(transposed @ W), W.T @ W, level)
        if step > 20 and moved <= tol * (float(np.vdot(W, W)) + float(np.vdot(Ht, Ht))):
            break
    return W, Ht


def bounded_sweep(A: np.ndarray, N: np.ndarray, G: np.ndarray, sparsity: float) -> float:
    """Minimise over every coordinate of every row of A once, in place; returns the squared distance moved.

    The objective is ½‖X − A Bᵀ‖² + sparsity |A|, given by N = X B and G = Bᵀ B.
    """
    moved = np.zeros(len(A))
    kind = A.dtype.type
    over_rows(lambda a, b: bounded_rows(A[a:b], N[a:b], G, kind(sparsity), moved[a:b]), len(A), grain=1024)
    return float(moved.sum())


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def bounded_rows(A: np.ndarray, N: np.ndarray, G: np.ndarray, sparsity: float, moved: np.ndarray) -> None:
    """The same for a block of rows: the exact minimum over one coordinate after the other, cut to [0, 1].

    The slopes of a row are kept up to date, because most coordinates rest at a bound, and one that rests costs
    nothing.
    """
    n, k = A.shape
    # Constants of the array's own type, because others would make the loops compute in float64.
    nothing, whole = A.dtype.type(0), A.dtype.type(1)
    slope, inverse = np.empty(k, A.dtype), np.zeros(k, A.dtype)
    for t in range(k):
        if G[t, t] > nothing:
            inverse[t] = whole / G[t, t]
    for i in range(n):
        for t in range(k):
            slope[t] = N[i, t] - sparsity
        for r in range(k):
            weight = A[i, r]
            if weight != nothing:
                for t in range(k):
                    slope[t] -= G[r, t] * weight
        total = 0.0
        for t in range(k):
            old = A[i, t]
            value = min(max(old + slope[t] * inverse[t], nothing), whole)
            step = value - old
            if step != nothing:
                A[i, t] = value
                total += step * step
                for r in range(k):
                    slope[r] -= G[t, r] * step
        moved[i] = total
