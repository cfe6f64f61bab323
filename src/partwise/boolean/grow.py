"""New tiles where ones are left uncovered, and what each tile is worth.

A tile is grown from a seed row: its columns are the seed's uncovered ones; rows that gain by it join; columns that
gain by these rows join; and so on until nothing moves. All on packed bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from partwise.boolean.bits import ones, pack, product, unpack
from partwise.boolean.descent import WRONG, Prices
from partwise.boolean.table import Side, Table
from partwise.parallel import over_rows


@njit(cache=True, nogil=True)
def gain_rows(
    rows: np.ndarray,
    open_: np.ndarray,
    weight: np.ndarray,
    tile: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    out: np.ndarray,
) -> None:
    """What each row gains by using the tile, where `open_` is observed and not covered."""
    for i in range(rows.shape[0]):
        gain = -cost
        for w in range(rows.shape[1]):
            new = tile[w] & open_[i, w]
            gain += weight[w] * (one * ones(new & rows[i, w]) - zero * ones(new & ~rows[i, w]))
        out[i] = gain


def gains(side: Side, open_: np.ndarray, packed: np.ndarray, prices: Prices) -> np.ndarray:
    """The same on several threads, for a plain packed tile."""
    out = np.empty(len(open_))
    tile = side.spread(packed[None])[0]
    one, zero, cost = (float(price) for price in prices)
    over_rows(
        lambda a, b: gain_rows(side.bits[a:b], open_[a:b], side.weight, tile, one, zero, cost, out[a:b]),
        len(open_),
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
    open_rows = rows.seen & ~rows.spread(product(usage, pack(columns)))
    open_columns = cols.seen & ~cols.spread(product(np.ascontiguousarray(columns.T), pack(usage.T)))
    uncovered = rows.bits & open_rows
    left = np.bitwise_count(uncovered) @ rows.weight
    best = (np.zeros(table.n, bool), np.zeros(table.m, bool), 0.0)
    if left.sum() == 0:
        return best
    for seed in rng.choice(
        table.n, size=min(seeds, int((left > 0).sum())), replace=False, p=left / left.sum()
    ):
        v = rows.joined(uncovered[seed : seed + 1])[0]
        before = -np.inf
        for _ in range(rounds):
            by_row = gains(rows, open_rows, v, prices)
            u = by_row > 0
            if not u.any():
                break
            packed_u = pack(u[None])[0]
            by_column = gains(cols, open_columns, packed_u, prices)
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
    tiles = side.spread(pack(columns))
    out = np.zeros((table.n, len(columns)))
    one, zero, cost = (float(price) for price in prices)
    over_rows(
        lambda a, b: value_rows(
            side.bits[a:b], side.seen[a:b], side.weight, tiles, usage[a:b], one, zero, cost, out[a:b]
        ),
        table.n,
        grain=64,
    )
    return out.sum(axis=0)


@njit(cache=True, nogil=True)
def value_rows(
    rows: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    out: np.ndarray,
) -> None:
    """Each row's part of it."""
    k, width = tiles.shape
    for i in range(rows.shape[0]):
        for t in range(k):
            if not usage[i, t]:
                continue
            value = -cost
            for w in range(width):
                others = np.uint64(0)
                for r in range(k):
                    if r != t and usage[i, r]:
                        others |= tiles[r, w]
                alone = tiles[t, w] & ~others & observed[i, w]
                value += weight[w] * (one * ones(alone & rows[i, w]) - zero * ones(alone & ~rows[i, w]))
            out[i, t] = value
