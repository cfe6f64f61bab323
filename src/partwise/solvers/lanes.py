"""Eight numbers side by side: pieces of kernels that are written in vectors, since Numba finds none in such loops.

A compiler turns a loop into vector instructions along its innermost index. Where eight short sums run beside each
other, that index takes eight values only, and Numba leaves it to scalars. These pieces say it in LLVM's own vectors,
which every processor has in some width; the order of all additions is written down, so results do not depend on it.

Each piece is a function of Numba's (an "intrinsic") that compiled functions call; under NUMBA_DISABLE_JIT, and in the
tests, its Python twin stands for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

#: Numbers in a vector.
LANES = 8

#: Products and sums may be fused: one rounding where the processor can.
_FUSED = ("contract",)


def lay_out_plain(B: np.ndarray, rows: np.ndarray, met: np.ndarray, place: int, stride: int) -> None:
    """Rows of B side by side: met[place + t · stride + l] = B[rows[l], t], and 0 where rows[l] is negative."""
    for t in range(B.shape[1]):
        for lane in range(LANES):
            value = B[rows[lane], t] if rows[lane] >= 0 else B.dtype.type(0.0)
            met[place + t * stride + lane] = value


def carry_plain(
    r: np.ndarray,
    at: int,
    met: np.ndarray,
    b: int,
    other: int,
    owed: np.ndarray,
    sums: np.ndarray,
    steps: int,
) -> None:
    """Add owed[l] · met[other + 8e + l] to r[at + 8e + l] at every step e, then r[at + …] · met[b + …] to sums[l].

    The number of steps is even. Even and odd steps have sums of their own, which are added at the end.
    """
    odd = np.zeros(LANES, r.dtype)
    for e in range(steps):
        into = odd if e % 2 else sums
        for lane in range(LANES):
            here = LANES * e + lane
            r[at + here] += owed[lane] * met[other + here]
            into[lane] += r[at + here] * met[b + here]
    for lane in range(LANES):
        sums[lane] += odd[lane]


def begin_plain(
    r: np.ndarray, at: int, met: np.ndarray, b: int, amount: np.ndarray, sums: np.ndarray, steps: int
) -> None:
    """Add amount[l] · met[b + 8e + l] to r[at + 8e + l], and met[b + …]² to sums; as `carry_plain` does."""
    odd = np.zeros(LANES, r.dtype)
    for e in range(steps):
        into = odd if e % 2 else sums
        for lane in range(LANES):
            here = LANES * e + lane
            r[at + here] += amount[lane] * met[b + here]
            into[lane] += met[b + here] * met[b + here]
    for lane in range(LANES):
        sums[lane] += odd[lane]


def settle_plain(
    a: np.ndarray,
    at: int,
    curve: np.ndarray,
    sums: np.ndarray,
    ahead: np.ndarray,
    bend: np.ndarray,
    live: np.ndarray,
    lower: float,
    upper: float,
    owed: np.ndarray,
    moved: np.ndarray,
    extent: np.ndarray,
    broken: np.ndarray,
) -> None:
    """The best value of eight coordinates a[at + l], one of each row, where live[l] is 1.

    With g = sums + ahead + bend · a and h = curve[at + l] + bend, a moves to the minimiser of ½ h z² − (h a − g) z in
    [lower, upper], as `partwise.priors.scalar.bounded_minimiser` finds it, and `owed` is the move. Adds h · move² to
    `moved`, h · new² to `extent`, and how far the slope at the old value is from what the bounds allow to `broken`.
    """
    for lane in range(LANES):
        old, h = float(a[at + lane]), float(curve[at + lane]) + bend[lane]
        g = float(sums[lane]) + (ahead[lane] + bend[lane] * old)
        b = h * old - g
        if h > 0.0:
            new = min(max(b / h, lower), upper)
        else:
            new = lower if b < 0.0 else (upper if b > 0.0 else old)
        if not live[lane] or abs(new) == np.inf:
            new = old
        a[at + lane] = new
        new = float(a[at + lane])
        owed[lane] = new - old
        moved[lane] += h * (new - old) ** 2
        extent[lane] += h * new * new
        broken[lane] += max(-g, 0.0) if old <= lower else (max(g, 0.0) if old >= upper else abs(g))


class _Vectors:
    """Loads and stores of vectors in arrays of one type, while a piece is written."""

    def __init__(self, context: Any, builder: Any, of: Any) -> None:
        self.context, self.builder = context, builder
        self.scalar = context.get_data_type(of)
        self.vector = ir.VectorType(self.scalar, LANES)
        self.align = context.get_abi_sizeof(self.scalar)
        self.index = context.get_value_type(types.intp)

    def array(self, kind: Any, value: Any) -> Any:
        """The parts of an array."""
        return self.context.make_array(kind)(self.context, self.builder, value)

    def number(self, value: int) -> Any:
        """A constant of the type of indices."""
        return ir.Constant(self.index, value)

    def _pointer(self, data: Any, place: Any) -> Any:
        pointer = self.builder.gep(data, [place], inbounds=True)
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def load(self, data: Any, place: Any) -> Any:
        """Eight numbers from there on."""
        return self.builder.load(self._pointer(data, place), align=self.align)

    def store(self, value: Any, data: Any, place: Any) -> None:
        """Put eight numbers there."""
        self.builder.store(value, self._pointer(data, place), align=self.align)

    def plus_product(self, total: Any, left: Any, right: Any) -> Any:
        """The sum total + left · right."""
        product = self.builder.fmul(left, right, flags=_FUSED)
        return self.builder.fadd(total, product, flags=_FUSED)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors as the columns of a square, by three rounds of exchanges between halves, quarters, and pairs."""
    for bit in (1, 2, 4):
        low = [j if not j & bit else LANES + j - bit for j in range(LANES)]
        high = [j + bit if not j & bit else LANES + j for j in range(LANES)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), places) for places in (low, high)]
        for i in range(LANES):
            if not i & bit:
                pair = rows[i], rows[i + bit]
                rows[i], rows[i + bit] = (builder.shuffle_vector(*pair, mask) for mask in masks)
    return rows


def _lay_out(typing: Any, B: Any, rows: Any, met: Any, place: Any, stride: Any) -> Any:
    """`lay_out_plain`, as Numba's compiler takes it."""

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = _Vectors(context, builder, B.dtype)
        table, chosen, out = (v.array(kind, value) for kind, value in zip((B, rows, met), arguments))
        start, step = arguments[3:]
        k = builder.extract_value(table.shape, 1)
        none = ir.Constant(v.index, 0)
        pointers, there = [], []
        for lane in range(LANES):
            row = builder.load(builder.gep(chosen.data, [v.number(lane)]))
            is_row = builder.icmp_signed(">=", row, none)
            row = builder.select(is_row, row, none)
            pointers.append(builder.gep(table.data, [builder.mul(row, k)]))
            there.append(is_row)
        whole = builder.sub(k, builder.and_(k, v.number(LANES - 1)))
        zeros = ir.Constant(v.vector, [0.0] * LANES)
        with cgutils.for_range_slice(builder, none, whole, v.number(LANES), v.index) as (t, _):
            read = [
                builder.select(is_row, v.load(pointer, t), zeros) for pointer, is_row in zip(pointers, there)
            ]
            for j, column in enumerate(_transposed(builder, read)):
                line = builder.mul(builder.add(t, v.number(j)), step)
                v.store(column, out.data, builder.add(start, line))
        with cgutils.for_range_slice(builder, whole, k, v.number(1), v.index) as (t, _):
            column = zeros
            for lane, (pointer, is_row) in enumerate(zip(pointers, there)):
                value = builder.load(builder.gep(pointer, [t]))
                value = builder.select(is_row, value, ir.Constant(v.scalar, 0.0))
                column = builder.insert_element(column, value, ir.Constant(ir.IntType(32), lane))
            v.store(column, out.data, builder.add(start, builder.mul(t, step)))
        return context.get_dummy_value()

    integer = types.intp
    return types.void(B, rows, met, integer, integer), written


def _summed(v: _Vectors, sums: Any, steps: Any, term: Any) -> None:
    """Add term(place) · term'(place) of all steps to sums, even and odd ones apart; `term` gives the two factors."""
    builder = v.builder
    totals = [cgutils.alloca_once(builder, v.vector) for _ in range(2)]
    builder.store(v.load(sums, v.number(0)), totals[0])
    builder.store(ir.Constant(v.vector, [0.0] * LANES), totals[1])
    length = builder.mul(steps, v.number(LANES))
    with cgutils.for_range_slice(builder, v.number(0), length, v.number(2 * LANES), v.index) as (place, _):
        for half, total in enumerate(totals):
            left, right = term(builder.add(place, v.number(half * LANES)))
            builder.store(v.plus_product(builder.load(total), left, right), total)
    v.store(builder.fadd(builder.load(totals[0]), builder.load(totals[1])), sums, v.number(0))


def _carry(
    typing: Any, r: Any, at: Any, met: Any, b: Any, other: Any, owed: Any, sums: Any, steps: Any
) -> Any:
    """`carry_plain`, as Numba's compiler takes it."""

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = _Vectors(context, builder, r.dtype)
        residual, start, table, first, second, debt, out, count = arguments
        here, there = v.array(r, residual).data, v.array(met, table).data
        amount = v.load(v.array(owed, debt).data, v.number(0))

        def term(place: Any) -> tuple[Any, Any]:
            where = builder.add(start, place)
            moved = v.plus_product(v.load(here, where), amount, v.load(there, builder.add(second, place)))
            v.store(moved, here, where)
            return moved, v.load(there, builder.add(first, place))

        _summed(v, v.array(sums, out).data, count, term)
        return context.get_dummy_value()

    integer = types.intp
    return types.void(r, integer, met, integer, integer, owed, sums, integer), written


def _begin(typing: Any, r: Any, at: Any, met: Any, b: Any, amount: Any, sums: Any, steps: Any) -> Any:
    """`begin_plain`, as Numba's compiler takes it."""

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = _Vectors(context, builder, r.dtype)
        residual, start, table, first, by, out, count = arguments
        here, there = v.array(r, residual).data, v.array(met, table).data
        factor = v.load(v.array(amount, by).data, v.number(0))

        def term(place: Any) -> tuple[Any, Any]:
            where = builder.add(start, place)
            value = v.load(there, builder.add(first, place))
            v.store(v.plus_product(v.load(here, where), factor, value), here, where)
            return value, value

        _summed(v, v.array(sums, out).data, count, term)
        return context.get_dummy_value()

    integer = types.intp
    return types.void(r, integer, met, integer, amount, sums, integer), written


def _settle(
    typing: Any,
    a: Any,
    at: Any,
    curve: Any,
    sums: Any,
    ahead: Any,
    bend: Any,
    live: Any,
    lower: Any,
    upper: Any,
    owed: Any,
    moved: Any,
    extent: Any,
    broken: Any,
) -> Any:
    """`settle_plain`, as Numba's compiler takes it."""
    arrays = (a, curve, sums, ahead, bend, live, owed, moved, extent, broken)

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        narrow, wide = _Vectors(context, builder, a.dtype), _Vectors(context, builder, types.float64)
        place, low, high = arguments[1], arguments[7], arguments[8]
        values = [arguments[i] for i in (0, 2, 3, 4, 5, 6, 9, 10, 11, 12)]
        data = [narrow.array(kind, value).data for kind, value in zip(arrays, values)]
        a_, curve_, sums_, ahead_, bend_, live_, owed_, moved_, extent_, broken_ = data
        origin = wide.number(0)
        zero = ir.Constant(wide.vector, [0.0] * LANES)
        is_narrow = narrow.scalar != wide.scalar

        def widened(value: Any) -> Any:
            return builder.fpext(value, wide.vector) if is_narrow else value

        def narrowed(value: Any) -> Any:
            return builder.fptrunc(value, narrow.vector) if is_narrow else value

        def everywhere(value: Any) -> Any:
            lone = builder.insert_element(zero, value, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return builder.shuffle_vector(lone, lone, mask)

        def where(relation: str, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
            return builder.select(builder.fcmp_ordered(relation, left, right), then, otherwise)

        def add_to(there: Any, term: Any) -> None:
            wide.store(builder.fadd(wide.load(there, origin), term), there, origin)

        lowest, highest = everywhere(low), everywhere(high)
        old, bends = widened(narrow.load(a_, place)), wide.load(bend_, origin)
        h = builder.fadd(widened(narrow.load(curve_, place)), bends)
        more = builder.fadd(wide.load(ahead_, origin), builder.fmul(bends, old))
        g = builder.fadd(widened(narrow.load(sums_, origin)), more)
        b = builder.fsub(builder.fmul(h, old), g)
        free = builder.fdiv(b, h)
        free = where(">", lowest, free, lowest, free)
        free = where("<", highest, free, highest, free)
        # Where nothing curves the slope decides: to a bound if that is finite, else the coordinate stays.
        edge = where("<", b, zero, lowest, where(">", b, zero, highest, old))
        infinite = ir.Constant(wide.vector, [float("inf")] * LANES)
        finite = builder.and_(
            builder.fcmp_ordered("<", edge, infinite),
            builder.fcmp_ordered(">", edge, builder.fsub(zero, infinite)),
        )
        free = where("<=", h, zero, builder.select(finite, edge, old), free)
        new = narrowed(where(">", wide.load(live_, origin), zero, free, old))
        narrow.store(new, a_, place)
        new = widened(new)
        step = builder.fsub(new, old)
        narrow.store(narrowed(step), owed_, origin)
        add_to(moved_, builder.fmul(builder.fmul(h, step), step))
        add_to(extent_, builder.fmul(builder.fmul(h, new), new))
        down = builder.fsub(zero, g)
        size = where(">", g, zero, g, down)
        size = where(">=", old, highest, where(">", g, zero, g, zero), size)
        add_to(broken_, where("<=", old, lowest, where(">", down, zero, down, zero), size))
        return context.get_dummy_value()

    number = types.float64
    kinds = (a, types.intp, curve, sums, ahead, bend, live, number, number, owed, moved, extent, broken)
    return types.void(*kinds), written


_plain = bool(getattr(config, "DISABLE_JIT", 0))
lay_out: Any = lay_out_plain if _plain else intrinsic(_lay_out)
carry: Any = carry_plain if _plain else intrinsic(_carry)
begin: Any = begin_plain if _plain else intrinsic(_begin)
settle: Any = settle_plain if _plain else intrinsic(_settle)
