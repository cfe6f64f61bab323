"""Products of sparse rows with a narrow matrix B, compiled: Σ x_e B[j_e], the sums kept in registers.

One entry after the other would wait for the sum before it: entries go to several sums in turn, which are added up at
the end. Rows of B are read as whole vectors, beyond their ends; what is found there is not kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partwise.matrix.vectors import VECTOR_BYTES, Vectors
from partwise.specialise import specialised

#: The most vectors that a row of B may be read as.
MOST = 8
#: Sums of each row of X, by the number of vectors of each: at least eight chains of additions are under way.
SUMS = {1: 8, 2: 4, 3: 4, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2}


def _gather_row(width: int) -> Any:
    """A piece that puts Σ_e data[e] B[indices[e]], over first ≤ e < last, into `out`; rows of B are `width` vectors.

    B is given as its numbers one row after the other, the next `stride` numbers on, with room for a vector behind.
    """

    def typed(
        typing: Any, data: Any, indices: Any, first: Any, last: Any, B: Any, stride: Any, out: Any
    ) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            v = Vectors(context, builder, data.dtype)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            x, places, b, to = (
                array(kind, arguments[at]).data for kind, at in ((data, 0), (indices, 1), (B, 4), (out, 6))
            )
            begin, end, step = arguments[2], arguments[3], arguments[5]
            chains = SUMS[width]
            totals = [[cgutils.alloca_once(builder, v.vector) for _ in range(width)] for _ in range(chains)]
            for chain in totals:
                for total in chain:
                    builder.store(v.zeros, total)

            def add(e: Any, chain: list[Any]) -> None:
                factor = v.everywhere(x, e)
                place = builder.load(v.at(places, e))
                if place.type != v.index:
                    place = builder.zext(place, v.index)
                row = v.at(b, builder.mul(place, step))
                for p, total in enumerate(chain):
                    term = v.load(row, v.number(p * v.lanes))
                    builder.store(v.plus_product(builder.load(total), term, factor), total)

            many = v.number(chains)
            whole = builder.sub(end, builder.srem(builder.sub(end, begin), many))
            with cgutils.for_range_slice(builder, begin, whole, many, v.index) as (e, _):
                for c, chain in enumerate(totals):
                    add(builder.add(e, v.number(c)), chain)
            with cgutils.for_range_slice(builder, whole, end, v.number(1), v.index) as (e, _):
                add(e, totals[0])
            while len(totals) > 1:
                half = len(totals) // 2
                for left, right in zip(totals[:half], totals[half:]):
                    for one, other in zip(left, right):
                        builder.store(builder.fadd(builder.load(one), builder.load(other)), one)
                totals = totals[:half]
            for p, total in enumerate(totals[0]):
                v.store(builder.load(total), to, v.number(p * v.lanes))
            return context.get_dummy_value()

        integer = types.intp
        return types.void(data, indices, integer, integer, B, integer, out), written

    return typed


#: Stand-ins for what `specialised` puts in their place.
gather_row: Any = None
WIDTH = 0


def gather_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    B: np.ndarray,
    stride: int,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop` of a compressed-row matrix times B, which is flat as `_gather_row` has it."""
    k = out.shape[1]
    found = np.empty(WIDTH * (VECTOR_BYTES // out.itemsize), out.dtype)
    for i in range(start, stop):
        gather_row(data, indices, indptr[i], indptr[i + 1], B, stride, found)
        for t in range(k):
            out[i, t] = found[t]


#: Vectors of a row of B → products of sparse rows with it.
GATHER_ROWS = {
    width: specialised(gather_rows, f"{width}", {"gather_row": intrinsic(_gather_row(width)), "WIDTH": width})
    for width in SUMS
}
