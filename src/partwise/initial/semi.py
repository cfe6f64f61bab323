"""Where a Semi-NMF starts: W ≥ 0, and the signed H that fits it best."""

from __future__ import annotations

import numpy as np

from partwise.initial.nndsvd import truncated_svd
from partwise.matrix import Matrix

#: Rows whose entry of the first singular vector is below this share of its root mean square set no shift.
FAINT = 0.1


def svd_start(X: Matrix, n_components: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ from the singular value decomposition U S Vᵀ, the better of two.

    Where the first singular vector is positive, as for nonnegative X, adding enough of it to the others makes them
    nonnegative, and H can undo that: W H is then the truncated decomposition itself, the best of its rank (Gillis &
    Kumar 2015). Elsewhere the larger of the positive and the negative half of each vector is better. H is
    the least-squares fit of U S Vᵀ, so neither costs a further pass over X.
    """
    U, S, Vt = truncated_svd(X, n_components, rng, signed=True)
    root = 1.0 if X.row_weight is None else np.sqrt(X.row_weight)[:, None]
    best, least = None, np.inf
    for W in (_shifted(U), _halves(U, root)):
        A = np.linalg.lstsq(root * W, root * U, rcond=None)[0]
        missed = float(np.linalg.norm(root * (W @ A - U) * S))
        if missed < least:
            best, least = (W, (Vt.T * S) @ A.T), missed
    assert best is not None
    return best[0].astype(X.dtype), np.ascontiguousarray(best[1], dtype=X.dtype)


def _shifted(U: np.ndarray) -> np.ndarray:
    """Each column plus as much of the first as makes it nonnegative."""
    first = np.maximum(U[:, 0] if U[:, 0].sum() >= 0 else -U[:, 0], 0.0)
    clear = first > FAINT * np.sqrt(np.mean(first**2))
    ratio = U[clear] / first[clear, None]
    up, down = (-ratio).max(axis=0, initial=0.0), ratio.max(axis=0, initial=0.0)
    W = np.maximum(np.where(up <= down, U, -U) + np.minimum(up, down) * first[:, None], 0.0)
    W[:, 0] = first
    return W


def _halves(U: np.ndarray, root: np.ndarray | float) -> np.ndarray:
    """The positive or the negative half of each column, whichever is larger."""
    positive, negative = np.maximum(U, 0.0), np.maximum(-U, 0.0)
    larger = ((root * positive) ** 2).sum(axis=0) >= ((root * negative) ** 2).sum(axis=0)
    return np.where(larger, positive, negative)


def random_semi(X: Matrix, n_components: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """|N(0, 1)| entries for W, and Hᵀ by least squares, missing entries taken for zeros."""
    W = np.abs(rng.standard_normal((X.shape[0], n_components)))
    weighted = W if X.row_weight is None else W * X.row_weight[:, None]
    product = X.transposed_product(weighted.astype(X.dtype)).astype(float)
    Ht = np.linalg.lstsq(W.T @ weighted, product.T, rcond=None)[0].T
    return W.astype(X.dtype), np.ascontiguousarray(Ht, dtype=X.dtype)
