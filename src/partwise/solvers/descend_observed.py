"""Coordinate descent under the Frobenius loss on entries that are observed or not, compiled.

What `partwise.solvers.descend` does for any weights (the mathematics is there), where all weights are 1. Then a row
is its residual r = Σ_t a_t b_t − x on the observed entries, a coordinate's slope is ⟨r, b_t⟩, and its curvature
⟨b_t, b_t⟩ stays what it is while the row is worked on: two multiplications an entry and coordinate instead of five.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.priors.scalar import bounded_minimiser
from partwise.solvers.descend import reconstruct, weigh

# Sums may be reassociated, which is what lets them use vector instructions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}

#: Rows are filled up with zeros to a multiple of this, so that vector instructions do all of them.
WIDTH = 8


@njit(cache=True, nogil=True, error_model="numpy")
def descend_observed(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    lower: float,
    upper: float,
    sweeps: int,
    keep: float,
    still: float,
    measured: bool,
    violation: np.ndarray,
    loss: np.ndarray,
    offset: int,
) -> None:
    """Rounds over the coordinates of the rows of a slab, rows `offset` … of A; the rows of B belong to columns of X.

    Losses are those of the observed entries, less Σ ½ x²; they are left at zero unless `measured`.
    """
    k, longest = A.shape[1], 0
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    longest = (longest + WIDTH - 1) // WIDTH * WIDTH
    met, r = np.zeros((k, longest), B.dtype), np.zeros(longest, B.dtype)
    curve = np.zeros(k)
    for i in range(indptr.shape[0] - 1):
        start, p = indptr[i], indptr[i + 1] - indptr[i]
        width = (p + WIDTH - 1) // WIDTH * WIDTH
        row = offset + i
        a = A[row]
        squares = laid_out(indices[start : start + p], u[start : start + p], width, a, B, met, r)
        for t in range(k):
            curve[t] = weigh(met[t], met[t], width)
        initial, owed, owing = 0.0, 0.0, 0
        for s in range(sweeps):
            moved, size = 0.0, 0.0
            for t in order:
                old = np.float64(a[t])
                # Terms with a single row, or a single column, hold for all.
                bend = quadratic[row if quadratic.shape[0] > 1 else 0, t if quadratic.shape[1] > 1 else 0]
                slope = (
                    linear[row if linear.shape[0] > 1 else 0, t if linear.shape[1] > 1 else 0] + bend * old
                )
                # The last coordinate's move is carried into r on the way.
                g = carried_slope(r, met[t], met[owing], owed, width) + slope
                h = curve[t] + bend
                new = np.float64(bounded_minimiser(h, h * old - g, 0.0, old, lower, upper))
                if s == 0:
                    violation[row] += (
                        max(-g, 0.0) if old <= lower else (max(g, 0.0) if old >= upper else abs(g))
                    )
                a[t] = new
                owed, owing = np.float64(a[t]) - old, t
                moved += h * owed * owed
                size += h * new * new
            if s == 0:
                initial = moved
            if moved <= keep * keep * initial or moved <= still * still * size:
                break
        if measured:
            loss[row] = 0.5 * (squared(r, met[owing], owed, width) - squares)


@inlined(fastmath=_FAST)
def laid_out(
    where: np.ndarray, u: np.ndarray, width: int, a: np.ndarray, B: np.ndarray, met: np.ndarray, r: np.ndarray
) -> float:
    """Into `met`, the rows of B that a row meets, coordinate by coordinate, and into r its residual; returns Σ u²."""
    k, p = B.shape[1], u.shape[0]
    for e in range(p):
        b = B[np.uint64(where[e])]
        for t in range(k):
            met[t, e] = b[t]
    for t in range(k):
        for e in range(p, width):
            met[t, e] = 0.0
    reconstruct(a, met, 0.0, r, width)
    squares = 0.0
    for e in range(p):
        r[e] -= u[e]
        squares += np.float64(u[e]) * np.float64(u[e])
    return squares


@inlined(fastmath=_FAST)
def carried_slope(r: np.ndarray, b: np.ndarray, other: np.ndarray, owed: float, width: int) -> float:
    """Σ r b; r first gets `owed` times `other`."""
    total = r.dtype.type(0.0)
    d = r.dtype.type(owed)
    for e in range(width):
        z = r[e] + d * other[e]
        r[e] = z
        total += z * b[e]
    return np.float64(total)


@inlined(fastmath=_FAST)
def squared(r: np.ndarray, other: np.ndarray, owed: float, width: int) -> float:
    """Σ r², in double precision; r first gets `owed` times `other`."""
    d = r.dtype.type(owed)
    total = 0.0
    for e in range(width):
        z = np.float64(r[e] + d * other[e])
        total += z * z
    return total
