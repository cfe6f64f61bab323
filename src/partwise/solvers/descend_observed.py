"""Coordinate descent under the Frobenius loss on entries that are observed or not, compiled.

What `partwise.solvers.descend` does for any weights (the mathematics is there), where all weights are 1. Then a row
is its residual r = Σ_t a_t b_t − x on the observed entries, a coordinate's slope is ⟨r, b_t⟩, and its curvature
⟨b_t, b_t⟩ stays what it is while the row is worked on: two multiplications an entry and coordinate instead of five.

A short row would wait for the end of every sum before it could go on. So eight short rows are worked on side by side,
one in each lane of a vector; a long row takes all lanes, every eighth entry in one. A row's numbers do not depend on
its neighbours: lanes that have no more entries add zeros, and rows that are done stay as they are.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.solvers.lanes import LANES, begin, carry, lay_out, settle

#: Rows are short if eight of them, laid out for all coordinates, take at most so many bytes of the cache.
SHORT = 512 * 1024
#: A long row is laid out in pieces of so many steps of eight entries, all coordinates of a piece in one place. Odd in
#: lines of the cache for float32, so that coordinates do not push each other out of it.
PIECE = 14


def by_length(indptr: np.ndarray, k: int, itemsize: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that are short, the shortest first, so that neighbours are alike; and those that are long."""
    lengths = np.diff(indptr)
    is_long = lengths * (LANES * k * itemsize) > SHORT
    short = np.flatnonzero(~is_long)
    return short[np.argsort(lengths[short], kind="stable")], np.flatnonzero(is_long)


@njit(cache=True, nogil=True, error_model="numpy")
def descend_observed(
    short: np.ndarray,
    long: np.ndarray,
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

    `short` and `long` are as `by_length` gives them. Losses are those of the observed entries, less Σ ½ x²; they are
    left at zero unless `measured`.
    """
    k = A.shape[1]
    most = 0
    for i in short:
        most = max(most, indptr[i + 1] - indptr[i])
    size = stride_of(even(most))
    for i in long:
        size = max(size, 2 * PIECE + (indptr[i + 1] - indptr[i]) // LANES)
    met, r = np.zeros(k * LANES * size, B.dtype), np.zeros(LANES * size, B.dtype)
    a, curve = np.zeros((k, LANES), B.dtype), np.zeros((k, LANES), B.dtype)
    flat, curves = a.reshape(-1), curve.reshape(-1)
    owed, sums, own = np.zeros(LANES, B.dtype), np.zeros(LANES, B.dtype), np.zeros(LANES)
    chosen, begins, lengths = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    moved, extent, initial = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    broken, live = np.zeros(LANES), np.zeros(LANES)
    ahead, bend = np.full(LANES, linear[0, 0]), np.full(LANES, quadratic[0, 0])
    terms_differ = linear.size > 1 or quadratic.size > 1
    n_groups = (short.shape[0] + LANES - 1) // LANES
    for group in range(n_groups + long.shape[0]):
        # One row in all lanes, or one in each.
        alone = group >= n_groups
        rows = long[group - n_groups :] if alone else short[group * LANES :]
        n_rows = 1 if alone else min(LANES, rows.shape[0])
        for lane in range(LANES):
            begins[lane], lengths[lane] = 0, 0
            owed[lane], own[lane] = 0.0, 0.0
            live[lane] = 1.0 if lane < n_rows else 0.0
            if lane < n_rows:
                begins[lane], lengths[lane] = indptr[rows[lane]], indptr[rows[lane] + 1] - indptr[rows[lane]]
            for t in range(k):
                a[t, lane] = A[offset + rows[0 if alone else lane], t] if alone or lane < n_rows else 0.0
                curve[t, lane] = 0.0
        if alone:
            steps = even((lengths[0] + LANES - 1) // LANES)
            piece, stride = PIECE, PIECE * LANES
        else:
            steps = even(lengths[n_rows - 1])
            piece, stride = max(steps, 2), LANES * stride_of(steps)
        for e in range(steps):
            # Step e of a piece that begins at `first`; pieces follow each other, with all their coordinates.
            first = e // piece * piece
            for lane in range(LANES):
                there = LANES * e + lane if alone else e
                which = 0 if alone else lane
                chosen[lane] = -1
                r[LANES * e + lane] = 0.0
                if there < lengths[which]:
                    chosen[lane] = indices[begins[which] + there]
                    x = u[begins[which] + there]
                    r[LANES * e + lane] = -x
                    own[which] += np.float64(x) * np.float64(x)
            lay_out(B, chosen, met, first * LANES * k + (e - first) * LANES, stride)
        for first in range(0, steps, piece):
            here, at, several = first * LANES * k, first * LANES, min(piece, steps - first)
            for t in range(k):
                begin(r, at, met, here + t * stride, a[t], curve[t], several)
        if alone:
            for t in range(k):
                total = np.float64(0.0)
                for lane in range(LANES):
                    total += np.float64(curve[t, lane])
                curve[t, 0] = total
        owing = 0
        broken[:] = 0.0
        for s in range(sweeps):
            moved[:] = 0.0
            extent[:] = 0.0
            for t in order:
                sums[:] = 0.0
                # The last coordinate's move is carried into r on the way.
                for first in range(0, steps, piece):
                    here, at, several = first * LANES * k, first * LANES, min(piece, steps - first)
                    carry(r, at, met, here + t * stride, here + owing * stride, owed, sums, several)
                owing = t
                if alone:
                    for lane in range(1, LANES):
                        sums[0] += sums[lane]
                if terms_differ:
                    for lane in range(n_rows):
                        row = offset + rows[lane]
                        ahead[lane] = term_of(linear, row, t)
                        bend[lane] = term_of(quadratic, row, t)
                settle(
                    flat,
                    t * LANES,
                    curves,
                    sums,
                    ahead,
                    bend,
                    live,
                    lower,
                    upper,
                    owed,
                    moved,
                    extent,
                    broken,
                )
                if alone:
                    owed[1:] = owed[0]
            going = False
            for lane in range(n_rows):
                if live[lane] > 0.0:
                    if s == 0:
                        initial[lane] = moved[lane]
                        violation[offset + rows[lane]] += broken[lane]
                    if (
                        moved[lane] <= keep * keep * initial[lane]
                        or moved[lane] <= still * still * extent[lane]
                    ):
                        live[lane] = 0.0
                    else:
                        going = True
            if not going:
                break
        for lane in range(n_rows):
            for t in range(k):
                A[offset + rows[lane], t] = a[t, lane]
        if measured:
            lose(r, met, steps, piece, stride, k, owing, owed, alone, n_rows, own, rows, offset, loss)


@inlined()
def term_of(terms: np.ndarray, row: int, t: int) -> float:
    """A term of a prior; those with a single row, or a single column, hold for all."""
    return terms[row if terms.shape[0] > 1 else 0, t if terms.shape[1] > 1 else 0]


@inlined()
def even(steps: int) -> int:
    """As many steps or one more: they are taken two by two."""
    return (steps + 1) // 2 * 2


@inlined()
def stride_of(steps: int) -> int:
    """Steps of eight numbers from one coordinate to the next: an odd number, so that all of the cache is used."""
    return steps | 1


# (Fused as in `carry`: the loss of a row that came to rest before others beside it is the same to the bit.)
@inlined(fastmath={"contract"})
def lose(
    r: np.ndarray,
    met: np.ndarray,
    steps: int,
    piece: int,
    stride: int,
    k: int,
    owing: int,
    owed: np.ndarray,
    alone: bool,
    n_rows: int,
    own: np.ndarray,
    rows: np.ndarray,
    offset: int,
    loss: np.ndarray,
) -> None:
    """½ (Σ r² − Σ x²) of each row, in double precision; r first gets what the last coordinate owes it."""
    for lane in range(n_rows):
        loss[offset + rows[lane]] = -0.5 * own[lane]
    for first in range(0, steps, piece):
        for e in range(first, min(first + piece, steps)):
            here = first * LANES * k + (e - first) * LANES + owing * stride
            for lane in range(LANES):
                if alone or lane < n_rows:
                    z = np.float64(r[e * LANES + lane] + owed[lane] * met[here + lane])
                    loss[offset + rows[0 if alone else lane]] += 0.5 * z * z
