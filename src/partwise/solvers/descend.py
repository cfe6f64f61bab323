"""One row's coordinate descent on its own entries, compiled.

One coordinate a of a row with reconstruction y = δ + Σ_t a_t b_t has the loss f(a), convex. For the
Kullback-Leibler loss

    f′ = Σ_j ω_j b_j − Σ_j u_j b_j / y_j,     f″ = Σ_j u_j (b_j / y_j)²,     u = ω x,

and f′ is concave, so a Newton step that goes up (f′ < 0) stops short of the minimum and cannot overshoot. A
step down is damped: with ρ = max b_j / y_j over u_j > 0, −log(1 − s) ≤ s + s² φ(|d| ρ) bounds f along the
way, and the bound's minimiser is d = −f′ / (f″ + ρ f′) (the self-concordant step; ρ ≤ 1/a, so a stays
nonnegative up to the final cut at 0). Every step lowers the objective; no line search. A Gamma prior of
shape ≥ 1 is one more datum with u = shape − 1 and b/y = 1/a.

For the Frobenius loss f is a parabola, and the step is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.jit import inlined, njit
from partwise.losses.logarithm import logarithm
from partwise.priors.scalar import bounded_minimiser
from partwise.specialise import specialised

# Sums may be reassociated, which is what lets them use vector instructions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}

#: Dense rows with a larger share of zeros are read by their other entries alone.
THIN = 0.4

#: Stand-ins for what `specialised` puts in their place: the step of one coordinate, the loss of a row, and whether
#: what a coordinate is pushed down by does not depend on the factors.
move: Any = None
row_loss: Any = None
FIXED_PUSH = False


def descend_rows(
    rows: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    A: np.ndarray,
    Bt: np.ndarray,
    base: np.ndarray,
    gram: np.ndarray,
    shift: float,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: np.ndarray,
    concave: np.ndarray,
    eps: np.ndarray,
    lower: float,
    upper: float,
    sweeps: int,
    keep: float,
    still: float,
    measured: bool,
    violation: np.ndarray,
    loss: np.ndarray,
    ratio: np.ndarray,
    bits: np.ndarray,
    offset: int,
) -> None:
    """The rows `rows` of a slab. A sparse row first copies the columns of B that it meets next to each other.

    `ratio` has one entry more than the longest row; `bits` is the same memory read as integers. Losses are left at
    zero unless `measured`.
    """
    k = Bt.shape[0]
    longest = ratio.shape[0] - 1
    weighted = v.shape[0] > 0
    dense = indices.shape[0] == 0 and u.shape[0] > 0
    # Entries with u = v = 0 weigh nothing beyond the background: dense rows with many of them are thinned.
    may_thin = dense and not weighted
    y = np.empty(longest, Bt.dtype)
    met = np.empty((0 if dense and not may_thin else k, longest), Bt.dtype)
    held = np.empty(longest if may_thin else 0, indices.dtype)
    kept = np.empty(longest if may_thin else 0, u.dtype)
    fixed = np.empty(k)
    for i in rows:
        start, stop = indptr[i], indptr[i + 1]
        p = stop - start
        ui = u[start:stop]
        vi = v[start:stop] if weighted else v
        thin = may_thin and share_of_zeros(ui) > THIN
        if thin:
            p = thinned(ui, held, kept)
            ui = kept[:p]
        if dense and not thin:
            b = Bt
        else:
            where = held[:p] if thin else indices[start:stop]
            for t in range(k):
                gather(Bt[t], where, p, met[t])
            b = met
        r = offset + i
        a = A[r]
        reconstruct(a, b, shift, y, p)
        for t in range(k):
            fixed[t] = base[t] + (weigh(vi, b[t], p) if weighted and FIXED_PUSH else 0.0)
        loss[r] = descend_row(
            r, ui, vi, a, b, y, p, weighted, fixed, gram, order, linear, quadratic, log_weight, concave, eps,
            lower, upper, sweeps, keep, still, measured, violation, ratio, bits,
        )  # fmt: skip


def descend_row(
    r: int,
    ui: np.ndarray,
    vi: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    fixed: np.ndarray,
    gram: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: np.ndarray,
    concave: np.ndarray,
    eps: np.ndarray,
    lower: float,
    upper: float,
    sweeps: int,
    keep: float,
    still: float,
    measured: bool,
    violation: np.ndarray,
    ratio: np.ndarray,
    bits: np.ndarray,
) -> float:
    """Rounds over the coordinates of row r, whose reconstruction y is kept up to date; returns the row's loss."""
    initial = 0.0
    # Terms with a single row, or a single column, hold for all.
    row, column = (r if linear.shape[0] > 1 else 0), int(linear.shape[1] > 1)
    deep, wide = (r if quadratic.shape[0] > 1 else 0), int(quadratic.shape[1] > 1)
    # The last coordinate's move, not yet carried into y: the next coordinate's pass does it on the way.
    owed, owing = 0.0, 0
    for s in range(sweeps):
        moved = 0.0
        size = 0.0
        for t in order:
            old = np.float64(a[t])
            bend = quadratic[deep, wide * t]
            slope = linear[row, column * t] + bend * old
            if concave[t] > 0.0:
                slope += concave[t] / (old + eps[t])
            new, g, h = move(
                ui, vi, b[t], y, p, weighted, b[owing], owed, ratio, bits, fixed[t], gram, t, a, old, slope,
                bend, log_weight[t], lower, upper,
            )  # fmt: skip
            if s == 0:
                violation[r] += max(-g, 0.0) if old <= lower else (max(g, 0.0) if old >= upper else abs(g))
            a[t] = new
            owed, owing = np.float64(a[t]) - old, t
            moved += h * (new - old) * (new - old)
            size += h * new * new
        if s == 0:
            initial = moved
        if moved <= keep * keep * initial or moved <= still * still * size:
            break
    return row_loss(ui, vi, a, y, p, weighted, fixed, gram, b[owing], owed) if measured else 0.0


@njit(inline="always")
def poisson_move(
    ui: np.ndarray,
    vi: np.ndarray,
    bt: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    other: np.ndarray,
    owed: float,
    ratio: np.ndarray,
    bits: np.ndarray,
    fixed: float,
    gram: np.ndarray,
    t: int,
    a: np.ndarray,
    old: float,
    slope: float,
    bend: float,
    log_weight: float,
    lower: float,
    upper: float,
) -> tuple[float, float, float]:
    """New value, slope and curvature of one coordinate under the Kullback-Leibler loss."""
    pull, h = newton_sums(ui, bt, y, p, other, owed, ratio)
    h += bend
    g = fixed - pull + slope
    if log_weight > 0.0:
        g -= log_weight / old
        h += log_weight / (old * old)
    rho = np.inf
    if needs_steepest(g, h, old, log_weight):
        steepest(ui, bits, p)
        rho = np.float64(ratio[p])
    return damped_step(g, h, old, rho, upper), g, h


@njit(inline="always")
def needs_steepest(g: float, h: float, old: float, log_weight: float) -> bool:
    """Whether ρ is worth finding: it is at most 1 / a, and only where that would shorten a step down much."""
    return g > 0.02 * h * old and old > 0.0 and log_weight == 0.0


@njit(inline="always")
def damped_step(g: float, h: float, old: float, rho: float, upper: float) -> float:
    """Where a coordinate with slope g and curvature h goes: a Newton step up, a damped one down."""
    new = old
    if g < 0.0:
        if h > 0.0:
            new = old - g / h
    elif g > 0.0 and old > 0.0:
        new = max(old - g / (h + g * min(rho, 1.0 / old)), 0.0)
    return min(new, upper)


@njit(inline="always")
def quadratic_move(
    ui: np.ndarray,
    vi: np.ndarray,
    bt: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    other: np.ndarray,
    owed: float,
    ratio: np.ndarray,
    bits: np.ndarray,
    fixed: float,
    gram: np.ndarray,
    t: int,
    a: np.ndarray,
    old: float,
    slope: float,
    bend: float,
    log_weight: float,
    lower: float,
    upper: float,
) -> tuple[float, float, float]:
    """New value, slope and curvature of one coordinate under the Frobenius loss."""
    g, h = parabola(ui, vi, bt, y, p, weighted, other, owed)
    # Empty where nothing but the held entries counts.
    for q in range(gram.shape[0]):
        g += gram[t, q] * a[q]
    h += bend
    if gram.shape[0] > 0:
        h += gram[t, t]
    g += slope
    if log_weight == 0.0 and h < 8.0 * np.finfo(a.dtype).tiny:
        # What is left of it has lost its digits.
        h = 0.0
    new = np.float64(bounded_minimiser(h, h * old - g, log_weight, old, lower, upper))
    if log_weight > 0.0:
        g -= log_weight / old
    return new, g, h


@inlined(fastmath=_FAST)
def reconstruct(a: np.ndarray, b: np.ndarray, shift: float, y: np.ndarray, p: int) -> None:
    """Into y, shift + Σ_t a_t b_t."""
    k = a.shape[0]
    for e in range(p):
        y[e] = shift
    # Four components at a time, so that y is moved less.
    t = 0
    while t + 4 <= k:
        a0, a1, a2, a3 = a[t], a[t + 1], a[t + 2], a[t + 3]
        b0, b1, b2, b3 = b[t], b[t + 1], b[t + 2], b[t + 3]
        for e in range(p):
            y[e] += (a0 * b0[e] + a1 * b1[e]) + (a2 * b2[e] + a3 * b3[e])
        t += 4
    while t < k:
        for e in range(p):
            y[e] += a[t] * b[t, e]
        t += 1


@inlined()
def gather(b: np.ndarray, where: np.ndarray, p: int, out: np.ndarray) -> None:
    """The entries of b at p places; read as unsigned, which spares a test for negative ones."""
    for e in range(p):
        out[e] = b[np.uint64(where[e])]


@inlined()
def share_of_zeros(u: np.ndarray) -> float:
    """How many of the entries are zero."""
    count = 0
    for e in range(u.shape[0]):
        count += u[e] == 0.0
    return count / max(1, u.shape[0])


@inlined()
def thinned(u: np.ndarray, held: np.ndarray, kept: np.ndarray) -> int:
    """Put the positive entries and their places next to each other; returns how many there are."""
    p = 0
    for e in range(u.shape[0]):
        held[p] = e
        kept[p] = u[e]
        p += u[e] > 0.0
    return p


@inlined(fastmath=_FAST)
def weigh(v: np.ndarray, b: np.ndarray, p: int) -> float:
    """Σ v b."""
    total = b.dtype.type(0.0)
    for e in range(p):
        total += v[e] * b[e]
    return np.float64(total)


@inlined(fastmath=_FAST)
def newton_sums(
    u: np.ndarray, b: np.ndarray, y: np.ndarray, p: int, other: np.ndarray, owed: float, ratio: np.ndarray
) -> tuple[float, float]:
    """Σ u b / y and Σ u (b / y)² in one pass; y first gets what it is owed, and b / y is left in `ratio`."""
    pull = b.dtype.type(0.0)
    curve = b.dtype.type(0.0)
    d = y.dtype.type(owed)
    for e in range(p):
        z = y[e] + d * other[e]
        y[e] = z
        q = b[e] / z
        ratio[e] = q
        s = u[e] * q
        pull += s
        curve += s * q
    return np.float64(pull), np.float64(curve)


@inlined()
def steepest(u: np.ndarray, bits: np.ndarray, p: int) -> None:
    """Put the largest ratio whose u > 0 into the last place of `bits`, the ratios read as integers.

    Nonnegative floating-point numbers are ordered like their bits, and the largest integer is found with vector
    instructions where the largest float is not.
    """
    best = bits[p] * 0
    for e in range(p):
        bit = bits[e] if u[e] > 0.0 else best * 0
        best = max(best, bit)
    bits[p] = best


@inlined(fastmath=_FAST)
def parabola(
    u: np.ndarray,
    v: np.ndarray,
    b: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    other: np.ndarray,
    owed: float,
) -> tuple[float, float]:
    """Σ (v y − u) b and Σ v b²: slope and curvature of the held entries; y first gets what it is owed."""
    g = b.dtype.type(0.0)
    h = b.dtype.type(0.0)
    d = y.dtype.type(owed)
    if weighted:
        for e in range(p):
            y[e] += d * other[e]
            vb = v[e] * b[e]
            g += vb * y[e] - u[e] * b[e]
            h += vb * b[e]
    else:
        for e in range(p):
            y[e] += d * other[e]
            g -= u[e] * b[e]
    return np.float64(g), np.float64(h)


@inlined(fastmath=_FAST)
def poisson_row_loss(
    u: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    fixed: np.ndarray,
    gram: np.ndarray,
    other: np.ndarray,
    owed: float,
) -> float:
    """The row's loss without its constant, Σ ω y − u log y; y first gets what it is owed."""
    d = y.dtype.type(owed)
    total = 0.0
    for e in range(p):
        # A datum of zero has no logarithm, whatever its reconstruction.
        z = np.float64(y[e] + d * other[e]) if u[e] > 0.0 else 1.0
        total -= np.float64(u[e]) * logarithm(z)
    for t in range(a.shape[0]):
        total += fixed[t] * np.float64(a[t])
    return total


@inlined(fastmath=_FAST)
def quadratic_row_loss(
    u: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    fixed: np.ndarray,
    gram: np.ndarray,
    other: np.ndarray,
    owed: float,
) -> float:
    """The row's loss without its constant, Σ ½ ω y² − u y; y first gets what it is owed."""
    d = y.dtype.type(owed)
    total = 0.0
    for e in range(p):
        z = np.float64(y[e] + d * other[e])
        total -= np.float64(u[e]) * z
        if weighted:
            total += 0.5 * np.float64(v[e]) * z * z
    for t in range(gram.shape[0]):
        for q in range(gram.shape[0]):
            total += 0.5 * gram[t, q] * np.float64(a[t]) * np.float64(a[q])
    return total


def _compiled(name: str, move: Any, row_loss: Any, fixed_push: bool) -> Any:
    one_row = specialised(descend_row, name, {"move": move, "row_loss": row_loss}, inline="always")
    return specialised(descend_rows, name, {"descend_row": one_row, "FIXED_PUSH": fixed_push})


#: The kind of Newton step that a loss asks for → rows by that step.
DESCEND = {
    "poisson": _compiled("poisson", poisson_move, poisson_row_loss, True),
    "quadratic": _compiled("quadratic", quadratic_move, quadratic_row_loss, False),
}
