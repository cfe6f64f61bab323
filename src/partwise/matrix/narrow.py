"""Products with a narrow matrix: which are found by our own kernels, and the numbers of rows that these take."""

from __future__ import annotations

import numpy as np
from llvmlite import binding
from numba.core import config

from partwise.matrix.narrow_kernels import ADD_ROWS, DEPTH, DOT_ROWS, ROWS, VECTOR_BYTES, VECTORS, WIDTHS
from partwise.parallel import matmul, over_rows, worthwhile


def _wide_registers() -> bool:
    """Whether kernels are compiled, for a processor with AVX-512: with narrower registers BLAS is as fast."""
    features = getattr(config, "CPU_FEATURES", None)
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",") and not getattr(config, "DISABLE_JIT", 0)


#: Whether there are own kernels for this processor.
AT_HAND = _wide_registers()
#: Numbers of columns from which on BLAS is used.
WIDE = 128
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


def _suits(X: np.ndarray, B: np.ndarray) -> bool:
    """Whether our own kernels can do it, and are likely to do it faster than BLAS."""
    return (
        AT_HAND
        and X.dtype == B.dtype
        and X.dtype in (np.float32, np.float64)
        and 1 < B.shape[1] < WIDE
        and min(X.shape) > 0
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
