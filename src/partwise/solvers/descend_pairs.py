"""Coordinate descent under the Kullback-Leibler loss, two dense rows at a time, compiled.

Each row does what `partwise.solvers.descend` does (the mathematics is there). Two rows meet the same column of B at
the same coordinate, so that it is read once for both, and while one waits for its sums to be added up and divided the
other one works. Neither sees the other: a row comes out with the same bits whoever is beside it.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.solvers.descend import (
    damped_step,
    needs_steepest,
    poisson_row_loss,
    reconstruct,
    share_of_zeros,
    steepest,
)

# Sums may be reassociated, which is what lets them use vector instructions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}

#: Rows with a larger share of zeros are quicker alone, read by their other entries.
MOSTLY_ZERO = 0.7


@njit(cache=True, nogil=True)
def rows_for_pairs(u: np.ndarray) -> np.ndarray:
    """Which rows have zeros in at most the share `MOSTLY_ZERO` of their entries."""
    found = np.empty(u.shape[0], np.bool_)
    for i in range(u.shape[0]):
        found[i] = share_of_zeros(u[i]) <= MOSTLY_ZERO
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def descend_pairs(
    rows: np.ndarray,
    u: np.ndarray,
    A: np.ndarray,
    Bt: np.ndarray,
    base: np.ndarray,
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
    """Rounds over the coordinates of the rows `rows` of u: dense, complete, without weights; rows `offset` … of A.

    `ratio` has one entry more than a row; `bits` is the same memory read as integers. Losses are left at zero unless
    `measured`.
    """
    n, p = len(rows), u.shape[1]
    k = A.shape[1]
    y = np.empty((2, p), Bt.dtype)
    # The rows are worked on in copies: the last one of an odd number is its own partner.
    a = np.empty((2, k), A.dtype)
    none, empty = np.empty((0, 0)), u[0, :0]
    first_move, moved, size, met = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2)
    done = np.zeros(2, np.bool_)
    for i in range(0, n, 2):
        one, two = rows[i], rows[min(i + 1, n - 1)]
        for side in range(2):
            row = one if side == 0 else two
            a[side] = A[offset + row]
            reconstruct(a[side], Bt, shift, y[side], p)
            met[side] = 0.0
            done[side] = False
        # The last coordinate's moves, not yet carried into y: the next coordinate's pass does it on the way.
        owed, owed_too, owing = 0.0, 0.0, 0
        for s in range(sweeps):
            moved[:] = 0.0
            size[:] = 0.0
            for t in order:
                pull, curve, pull_too, curve_too = pair_sums(
                    u[one], u[two], Bt[t], y[0], y[1], p, Bt[owing], owed, owed_too
                )
                for side in range(2):
                    if done[side]:
                        continue
                    row = one if side == 0 else two
                    r = offset + row
                    old = np.float64(a[side, t])
                    # Terms with a single row, or a single column, hold for all.
                    bend = quadratic[r if quadratic.shape[0] > 1 else 0, t if quadratic.shape[1] > 1 else 0]
                    slope = (
                        linear[r if linear.shape[0] > 1 else 0, t if linear.shape[1] > 1 else 0] + bend * old
                    )
                    if concave[t] > 0.0:
                        slope += concave[t] / (old + eps[t])
                    h = (curve if side == 0 else curve_too) + bend
                    g = base[t] - (pull if side == 0 else pull_too) + slope
                    if log_weight[t] > 0.0:
                        g -= log_weight[t] / old
                        h += log_weight[t] / (old * old)
                    rho = np.inf
                    if needs_steepest(g, h, old, log_weight[t]):
                        ratios(Bt[t], y[side], p, ratio)
                        steepest(u[row], bits, p)
                        rho = np.float64(ratio[p])
                    if s == 0:
                        met[side] += (
                            max(-g, 0.0) if old <= lower else (max(g, 0.0) if old >= upper else abs(g))
                        )
                    a[side, t] = damped_step(g, h, old, rho, upper)
                    new = np.float64(a[side, t])
                    moved[side] += h * (new - old) * (new - old)
                    size[side] += h * new * new
                    if side == 0:
                        owed = new - old
                    else:
                        owed_too = new - old
                owing = t
                # (A row that is done owes nothing any more.)
            for side in range(2):
                if s == 0:
                    first_move[side] = moved[side]
                if done[side]:
                    continue
                if moved[side] <= keep * keep * first_move[side] or moved[side] <= still * still * size[side]:
                    done[side] = True
                    # What it owes is paid here, for the other one goes on.
                    pay(y[side], Bt[owing], p, owed if side == 0 else owed_too)
                    if side == 0:
                        owed = 0.0
                    else:
                        owed_too = 0.0
            if done[0] and done[1]:
                break
        for side in range(2 if two != one else 1):
            row = one if side == 0 else two
            r = offset + row
            A[r] = a[side]
            violation[r] += met[side]
            if measured:
                last = owed if side == 0 else owed_too
                loss[r] = poisson_row_loss(
                    u[row], empty, a[side], y[side], p, False, base, none, Bt[owing], last
                )


@inlined(fastmath=_FAST)
def pair_sums(
    u: np.ndarray,
    v: np.ndarray,
    b: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    p: int,
    other: np.ndarray,
    owed: float,
    owed_too: float,
) -> tuple[float, float, float, float]:
    """Σ u b / y and Σ u (b / y)² of one row, and of another v with z; y and z first get what they are owed."""
    kind = b.dtype.type
    pull, curve, pull_too, curve_too = kind(0.0), kind(0.0), kind(0.0), kind(0.0)
    d, c = kind(owed), kind(owed_too)
    for e in range(p):
        one = y[e] + d * other[e]
        two = z[e] + c * other[e]
        y[e] = one
        z[e] = two
        q = b[e] / one
        r = b[e] / two
        s = u[e] * q
        w = v[e] * r
        pull += s
        curve += s * q
        pull_too += w
        curve_too += w * r
    return np.float64(pull), np.float64(curve), np.float64(pull_too), np.float64(curve_too)


@inlined()
def ratios(b: np.ndarray, y: np.ndarray, p: int, ratio: np.ndarray) -> None:
    """Into `ratio`, b / y."""
    for e in range(p):
        ratio[e] = b[e] / y[e]


@inlined(fastmath=_FAST)
def pay(y: np.ndarray, other: np.ndarray, p: int, owed: float) -> None:
    """Carry a coordinate's move into y."""
    d = y.dtype.type(owed)
    for e in range(p):
        y[e] += d * other[e]
