"""Compiled leaf functions over sparse rows. Each works on a range of rows and touches no other."""

from __future__ import annotations

import numpy as np

from partwise.jit import njit


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def fill_and_measure(u: np.ndarray, v: np.ndarray, Y: np.ndarray, errors: np.ndarray) -> None:
    """Put the data u into the reconstruction Y wherever their weight v is not 0.

    Into `errors` go the squared distances of the data from the reconstruction, by rows.
    """
    for i in range(Y.shape[0]):
        total = 0.0
        for j in range(Y.shape[1]):
            filled = u[i, j] if v[i, j] != 0.0 else Y[i, j]
            d = np.float64(filled - Y[i, j])
            total += d * d
            Y[i, j] = filled
        errors[i] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def square_errors(u: np.ndarray, v: np.ndarray, Y: np.ndarray) -> None:
    """Replace the reconstruction Y by its squared distance from the data u, 0 where their weight v is 0."""
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            d = u[i, j] - Y[i, j]
            Y[i, j] = d * d if v[i, j] != 0.0 else 0.0 * d


@njit(cache=True, nogil=True)
def copy_columns(array: np.ndarray, start: int, out: np.ndarray) -> None:
    """Columns `start` … of an array in C order as the rows of `out`.

    Sixteen rows at a time: they share the cache lines that columns next to each other are read from.
    """
    n = array.shape[0]
    whole = n - n % 16
    for i in range(0, whole, 16):
        for j in range(out.shape[0]):
            for q in range(16):
                out[j, i + q] = array[i + q, start + j]
    for i in range(whole, n):
        for j in range(out.shape[0]):
            out[j, i] = array[i, start + j]


# Squares are added one after the other in all three, so that zeros that are stored or not change no bit of a sum.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def row_squares(X: np.ndarray, out: np.ndarray, start: int, stop: int) -> None:
    """Sums of the squares of rows `start … stop`, in double precision.

    Four rows at a time: each sum waits for its last addition, and four of them wait together.
    """
    whole = stop - (stop - start) % 4
    for i in range(start, whole, 4):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(X.shape[1]):
            p, q = np.float64(X[i, j]), np.float64(X[i + 1, j])
            r, s = np.float64(X[i + 2, j]), np.float64(X[i + 3, j])
            a += p * p
            b += q * q
            c += r * r
            d += s * s
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
    for i in range(whole, stop):
        total = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            total += x * x
        out[i] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def add_column_squares(X: np.ndarray, out: np.ndarray, start: int, stop: int) -> None:
    """Add the squares of columns `start … stop` to `out`, in double precision."""
    for i in range(X.shape[0]):
        for j in range(start, stop):
            x = np.float64(X[i, j])
            out[j] += x * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def stored_squares(indptr: np.ndarray, data: np.ndarray, out: np.ndarray, start: int, stop: int) -> None:
    """Sums of the squares of what rows `start … stop` of a compressed-row matrix store, in double precision."""
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[e])
            total += x * x
        out[i] = total
