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
from numba import njit

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
    offset: int,
    first_row: int,
    last_row: int,
) -> None:
    """Rows of a slab. A sparse row first copies the columns of B that it meets next to each other."""
    k, m = Bt.shape
    dense = indices.shape[0] == 0 and indptr[indptr.shape[0] - 1] > 0
    longest = m
    if not dense:
        longest = 0
        for i in range(first_row, last_row):
            longest = max(longest, indptr[i + 1] - indptr[i])
    y = np.empty(longest, Bt.dtype)
    met = np.empty((0 if dense else k, longest), Bt.dtype)
    fixed = np.empty(k)
    weighted = v.shape[0] > 0
    for i in range(first_row, last_row):
        start, stop = indptr[i], indptr[i + 1]
        p = stop - start
        if dense:
            b = Bt
        else:
            for t in range(k):
                for e in range(p):
                    met[t, e] = Bt[t, indices[start + e]]
            b = met
        r = offset + i
        a = A[r]
        reconstruct(a, b, shift, y, p)
        ui = u[start:stop]
        vi = v[start:stop] if weighted else v
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
                    pull, h, rho = newton_sums(ui, b[t], y, p, b[owing], owed)
                    h += quadratic[r]
                    g = fixed[t] - pull + slope + quadratic[r] * old
                    if log_weight > 0.0:
                        g -= log_weight / old
                        h += log_weight / (old * old)
                        rho = max(rho, 1.0 / old)
                    new = old
                    if g < 0.0:
                        if h > 0.0:
                            new = old - g / h
                    elif g > 0.0 and old > 0.0:
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
    for e in range(p):
        y[e] = shift
    for t in range(a.shape[0]):
        if a[t] != 0.0:
            for e in range(p):
                y[e] += a[t] * b[t, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def weigh(v: np.ndarray, b: np.ndarray, p: int) -> float:
    """Σ v b."""
    total = b.dtype.type(0.0)
    for e in range(p):
        total += v[e] * b[e]
    return np.float64(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def newton_sums(
    u: np.ndarray, b: np.ndarray, y: np.ndarray, p: int, other: np.ndarray, owed: float
) -> tuple[float, float, float]:
    """Σ u b / y, Σ u (b / y)² and max b / y where u > 0, in one pass; y first gets what it is owed."""
    zero = b.dtype.type(0.0)
    pull, curve, rho = zero, zero, zero
    if owed != 0.0:
        d = y.dtype.type(owed)
        for e in range(p):
            y[e] += d * other[e]
            q = b[e] / y[e]
            s = u[e] * q
            pull += s
            curve += s * q
            rho = max(rho, q if u[e] > zero else zero)
    else:
        for e in range(p):
            q = b[e] / y[e]
            s = u[e] * q
            pull += s
            curve += s * q
            rho = max(rho, q if u[e] > zero else zero)
    return np.float64(pull), np.float64(curve), np.float64(rho)


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
