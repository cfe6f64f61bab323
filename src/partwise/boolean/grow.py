"""New tiles where ones are left uncovered, and what each tile is worth.

A tile is grown from a seed row: its columns are the seed's uncovered ones; rows that gain by it join; columns that
gain by these rows join; and so on until nothing moves. All on packed bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.descent import WRONG, Prices, as_floats, cover_row, taking
from partwise.boolean.table import Side, Table
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
    """What each row gains by using the one tile, where nothing is `covered`."""
    for i in range(bits.shape[0]):
        out[i] = taking(bits, zeros, weight, i, tile, 0, covered, prices, -1) - prices.tile


def gains(side: Side, covered: np.ndarray, packed: np.ndarray, prices: Prices) -> np.ndarray:
    """The same on several threads, for a plain packed tile."""
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
    table: Table,
    usage: np.ndarray,
    columns: np.ndarray,
    rng: np.random.Generator,
    prices: Prices = WRONG,
    seeds: int = 12,
    rounds: int = 12,
) -> tuple[np.ndarray, np.ndarray, float]:
    """The most profitable tile found beside those given: rows (n), columns (m), and what it gains."""
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
            by_row = gains(rows, covered_rows, v, prices)
            u = by_row > 0
            if not u.any():
                break
            packed_u = pack(u[None])[0]
            by_column = gains(cols, covered_columns, packed_u, prices)
            chosen = by_column > 0
            total = float(by_column[chosen].sum()) - prices.tile * float(u.sum())
            if total <= before:
                break
            before = total
            v = pack(chosen[None])[0]
            if total > best[2]:
                best = (u, unpack(v[None], table.m)[0], total)
    return best


def tile_values(table: Table, usage: np.ndarray, columns: np.ndarray, prices: Prices = WRONG) -> np.ndarray:
    """What would be lost without each tile: what it covers and no other does."""
    side = table.by_row
    tiles, held = side.spread(pack(columns)), as_floats(prices)
    out = np.zeros((table.n, len(columns)))
    over_rows(
        lambda a, b: value_rows(
            side.bits[a:b], side.zeros[a:b], side.weight, tiles, usage[a:b], held, out[a:b]
        ),
        table.n,
        grain=64,
    )
    return out.sum(axis=0)


@njit(cache=True, nogil=True)
def value_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    prices: Prices,
    out: np.ndarray,
) -> None:
    """Each row's part of it."""
    once, twice = np.empty(bits.shape, np.uint64), np.empty(bits.shape, np.uint64)
    for i in range(bits.shape[0]):
        cover_row(tiles, usage, i, once, twice)
        for t in range(tiles.shape[0]):
            if usage[i, t]:
                out[i, t] = taking(bits, zeros, weight, i, tiles, t, twice, prices, -1) - prices.tile
