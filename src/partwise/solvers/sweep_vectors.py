"""The sweep of `sweep.py` in vectors, four coordinates at a time, for processors with wide registers.

Coordinate t of a row moves to the minimiser of ½ h z² − (ρ + g_tt a_t) z in its interval, with h = g_tt + quadratic
and ρ = b_t − Σ_r g_tr a_r. Four coordinates are taken together: the sums of all four run over the other coordinates
at once, so that each of these is loaded once for four; then the four are visited in turn, and what each has moved is
subtracted from the sums of those that follow it. The coordinates are the same but for rounding.

A block of rows is laid out coordinate by coordinate, as vectors with a row in each lane. It is turned on the way in
and out in squares of eight by eight, by shuffles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partwise.jit import inlined, njit
from partwise.matrix.vectors import SIDE, VECTOR_BYTES, Vectors
from partwise.priors.scalar import bounded_minimiser

#: Vectors of a block of rows, and coordinates visited together: their sums take 16 of the 32 registers.
VECTORS, TOGETHER = 4, 4


def block_rows(dtype: np.dtype) -> int:
    """Rows of a block of numbers of this type."""
    return VECTORS * (VECTOR_BYTES // dtype.itemsize)


def _beyond(v: Vectors, slope: Any, old: Any, lowest: Any, highest: Any) -> Any:
    """How far a slope is from a minimum's: 0 inside, at least 0 at the lower bound, at most 0 at the upper."""
    builder = v.builder
    down, up = v.larger(builder.fsub(v.zeros, slope), v.zeros), v.larger(slope, v.zeros)
    inside = builder.fadd(down, up)
    at_top = builder.select(builder.fcmp_ordered(">=", old, highest), up, inside)
    return builder.select(builder.fcmp_ordered("<=", old, lowest), down, at_top)


def _write_visit() -> Any:
    """A piece that visits coordinates order[p … p + 3], those that there are, of every row of a block.

    `curve` and `inverse` are h and 1/h, a vector or a whole block for each coordinate. `state` has lines `going` (0
    for rows at rest), `moved`, `size` (both in units of the reconstruction) and `met`, to which the violation of the
    conditions of a minimum is added if `measure` is not 0.
    """

    def typed(
        typing: Any,
        G: Any,
        order: Any,
        p: Any,
        a: Any,
        b: Any,
        curve: Any,
        inverse: Any,
        lower: Any,
        upper: Any,
        measure: Any,
        state: Any,
    ) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            v = Vectors(context, builder, a.dtype)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            gram, places, here, there, bends, inverses, rows = (
                array(kind, arguments[at])
                for kind, at in ((G, 0), (order, 1), (a, 3), (b, 4), (curve, 5), (inverse, 6), (state, 10))
            )
            first, low, high, wanted = (arguments[at] for at in (2, 7, 8, 9))
            zero, width = v.number(0), v.number(VECTORS * v.lanes)
            k, n = builder.extract_value(gram.shape, 1), builder.extract_value(places.shape, 0)
            # Curvatures that are the same for all rows are one vector, which serves every vector of a block.
            wide = builder.extract_value(bends.shape, 1)
            each = builder.icmp_signed("==", wide, width)
            last = builder.sub(n, v.number(1))
            index = [
                builder.load(v.at(places.data, v.at_most(builder.add(first, v.number(c)), last)))
                for c in range(TOGETHER)
            ]
            lines = [v.at(gram.data, builder.mul(t, k)) for t in index]
            blocks = [v.number(q * v.lanes) for q in range(VECTORS)]
            sums = [[cgutils.alloca_once(builder, v.vector) for _ in blocks] for _ in index]
            for t, line in zip(index, sums):
                right = v.at(there.data, builder.mul(t, width))
                for q, one in zip(blocks, line):
                    builder.store(v.load(right, q), one)
            with cgutils.for_range_slice(builder, zero, k, v.number(1), v.index) as (r, _):
                other = v.at(here.data, builder.mul(r, width))
                vectors = [v.load(other, q) for q in blocks]
                for line, row in zip(sums, lines):
                    factor = v.everywhere(row, r)
                    for one, vector in zip(line, vectors):
                        builder.store(v.minus_product(builder.load(one), factor, vector), one)
            lowest, highest = v.all_of(low), v.all_of(high)
            states = [
                [v.at(rows.data, v.number((number * VECTORS + q) * v.lanes)) for q in range(VECTORS)]
                for number in range(4)
            ]
            going = [v.load(line, zero) for line in states[0]]
            moved, size = (
                [cgutils.alloca_once_value(builder, v.load(line, zero)) for line in states[number]]
                for number in (1, 2)
            )
            for c, (t, line) in enumerate(zip(index, sums)):
                with builder.if_then(builder.icmp_signed("<", builder.add(first, v.number(c)), n)):
                    own = v.everywhere(lines[c], t)
                    ties = [v.everywhere(lines[c], later) for later in index[c + 1 :]]
                    home = v.at(here.data, builder.mul(t, width))
                    bend, inverted = (v.at(part.data, builder.mul(t, wide)) for part in (bends, inverses))
                    for q, block in enumerate(blocks):
                        old, rest = v.load(home, block), builder.load(line[q])
                        place = builder.select(each, block, zero)
                        h = v.load(bend, place)
                        with builder.if_then(builder.icmp_signed("!=", wanted, zero), likely=False):
                            slope = builder.fsub(builder.fmul(builder.fsub(h, own), old), rest)
                            met = _beyond(v, slope, old, lowest, highest)
                            v.store(builder.fadd(v.load(states[3][q], zero), met), states[3][q], zero)
                        z = builder.fmul(v.plus_product(rest, own, old), v.load(inverted, place))
                        z = v.smaller(v.larger(z, lowest), highest)
                        move = builder.fmul(builder.fsub(z, old), going[q])
                        awake = builder.fcmp_ordered(">", going[q], v.zeros)
                        # A row that has come to rest keeps its coordinates to the bit.
                        v.store(builder.select(awake, z, old), home, block)
                        for total, what in ((moved[q], move), (size[q], z)):
                            term = v.plus_product(builder.load(total), builder.fmul(h, what), what)
                            builder.store(term, total)
                        for tie, later in zip(ties, sums[c + 1 :]):
                            builder.store(v.minus_product(builder.load(later[q]), tie, move), later[q])
            for line, held in zip(states[1:3], (moved, size)):
                for pointer, total in zip(line, held):
                    v.store(builder.load(total), pointer, zero)
            return context.get_dummy_value()

        integer, kind = types.intp, a.dtype
        return types.void(G, order, integer, a, b, curve, inverse, kind, kind, integer, state), written

    return typed


def _write_turn(inward: bool) -> Any:
    """A piece that copies eight columns t … t + 7 of as many rows as a vector has lanes, from row i on, of A.

    They go to a[t … t + 7, c …], or, not `inward`, come from there.
    """

    def typed(typing: Any, A: Any, i: Any, t: Any, a: Any, c: Any) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            v = Vectors(context, builder, A.dtype)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            tall, block = array(A, arguments[0]), array(a, arguments[3])
            i_, t_, c_ = (arguments[at] for at in (1, 2, 4))
            k = builder.extract_value(tall.shape, 1)
            width = builder.extract_value(block.shape, 1)
            rows = [
                v.at(tall.data, builder.add(builder.mul(builder.add(i_, v.number(r)), k), t_))
                for r in range(v.lanes)
            ]
            lines = [
                v.at(block.data, builder.add(builder.mul(builder.add(t_, v.number(s)), width), c_))
                for s in range(SIDE)
            ]
            if inward:
                squares = v.joined([v.load_side(row) for row in rows])
                for line, vector in zip(lines, v.turned(squares)):
                    v.store(vector, line, v.number(0))
            else:
                squares = v.turned([v.load(line, v.number(0)) for line in lines])
                for row, vector in zip(rows, v.split(squares)):
                    v.store_side(vector, row)
            return context.get_dummy_value()

        return types.void(A, types.intp, types.intp, a, types.intp), written

    return typed


_visit = intrinsic(_write_visit())
_turn_in = intrinsic(_write_turn(True))
_turn_out = intrinsic(_write_turn(False))


@inlined()
def lay_out(A: np.ndarray, start: int, a: np.ndarray) -> None:
    """Rows of A from `start` on, as many as a line of `a` has numbers, coordinate by coordinate into `a`."""
    k, width = A.shape[1], a.shape[1]
    lanes = VECTOR_BYTES // a.itemsize
    if k < SIDE:
        for c in range(width):
            for t in range(k):
                a[t, c] = A[start + c, t]
        return
    for c in range(0, width, lanes):
        for t in range(0, k - SIDE + 1, SIDE):
            _turn_in(A, start + c, t, a, c)
        if k % SIDE:
            # The last square overlaps the one before it.
            _turn_in(A, start + c, k - SIDE, a, c)


@inlined()
def put_back(a: np.ndarray, A: np.ndarray, start: int) -> None:
    """The way back of `lay_out`."""
    k, width = A.shape[1], a.shape[1]
    lanes = VECTOR_BYTES // a.itemsize
    if k < SIDE:
        for c in range(width):
            for t in range(k):
                A[start + c, t] = a[t, c]
        return
    for c in range(0, width, lanes):
        for t in range(0, k - SIDE + 1, SIDE):
            _turn_out(A, start + c, t, a, c)
        if k % SIDE:
            _turn_out(A, start + c, k - SIDE, a, c)


@inlined()
def visit_flat(
    G: np.ndarray,
    t: int,
    a: np.ndarray,
    b: np.ndarray,
    quadratic: np.ndarray,
    begin: int,
    lower: float,
    upper: float,
    measure: int,
    state: np.ndarray,
    slopes: np.ndarray,
) -> None:
    """Coordinate t of a block of rows from `begin` on, where only a prior curves: without one the slope decides.

    What G has there is so small that it has lost its digits.
    """
    kind = a.dtype.type
    by_row, by_column = int(quadratic.shape[0] > 1), int(quadratic.shape[1] > 1)
    for c in range(a.shape[1]):
        slopes[c] = b[t, c]
    for r in range(a.shape[0]):
        g = np.float64(G[t, r]) if r != t else 0.0
        for c in range(a.shape[1]):
            slopes[c] -= g * a[r, c]
    for c in range(a.shape[1]):
        row = min(begin + c, quadratic.shape[0] - 1)
        bend = quadratic[by_row * row, by_column * t]
        old, rest = np.float64(a[t, c]), slopes[c]
        d = bend * old - rest
        if measure:
            state[3, c] += kind(max(-d, 0.0) if old <= lower else (max(d, 0.0) if old >= upper else abs(d)))
        if state[0, c] > kind(0.0):
            new = bounded_minimiser(bend, rest, 0.0, old, np.float64(lower), np.float64(upper))
            state[1, c] += kind(bend * (new - old) * (new - old))
            state[2, c] += kind(bend * new * new)
            a[t, c] = kind(new)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_vectors(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    order: np.ndarray,
    flat: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    lower: float,
    upper: float,
    highest: float,
    sweeps: int,
    keep: float,
    still: float,
    measure: int,
    violation: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop` of A, as `sweep_rows` does it; coordinates `flat`, which hardly curve, come last."""
    k, kind = A.shape[1], A.dtype.type
    lanes = VECTOR_BYTES // A.itemsize
    width = VECTORS * lanes
    zero, one, near, tight = kind(0.0), kind(1.0), kind(keep * keep), kind(still * still)
    a, b = np.zeros((k, width), A.dtype), np.zeros((k, width), A.dtype)
    # Rows that still move, their movement and size, and how far from the conditions of a minimum they began.
    state = np.zeros((4, width), A.dtype)
    going, moved, size, met = state[0], state[1], state[2], state[3]
    limit = np.zeros(width, A.dtype)
    slopes = np.zeros(width if len(flat) else 0)
    shared, deep = quadratic.shape[0] == 1, int(quadratic.shape[1] > 1)
    by_row, by_column = linear.shape[0] > 1, int(linear.shape[1] > 1)
    curve = np.zeros((k, lanes if shared else width), A.dtype)
    inverse = np.zeros((k, lanes if shared else width), A.dtype)
    if shared:
        for t in order:
            curve[t] = G[t, t] + kind(quadratic[0, deep * t])
            inverse[t] = one / curve[t, 0]
    edge = np.zeros((width if (stop - start) % width else 0, k), A.dtype)
    for begin in range(start, stop, width):
        height = min(width, stop - begin)
        if height == width:
            lay_out(A, begin, a)
            lay_out(N, begin, b)
        else:
            edge[:] = zero
            edge[:height] = N[begin:stop]
            lay_out(edge, 0, b)
            edge[:height] = A[begin:stop]
            lay_out(edge, 0, a)
        for t in range(k):
            if by_row:
                for c in range(height):
                    b[t, c] -= kind(linear[begin + c, by_column * t])
            else:
                push = kind(linear[0, by_column * t])
                if push != zero:
                    for c in range(width):
                        b[t, c] -= push
        if not shared:
            for t in order:
                for c in range(width):
                    bend = quadratic[min(begin + c, stop - 1), deep * t]
                    curve[t, c] = G[t, t] + kind(bend)
                    inverse[t, c] = one / curve[t, c]
        for c in range(width):
            going[c] = one if c < height else zero
            met[c] = zero
        for s in range(sweeps):
            for c in range(width):
                moved[c] = zero
                size[c] = zero
            measured = measure if s == 0 else 0
            for p in range(0, len(order), TOGETHER):
                _visit(G, order, p, a, b, curve, inverse, lower, highest, measured, state)
            for t in flat:
                visit_flat(G, t, a, b, quadratic, begin, lower, upper, measured, state, slopes)
            if s == 0:
                for c in range(width):
                    limit[c] = near * moved[c]
            left = 0
            for c in range(width):
                rest = moved[c] <= limit[c] if s > 0 else moved[c] <= zero
                going[c] = zero if rest or moved[c] <= tight * size[c] else going[c]
                left += int(going[c] > zero)
            if left == 0:
                break
        if height == width:
            put_back(a, A, begin)
        else:
            put_back(a, edge, 0)
            A[begin:stop] = edge[:height]
        if measure:
            total = 0.0
            for c in range(height):
                total += np.float64(met[c])
            violation[begin // width] = total
