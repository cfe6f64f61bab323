"""Tiles by search among bits: alternate the two sides until nothing moves, then disturb and try again."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from partwise.boolean.bits import count, pack, product, wrong
from partwise.boolean.climb import climb
from partwise.boolean.descent import WRONG, Prices, best_usage
from partwise.boolean.grow import grow_tile, tile_values
from partwise.boolean.relaxed import relaxed_factors
from partwise.boolean.table import Table

#: Thresholds that relaxed factors are cut at, as the thesis has them (algorithm 4.1), but for 0 and 1.
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))


@dataclass
class Tiles:
    """A Boolean factorization: which rows use which tile, and which columns it has."""

    usage: np.ndarray
    columns: np.ndarray
    error: float

    def copy(self) -> Tiles:
        """One to change."""
        return Tiles(self.usage.copy(), self.columns.copy(), self.error)


def error_of(table: Table, usage: np.ndarray, columns: np.ndarray) -> int:
    """Wrong observed entries; `columns` is k × m."""
    return wrong(table.rows, product(usage, pack(columns)), table.seen)


def alternate(table: Table, tiles: Tiles, prices: Prices = WRONG, max_rounds: int = 100) -> Tiles:
    """Best rows for the columns, best columns for the rows, until what is paid stands still. In place."""
    before = tiles.error
    for _ in range(max_rounds):
        best_usage(table.rows, table.seen, pack(tiles.columns), tiles.usage, prices)
        held = np.ascontiguousarray(tiles.columns.T)
        tiles.error = best_usage(table.columns, table.seen_columns, pack(tiles.usage.T), held, prices)
        tiles.columns = np.ascontiguousarray(held.T)
        if tiles.error >= before - 1e-9:
            break
        before = tiles.error
    return tiles


def from_relaxed(table: Table, X: Any, rank: int, rng: np.random.Generator) -> Tiles:
    """Relaxed factors, cut at the one threshold with the least error, then improved bit by bit."""
    tiles, _ = cut(table, *relaxed_factors(X, rank, rng))
    return alternate(table, tiles)


def cut(table: Table, W: np.ndarray, Ht: np.ndarray) -> tuple[Tiles, float]:
    """Relaxed factors cut at the one threshold with the fewest wrong entries of the observed data; and which.

    Algorithm 4.1 of the thesis, whose error is against the noise-free matrix: nobody who has only data knows that.
    """
    best: tuple[Tiles, float] | None = None
    for threshold in THRESHOLDS:
        usage, columns = threshold < W, np.ascontiguousarray((threshold < Ht).T)
        error = error_of(table, usage, columns)
        if best is None or error < best[0].error:
            best = Tiles(usage, columns, error), threshold
    assert best is not None
    return best


def paid(table: Table, tiles: Tiles, prices: Prices) -> float:
    """What these tiles cost at these prices: uncovered ones, covered zeros, bits of both factors."""
    cover = product(tiles.usage, pack(tiles.columns))
    missed = int(count(table.rows & ~cover).sum())
    overdone = int(count(cover & ~table.rows & table.seen).sum())
    bits = int(tiles.usage.sum() + tiles.columns.sum())
    return prices.one * missed + prices.zero * overdone + prices.tile * bits


def replanted(
    table: Table, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG, tries: int = 4
) -> Tiles:
    """Move the tile of least worth to where most is left uncovered, as long as that pays."""
    now = paid(table, tiles, prices)
    for _ in range(4 * len(tiles.columns)):
        worth = tile_values(table, tiles.usage, tiles.columns, prices)
        for t in np.argsort(worth, kind="stable")[:tries]:
            trial = tiles.copy()
            trial.usage[:, t] = False
            trial.columns[t] = False
            u, v, gain = grow_tile(table, trial.usage, trial.columns, rng, prices)
            if gain <= 0:
                continue
            trial.usage[:, t], trial.columns[t] = u, v
            trial.error = float("inf")
            alternate(table, trial, prices)
            then = paid(table, trial, prices)
            if then < now - 1e-9:
                tiles, now = trial, then
                break
        else:
            break
    return tiles


def noise_rates(table: Table, tiles: Tiles) -> tuple[float, float]:
    """Shares of ones among what is not covered, and of zeros among what is."""
    cover = product(tiles.usage, pack(tiles.columns))
    covered = int(count(cover & table.seen).sum())
    missed = int(count(table.rows & ~cover).sum())
    overdone = int(count(cover & ~table.rows & table.seen).sum())
    return (missed + 0.5) / (table.n_observed - covered + 1.0), (overdone + 0.5) / (covered + 1.0)


def likely_prices(table: Table, tiles: Tiles) -> Prices:
    """Prices that make what is paid a log-posterior: flips with the rates seen, bits with the densities seen.

    Leaving a one uncovered instead of covering it costs log((1 − p₋)/p₊), covering a zero log((1 − p₊)/p₋), and a
    bit of either factor log((1 − q)/q); scaled so that the first two add up to 2, as they do for wrong entries.
    """
    add, drop = noise_rates(table, tiles)
    add, drop = min(add, 0.49), min(drop, 0.49)
    one, zero = np.log((1 - drop) / add), np.log((1 - add) / drop)
    bits = tiles.usage.size + tiles.columns.size
    q = min((tiles.usage.sum() + tiles.columns.sum() + 0.5) / (bits + 1.0), 0.49)
    scale = 2.0 / (one + zero)
    return Prices(float(one * scale), float(zero * scale), float(np.log((1 - q) / q) * scale))


def search(
    table: Table,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    seconds: float = 5.0,
    starts: int = 4,
    patience: int = 300,
    start: Tiles | None = None,
) -> Tiles:
    """The best of a few relaxed starts, or the given one; then disturb and improve until time or patience ends."""
    best = replanted(table, from_relaxed(table, X, rank, rng), rng) if start is None else start
    # The first start may have had to wait for the compiler; the clock begins after it.
    begin = perf_counter()
    for _ in range(starts - 1 if start is None else 0):
        if best.error == 0 or perf_counter() - begin > 0.5 * seconds:
            break
        found = replanted(table, from_relaxed(table, X, rank, rng), rng)
        best = found if found.error < best.error else best
    left = seconds - (perf_counter() - begin)
    if patience > 0 and left > 0 and best.error > 0:
        found = Tiles(*climb(table, best.usage, best.columns, rng, left, patience))
        found = alternate(table, found)
        best = found if found.error < best.error else best
    return best


def likelier(table: Table, tiles: Tiles, rng: np.random.Generator, rounds: int = 4) -> Tiles:
    """Go on from the fewest wrong entries to the most probable tiles, learning the noise on the way."""
    for _ in range(rounds):
        prices = likely_prices(table, tiles)
        tiles.error = float("inf")
        tiles = replanted(table, alternate(table, tiles.copy(), prices), rng, prices)
    tiles.error = float(error_of(table, tiles.usage, tiles.columns))
    return tiles
