"""Rows of a factor to their minimum, where coordinate descent would take many thousands of rounds.

Where parts are alike, or signed and cancel each other, a row of

    ½ aᵀ H a − bᵀ a,      lower ≤ a ≤ upper,      H = G + quadratic,   b = N − linear,

creeps towards its minimum. So rows that sweeps have not brought there are finished by an active set, from where the
sweeps have led: the free entries go to their minimum by Cholesky's decomposition, or as far towards it as a bound
lets them, and the entry at a bound whose slope points inward most is set free, until there is none (Lawson & Hanson
1974, with bounds on both sides). The objective falls at every step.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from partwise.jit import inlined, njit
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Terms

#: A row is at its minimum where a step along its slopes is at most so many times what sweeps end at.
ENOUGH = 10.0
#: Entries at a bound are set free where their slope is more than so many times the size of what it is the sum of.
INWARD = 1e-12


def finish_rows(A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, still: float) -> None:
    """Bring the rows of A to their minimum, in place; those that are there by the measure of `still` stay.

    Parameters
    ----------
    A : array of shape (n, k)
        Where sweeps have led.
    sums : tuple of arrays
        X B of shape (n, k), and G = Bᵀ B.
    terms : Terms
        Of the prior; nothing is done where it has logarithms.
    still : float
        Sweeps end where they move a row by less than so many times its size.
    """
    held = terms.for_kernels(*A.shape)
    if held.bent:
        return
    N, G = sums
    G = np.ascontiguousarray(G, dtype=float)
    over_rows(
        lambda a, b: finish_some(
            A, N, G, held.linear, held.quadratic, held.lower, held.upper, ENOUGH * still, a, b
        ),
        len(A),
        grain=worthwhile(float(G.size), 16),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def finish_some(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    lower: float,
    upper: float,
    still: float,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop`, one after the other, in double precision."""
    k = A.shape[1]
    H, a, b, g = G.copy(), np.zeros(k), np.zeros(k), np.zeros(k)
    free, L, d = np.zeros(k, np.int64), np.zeros((k, k)), np.zeros(k)
    for i in range(start, stop):
        row_l = i if linear.shape[0] > 1 else 0
        row_q = i if quadratic.shape[0] > 1 else 0
        for t in range(k):
            a[t] = A[i, t]
            b[t] = N[i, t] - linear[row_l, t if linear.shape[1] > 1 else 0]
            H[t, t] = G[t, t] + quadratic[row_q, t if quadratic.shape[1] > 1 else 0]
        slopes(H, a, b, g)
        left, size = 0.0, 0.0
        for t in range(k):
            if H[t, t] > 0.0:
                inward = (g[t] < 0.0 or a[t] > lower) and (g[t] > 0.0 or a[t] < upper)
                left += g[t] * g[t] / H[t, t] if inward else 0.0
                size += H[t, t] * a[t] * a[t]
        if left <= still * still * size:
            continue
        n_free = 0
        for t in range(k):
            if lower < a[t] < upper and H[t, t] > 0.0:
                free[n_free] = t
                n_free += 1
        done = False
        for _ in range(10 * k + 10):
            if not factorised(H, free, n_free, L):
                break
            solve(L, free, n_free, g, d)
            step, blocked = 1.0, -1
            for f in range(n_free):
                t = free[f]
                room = upper - a[t] if d[f] > 0.0 else lower - a[t]
                if d[f] != 0.0 and room / d[f] < step:
                    step, blocked = max(room / d[f], 0.0), f
            for f in range(n_free):
                a[free[f]] += step * d[f]
            if blocked >= 0:
                t = free[blocked]
                a[t] = upper if d[blocked] > 0.0 else lower
                n_free -= 1
                for f in range(blocked, n_free):
                    free[f] = free[f + 1]
            slopes(H, a, b, g)
            if blocked >= 0:
                continue
            worst, chosen = 0.0, -1
            for t in range(k):
                held = True
                for f in range(n_free):
                    held = held and free[f] != t
                if held and H[t, t] > 0.0:
                    push = -g[t] if a[t] <= lower else g[t]
                    scale = abs(b[t]) + sqrt(H[t, t] * size)
                    if push > INWARD * scale and push / sqrt(H[t, t]) > worst:
                        worst, chosen = push / sqrt(H[t, t]), t
            if chosen < 0:
                done = True
                break
            free[n_free] = chosen
            n_free += 1
        # (Each step lowers the objective, so what was found is kept where a matrix was singular, too.)
        if done or np.isfinite(a.sum()):
            for t in range(k):
                A[i, t] = a[t]


@inlined()
def slopes(H: np.ndarray, a: np.ndarray, b: np.ndarray, g: np.ndarray) -> None:
    """Into g, H a − b."""
    for t in range(a.shape[0]):
        g[t] = -b[t]
    for r in range(a.shape[0]):
        if a[r] != 0.0:
            for t in range(a.shape[0]):
                g[t] += H[r, t] * a[r]


@inlined()
def factorised(H: np.ndarray, free: np.ndarray, n: int, L: np.ndarray) -> bool:
    """Cholesky's lower triangle of the free rows and columns of H; False where these are singular."""
    for f in range(n):
        for e in range(f + 1):
            total = H[free[f], free[e]]
            for c in range(e):
                total -= L[f, c] * L[e, c]
            if e < f:
                L[f, e] = total / L[e, e]
            elif total > 1e-14 * H[free[f], free[f]]:
                L[f, f] = sqrt(total)
            else:
                return False
    return True


@inlined()
def solve(L: np.ndarray, free: np.ndarray, n: int, g: np.ndarray, d: np.ndarray) -> None:
    """Into d, the solution of L Lᵀ d = −g over the free entries."""
    for f in range(n):
        total = -g[free[f]]
        for c in range(f):
            total -= L[f, c] * d[c]
        d[f] = total / L[f, f]
    for f in range(n - 1, -1, -1):
        total = d[f]
        for c in range(f + 1, n):
            total -= L[c, f] * d[c]
        d[f] = total / L[f, f]
