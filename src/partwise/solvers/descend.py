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

from math import log

import numpy as np

from partwise.jit import njit
from partwise.priors.scalar import quadratic_minimiser

# Sums may be reassociated, which is what lets them use vector instructions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, error_model="numpy")
def descend_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    A: np.ndarray,
    Bt: np.ndarray,
    base: np.ndarray,
    gram: np.ndarray,
    beta: float,
    shift: float,
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
    loss: np.ndarray,
    ratio: np.ndarray,
    bits: np.ndarray,
    offset: int,
) -> None:
    """Rows of a slab. A sparse row first copies the columns of B that it meets next to each other.

    `ratio` has room for the longest row and one more; `bits` is the same memory read as integers.
    """
    k = Bt.shape[0]
    longest = ratio.shape[0] - 1
    weighted = v.shape[0] > 0
    dense = indices.shape[0] == 0 and u.shape[0] > 0
    # Entries with u = v = 0 weigh nothing beyond the background: where they are many, dense rows are thinned.
    thin = dense and not weighted and share_of_zeros(u) > 0.4
    y = np.empty(longest, Bt.dtype)
    met = np.empty((0 if dense and not thin else k, longest), Bt.dtype)
    held = np.empty(longest if thin else 0, indices.dtype)
    kept = np.empty(longest if thin else 0, u.dtype)
    fixed = np.empty(k)
    for i in range(indptr.shape[0] - 1):
        start, stop = indptr[i], indptr[i + 1]
        p = stop - start
        ui = u[start:stop]
        vi = v[start:stop] if weighted else v
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
            fixed[t] = base[t] + (weigh(vi, b[t], p) if weighted and beta == 1.0 else 0.0)
        initial = 0.0
        # The last coordinate's move, not yet carried into y: the next coordinate's pass does it on the way.
        owed, owing = 0.0, 0
        for s in range(sweeps):
            moved = 0.0
            size = 0.0
            for t in order:
                old = np.float64(a[t])
                slope = linear[r] + (concave / (old + eps) if concave > 0.0 else 0.0)
                if beta == 1.0:
                    pull, h = newton_sums(ui, b[t], y, p, b[owing], owed, ratio)
                    h += quadratic[r]
                    g = fixed[t] - pull + slope + quadratic[r] * old
                    if log_weight > 0.0:
                        g -= log_weight / old
                        h += log_weight / (old * old)
                    new = old
                    if g < 0.0:
                        if h > 0.0:
                            new = old - g / h
                    elif g > 0.0 and old > 0.0:
                        # ρ is at most 1 / a; it is worth finding only where that would shorten the step much.
                        rho = 1.0 / old
                        if g > 0.02 * h * old and log_weight == 0.0:
                            steepest(ui, bits, p)
                            rho = min(rho, np.float64(ratio[p]))
                        new = max(old - g / (h + g * rho), 0.0)
                else:
                    g, h = parabola(ui, vi, b[t], y, p, weighted, b[owing], owed)
                    for q in range(k):
                        g += gram[t, q] * a[q]
                    h += gram[t, t] + quadratic[r]
                    g += slope + quadratic[r] * old
                    new = np.float64(quadratic_minimiser(h, h * old - g, log_weight, old))
                    if log_weight > 0.0:
                        g -= log_weight / old
                if s == 0:
                    violation[r] += abs(g) if old > 0.0 else max(-g, 0.0)
                a[t] = new
                owed, owing = np.float64(a[t]) - old, t
                moved += h * (new - old) * (new - old)
                size += h * new * new
            if s == 0:
                initial = moved
            if moved <= keep * keep * initial or moved <= still * still * size:
                break
        loss[r] = row_loss(ui, vi, a, y, p, weighted, fixed, gram, beta, b[owing], owed)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
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


@njit(cache=True, nogil=True)
def gather(b: np.ndarray, where: np.ndarray, p: int, out: np.ndarray) -> None:
    """The entries of b at p places; read as unsigned, which spares a test for negative ones."""
    for e in range(p):
        out[e] = b[np.uint64(where[e])]


@njit(cache=True, nogil=True)
def share_of_zeros(u: np.ndarray) -> float:
    """How many of the entries are zero."""
    count = 0
    for e in range(u.shape[0]):
        count += u[e] == 0.0
    return count / u.shape[0]


@njit(cache=True, nogil=True)
def thinned(u: np.ndarray, held: np.ndarray, kept: np.ndarray) -> int:
    """Put the positive entries and their places next to each other; returns how many there are."""
    p = 0
    for e in range(u.shape[0]):
        held[p] = e
        kept[p] = u[e]
        p += u[e] > 0.0
    return p


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def weigh(v: np.ndarray, b: np.ndarray, p: int) -> float:
    """Σ v b."""
    total = b.dtype.type(0.0)
    for e in range(p):
        total += v[e] * b[e]
    return np.float64(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def row_loss(
    u: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    y: np.ndarray,
    p: int,
    weighted: bool,
    fixed: np.ndarray,
    gram: np.ndarray,
    beta: float,
    other: np.ndarray,
    owed: float,
) -> float:
    """The row's loss without its constant: Σ ω y − u log y, or Σ ½ ω y² − u y; y first gets what it is owed."""
    k = a.shape[0]
    d = y.dtype.type(owed)
    total = 0.0
    if beta == 1.0:
        for e in range(p):
            if u[e] > 0.0:
                total -= np.float64(u[e]) * np.float64(log(y[e] + d * other[e]))
        for t in range(k):
            total += fixed[t] * np.float64(a[t])
        return total
    for e in range(p):
        z = np.float64(y[e] + d * other[e])
        total -= np.float64(u[e]) * z
        if weighted:
            total += 0.5 * np.float64(v[e]) * z * z
    for t in range(k):
        for q in range(k):
            total += 0.5 * gram[t, q] * np.float64(a[t]) * np.float64(a[q])
    return total
