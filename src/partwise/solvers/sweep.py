"""The HALS sweep: exact minimisation over one coordinate after the other, for many rows at once.

Rows are independent and share the k × k matrix G, so a block of rows is laid out coordinate by coordinate and
every operation runs over the block: no sums across a vector register, each entry of G loaded once per block.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from partwise.parallel import over_rows
from partwise.priors import Terms

#: Rows of a block: four registers of eight single-precision numbers.
WIDTH = 32


def sweep(
    A: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray],
    terms: Terms,
    order: np.ndarray,
    sweeps: int,
    keep: float,
    still: float = 0.0,
) -> float:
    """Up to `sweeps` rounds over the coordinates `order` of every row of A, in place; returns the violation.

    A row's rounds end when one moves it by less than `keep` times the first round's movement, or by less
    than `still` times its own size; both are measured in units of the reconstruction.
    """
    N, G = sums
    linear, quadratic = terms.rows(len(A))
    dtype = A.dtype.type
    blocks = np.zeros(-(-len(A) // WIDTH))
    over_rows(
        lambda a, b: sweep_rows(
            A[a:b],
            N[a:b],
            G,
            order,
            linear[a:b],
            quadratic[a:b],
            dtype(terms.log),
            dtype(terms.concave),
            dtype(terms.shift),
            sweeps,
            keep,
            still,
            blocks[a // WIDTH : -(-b // WIDTH)],
        ),
        len(A),
        grain=4 * WIDTH,
    )
    return float(blocks.sum())


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def sweep_rows(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: float,
    concave: float,
    eps: float,
    sweeps: int,
    keep: float,
    still: float,
    violation: np.ndarray,
) -> None:
    """Blocks of `WIDTH` rows, one after the other."""
    n, k = A.shape
    kind = A.dtype.type
    zero, half, four = kind(0.0), kind(0.5), kind(4.0)
    a = np.zeros((k, WIDTH), A.dtype)
    b = np.zeros((k, WIDTH), A.dtype)
    acc = np.zeros(WIDTH, A.dtype)
    curve = np.zeros(WIDTH, A.dtype)
    extra = np.zeros(WIDTH, A.dtype)
    moved = np.zeros(WIDTH, A.dtype)
    size = np.zeros(WIDTH, A.dtype)
    limit = np.zeros(WIDTH, A.dtype)
    going = np.zeros(WIDTH, A.dtype)
    near, tight = kind(keep * keep), kind(still * still)
    for block in range(violation.shape[0]):
        start = block * WIDTH
        height = min(WIDTH, n - start)
        for c in range(height):
            shift = kind(linear[start + c])
            extra[c] = quadratic[start + c]
            going[c] = kind(1.0)
            for t in range(k):
                a[t, c] = A[start + c, t]
                b[t, c] = N[start + c, t] - shift
        for c in range(height, WIDTH):
            extra[c] = zero
            going[c] = zero
            for t in range(k):
                a[t, c] = zero
                b[t, c] = zero
        for s in range(sweeps):
            for c in range(WIDTH):
                moved[c] = zero
                size[c] = zero
            for t in order:
                residual(G[t], a, b[t], acc)
                g = G[t, t]
                for c in range(WIDTH):
                    acc[c] += g * a[t, c]
                    curve[c] = g + extra[c]
                if concave > zero:
                    for c in range(WIDTH):
                        acc[c] -= concave / (a[t, c] + eps)
                if s == 0:
                    gradient = zero
                    for c in range(height):
                        d = curve[c] * a[t, c] - acc[c]
                        if log_weight > zero:
                            d -= log_weight / a[t, c]
                        gradient += abs(d) if a[t, c] > zero else max(-d, zero)
                    violation[block] += gradient
                if log_weight > zero:
                    # The positive root of curve z² − acc z − log_weight = 0, in the form that does not cancel.
                    for c in range(WIDTH):
                        root = np.sqrt(acc[c] * acc[c] + four * curve[c] * log_weight)
                        up = half * (acc[c] + root) / curve[c] if curve[c] > zero else a[t, c]
                        down = kind(2.0) * log_weight / (root - acc[c])
                        acc[c] = up if acc[c] >= zero else down
                elif g > zero:
                    for c in range(WIDTH):
                        acc[c] = max(acc[c] / curve[c], zero)
                else:
                    # Nothing of this component is left in the other factor: stay, unless a penalty pulls to zero.
                    for c in range(WIDTH):
                        acc[c] = zero if acc[c] < zero or extra[c] > zero else a[t, c]
                for c in range(WIDTH):
                    d = (acc[c] - a[t, c]) * going[c]
                    moved[c] += curve[c] * d * d
                    size[c] += curve[c] * acc[c] * acc[c]
                    # A row that has come to rest keeps its coordinates to the bit.
                    a[t, c] = acc[c] if going[c] > zero else a[t, c]
            if s == 0:
                for c in range(WIDTH):
                    limit[c] = near * moved[c]
            left = zero
            for c in range(WIDTH):
                rest = moved[c] <= limit[c] if s > 0 else moved[c] <= zero
                going[c] = zero if rest or moved[c] <= tight * size[c] else going[c]
                left += going[c]
            if left == zero:
                break
        for c in range(height):
            for t in range(k):
                A[start + c, t] = a[t, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def residual(g: np.ndarray, a: np.ndarray, b: np.ndarray, acc: np.ndarray) -> None:
    """Into acc, b − Σ_r g_r a_r over a block; four rows of `a` at a time, so that `acc` is moved less."""
    k = a.shape[0]
    for c in range(WIDTH):
        acc[c] = b[c]
    r = 0
    while r + 4 <= k:
        g0, g1, g2, g3 = g[r], g[r + 1], g[r + 2], g[r + 3]
        for c in range(WIDTH):
            acc[c] -= g0 * a[r, c] + g1 * a[r + 1, c] + g2 * a[r + 2, c] + g3 * a[r + 3, c]
        r += 4
    while r < k:
        for c in range(WIDTH):
            acc[c] -= g[r] * a[r, c]
        r += 1


def inner_product(A: np.ndarray, B: np.ndarray) -> float:
    """Σ A ∘ B, accumulated in double precision."""
    sums = np.zeros(len(A))
    over_rows(lambda a, b: dot_rows(A[a:b], B[a:b], sums[a:b]), len(A), grain=256)
    return float(sums.sum())


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def dot_rows(A: np.ndarray, B: np.ndarray, sums: np.ndarray) -> None:
    """The inner product of each pair of rows."""
    for i in range(A.shape[0]):
        total = 0.0
        for t in range(A.shape[1]):
            total += np.float64(A[i, t]) * np.float64(B[i, t])
        sums[i] = total
