"""The HALS sweep: exact minimisation over one coordinate after the other, for many rows at once.

Rows are independent and share the k × k matrix G, so a block of rows is laid out coordinate by coordinate and
every operation runs over the block: no sums across a vector register, each entry of G loaded once per block.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.matrix.vectors import AT_HAND
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Terms
from partwise.priors.scalar import bounded_minimiser
from partwise.solvers.sweep_vectors import block_rows, sweep_vectors

#: What entries of factors are kept below. Where data are missing, or a component explains next to nothing, one factor
#: may grow while the other shrinks, and squares of its entries would overflow.
HIGHEST = {np.dtype(np.float32): 1e15, np.dtype(np.float64): 1e120}
#: Rows of a block: enough for long inner loops, few enough for a block of coordinates to stay in cache.
WIDTH = 64


def sweep(
    A: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray],
    terms: Terms,
    order: np.ndarray,
    sweeps: int,
    keep: float,
    still: float = 0.0,
    measure: bool = False,
    groups: np.ndarray | None = None,
    highest: float | None = None,
) -> float:
    """Up to `sweeps` rounds over the coordinates `order` of every row of A, in place; returns the violation.

    The violation is found only if `measure` says so, else NaN. A row's rounds end when one moves it by less than
    `keep` times the first round's movement, or by less than `still` times its own size; both are measured in units of
    the reconstruction. Where rows belong to `groups`, G has a matrix for each group. Entries are not driven beyond
    `highest`.
    """
    N, G = sums
    if groups is not None:
        violation = 0.0
        for g in range(len(G)):
            rows = np.flatnonzero(groups == g)
            part = A[rows]
            of_group = (np.ascontiguousarray(N[rows]), np.ascontiguousarray(G[g]))
            violation += sweep(part, of_group, terms.rows(rows), order, sweeps, keep, still, measure)
            A[rows] = part
        return violation
    held = terms.for_kernels(*A.shape)
    kind = A.dtype.type
    bounds = kind(held.lower), kind(held.upper), kind(min(held.upper, highest or HIGHEST[A.dtype]))
    ends = (sweeps, keep, still, measure)
    grain = worthwhile(A.shape[1] ** 2, WIDTH)
    if AT_HAND and not held.bent and _alike(A, N, G):
        height = block_rows(A.dtype)
        blocks = np.zeros(-(-len(A) // height))
        curved = np.diagonal(G)[order] > 8 * np.finfo(A.dtype).tiny
        parts = (order[curved].astype(np.intp), order[~curved].astype(np.intp))

        def one_range(a: int, b: int) -> None:
            sweep_vectors(A, N, G, *parts, held.linear, held.quadratic, *bounds, *ends, blocks, a, b)
    else:
        height = WIDTH
        blocks = np.zeros(-(-len(A) // height))
        bends = (held.log, held.concave, held.shift)

        def one_range(a: int, b: int) -> None:
            some = blocks[a // height : -(-b // height)]
            sweep_rows(A[a:b], N[a:b], G, order, *held.rows(a, b), *bends, *bounds, *ends, some)

    over_rows(one_range, len(A), grain=grain)
    return float(blocks.sum()) if measure else float("nan")


def _alike(*arrays: np.ndarray) -> bool:
    """Whether arrays have one type of number, and their rows lie one after the other."""
    return len({array.dtype for array in arrays}) == 1 and all(
        array.flags.c_contiguous and array.flags.aligned for array in arrays
    )


_FAST = {"contract", "nsz", "arcp", "reassoc"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def sweep_rows(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: np.ndarray,
    concave: np.ndarray,
    eps: np.ndarray,
    lower: float,
    upper: float,
    highest: float,
    sweeps: int,
    keep: float,
    still: float,
    measure: bool,
    violation: np.ndarray,
) -> None:
    """Blocks of `WIDTH` rows, one after the other; entries in [lower, upper], and not driven beyond `highest`."""
    k = A.shape[1]
    kind = A.dtype.type
    zero = kind(0.0)
    acc = np.zeros(WIDTH, A.dtype)
    # Not the constant itself: loops of a known small length are unrolled into scalars before they are vectorised.
    width = acc.shape[0]
    a = np.zeros((k, width), A.dtype)
    b = np.zeros((k, width), A.dtype)
    # One row where the quadratic term is the same for all components of a row.
    extra = np.zeros((quadratic.shape[1], width), A.dtype)
    moved = np.zeros(width, A.dtype)
    size = np.zeros(width, A.dtype)
    limit = np.zeros(width, A.dtype)
    going = np.zeros(width, A.dtype)
    near, tight = kind(keep * keep), kind(still * still)
    for block in range(violation.shape[0]):
        start = block * WIDTH
        height = min(WIDTH, A.shape[0] - start)
        load_block(A, N, linear, quadratic, start, height, a, b, extra, going)
        for s in range(sweeps):
            for c in range(width):
                moved[c] = zero
                size[c] = zero
            for t in order:
                residual(G[t], a, b[t], acc)
                g = G[t, t]
                more = extra[t] if extra.shape[0] > 1 else extra[0]
                bent = log_weight[t] > 0.0 or concave[t] > 0.0
                if measure and s == 0:
                    violation[block] += slope_met(
                        acc, a[t], more, log_weight[t], concave[t], eps[t], lower, upper, height
                    )
                if bent or g <= zero:
                    minimise_with_prior(acc, a[t], g, more, log_weight[t], concave[t], eps[t], lower, upper)
                    for c in range(width):
                        old, h = a[t, c], g + more[c]
                        d = (acc[c] - old) * going[c]
                        moved[c] += h * d * d
                        size[c] += h * acc[c] * acc[c]
                        a[t, c] = acc[c] if going[c] > zero else old
                else:
                    for c in range(width):
                        old, h = a[t, c], g + more[c]
                        z = min(max((acc[c] + g * old) / h, lower), highest)
                        d = (z - old) * going[c]
                        moved[c] += h * d * d
                        size[c] += h * z * z
                        # A row that has come to rest keeps its coordinates to the bit.
                        a[t, c] = z if going[c] > zero else old
            if s == 0:
                for c in range(width):
                    limit[c] = near * moved[c]
            left = zero
            for c in range(width):
                rest = moved[c] <= limit[c] if s > 0 else moved[c] <= zero
                going[c] = zero if rest or moved[c] <= tight * size[c] else going[c]
                left += going[c]
            if left == zero:
                break
        for c in range(height):
            for t in range(k):
                A[start + c, t] = a[t, c]


@inlined()
def load_block(
    A: np.ndarray,
    N: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    start: int,
    height: int,
    a: np.ndarray,
    b: np.ndarray,
    extra: np.ndarray,
    going: np.ndarray,
) -> None:
    """Lay out rows `start … start + height` coordinate by coordinate; what is left of the width is zero."""
    k, width = a.shape
    kind = a.dtype.type
    # Terms with a single row, or a single column, hold for all.
    by_row, by_column = int(linear.shape[0] > 1), int(linear.shape[1] > 1)
    deep = int(quadratic.shape[0] > 1)
    for c in range(height):
        i = start + c
        going[c] = kind(1.0)
        for t in range(k):
            a[t, c] = A[i, t]
            b[t, c] = N[i, t] - kind(linear[by_row * i, by_column * t])
        for t in range(extra.shape[0]):
            extra[t, c] = quadratic[deep * i, t]
    for c in range(height, width):
        going[c] = kind(0.0)
        for t in range(k):
            a[t, c] = kind(0.0)
            b[t, c] = kind(0.0)
        for t in range(extra.shape[0]):
            extra[t, c] = kind(0.0)


@inlined()
def slope_met(
    acc: np.ndarray,
    a: np.ndarray,
    extra: np.ndarray,
    log_weight: float,
    concave: float,
    eps: float,
    lower: float,
    upper: float,
    height: int,
) -> float:
    """Sum of the absolute projected gradients of one coordinate; acc = −gradient of the data term."""
    total = 0.0
    for c in range(height):
        d = extra[c] * a[c] - acc[c]
        if log_weight > 0.0:
            d -= log_weight / a[c]
        if concave > 0.0:
            d += concave / (a[c] + eps)
        total += max(-d, 0.0) if a[c] <= lower else (max(d, 0.0) if a[c] >= upper else abs(d))
    return total


@inlined()
def minimise_with_prior(
    acc: np.ndarray,
    a: np.ndarray,
    g: float,
    extra: np.ndarray,
    log_weight: float,
    concave: float,
    eps: float,
    lower: float,
    upper: float,
) -> None:
    """Replace acc = −gradient of the data term by the coordinate's minimiser; concave terms by their tangent."""
    for c in range(a.shape[0]):
        old = np.float64(a[c])
        b = np.float64(acc[c]) + np.float64(g) * old
        if concave > 0.0:
            b -= concave / (old + eps)
        acc[c] = bounded_minimiser(
            np.float64(g) + np.float64(extra[c]), b, log_weight, old, np.float64(lower), np.float64(upper)
        )


@inlined(fastmath=_FAST)
def residual(g: np.ndarray, a: np.ndarray, b: np.ndarray, acc: np.ndarray) -> None:
    """Into acc, b − Σ_r g_r a_r over a block; eight rows of `a` at a time, so that `acc` is moved less."""
    k, width = a.shape
    for c in range(width):
        acc[c] = b[c]
    r = 0
    while r + 8 <= k:
        g0, g1, g2, g3 = g[r], g[r + 1], g[r + 2], g[r + 3]
        g4, g5, g6, g7 = g[r + 4], g[r + 5], g[r + 6], g[r + 7]
        a0, a1, a2, a3 = a[r], a[r + 1], a[r + 2], a[r + 3]
        a4, a5, a6, a7 = a[r + 4], a[r + 5], a[r + 6], a[r + 7]
        for c in range(width):
            low = (g0 * a0[c] + g1 * a1[c]) + (g2 * a2[c] + g3 * a3[c])
            acc[c] -= low + ((g4 * a4[c] + g5 * a5[c]) + (g6 * a6[c] + g7 * a7[c]))
        r += 8
    while r < k:
        for c in range(width):
            acc[c] -= g[r] * a[r, c]
        r += 1


def inner_product(A: np.ndarray, B: np.ndarray) -> float:
    """Σ A ∘ B, accumulated in double precision."""
    sums = np.zeros(len(A))
    over_rows(lambda a, b: dot_rows(A[a:b], B[a:b], sums[a:b]), len(A), grain=worthwhile(A.shape[1], 256))
    return float(sums.sum())


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def dot_rows(A: np.ndarray, B: np.ndarray, sums: np.ndarray) -> None:
    """The inner product of each pair of rows."""
    for i in range(A.shape[0]):
        total = 0.0
        for t in range(A.shape[1]):
            total += np.float64(A[i, t]) * np.float64(B[i, t])
        sums[i] = total
