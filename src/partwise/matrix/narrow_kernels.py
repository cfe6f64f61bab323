"""Products with a narrow matrix, compiled: X B and Xᵀ A where B and A have few columns.

BLAS copies what it multiplies into an order of its own first. Where the other matrix has a few dozen columns that
copy of X costs about as much as the product, so here X is read where it lies, in vectors along its rows:

- `dot_rows` finds X B for a tile of rows and columns by running along both, a vector of partial sums for each pair;
- `add_rows` finds Xᵀ A for a tile of columns of X and of A by running down the rows.

Tiles at an edge are moved back to where they fit by visiting the last row or column again: what is written twice is
the same to the bit, since no sum depends on the tile that it belongs to.

The inner loops are written as vectors, since compilers do not find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partwise.matrix.vectors import VECTOR_BYTES, Vectors
from partwise.specialise import specialised

#: Rows of a tile of `dot_rows`, and how many columns it may have: its sums take up to 28 of the 32 registers.
ROWS, WIDTHS = 4, (7, 6, 5, 4)
#: Vectors of each row of X in a tile of `add_rows`, which has as many columns of A as above: up to 21 registers.
VECTORS = 3
#: Rows that `add_rows` runs down before it stores its sums; their part of X is in the cache meanwhile.
DEPTH = 64


def _dot_tile(width: int) -> Any:
    """A piece that adds Σ_j X[i′, j] Bt[t′, j] over start ≤ j < stop to out[i′, t′], for `ROWS` rows i′ from i on.

    There are `width` columns t′, from t on. Where `after` is above `stop`, Bt[·, stop:after] meets ends[i′ − i + e],
    the rest of the row, filled up with zeros. Rows from n on, and columns that Bt has not, stand for the last one.
    """

    def typed(
        typing: Any,
        X: Any,
        i: Any,
        n: Any,
        ends: Any,
        e: Any,
        Bt: Any,
        t: Any,
        start: Any,
        stop: Any,
        after: Any,
        out: Any,
    ) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            v = Vectors(context, builder, X.dtype)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            x, rests, b, to = (
                array(kind, arguments[at]) for kind, at in ((X, 0), (ends, 3), (Bt, 5), (out, 10))
            )
            i_, n_, e_, t_, start_, stop_, after_ = (arguments[at] for at in (1, 2, 4, 6, 7, 8, 9))
            one = v.number(1)
            last = builder.sub(n_, one)
            rows = [v.at_most(builder.add(i_, v.number(r)), last) for r in range(ROWS)]
            edge = builder.sub(builder.extract_value(b.shape, 0), one)
            columns = [v.at_most(builder.add(t_, v.number(c)), edge) for c in range(width)]
            m, padded = builder.extract_value(x.shape, 1), builder.extract_value(b.shape, 1)
            lefts = [v.at(x.data, builder.mul(row, m)) for row in rows]
            rights = [v.at(b.data, builder.mul(column, padded)) for column in columns]
            totals = [[cgutils.alloca_once(builder, v.vector) for _ in columns] for _ in rows]
            for line in totals:
                for total in line:
                    builder.store(v.zeros, total)

            def step(left: list[Any], right: list[Any]) -> None:
                for c, there in enumerate(right):
                    for r, here in enumerate(left):
                        total = totals[r][c]
                        builder.store(v.plus_product(builder.load(total), here, there), total)

            with cgutils.for_range_slice(builder, start_, stop_, v.number(v.lanes), v.index) as (j, _):
                step([v.load(left, j) for left in lefts], [v.load(right, j) for right in rights])
            with builder.if_then(builder.icmp_signed(">", after_, stop_)):
                wide = v.number(v.lanes)
                here = [
                    v.load(rests.data, builder.mul(builder.add(e_, builder.sub(row, i_)), wide))
                    for row in rows
                ]
                step(here, [v.load(right, stop_) for right in rights])
            k = builder.extract_value(to.shape, 1)
            sums = v.summed([builder.load(total) for line in totals for total in line])
            # All are read before any is written: at an edge places repeat.
            places = [
                v.at(to.data, builder.add(builder.mul(row, k), column)) for row in rows for column in columns
            ]
            sums = [builder.fadd(builder.load(place), one_sum) for place, one_sum in zip(places, sums)]
            for place, one_sum in zip(places, sums):
                builder.store(one_sum, place)
            return context.get_dummy_value()

        integer = types.intp
        return types.void(
            X, integer, integer, ends, integer, Bt, integer, integer, integer, integer, out
        ), written

    return typed


def _add_tile(width: int) -> Any:
    """A piece that adds Σ_i X[i − first, j′] A[i, t′] over start ≤ i < stop to out[t′, at + j′ − j].

    Of X these are `VECTORS` vectors from column j on, of A `width` columns from t on; columns that A has not stand
    for the last one.
    """

    def typed(
        typing: Any, X: Any, first: Any, j: Any, A: Any, start: Any, stop: Any, t: Any, out: Any, at: Any
    ) -> Any:
        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            v = Vectors(context, builder, X.dtype)
            array = lambda kind, value: context.make_array(kind)(context, builder, value)  # noqa: E731
            x, a, to = (array(kind, arguments[place]) for kind, place in ((X, 0), (A, 3), (out, 7)))
            first_, j_, start_, stop_, t_, at_ = (arguments[place] for place in (1, 2, 4, 5, 6, 8))
            one = v.number(1)
            k, m = builder.extract_value(a.shape, 1), builder.extract_value(x.shape, 1)
            padded = builder.extract_value(to.shape, 1)
            edge = builder.sub(k, one)
            columns = [v.at_most(builder.add(t_, v.number(c)), edge) for c in range(width)]
            lines = [v.at(to.data, builder.add(builder.mul(column, padded), at_)) for column in columns]
            steps = [v.number(p * v.lanes) for p in range(VECTORS)]
            totals = [[cgutils.alloca_once(builder, v.vector) for _ in steps] for _ in columns]
            for line, row in zip(lines, totals):
                for step, total in zip(steps, row):
                    builder.store(v.load(line, step), total)
            down = v.at(x.data, j_)
            with cgutils.for_range_slice(builder, start_, stop_, one, v.index) as (i, _):
                here = v.at(down, builder.mul(builder.sub(i, first_), m))
                there = v.at(a.data, builder.mul(i, k))
                vectors = [v.load(here, step) for step in steps]
                for column, row in zip(columns, totals):
                    factor = v.everywhere(there, column)
                    for vector, total in zip(vectors, row):
                        builder.store(v.plus_product(builder.load(total), vector, factor), total)
            for line, row in zip(lines, totals):
                for step, total in zip(steps, row):
                    v.store(builder.load(total), line, step)
            return context.get_dummy_value()

        integer = types.intp
        return types.void(X, integer, integer, A, integer, integer, integer, out, integer), written

    return typed


#: Stand-ins for what `specialised` puts in their place: a tile's product, and how many columns it has.
dot_tile: Any = None
add_tile: Any = None
WIDTH = 0


def dot_rows(
    X: np.ndarray, first: int, last: int, Bt: np.ndarray, block: int, span: int, out: np.ndarray
) -> None:
    """Add rows `first … last` of X B to `out`, which has as many columns as B.

    Bt is the transpose of B, its rows filled up with zeros to whole vectors. Rows are taken `block` at a time, and
    their part of X stays in the cache while it meets the tiles of columns; and `span` columns of X at a time.
    """
    m, lanes = X.shape[1], VECTOR_BYTES // X.itemsize
    whole = m - m % lanes
    ends = np.zeros((block if whole < m else 0, lanes), X.dtype)
    for begin in range(first, last, block):
        end = min(begin + block, last)
        if whole < m:
            for i in range(begin, end):
                for j in range(whole, m):
                    ends[i - begin, j - whole] = X[i, j]
        for start in range(0, max(m, 1), span):
            stop = min(start + span, whole)
            after = min(start + span, Bt.shape[1])
            for t in range(0, Bt.shape[0], WIDTH):
                for i in range(begin, end, ROWS):
                    dot_tile(X, i, end, ends, i - begin, Bt, t, start, stop, after, out)


def add_rows(X: np.ndarray, first: int, last: int, A: np.ndarray, out: np.ndarray) -> None:
    """Add Aᵀ X, over rows `first … last`, to `out`, whose rows are filled up to whole tiles."""
    m, length = X.shape[1], VECTORS * (VECTOR_BYTES // X.itemsize)
    whole = m - m % length
    ends = np.zeros((DEPTH if whole < m else 0, length), X.dtype)
    for start in range(first, last, DEPTH):
        stop = min(start + DEPTH, last)
        for j in range(0, whole, length):
            for t in range(0, A.shape[1], WIDTH):
                add_tile(X, 0, j, A, start, stop, t, out, j)
        if whole < m:
            for i in range(start, stop):
                for j in range(whole, m):
                    ends[i - start, j - whole] = X[i, j]
            for t in range(0, A.shape[1], WIDTH):
                add_tile(ends, start, 0, A, start, stop, t, out, whole)


def _compiled(template: Any, name: str, make: Any) -> dict[int, Any]:
    """`template` for each number of columns that a tile may have."""
    return {
        width: specialised(template, f"{width}", {name: intrinsic(make(width)), "WIDTH": width})
        for width in WIDTHS
    }


#: Columns of a tile → X B, and Xᵀ A, by such tiles.
DOT_ROWS = _compiled(dot_rows, "dot_tile", _dot_tile)
ADD_ROWS = _compiled(add_rows, "add_tile", _add_tile)
