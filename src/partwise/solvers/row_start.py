"""Where rows with a held H begin under the Kullback-Leibler loss: near the least squares, for dense rows.

On dense data the least-squares solution is a percent or so above the minimum of the Kullback-Leibler loss, where an
equal share of each component is many times above it, and it costs less than one round of coordinate descent: a
product with H, and rounds over a Gram matrix that all rows share. Each row is solved by itself, so that its bits do
not depend on the rows beside it.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.matrix import Dense
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Terms
from partwise.solvers.descend import share_of_zeros
from partwise.solvers.descend_pairs import MOSTLY_ZERO

#: Rounds over the coordinates of a row, and how little the last may move it (as a share of its size).
ROUNDS, LITTLE = 20, 1e-3
#: Entries end no lower than this share of where they began: from zero the Newton steps of a row are short.
RAISED = 1e-3


def least_squares_start(X: Dense, A: np.ndarray, B: np.ndarray, terms: Terms) -> None:
    """Move the rows of A, in place, towards the least squares ‖x − B a‖², where x is not mostly zeros.

    Parameters
    ----------
    X : Dense
        Complete data without weights.
    A : array of shape (n_samples, n_components)
        Where the rows begin.
    B : array of shape (n_features, n_components)
        The factor that is held.
    terms : Terms
        Their bounds are kept.
    """
    gram = B.T.astype(float) @ B
    low, high = max(terms.lower, 0.0), terms.upper

    def task(start: int, stop: int) -> None:
        for slab in X.packed(start, stop):
            rows = slab.u.reshape(slab.stop - slab.start, -1)
            solve_least_squares(rows, B, gram, low, high, A[slab.start : slab.stop])

    over_rows(task, len(A), grain=worthwhile(float(X.shape[1] * A.shape[1]), 8))


@njit(cache=True, nogil=True, error_model="numpy")
def solve_least_squares(
    u: np.ndarray, B: np.ndarray, gram: np.ndarray, low: float, high: float, A: np.ndarray
) -> None:
    """Coordinate descent on ½ aᵀ G a − aᵀ Bᵀ u for each row."""
    k = A.shape[1]
    linear = np.empty(k, B.dtype)
    a = np.empty(k)
    for i in range(u.shape[0]):
        if share_of_zeros(u[i]) > MOSTLY_ZERO:
            continue
        add_up(u[i], B, linear)
        for t in range(k):
            a[t] = A[i, t]
        for _ in range(ROUNDS):
            moved, size = 0.0, 0.0
            for t in range(k):
                if gram[t, t] > 0.0:
                    slope = -np.float64(linear[t])
                    for q in range(k):
                        slope += gram[t, q] * a[q]
                    new = min(max(a[t] - slope / gram[t, t], low), high)
                    moved += gram[t, t] * (new - a[t]) ** 2
                    size += gram[t, t] * new**2
                    a[t] = new
            if moved <= LITTLE * LITTLE * size:
                break
        for t in range(k):
            A[i, t] = max(a[t], RAISED * A[i, t])


@inlined(fastmath={"contract", "nsz"})
def add_up(u: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Into `out`, Σ_e u_e B_e, row after row."""
    for t in range(out.shape[0]):
        out[t] = 0.0
    for e in range(u.shape[0]):
        for t in range(out.shape[0]):
            out[t] += u[e] * B[e, t]
