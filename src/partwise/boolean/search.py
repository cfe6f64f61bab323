"""Tiles by search among bits: alternate the two sides until nothing moves, then disturb and try again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bits import pack
from partwise.boolean.climb import Stopped, climb
from partwise.boolean.concepts import affordable, concept_cover, instant
from partwise.boolean.descent import WRONG, Prices, best_usage
from partwise.boolean.description import outcome
from partwise.boolean.grow import grow_tile, tile_values
from partwise.boolean.noise import like_flips, likely_prices
from partwise.boolean.relaxed import relaxed_factors
from partwise.boolean.table import Table
from partwise.compiling import clock

#: Thresholds that relaxed factors are cut at, as the thesis has them (algorithm 4.1), but for 0 and 1.
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))

#: Patience of the short climb of small tables.
QUICK = 128
#: Short climbs before the long one, and the share of time and patience of each.
CLIMBS, SHORT = 4, 0.16


@dataclass
class Tiles:
    """A Boolean factorization: which rows use which tile, and which columns it has."""

    usage: np.ndarray
    columns: np.ndarray
    error: float

    def copy(self) -> Tiles:
        """One to change."""
        return Tiles(self.usage.copy(), self.columns.copy(), self.error)


def error_of(table: Table, usage: np.ndarray, columns: np.ndarray) -> float:
    """Weight of the wrong observed entries, their number without weights; `columns` is k × m."""
    _, missed, overdone = outcome(table, usage, columns)
    return missed + overdone


def alternate(
    table: Table, tiles: Tiles, prices: Prices = WRONG, max_rounds: int = 100, exact: bool | None = None
) -> Tiles:
    """Best rows for the columns, best columns for the rows, until what is paid stands still. In place."""
    before = tiles.error
    for _ in range(max_rounds):
        best_usage(table.by_row, pack(tiles.columns), tiles.usage, prices, exact)
        held = np.ascontiguousarray(tiles.columns.T)
        tiles.error = best_usage(table.by_column, pack(tiles.usage.T), held, prices, exact)
        tiles.columns = np.ascontiguousarray(held.T)
        if tiles.error >= before - 1e-9:
            break
        before = tiles.error
    return tiles


def from_relaxed(table: Table, X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5) -> Tiles:
    """Relaxed factors, cut at the one threshold with the least error, then improved bit by bit."""
    return alternate(table, cut_coarsely(table, *relaxed_factors(X, rank, rng, sparsity)))


def cut_coarsely(table: Table, W: np.ndarray, Ht: np.ndarray) -> Tiles:
    """Relaxed factors cut at the one threshold of a few with the fewest wrong entries; see `boolean.threshold`."""
    trials = []
    for threshold in THRESHOLDS:
        usage, columns = threshold < W, np.ascontiguousarray((threshold < Ht).T)
        trials.append(Tiles(usage, columns, error_of(table, usage, columns)))
    return min(trials, key=lambda tiles: tiles.error)


def paid(table: Table, tiles: Tiles, prices: Prices) -> float:
    """What these tiles cost at these prices: uncovered ones, covered zeros, bits of both factors."""
    _, missed, overdone = outcome(table, tiles.usage, tiles.columns)
    bits = int(tiles.usage.sum() + tiles.columns.sum())
    return prices.one * missed + prices.zero * overdone + prices.tile * bits


def replanting(
    table: Table, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG, tries: int = 4
) -> Iterator[Tiles]:
    """Move the tile of least worth to where most is left uncovered, as long as that pays; every move that did."""
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
        yield tiles


def replanted(table: Table, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG) -> Tiles:
    """After the last such move."""
    for moved in replanting(table, tiles, rng, prices):
        tiles = moved
    return tiles


def search(
    table: Table,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    seconds: float = 5.0,
    starts: int = 4,
    patience: int = 300,
    start: Tiles | None = None,
    sparsity: float = 0.5,
    tell: Callable[[float], None] | None = None,
) -> Tiles:
    """The best of a few starts, or the given one; then disturb and improve until time or patience ends.

    Once the wrong entries look like independent flips there is nothing left to find, and the search ends. Ctrl-C
    raises `Stopped`, which has what was found.
    """
    begin = clock()
    best: Tiles | None = None
    try:
        for found in [start] if start is not None else several_starts(table, X, rank, rng, starts, sparsity):
            if best is None or found.error < best.error:
                best = found
            if tell is not None:
                tell(best.error)
            if finished(table, best) or clock() - begin > 0.5 * seconds:
                break
        assert best is not None
        left = seconds - (clock() - begin)
        if patience > 0 and left > 0 and not finished(table, best):
            best = climbs(table, best, rng, left, patience, tell)
    except Stopped:
        raise
    except KeyboardInterrupt:
        if best is None:
            raise
        raise Stopped(best.usage, best.columns, best.error) from None
    return best


def climbs(
    table: Table,
    start: Tiles,
    rng: np.random.Generator,
    seconds: float,
    patience: int,
    tell: Callable[[float], None] | None = None,
) -> Tiles:
    """Some short climbs, each from the start, and a long one from the best of them.

    Which of the deep optima a climb ends in is decided early, and by chance.
    """
    begin, best = clock(), start
    try:
        for number in range(1, CLIMBS + 2):
            last = number > CLIMBS
            source, share = (best, 1.0 - CLIMBS * SHORT) if last else (start, SHORT)
            # A climb that ends early leaves its time to the next.
            left = seconds * (1.0 if last else number * SHORT) - (clock() - begin)
            if left <= 0:
                continue
            told = None if tell is None else no_worse(tell, best.error)
            patient = max(1, int(share * patience))
            climbed = climb(table, source.usage, source.columns, rng, left, patient, tell=told)
            if climbed[2] < best.error:
                best = Tiles(*climbed)
            if best.error == 0:
                return best
        settled = alternate(table, best.copy(), exact=True)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Stopped) and stop.found[2] < best.error:
            raise
        raise Stopped(best.usage, best.columns, best.error) from None
    return settled if settled.error < best.error else best


def no_worse(tell: Callable[[float], None], least: float) -> Callable[[float], None]:
    """Tell of the best so far, which another climb may have found."""
    return lambda error: tell(min(error, least))


def several_starts(
    table: Table, X: Any, rank: int, rng: np.random.Generator, count: int, sparsity: float
) -> Iterator[Tiles]:
    """Relaxed starts and a cover by concepts; each as it is, and then after every tile moved.

    Where the cover is a matter of milliseconds, so is a short climb: they come first. Elsewhere the cover comes after
    the first relaxed start.
    """
    quick = affordable(table) and instant(table, rank)
    if quick:
        tiles = covered(table, rank)
        yield tiles
        climbed = climb(table, tiles.usage, tiles.columns, rng, 1.0, QUICK)
        yield alternate(table, Tiles(*climbed))
    for i in range(count):
        tiles = from_relaxed(table, X, rank, rng, sparsity)
        yield tiles
        yield from replanting(table, tiles, rng)
        if i == 0 and affordable(table) and not quick:
            tiles = covered(table, rank)
            yield tiles
            yield from replanting(table, tiles, rng)


def covered(table: Table, rank: int) -> Tiles:
    """The greedy cover by concepts, improved bit by bit."""
    return alternate(table, Tiles(*concept_cover(table, rank), float("inf")))


def finished(table: Table, tiles: Tiles) -> bool:
    """Is nothing wrong, or nothing but noise?"""
    return tiles.error == 0 or like_flips(table, tiles.usage, tiles.columns)


def likelier(table: Table, tiles: Tiles, rng: np.random.Generator, rounds: int = 4) -> Tiles:
    """Go on from the fewest wrong entries to the most probable tiles, learning the noise on the way."""
    for _ in range(rounds):
        prices = likely_prices(table, tiles.usage, tiles.columns)
        then = tiles.copy()
        then.error = float("inf")
        then = replanted(table, alternate(table, then, prices), rng, prices)
        settled = np.array_equal(then.usage, tiles.usage) and np.array_equal(then.columns, tiles.columns)
        tiles = then
        if settled:
            break
    tiles.error = float(error_of(table, tiles.usage, tiles.columns))
    return tiles
