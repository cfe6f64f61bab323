"""A Bᵀ with the data put in wherever they were observed, compiled: reconstructed and filled in registers.

The reconstruction of a few rows by BLAS would be written to memory, and read again to be filled in. Here a tile of
it, `ROWS` rows by `VECTORS` vectors of columns, is summed over the components in registers, compared with the data
there, and written once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partwise.jit import njit
from partwise.matrix.vectors import VECTOR_BYTES, Vectors

#: Rows of a tile, and vectors of each: their sums take 16 of the 32 registers.
ROWS, VECTORS = 4, 4
#: Rows that are finished before the next are begun: data are read along rows, and a tile of B serves several tiles.
TOGETHER = 32


def _write_tile() -> Any:
    """A piece that fills in the rows from i on (the last one stands for those from n on) of one tile of columns.

    The sums over t of A[i′, t] packed[tile, t, c] go to Y[i′ − y, j + c] where v[i′ − y, j + c] is 0; elsewhere u
    does, and the square of its distance is added to sums[i′ − y, c mod lanes].
    """

    def typed(
        typing: Any,
        A: Any,
        i: Any,
        n: Any,
        packed: Any,
        tile: Any,
        u: Any,
        v: Any,
        Y: Any,
        y: Any,
        j: Any,
        sums: Any,
    ) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            p = Vectors(context, builder, A.dtype)
            exact = Vectors(context, builder, types.float64, p.lanes)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            left, right, data, weights, out, errors = (
                array(kind, arguments[at])
                for kind, at in ((A, 0), (packed, 3), (u, 5), (v, 6), (Y, 7), (sums, 10))
            )
            i_, n_, tile_, y_, j_ = (arguments[at] for at in (1, 2, 4, 8, 9))
            k, width = builder.extract_value(left.shape, 1), builder.extract_value(out.shape, 1)
            last = builder.sub(n_, p.number(1))
            rows = [p.at_most(builder.add(i_, p.number(r)), last) for r in range(ROWS)]
            lines = [p.at(left.data, builder.mul(row, k)) for row in rows]
            length = p.number(VECTORS * p.lanes)
            here = p.at(right.data, builder.mul(builder.mul(tile_, k), length))
            steps = [p.number(q * p.lanes) for q in range(VECTORS)]
            totals = [[cgutils.alloca_once(builder, p.vector) for _ in steps] for _ in rows]
            for line in totals:
                for total in line:
                    builder.store(p.zeros, total)
            with cgutils.for_range_slice(builder, p.number(0), k, p.number(1), p.index) as (t, _):
                there = p.at(here, builder.mul(t, length))
                vectors = [p.load(there, step) for step in steps]
                for line, row in zip(lines, totals):
                    factor = p.everywhere(line, t)
                    for vector, total in zip(vectors, row):
                        builder.store(p.plus_product(builder.load(total), factor, vector), total)
            # All errors are read before any is written: at the end of the rows places repeat.
            own = [builder.sub(row, y_) for row in rows]
            places = [builder.add(builder.mul(row, width), j_) for row in own]
            squares = [p.at(errors.data, builder.mul(row, p.number(p.lanes))) for row in own]
            found = []
            for place, square, row in zip(places, squares, totals):
                error = exact.load(square, p.number(0))
                for step, total in zip(steps, row):
                    at = builder.add(place, step)
                    seen = builder.fcmp_unordered("!=", p.load(weights.data, at), p.zeros)
                    x, guess = p.load(data.data, at), builder.load(total)
                    away = builder.select(seen, builder.fsub(x, guess), p.zeros)
                    away = builder.fpext(away, exact.vector) if p.scalar != exact.scalar else away
                    error = exact.plus_product(error, away, away)
                    p.store(builder.select(seen, x, guess), out.data, at)
                found.append(error)
            for square, error in zip(squares, found):
                exact.store(error, square, p.number(0))
            return context.get_dummy_value()

        integer = types.intp
        return types.void(A, integer, integer, packed, integer, u, v, Y, integer, integer, sums), written

    return typed


_fill_tile = intrinsic(_write_tile())


def pack(B: np.ndarray) -> np.ndarray:
    """Bᵀ cut into tiles of columns, the last one filled up with zeros: (tiles, k, columns of a tile)."""
    m, k = B.shape
    width = VECTORS * (VECTOR_BYTES // B.itemsize)
    tiles = -(-m // width)
    padded = np.zeros((tiles * width, k), B.dtype)
    padded[:m] = B
    return np.ascontiguousarray(padded.reshape(tiles, width, k).transpose(0, 2, 1))


@njit(cache=True, nogil=True, error_model="numpy")
def fill_rows(
    A: np.ndarray,
    packed: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    Y: np.ndarray,
    errors: np.ndarray,
) -> None:
    """Into Y, the data u where their weight v is not 0, and A Bᵀ elsewhere; into `errors` Σ (u − A Bᵀ)² of each row.

    Sums over components and over columns are taken in an order that does not depend on the other rows.
    """
    n, m = Y.shape
    lanes = VECTOR_BYTES // Y.itemsize
    width = VECTORS * lanes
    whole = m // width
    sums = np.zeros((n, lanes))
    for begin in range(0, n, TOGETHER):
        end = min(begin + TOGETHER, n)
        for tile in range(whole):
            for i in range(begin, end, ROWS):
                _fill_tile(A, i, end, packed, tile, u, v, Y, 0, tile * width, sums)
    if whole * width < m:
        # What is left of the columns is laid out as one more tile, with nothing observed beyond the end.
        start, rest = whole * width, m - whole * width
        data, weights = np.zeros((ROWS, width), Y.dtype), np.zeros((ROWS, width), Y.dtype)
        made = np.zeros((ROWS, width), Y.dtype)
        for i in range(0, n, ROWS):
            height = min(ROWS, n - i)
            for r in range(height):
                for c in range(rest):
                    data[r, c] = u[i + r, start + c]
                    weights[r, c] = v[i + r, start + c]
            _fill_tile(A, i, i + height, packed, whole, data, weights, made, i, 0, sums[i:])
            for r in range(height):
                for c in range(rest):
                    Y[i + r, start + c] = made[r, c]
    for i in range(n):
        total = 0.0
        for lane in range(lanes):
            total += sums[i, lane]
        errors[i] = total
