"""New tiles where ones are left uncovered, and the value of each tile.

A tile is grown from a seed row: its columns are the seed's uncovered ones; rows that gain by it join; columns that
gain by these rows join; and so on until the total gain no longer rises. All on packed bits.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bit_table import BitTable, Side
from partwise.boolean.bits import pack, popcount, product, unpack
from partwise.boolean.descent import cover_row, gain_of_taking
from partwise.boolean.prices import WRONG, Prices, as_floats
from partwise.jit import njit
from partwise.parallel import over_rows


@njit(cache=True, nogil=True)
def gain_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    covered: np.ndarray,
    tile: np.ndarray,
    prices: Prices,
    out: np.ndarray,
) -> None:
    """Write the gain of each row by using the one tile beside what is `covered` into `out`."""
    for i in range(bits.shape[0]):
        out[i] = gain_of_taking(bits, zeros, weight, i, tile, 0, covered, prices, -1) - prices.tile


def row_gains(side: Side, covered: np.ndarray, packed: np.ndarray, prices: Prices) -> np.ndarray:
    """Gain of each row of a side by using a packed tile (one plane) beside what is `covered` (all planes)."""
    out = np.empty(len(covered))
    tile, held = side.spread(packed[None]), as_floats(prices)
    over_rows(
        lambda a, b: gain_rows(
            side.bits[a:b], side.zeros[a:b], side.weight, covered[a:b], tile, held, out[a:b]
        ),
        len(covered),
        grain=256,
    )
    return out


def grow_tile(
    table: BitTable,
    usage: np.ndarray,
    columns: np.ndarray,
    rng: np.random.Generator,
    prices: Prices = WRONG,
    seeds: int = 12,
    rounds: int = 12,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Grow a tile beside given ones, from several seed rows; the one of highest gain.

    Parameters
    ----------
    table : BitTable
    usage, columns : arrays of bool of shapes (n, k) and (k, m)
        The tiles that are there.
    rng : numpy.random.Generator
        Draws seed rows, in proportion to the ones they have uncovered.
    prices : Prices
    seeds, rounds : int
        Most seed rows, and most rounds of growing from each.

    Returns
    -------
    tuple
        Rows (n, bool) and columns (m, bool) of the tile, and its gain; empty and 0 if no tile gains.
    """
    rows, cols = table.by_row, table.by_column
    covered_rows = rows.spread(product(usage, pack(columns)))
    covered_columns = cols.spread(product(np.ascontiguousarray(columns.T), pack(usage.T)))
    uncovered = rows.bits & ~covered_rows
    left = rows.totals(uncovered)
    best = (np.zeros(table.n, bool), np.zeros(table.m, bool), 0.0)
    if left.sum() == 0:
        return best
    for seed in rng.choice(
        table.n, size=min(seeds, int((left > 0).sum())), replace=False, p=left / left.sum()
    ):
        v = rows.joined(uncovered[seed : seed + 1])[0]
        before = -np.inf
        for _ in range(rounds):
            by_row = row_gains(rows, covered_rows, v, prices)
            u = by_row > 0
            if not u.any():
                break
            packed_u = pack(u[None])[0]
            by_column = row_gains(cols, covered_columns, packed_u, prices)
            chosen = by_column > 0
            total = float(by_column[chosen].sum()) - prices.tile * float(u.sum())
            if total <= before:
                break
            before = total
            v = pack(chosen[None])[0]
            if total > best[2]:
                best = (u, unpack(v[None], table.m)[0], total)
    return best


def tile_values(
    table: BitTable, usage: np.ndarray, columns: np.ndarray, prices: Prices = WRONG
) -> np.ndarray:
    """How much higher the cost would be without each tile, rows and columns of the others unchanged."""
    hits, slips = covered_alone(table, usage, columns)
    return np.asarray(prices.one * hits - prices.zero * slips - prices.tile * usage.sum(axis=0))


def covered_alone(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the observed ones, and of the observed zeros, that each tile covers and no other does."""
    side = table.by_row
    tiles = side.spread(pack(columns))
    starts = range(0, table.n, max(64, -(-table.n // 64)))
    out = np.zeros((2, len(starts), len(columns)))

    def task(first: int, last: int) -> None:
        for c in range(first, last):
            rows = slice(starts[c], starts[c] + starts.step)
            alone_in_rows(side.bits[rows], side.zeros[rows], side.weight, tiles, usage[rows], out[:, c])

    over_rows(task, len(starts), grain=1)
    hits, slips = out.sum(axis=1)
    return hits, slips


@njit(cache=True, nogil=True)
def alone_in_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    out: np.ndarray,
) -> None:
    """The same for a block of rows: adds the ones to `out[0]` and the zeros to `out[1]` (each of length k)."""
    once, twice = np.empty(bits.shape, np.uint64), np.empty(bits.shape, np.uint64)
    width = bits.shape[1] // weight.shape[0]
    for i in range(bits.shape[0]):
        cover_row(tiles, usage, i, once, twice)
        for t in range(tiles.shape[0]):
            if usage[i, t]:
                for p in range(weight.shape[0]):
                    good, bad = 0, 0
                    for w in range(p * width, (p + 1) * width):
                        alone = tiles[t, w] & ~twice[i, w]
                        good += popcount(alone & bits[i, w])
                        bad += popcount(alone & zeros[i, w])
                    out[0, t] += weight[p] * good
                    out[1, t] += weight[p] * bad
