"""Orthonormal bases of tall matrices, by products with small matrices."""

from __future__ import annotations

import numpy as np

from partwise.parallel import matmul, over_rows

#: Rows of a block; fixed, so that sums have the same bits for any number of threads.
_BLOCK = 2048
#: Columns more dependent than this are left to Householder reflections.
_DEPENDENT = 1e-5
#: Numbers above this are left to double precision.
_LARGE = 1e30


def orthonormalise(Y: np.ndarray, exact: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Q and R with Y = Q R, Q having orthonormal columns and R being upper triangular.

    Cholesky's decomposition of YᵀY in double precision, twice over (Yamamoto et al. 2015): two products instead of
    reflections, which on tall matrices are many times slower. Where columns are nearly dependent, which squares of
    them cannot tell, it is `numpy.linalg.qr`.

    Parameters
    ----------
    Y : array of shape (n, r), n ≥ r
        The columns.
    exact : bool
        Whether Q is orthonormal to double precision; otherwise to about single precision and in the type of Y, enough
        to keep columns apart between two power iterations.

    Returns
    -------
    Q : array of shape (n, r)
    R : array of shape (r, r)
    """
    Q, R = Y, np.eye(Y.shape[1])
    for _ in range(2 if exact else 1):
        factor = _cholesky(Q)
        if factor is None:
            Q, R = np.linalg.qr(Y.astype(float))
            return (Q if exact else Q.astype(Y.dtype)), R
        inverse = np.linalg.inv(factor)
        # Columns of tiny numbers have an inverse beyond single precision.
        double = exact or np.abs(inverse).max() > _LARGE
        Q = matmul(Q.astype(float) if double else Q, inverse if double else inverse.astype(Y.dtype))
        R = factor @ R
    return (Q if exact else Q.astype(Y.dtype, copy=False)), R


def _cholesky(Y: np.ndarray) -> np.ndarray | None:
    """The upper triangular R with RᵀR = YᵀY, None where columns of Y are nearly dependent."""
    G = gram(Y)
    size = np.sqrt(np.diag(G))
    if not np.isfinite(G).all() or not (size > 0).all():
        return None
    try:
        # Columns of one length, so that only their directions decide.
        factor = np.linalg.cholesky(G / np.outer(size, size)).T
    except np.linalg.LinAlgError:
        return None
    return factor * size if np.diag(factor).min() > _DEPENDENT else None


def gram(Y: np.ndarray) -> np.ndarray:
    """YᵀY in double precision."""
    blocks = [slice(a, a + _BLOCK) for a in range(0, len(Y), _BLOCK)]
    parts = np.empty((len(blocks), Y.shape[1], Y.shape[1]))

    def fill(a: int, b: int) -> None:
        for i in range(a, b):
            block = Y[blocks[i]].astype(float, copy=False)
            np.matmul(block.T, block, out=parts[i])

    over_rows(fill, len(blocks), grain=1)
    return np.asarray(parts.sum(axis=0))
