"""Coordinate descent under the Frobenius loss on entries that are observed or not, compiled.

What `partwise.solvers.descend` does for any weights (the mathematics is there), where all weights are 1. Then a row
is its residual r = Σ_t a_t b_t − x on the observed entries, a coordinate's slope is ⟨r, b_t⟩, and its curvature
⟨b_t, b_t⟩ stays what it is while the row is worked on: two multiplications an entry and coordinate instead of five.

Four coordinates are taken together: the slopes of all four are found at once, then they move in turn, and what a move
changes of the slopes after it is told by ⟨b_t, b_t′⟩. So r is read once for four.

A short row would wait for the end of every sum before it could go on. So short rows are worked on side by side, one
in each lane of a vector (eight lanes, or sixteen); a long row takes all lanes, every eighth entry in one. A row's
numbers do not depend on its neighbours: lanes that have no more entries add zeros, and rows that are done stay as
they are.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit
from partwise.solvers.lanes import (
    PAIRS,
    TOGETHER,
    begin,
    carry,
    lane_count,
    lanes_of,
    lay_out,
    settle,
    spread,
)

#: Rows are short if those side by side, laid out for all coordinates, take at most so many bytes of the cache.
SHORT = 1024 * 1024
#: A long row is laid out in pieces of so many steps, all coordinates of a piece in one place. Odd, so that
#: coordinates do not push each other out of the cache.
PIECE = 15
_PAIRS = len(PAIRS)


def by_length(indptr: np.ndarray, k: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The rows that are short, the shortest first, so that neighbours are alike; and those that are long."""
    lengths = np.diff(indptr)
    is_long = lengths * (lanes_of(dtype) * k * dtype.itemsize) > SHORT
    short = np.flatnonzero(~is_long)
    return short[np.argsort(lengths[short], kind="stable")], np.flatnonzero(is_long)


def with_the_rest(order: np.ndarray, k: int) -> np.ndarray:
    """The coordinates to visit, then those that are not visited."""
    return np.concatenate([order, np.setdiff1d(np.arange(k), order)]).astype(np.intp)


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
    n: int,
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

    `short` and `long` are as `by_length` gives them; the first n of `order` are visited. Losses are those of the
    observed entries, less Σ ½ x²; they are left at zero unless `measured`.
    """
    k, kind, lanes = A.shape[1], B.dtype.type, lane_count(B.itemsize)
    zero = kind(0.0)
    most = 1
    for i in short:
        most = max(most, indptr[i + 1] - indptr[i])
    size = most | 1
    for i in long:
        size = max(size, 2 * PIECE + (indptr[i + 1] - indptr[i]) // lanes)
    met, r, nothing = (
        np.zeros(k * lanes * size, B.dtype),
        np.zeros(lanes * size, B.dtype),
        np.zeros(k, B.dtype),
    )
    a, curve, inverse = (
        np.zeros((k, lanes), B.dtype),
        np.zeros((k, lanes), B.dtype),
        np.zeros((k, lanes), B.dtype),
    )
    ahead, bend = np.zeros((k, lanes), B.dtype), np.zeros((k, lanes), B.dtype)
    cross = np.zeros(((k + TOGETHER - 1) // TOGETHER * _PAIRS, lanes), B.dtype)
    owed, sums, own = (
        np.zeros((TOGETHER, lanes), B.dtype),
        np.zeros((TOGETHER, lanes), B.dtype),
        np.zeros(lanes),
    )
    chosen, begins, lengths = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    moved, extent, initial, broken = np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes)
    by_row = linear.shape[0] > 1 or quadratic.shape[0] > 1
    live, flat = np.zeros(lanes, B.dtype), kind(8.0 * np.finfo(B.dtype).tiny)
    low, high = kind(lower), kind(upper)
    n_groups = (short.shape[0] + lanes - 1) // lanes
    for group in range(n_groups + long.shape[0]):
        # One row in all lanes, or one in each.
        alone = group >= n_groups
        rows = long[group - n_groups :] if alone else short[group * lanes :]
        n_rows = 1 if alone else min(lanes, rows.shape[0])
        for lane in range(lanes):
            begins[lane], lengths[lane] = 0, 0
            live[lane] = kind(1.0) if alone or lane < n_rows else zero
            if lane < n_rows:
                begins[lane], lengths[lane] = indptr[rows[lane]], indptr[rows[lane] + 1] - indptr[rows[lane]]
            chosen[lane] = rows[0 if alone else lane] + offset if live[lane] > zero else -1
        lay_out(A, chosen, nothing, a.reshape(-1), 0, lanes)
        if by_row or group == 0:
            for lane in range(lanes):
                row = max(chosen[lane], 0)
                for t in range(k):
                    ahead[t, lane] = kind(term_of(linear, row, t))
                    bend[t, lane] = kind(term_of(quadratic, row, t))
        curve[:] = zero
        cross[:] = zero
        owed[:] = zero
        steps = (lengths[0] + lanes - 1) // lanes if alone else lengths[n_rows - 1]
        piece = PIECE if alone else max(1, steps)
        stride = lanes * (piece | 1)
        for e in range(steps):
            # Step e of a piece that begins at `first`; pieces follow each other, with all their coordinates.
            first = e // piece * piece
            for lane in range(lanes):
                there = lanes * e + lane if alone else e
                which = 0 if alone else lane
                chosen[lane] = -1
                r[lanes * e + lane] = zero
                if there < lengths[which]:
                    chosen[lane] = indices[begins[which] + there]
                    r[lanes * e + lane] = -u[begins[which] + there]
            lay_out(B, chosen, nothing, met, first // piece * k * stride + (e - first) * lanes, stride)
        if measured:
            squares(r, steps, own)
        for first in range(0, steps, piece):
            here, several = first // piece * k * stride, min(piece, steps - first)
            for p in range(0, k, TOGETHER):
                begin(r, first * lanes, met, here, stride, order, p, a, curve, cross, several)
        if alone:
            add_up(curve)
            add_up(cross)
        for t in range(k):
            for lane in range(lanes):
                h = curve[t, lane] + bend[t, lane]
                curve[t, lane] = h
                inverse[t, lane] = kind(1.0) / h if h > flat else zero
        before = 0
        broken[:] = 0.0
        for s in range(sweeps):
            moved[:] = 0.0
            extent[:] = 0.0
            for p in range(0, n, TOGETHER):
                sums[:] = zero
                # What the last coordinates moved is carried into r on the way.
                for first in range(0, steps, piece):
                    here, several = first // piece * k * stride, min(piece, steps - first)
                    carry(r, first * lanes, met, here, stride, order, p, before, owed, sums, several)
                before = p
                if alone:
                    spread(sums)
                settle(
                    order,
                    p,
                    n,
                    a,
                    curve,
                    inverse,
                    ahead,
                    bend,
                    sums,
                    cross,
                    live,
                    low,
                    high,
                    int(s == 0),
                    owed,
                    moved,
                    extent,
                    broken,
                )
            going = False
            for lane in range(n_rows):
                if live[lane] > zero:
                    if s == 0:
                        initial[lane] = moved[lane]
                        violation[offset + rows[lane]] += broken[lane]
                    if (
                        moved[lane] <= keep * keep * initial[lane]
                        or moved[lane] <= still * still * extent[lane]
                    ):
                        live[lane] = zero
                    else:
                        going = True
            if not going:
                break
        for lane in range(n_rows):
            for t in range(k):
                A[offset + rows[lane], t] = a[t, lane]
        if measured:
            for first in range(0, steps, piece):
                here, several = first // piece * k * stride, min(piece, steps - first)
                carry(r, first * lanes, met, here, stride, order, 0, before, owed, sums, several)
            squares(r, steps, extent)
            for lane in range(lanes if alone else n_rows):
                loss[offset + rows[0 if alone else lane]] += 0.5 * (extent[lane] - own[lane])


@inlined()
def term_of(terms: np.ndarray, row: int, t: int) -> float:
    """A term of a prior; those with a single row, or a single column, hold for all."""
    return terms[row if terms.shape[0] > 1 else 0, t if terms.shape[1] > 1 else 0]


@inlined()
def add_up(sums: np.ndarray) -> None:
    """Every lane gets the sum of all lanes of its line."""
    for t in range(sums.shape[0]):
        total = 0.0
        for lane in range(sums.shape[1]):
            total += np.float64(sums[t, lane])
        for lane in range(sums.shape[1]):
            sums[t, lane] = sums.dtype.type(total)


@inlined()
def squares(r: np.ndarray, steps: int, sums: np.ndarray) -> None:
    """Σ r² of each lane, in double precision."""
    lanes = sums.shape[0]
    sums[:] = 0.0
    for e in range(steps):
        for lane in range(lanes):
            z = np.float64(r[e * lanes + lane])
            sums[lane] += z * z
