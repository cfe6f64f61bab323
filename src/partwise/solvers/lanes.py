"""Rows side by side: pieces of `descend_observed` that are written in vectors, since Numba finds none in such loops.

A compiler turns a loop into vector instructions along its innermost index. Where short sums run beside each other,
one in each lane of a vector, that index takes few values only, and Numba leaves it to scalars. These pieces say it in
LLVM's own vectors, which every processor has in some width; the order of all additions is written down.

Coordinates are taken four at a time, those at places p … p + 3 of `order`. What eight rows of B, or sixteen, are in
coordinate t at step e lies at met[place + t · stride + lanes · e + l], one row in each lane l.

Each piece is a function of Numba's (an "intrinsic") that compiled functions call; under NUMBA_DISABLE_JIT, and in the
tests, its Python twin stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from partwise.jit import inlined
from partwise.matrix.vectors import AT_HAND, SIDE, Vectors
from partwise.priors.scalar import FAR

#: Coordinates that are taken together.
TOGETHER = 4
#: Which two of them each line of `cross` belongs to.
PAIRS = tuple((c, d) for d in range(TOGETHER) for c in range(d))
#: Bytes of a number of which a vector has sixteen; of all others it has eight.
_SIXTEEN = 4 if AT_HAND else 0


@inlined()
def lane_count(itemsize: int) -> int:
    """Numbers in a vector, for numbers of so many bytes."""
    return 16 if itemsize == _SIXTEEN else 8


def lanes_of(dtype: np.dtype) -> int:
    """Numbers in a vector, outside of compiled functions."""
    return 16 if dtype.itemsize == _SIXTEEN else 8


def lay_out_plain(
    B: np.ndarray, rows: np.ndarray, nothing: np.ndarray, met: np.ndarray, place: int, stride: int
) -> None:
    """Rows of B side by side: met[place + t · stride + l] = B[rows[l], t]; `nothing`[t] where rows[l] is negative."""
    for t in range(B.shape[1]):
        for lane, row in enumerate(rows):
            met[place + t * stride + lane] = B[row, t] if row >= 0 else nothing[t]


def begin_plain(
    r: np.ndarray,
    at: int,
    met: np.ndarray,
    place: int,
    stride: int,
    order: np.ndarray,
    p: int,
    a: np.ndarray,
    curve: np.ndarray,
    cross: np.ndarray,
    steps: int,
) -> None:
    """Four coordinates t: adds a_t b_t to r, Σ b_t² to curve[t], and Σ b_t b_t′ of each of `PAIRS` to `cross`.

    r is r[at + lanes · e + l]; the lines of `cross` for places p … p + 3 of `order` begin at p / 4 · 6.
    """
    wide = a.shape[1]
    several = range(min(TOGETHER, len(order) - p))
    for e in range(steps):
        for lane in range(wide):
            here = wide * e + lane
            b = [met[place + order[p + c] * stride + here] for c in several]
            for c in several:
                r[at + here] += a[order[p + c], lane] * b[c]
                curve[order[p + c], lane] += b[c] * b[c]
            for line, (c, d) in enumerate(PAIRS):
                if d in several:
                    cross[p // TOGETHER * len(PAIRS) + line, lane] += b[c] * b[d]


def carry_plain(
    r: np.ndarray,
    at: int,
    met: np.ndarray,
    place: int,
    stride: int,
    order: np.ndarray,
    p: int,
    before: int,
    owed: np.ndarray,
    sums: np.ndarray,
    steps: int,
) -> None:
    """Adds what is owed[c] times the coordinate at place before + c to r, and Σ r b_t to sums[c] for places p + c."""
    wide = owed.shape[1]
    last = len(order) - 1
    for e in range(steps):
        for lane in range(wide):
            here = wide * e + lane
            for c in range(TOGETHER):
                r[at + here] += owed[c, lane] * met[place + order[min(before + c, last)] * stride + here]
            for c in range(TOGETHER):
                sums[c, lane] += r[at + here] * met[place + order[min(p + c, last)] * stride + here]


def spread_plain(sums: np.ndarray) -> None:
    """Every lane gets the sum of all lanes of its line."""
    sums[:] = sums.sum(axis=1, keepdims=True)


def settle_plain(
    order: np.ndarray,
    p: int,
    n: int,
    a: np.ndarray,
    curve: np.ndarray,
    inverse: np.ndarray,
    ahead: np.ndarray,
    bend: np.ndarray,
    sums: np.ndarray,
    cross: np.ndarray,
    live: np.ndarray,
    lower: float,
    upper: float,
    measure: int,
    owed: np.ndarray,
    moved: np.ndarray,
    extent: np.ndarray,
    broken: np.ndarray,
) -> None:
    """The best values, one after the other, of the coordinates at places p … p + 3 of `order` that come before n.

    With g = sums + ahead + bend · a and h = curve, which holds bend already, a moves to the minimiser of
    ½ h (z − a)² + g (z − a) in [lower, upper]. Where `inverse` = 1/h is 0 nothing curves, and the slope decides: to a
    bound if that is not far, else the coordinate stays. Rows whose `live` is 0 stay. `owed` are the moves; sums of
    later coordinates get what `cross` says they cause. Adds h · move² to `moved`, h · new² to `extent`, and, with
    `measure`, how far the slope at the old value is from what the bounds allow to `broken`.
    """
    for lane in range(a.shape[1]):
        for c in range(TOGETHER):
            owed[c, lane] = 0.0
            if p + c >= n:
                continue
            t = order[p + c]
            old, h, g = (
                a[t, lane],
                curve[t, lane],
                sums[c, lane] + (ahead[t, lane] + bend[t, lane] * a[t, lane]),
            )
            if inverse[t, lane]:
                new = min(max(old - g * inverse[t, lane], lower), upper)
            else:
                new = lower if g > 0.0 else (upper if g < 0.0 else old)
                new = new if abs(new) < FAR else old
            new = new if live[lane] else old
            a[t, lane] = new
            owed[c, lane] = a[t, lane] - old
            moved[lane] += float(h) * float(owed[c, lane]) ** 2
            extent[lane] += float(h) * float(new) ** 2
            if measure:
                inside = abs(g) if old < upper else max(g, 0.0)
                broken[lane] += max(-g, 0.0) if old <= lower else inside
            for line, (one, other) in enumerate(PAIRS):
                if one == c:
                    sums[other, lane] += cross[p // TOGETHER * len(PAIRS) + line, lane] * owed[c, lane]


class _Piece:
    """What the pieces have in common while they are written: vectors, arguments by name, and places."""

    def __init__(self, context: Any, builder: Any, of: Any, names: str, kinds: Any, values: Any) -> None:
        self.builder = builder
        self.v = Vectors(context, builder, of, 16 if of.bitwidth // 8 == _SIXTEEN else 8)
        self.values = dict(zip(names.split(), values))
        self.arrays = {
            name: context.make_array(kind)(context, builder, value)
            for name, kind, value in zip(names.split(), kinds, values)
            if isinstance(kind, types.Array)
        }

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name].data if name in self.arrays else self.values[name]

    def length(self, name: str, axis: int) -> Any:
        """The shape of an array."""
        return self.builder.extract_value(self.arrays[name].shape, axis)

    def coordinates(self, first: Any) -> list[Any]:
        """The coordinates at four places of `order` from `first` on; the last one stands for those beyond."""
        last = self.builder.sub(self.length("order", 0), self.v.number(1))
        places = [self.v.at_most(self.builder.add(first, self.v.number(c)), last) for c in range(TOGETHER)]
        return [self.builder.load(self.v.at(self["order"], place)) for place in places]

    def lines(self, coordinates: list[Any]) -> list[Any]:
        """Where these coordinates of `met` begin."""
        builder = self.builder
        return [
            self.v.at(self["met"], builder.add(self["place"], builder.mul(t, self["stride"])))
            for t in coordinates
        ]

    def line_of(self, name: str, t: Any) -> Any:
        """Where line t of an array begins that has one vector in each line."""
        return self.v.at(self[name], self.builder.mul(t, self.v.number(self.v.lanes)))

    def read(self, pointer: Any) -> Any:
        """The vector that is there."""
        return self.v.load(pointer, self.v.number(0))

    def write(self, value: Any, pointer: Any) -> None:
        """Put a vector there."""
        self.v.store(value, pointer, self.v.number(0))

    def pair_lines(self) -> list[Any]:
        """Where the lines of `cross` for the places from p on begin."""
        v, builder = self.v, self.builder
        first = builder.mul(builder.udiv(self["p"], v.number(TOGETHER)), v.number(len(PAIRS)))
        return [self.line_of("cross", builder.add(first, v.number(line))) for line in range(len(PAIRS))]

    def kept(self, pointers: list[Any]) -> list[Any]:
        """Registers that begin with what is there."""
        return [cgutils.alloca_once_value(self.builder, self.read(pointer)) for pointer in pointers]

    def add_to(self, register: Any, left: Any, right: Any) -> None:
        """Add a product to a register."""
        self.builder.store(self.v.plus_product(self.builder.load(register), left, right), register)

    @contextmanager
    def steps(self) -> Iterator[Any]:
        """A loop over steps, with the place of the step within a coordinate."""
        length = self.builder.mul(self["steps"], self.v.number(self.v.lanes))
        zero, step = self.v.number(0), self.v.number(self.v.lanes)
        with cgutils.for_range_slice(self.builder, zero, length, step, self.v.index) as (place, _):
            yield place


def _piece(names: str, of: str, numbers: dict[str, Any], body: Callable[[_Piece], None]) -> Any:
    """An intrinsic with arguments of these names, for arrays of the type of `of`; `numbers` are not arrays."""
    listed = names.split()

    def typed(typing: Any, *kinds: Any) -> Any:
        number_type = kinds[listed.index(of)].dtype
        wanted = [numbers.get(name, kind) for name, kind in zip(listed, kinds)]
        wanted = [number_type if kind == "number" else kind for kind in wanted]

        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            body(_Piece(context, builder, number_type, names, signature.args, arguments))
            return context.get_dummy_value()

        return types.void(*wanted), written

    # Numba goes by the names of the arguments.
    named = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("typing", *listed)]
    typed.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return intrinsic(typed)


def _lay_out(piece: _Piece) -> None:
    """`lay_out_plain`, as Numba's compiler takes it."""
    builder, v = piece.builder, piece.v
    k, zero = piece.length("B", 1), v.number(0)
    pointers = []
    for lane in range(v.lanes):
        row = builder.load(v.at(piece["rows"], v.number(lane)))
        there = builder.icmp_signed(">=", row, zero)
        held = v.at(piece["B"], builder.mul(builder.select(there, row, zero), k))
        pointers.append(builder.select(there, held, piece["nothing"]))
    line = lambda t: v.at(piece["met"], builder.add(piece["place"], builder.mul(t, piece["stride"])))  # noqa: E731

    def square(t: Any) -> None:
        sides = v.joined([v.load_side(v.at(pointer, t)) for pointer in pointers])
        for j, column in enumerate(v.turned(sides)):
            piece.write(column, line(builder.add(t, v.number(j))))

    side = v.number(SIDE)
    with builder.if_else(builder.icmp_signed(">=", k, side)) as (then, otherwise):
        with then:
            whole = builder.sub(k, builder.urem(k, side))
            with cgutils.for_range_slice(builder, zero, whole, side, v.index) as (t, _):
                square(t)
            with builder.if_then(builder.icmp_signed("<", whole, k)):
                # The last square overlaps the one before it.
                square(builder.sub(k, side))
        with otherwise, cgutils.for_range_slice(builder, zero, k, v.number(1), v.index) as (t, _):
            column = v.zeros
            for lane, pointer in enumerate(pointers):
                place = ir.Constant(ir.IntType(32), lane)
                column = builder.insert_element(column, builder.load(v.at(pointer, t)), place)
            piece.write(column, line(t))


def _begin(piece: _Piece) -> None:
    """`begin_plain`, as Numba's compiler takes it."""
    builder, v = piece.builder, piece.v
    coordinates = piece.coordinates(piece["p"])
    there = [
        builder.icmp_signed("<", builder.add(piece["p"], v.number(c)), piece.length("order", 0))
        for c in range(TOGETHER)
    ]
    held = [
        builder.select(inside, piece.read(piece.line_of("a", t)), v.zeros)
        for inside, t in zip(there, coordinates)
    ]
    curves = [piece.line_of("curve", t) for t in coordinates]
    crossed = piece.pair_lines()
    squares, products = piece.kept(curves), piece.kept(crossed)
    lines = piece.lines(coordinates)
    with piece.steps() as place:
        home = builder.add(piece["at"], place)
        b = [v.load(line, place) for line in lines]
        rest = v.load(piece["r"], home)
        for amount, one in zip(held, b):
            rest = v.plus_product(rest, amount, one)
        v.store(rest, piece["r"], home)
        for square, one in zip(squares, b):
            piece.add_to(square, one, one)
        for product, (c, d) in zip(products, PAIRS):
            piece.add_to(product, b[c], b[d])
    for inside, square, pointer in zip(there, squares, curves):
        with builder.if_then(inside):
            piece.write(builder.load(square), pointer)
    for product, pointer in zip(products, crossed):
        piece.write(builder.load(product), pointer)


def _carry(piece: _Piece) -> None:
    """`carry_plain`, as Numba's compiler takes it."""
    builder, v = piece.builder, piece.v
    debts = [piece.read(piece.line_of("owed", v.number(c))) for c in range(TOGETHER)]
    lines = piece.lines(piece.coordinates(piece["p"]))
    before = piece.lines(piece.coordinates(piece["before"]))
    totals = [piece.line_of("sums", v.number(c)) for c in range(TOGETHER)]
    sums = piece.kept(totals)
    with piece.steps() as place:
        home = builder.add(piece["at"], place)
        rest = v.load(piece["r"], home)
        for debt, line in zip(debts, before):
            rest = v.plus_product(rest, debt, v.load(line, place))
        v.store(rest, piece["r"], home)
        for total, line in zip(sums, lines):
            piece.add_to(total, rest, v.load(line, place))
    for total, pointer in zip(sums, totals):
        piece.write(builder.load(total), pointer)


def _spread(piece: _Piece) -> None:
    """`spread_plain`, as Numba's compiler takes it."""
    v = piece.v
    totals = [piece.line_of("sums", v.number(c)) for c in range(TOGETHER)]
    for total, pointer in zip(v.summed([piece.read(pointer) for pointer in totals]), totals):
        piece.write(v.all_of(total), pointer)


def _settle(piece: _Piece) -> None:
    """`settle_plain`, as Numba's compiler takes it."""
    builder, v = piece.builder, piece.v
    exact = Vectors(v.context, builder, types.float64, v.lanes)
    is_narrow = v.scalar != exact.scalar

    def widened(value: Any) -> Any:
        return builder.fpext(value, exact.vector) if is_narrow else value

    def where(relation: str, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        return builder.select(builder.fcmp_ordered(relation, left, right), then, otherwise)

    def positive(value: Any) -> Any:
        return v.larger(value, v.zeros)

    lowest, highest = v.all_of(piece["lower"]), v.all_of(piece["upper"])
    far = ir.Constant(v.vector, [FAR] * v.lanes)
    live = piece.read(piece["live"])
    sums = piece.kept([piece.line_of("sums", v.number(c)) for c in range(TOGETHER)])
    totals = {
        name: cgutils.alloca_once_value(builder, exact.load(piece[name], v.number(0)))
        for name in ("moved", "extent", "broken")
    }

    def add_to(name: str, value: Any) -> None:
        builder.store(builder.fadd(builder.load(totals[name]), value), totals[name])

    crossed = piece.pair_lines()
    for c, t in enumerate(piece.coordinates(piece["p"])):
        debt = piece.line_of("owed", v.number(c))
        piece.write(v.zeros, debt)
        inside = builder.icmp_signed("<", builder.add(piece["p"], v.number(c)), piece["n"])
        with builder.if_then(inside):
            old, h, inverse, ahead, bend = (
                piece.read(piece.line_of(name, t)) for name in ("a", "curve", "inverse", "ahead", "bend")
            )
            g = builder.fadd(builder.load(sums[c]), v.plus_product(ahead, bend, old))
            free = v.smaller(v.larger(v.minus_product(old, g, inverse), lowest), highest)
            # Where nothing curves the slope decides.
            edge = where(">", g, v.zeros, lowest, where("<", g, v.zeros, highest, old))
            finite = builder.and_(
                builder.fcmp_ordered("<", edge, far),
                builder.fcmp_ordered(">", edge, builder.fsub(v.zeros, far)),
            )
            flat = builder.fcmp_ordered("==", inverse, v.zeros)
            free = builder.select(flat, builder.select(finite, edge, old), free)
            new = where(">", live, v.zeros, free, old)
            piece.write(new, piece.line_of("a", t))
            move = builder.fsub(new, old)
            piece.write(move, debt)
            for line, (one, other) in zip(crossed, PAIRS):
                if one == c:
                    piece.add_to(sums[other], piece.read(line), move)
            exact_h = widened(h)
            for name, value in (("moved", widened(move)), ("extent", widened(new))):
                add_to(name, builder.fmul(builder.fmul(exact_h, value), value))
            with builder.if_then(builder.icmp_signed("!=", piece["measure"], v.number(0)), likely=False):
                up, down = positive(g), positive(builder.fsub(v.zeros, g))
                at_top = where(">=", old, highest, up, builder.fadd(up, down))
                add_to("broken", widened(where("<=", old, lowest, down, at_top)))
    for name, total in totals.items():
        exact.store(builder.load(total), piece[name], v.number(0))


_INDEX = types.intp
_PLACES = dict.fromkeys(("at", "place", "stride", "p", "before", "n", "measure", "steps"), _INDEX)
_BOUNDS: dict[str, Any] = {"lower": "number", "upper": "number"}
_plain = bool(getattr(config, "DISABLE_JIT", 0))
lay_out: Any = lay_out_plain
begin: Any = begin_plain
carry: Any = carry_plain
spread: Any = spread_plain
settle: Any = settle_plain
if not _plain:
    lay_out = _piece("B rows nothing met place stride", "B", _PLACES, _lay_out)
    begin = _piece("r at met place stride order p a curve cross steps", "r", _PLACES, _begin)
    carry = _piece("r at met place stride order p before owed sums steps", "r", _PLACES, _carry)
    spread = _piece("sums", "sums", {}, _spread)
    settle = _piece(
        "order p n a curve inverse ahead bend sums cross live lower upper measure owed moved extent broken",
        "a",
        _PLACES | _BOUNDS,
        _settle,
    )
