"""Products of dense and sparse data with a narrow matrix, and by which kernels they are found."""

from __future__ import annotations

import numpy as np

from partwise.matrix.gather_kernels import GATHER_ROWS, MOST
from partwise.matrix.kernels import sparse_product
from partwise.matrix.narrow_kernels import ADD_ROWS, DEPTH, DOT_ROWS, ROWS, VECTORS, WIDTHS
from partwise.matrix.vectors import AT_HAND, VECTOR_BYTES
from partwise.parallel import matmul, over_rows, worthwhile

#: Numbers of columns from which on BLAS is used, and numbers in B up to which it (for sparse rows, a plain loop) is:
#: there is little to gain, and compiling takes longer than many such products. Rows are not counted, so that a row
#: has the same bits whatever other rows there are.
WIDE, SMALL = 128, 4096
#: Bytes of the part of X, and of a row, that meet one tile of columns after the other.
_BLOCK_BYTES, _SPAN_BYTES = 1 << 18, 1 << 12
#: Sums down the rows are found in at most so many groups, by whichever thread is free.
_GROUPS = 16


def times(X: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X B; each row of it is the same to the bit whatever other rows X has.

    Parameters
    ----------
    X : array of shape (n, m)
        In either memory order.
    B : array of shape (m, k)
        The other matrix.

    Returns
    -------
    array of shape (n, k)
        The product.
    """
    if not _suits(X, B):
        return matmul(X, B)
    return _along(X, B) if X.flags.c_contiguous else _down(X.T, B)


def may_be_narrow(B: np.ndarray) -> bool:
    """Whether products with this matrix have kernels of their own here, likely to be faster than BLAS."""
    return AT_HAND and B.dtype in (np.float32, np.float64) and 1 < B.shape[1] < WIDE and bool(B.size > SMALL)


def _suits(X: np.ndarray, B: np.ndarray) -> bool:
    """Whether our own kernels can do it, and are likely to do it faster than BLAS."""
    return (
        X.dtype == B.dtype
        and may_be_narrow(B)
        and len(X) > 0
        and (X.flags.c_contiguous or X.flags.f_contiguous)
    )


def _tile_width(columns: int) -> int:
    """Columns of a tile such that whole tiles cover little more than so many; of equally good ones the largest."""
    return min(WIDTHS, key=lambda width: -(-columns // width) * width)


def _along(X: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X B, for X whose rows are contiguous."""
    n, m = X.shape
    k = B.shape[1]
    lanes = VECTOR_BYTES // X.itemsize
    padded = -(-m // lanes) * lanes
    Bt = np.zeros((k, padded), X.dtype)
    Bt[:, :m] = B.T
    # Spans of about the same length, of whole vectors.
    span = -(-padded // (lanes * max(1, -(-padded * X.itemsize // _SPAN_BYTES)))) * lanes
    block = ROWS * max(1, _BLOCK_BYTES // max(1, ROWS * m * X.itemsize))
    out = np.zeros((n, k), X.dtype)
    kernel = DOT_ROWS[_tile_width(k)]
    over_rows(
        lambda first, last: kernel(X, first, last, Bt, block, span, out),
        n,
        grain=worthwhile(m * k / lanes, ROWS),
    )
    return out


def _down(X: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Xᵀ A, for X whose rows are contiguous."""
    n, m = X.shape
    k = A.shape[1]
    A = np.ascontiguousarray(A)
    length = VECTORS * (VECTOR_BYTES // X.itemsize)
    padded = -(-m // length) * length
    groups = max(1, min(_GROUPS, n // DEPTH))
    cuts = np.linspace(0, n, groups + 1).astype(int)
    sums = np.zeros((groups, k, padded), X.dtype)
    kernel = ADD_ROWS[_tile_width(k)]

    def task(first: int, last: int) -> None:
        for group in range(first, last):
            kernel(X, cuts[group], cuts[group + 1], A, sums[group])

    over_rows(task, groups, grain=1)
    total = sums[0]
    for group in range(1, groups):
        total += sums[group]
    return np.ascontiguousarray(total[:, :m].T)


def gathered(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rows of a compressed-row matrix times B; each is the same to the bit whatever other rows there are.

    Parameters
    ----------
    indptr, indices, data : arrays
        Of the compressed rows, as SciPy has them.
    B : array of shape (m, k)
        The other matrix, C-contiguous, of the type of `data`.

    Returns
    -------
    array of shape (n, k)
        The product.
    """
    n, (m, k) = len(indptr) - 1, B.shape
    lanes = VECTOR_BYTES // B.itemsize
    width = -(-k // lanes)
    if not AT_HAND or B.size <= SMALL or width > MOST:
        out = np.zeros((n, k), B.dtype)
        over_rows(lambda a, b: sparse_product(indptr, indices, data, B, out, a, b), n)
        return out
    if 4 * len(indices) < m:
        # A few rows of X need only their rows of B.
        B, indices = B[indices], np.arange(len(indices), dtype=indices.dtype)
        m = len(B)
    # Vectors of the last row may reach this far beyond its end.
    flat = np.empty(m * k + width * lanes, B.dtype)
    flat[: m * k] = B.ravel()
    flat[m * k :] = 0
    out, kernel = np.empty((n, k), B.dtype), GATHER_ROWS[width]
    over_rows(lambda a, b: kernel(indptr, indices, data, flat, k, out, a, b), n)
    return out
