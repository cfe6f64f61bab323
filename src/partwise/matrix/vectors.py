"""Vectors as wide as a register of AVX-512, for pieces of kernels that are written as vectors."""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import config


def _wide_registers() -> bool:
    """Whether kernels are compiled, for a processor with AVX-512: with narrower registers there is less to gain."""
    features = getattr(config, "CPU_FEATURES", None)
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",") and not getattr(config, "DISABLE_JIT", 0)


#: Whether kernels made of such vectors are used on this processor.
AT_HAND = _wide_registers()
#: Bytes of a register; there are 32.
VECTOR_BYTES = 64
#: Sides of the squares of numbers that are transposed: the lanes of a register of the widest numbers.
SIDE = 8
#: Products and sums may be fused: one rounding where the processor can.
_FUSED = ("contract",)


class Vectors:
    """Loads, stores and sums of vectors, while a piece is written for arrays of one type."""

    def __init__(self, context: Any, builder: Any, of: Any, lanes: int | None = None) -> None:
        """Vectors of `lanes` numbers; of as many as a register takes by default."""
        self.context, self.builder = context, builder
        self.scalar = context.get_data_type(of)
        self.bytes = context.get_abi_sizeof(self.scalar)
        self.lanes = lanes or VECTOR_BYTES // self.bytes
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.index = context.get_value_type(types.intp)
        self.zeros = ir.Constant(self.vector, [0.0] * self.lanes)

    def number(self, value: int) -> Any:
        """A constant of the type of indices."""
        return ir.Constant(self.index, value)

    def at(self, data: Any, place: Any) -> Any:
        """A pointer to one number."""
        return self.builder.gep(data, [place], inbounds=True)

    def load(self, data: Any, place: Any) -> Any:
        """The vector that begins there."""
        pointer = self.builder.bitcast(self.at(data, place), self.vector.as_pointer())
        return self.builder.load(pointer, align=self.bytes)

    def store(self, value: Any, data: Any, place: Any) -> None:
        """Put a vector there."""
        pointer = self.builder.bitcast(self.at(data, place), self.vector.as_pointer())
        self.builder.store(value, pointer, align=self.bytes)

    def everywhere(self, data: Any, place: Any) -> Any:
        """A vector of the number that is there, repeated."""
        return self.all_of(self.builder.load(self.at(data, place), align=self.bytes))

    def all_of(self, value: Any) -> Any:
        """A vector of one number, repeated."""
        lone = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        return self._shuffled(lone, lone, [0] * self.lanes)

    def _shuffled(self, left: Any, right: Any, places: list[int]) -> Any:
        """Lanes of two vectors, those of the second being counted on from those of the first."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        return self.builder.shuffle_vector(left, right, mask)

    def plus_product(self, total: Any, left: Any, right: Any) -> Any:
        """The sum total + left · right."""
        product = self.builder.fmul(left, right, flags=_FUSED)
        return self.builder.fadd(total, product, flags=_FUSED)

    def minus_product(self, total: Any, left: Any, right: Any) -> Any:
        """The difference total − left · right."""
        product = self.builder.fmul(left, right, flags=_FUSED)
        return self.builder.fsub(total, product, flags=_FUSED)

    def larger(self, value: Any, least: Any) -> Any:
        """The larger of both in each lane; where a value is not a number, it stays."""
        return self.builder.select(self.builder.fcmp_ordered("<", value, least), least, value)

    def smaller(self, value: Any, most: Any) -> Any:
        """The smaller of both in each lane; where a value is not a number, it stays."""
        return self.builder.select(self.builder.fcmp_ordered(">", value, most), most, value)

    def at_most(self, value: Any, most: Any) -> Any:
        """The smaller of two indices."""
        return self.builder.select(self.builder.icmp_signed("<", value, most), value, most)

    def summed(self, vectors: list[Any]) -> list[Any]:
        """The sum of the lanes of each vector: of one half plus the other, again and again; several at a time."""
        lanes = self.lanes
        held: list[list[int | None]] = [[i] for i in range(len(vectors))]
        while lanes > 1:
            # Each vector holds sums of several, in pieces of `lanes`; two vectors are folded into one.
            if len(vectors) % 2:
                vectors, held = [*vectors, vectors[-1]], [*held, []]
            pieces = [p * lanes for p in range(2 * self.lanes // lanes)]
            low = [start + j for start in pieces for j in range(lanes // 2)]
            high = [place + lanes // 2 for place in low]
            masks = [ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), half) for half in (low, high)]
            folded: list[Any] = []
            owners: list[list[int | None]] = []
            for left in range(0, len(vectors), 2):
                pair = vectors[left], vectors[left + 1]
                folded.append(
                    self.builder.fadd(*(self.builder.shuffle_vector(*pair, mask) for mask in masks))
                )
                # Where the second is the first again, its pieces are left alone.
                width = self.lanes // lanes
                owners.append([*held[left], *([None] * (width - len(held[left]))), *held[left + 1]])
            vectors, held, lanes = folded, owners, lanes // 2
        sums: dict[int, Any] = {}
        for vector, owner in zip(vectors, held):
            for lane, one in enumerate(owner):
                if one is not None:
                    sums[one] = self.builder.extract_element(vector, ir.Constant(ir.IntType(32), lane))
        return [sums[i] for i in sorted(sums)]

    def load_side(self, data: Any) -> Any:
        """The `SIDE` numbers that begin there."""
        kind = ir.VectorType(self.scalar, SIDE)
        return self.builder.load(self.builder.bitcast(data, kind.as_pointer()), align=self.bytes)

    def store_side(self, value: Any, data: Any) -> None:
        """Put `SIDE` numbers there."""
        pointer = self.builder.bitcast(data, value.type.as_pointer())
        self.builder.store(value, pointer, align=self.bytes)

    def joined(self, sides: list[Any]) -> list[Any]:
        """Vectors of which each holds sides i and i + SIDE, or one side where that fills it."""
        if self.lanes == SIDE:
            return sides
        pairs = zip(sides[:SIDE], sides[SIDE:], strict=True)
        return [self._shuffled(one, other, list(range(self.lanes))) for one, other in pairs]

    def split(self, vectors: list[Any]) -> list[Any]:
        """The way back of `joined`."""
        return [
            self._shuffled(vector, vector, list(range(start, start + SIDE)))
            for start in range(0, self.lanes, SIDE)
            for vector in vectors
        ]

    def turned(self, vectors: list[Any]) -> list[Any]:
        """Squares of SIDE vectors and as many lanes, transposed: halves change places, then quarters, and so on."""
        distance = SIDE // 2
        while distance:
            swapped = list(vectors)
            lanes = range(self.lanes)
            # Of two vectors that lie `distance` apart, every other piece as long as that changes places.
            stays = [lane if not lane & distance else self.lanes + lane - distance for lane in lanes]
            comes = [lane + distance if not lane & distance else self.lanes + lane for lane in lanes]
            for i in range(SIDE):
                if not i & distance:
                    pair = vectors[i], vectors[i + distance]
                    swapped[i] = self._shuffled(*pair, stays)
                    swapped[i + distance] = self._shuffled(*pair, comes)
            vectors, distance = swapped, distance // 2
        return vectors
