"""Compiled leaf functions over the entries of a matrix. Each works on a range of rows and touches no other."""

from __future__ import annotations

import numpy as np

from partwise.jit import njit
from partwise.losses.scalar import divergence

# Sums may be reassociated (that is what lets them use vector instructions); infinities and NaN stay honest.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def dense_ratios(
    u: np.ndarray, v: np.ndarray, Y: np.ndarray, P: np.ndarray, beta: float, shift: float
) -> None:
    """Overwrite Y by u y^(β−2) and P by v y^(β−1), with y = Y + shift; an empty v is all ones."""
    n, m = Y.shape
    delta = Y.dtype.type(shift)
    weighted = v.shape[0] > 0
    one = Y.dtype.type(1.0)
    for i in range(n):
        if beta == 1.0:
            for j in range(m):
                Y[i, j] = u[i, j] / (Y[i, j] + delta)
            if weighted:
                for j in range(m):
                    P[i, j] = v[i, j]
        elif beta == 2.0:
            for j in range(m):
                P[i, j] = (v[i, j] if weighted else one) * Y[i, j]
                Y[i, j] = u[i, j]
        elif beta == 0.0:
            for j in range(m):
                r = one / (Y[i, j] + delta)
                P[i, j] = (v[i, j] if weighted else one) * r
                Y[i, j] = u[i, j] * r * r
        else:
            for j in range(m):
                y = Y[i, j] + delta
                p = y ** (beta - 2.0)
                P[i, j] = (v[i, j] if weighted else one) * p * y
                Y[i, j] = u[i, j] * p


@njit(cache=True, nogil=True, error_model="numpy")
def dense_divergence(
    u: np.ndarray, v: np.ndarray, Y: np.ndarray, beta: float, shift: float, sums: np.ndarray
) -> None:
    """Overwrite Y by ω d(x | Y + shift); add each row's total to `sums` unless that is empty."""
    n, m = Y.shape
    weighted = v.shape[0] > 0
    for i in range(n):
        total = 0.0
        for j in range(m):
            y = np.float64(Y[i, j]) + shift
            if weighted:
                w = np.float64(v[i, j])
                d = w * divergence(np.float64(u[i, j]) / w, y, beta) if w > 0.0 else 0.0
            else:
                d = divergence(np.float64(u[i, j]), y, beta)
            Y[i, j] = d
            total += d
        if sums.shape[0] > 0:
            sums[i] += total


# One entry after the other, as BLAS adds them up: sparse and dense data then follow the same path for longer.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def sparse_product(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    B: np.ndarray,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop` of a compressed-row matrix times B."""
    k = B.shape[1]
    for i in range(start, stop):
        row = out[i]
        e, last = indptr[i], indptr[i + 1]
        # Four entries at a time, so that the row of the result is moved less.
        while e + 4 <= last:
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            b0, b1 = B[np.uint64(indices[e])], B[np.uint64(indices[e + 1])]
            b2, b3 = B[np.uint64(indices[e + 2])], B[np.uint64(indices[e + 3])]
            for t in range(k):
                row[t] = (((row[t] + x0 * b0[t]) + x1 * b1[t]) + x2 * b2[t]) + x3 * b3[t]
            e += 4
        while e < last:
            x = data[e]
            b = B[np.uint64(indices[e])]
            for t in range(k):
                row[t] += x * b[t]
            e += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def sparse_ratios(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    flat_v: float,
    A: np.ndarray,
    B: np.ndarray,
    Bc: np.ndarray,
    beta: float,
    shift: float,
    num: np.ndarray,
    den: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add the stored entries' u y^(β−2) Bc to `num` and v y^(β−1) Bc to `den`; an empty v is `flat_v`."""
    k = A.shape[1]
    weighted = v.shape[0] > 0
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            y = A.dtype.type(shift)
            for t in range(k):
                y += A[i, t] * B[j, t]
            if beta == 1.0:
                ratio, power = u[e] / y, A.dtype.type(1.0)
            elif beta == 2.0:
                ratio, power = u[e], y
            else:
                p = A.dtype.type(y ** (beta - 2.0))
                ratio, power = u[e] * p, p * y
            for t in range(k):
                num[i, t] += ratio * Bc[j, t]
            vv = v[e] if weighted else A.dtype.type(flat_v)
            if vv != 0.0:
                for t in range(k):
                    den[i, t] += vv * power * Bc[j, t]


@njit(cache=True, nogil=True, error_model="numpy")
def sparse_divergence(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    flat_v: float,
    background: float,
    A: np.ndarray,
    B: np.ndarray,
    beta: float,
    shift: float,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add Σ_stored ω d(x | y) − ω₀ d(0 | y) to each row's loss."""
    k = A.shape[1]
    weighted = v.shape[0] > 0
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            y = shift
            for t in range(k):
                y += np.float64(A[i, t]) * np.float64(B[j, t])
            w = (np.float64(v[e]) if weighted else flat_v) + background
            if w > 0.0:
                total += w * divergence(np.float64(u[e]) / w, y, beta)
            if background > 0.0:
                total -= background * divergence(0.0, y, beta)
        out[i] += total


@njit(cache=True, nogil=True)
def count_columns(indptr: np.ndarray, indices: np.ndarray, counts: np.ndarray, start: int, stop: int) -> None:
    """Add to `counts` how often each column occurs in rows `start … stop`."""
    for e in range(indptr[start], indptr[stop]):
        counts[np.uint64(indices[e])] += 1


@njit(cache=True, nogil=True)
def scatter_columns(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    fill: np.ndarray,
    rows_out: np.ndarray,
    data_out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Put rows `start … stop` where the transpose wants them: column j's next entry goes to place fill[j].

    `data` holds one or several values for each stored entry, one array after the other.
    """
    kinds = data.shape[0]
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            place = np.uint64(fill[j])
            fill[j] += 1
            rows_out[place] = i
            for a in range(kinds):
                data_out[a, place] = data[a, e]
