"""Tiles by search among bits: alternate between rows and columns until nothing changes, then perturb and repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.boolean.climb import Stopped, climb
from partwise.boolean.concepts import concept_cover, is_affordable, is_instant
from partwise.boolean.descent import best_usage
from partwise.boolean.description import cover_totals
from partwise.boolean.grow import grow_tile, tile_values
from partwise.boolean.noise import likely_prices, looks_like_flips
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.relaxed import relaxed_factors
from partwise.compiling import clock

#: Thresholds that relaxed factors are cut at: the grid of Hess, Piatkowski & Morik 2018 without 0 and 1.
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))

#: Patience of the short climb from the cover by concepts.
QUICK = 128
#: Number of short climbs before the long one, and the share of time and of patience that each gets.
CLIMBS, SHORT = 4, 0.16


@dataclass
class Tiles:
    """A Boolean factorization: which rows use each tile (n × k), which columns it has (k × m), and its error."""

    usage: np.ndarray
    columns: np.ndarray
    error: float

    def copy(self) -> Tiles:
        """A copy whose arrays can be changed."""
        return Tiles(self.usage.copy(), self.columns.copy(), self.error)


def error_of(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> float:
    """Total weight of the wrong observed entries, without weights their number; `columns` is k × m."""
    _, missed, overdone = cover_totals(table, usage, columns)
    return missed + overdone


def alternate(
    table: BitTable, tiles: Tiles, prices: Prices = WRONG, max_rounds: int = 100, exact: bool | None = None
) -> Tiles:
    """Improve rows for given columns, then columns for given rows, until the cost no longer falls; in place.

    The cost goes into `tiles.error`. `exact` is passed on to `best_usage`.
    """
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


def from_relaxed(
    table: BitTable, X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5
) -> Tiles:
    """Tiles from relaxed factors, cut at the best of a few thresholds and improved by `alternate`."""
    return alternate(table, cut_coarsely(table, *relaxed_factors(X, rank, rng, sparsity)))


def cut_coarsely(table: BitTable, W: np.ndarray, Ht: np.ndarray) -> Tiles:
    """Relaxed factors W (n × k) and Ht (m × k), cut at the one of `THRESHOLDS` with the fewest wrong entries."""
    trials = []
    for threshold in THRESHOLDS:
        usage, columns = threshold < W, np.ascontiguousarray((threshold < Ht).T)
        trials.append(Tiles(usage, columns, error_of(table, usage, columns)))
    return min(trials, key=lambda tiles: tiles.error)


def cost_of(table: BitTable, tiles: Tiles, prices: Prices) -> float:
    """Cost of tiles at given prices: uncovered ones, covered zeros, and the set bits of both factors."""
    _, missed, overdone = cover_totals(table, tiles.usage, tiles.columns)
    bits = int(tiles.usage.sum() + tiles.columns.sum())
    return prices.one * missed + prices.zero * overdone + prices.tile * bits


def relocations(
    table: BitTable, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG, tries: int = 4
) -> Iterator[Tiles]:
    """Replace one of the least valuable tiles by one grown from what is uncovered, as long as that lowers the cost.

    Yields the tiles after every replacement. `tries` tiles are tried each time, the least valuable first.
    """
    now = cost_of(table, tiles, prices)
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
            then = cost_of(table, trial, prices)
            if then < now - 1e-9:
                tiles, now = trial, then
                break
        else:
            break
        yield tiles


def relocate(table: BitTable, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG) -> Tiles:
    """The tiles after the last of these replacements."""
    for moved in relocations(table, tiles, rng, prices):
        tiles = moved
    return tiles


def search(
    table: BitTable,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    seconds: float = 5.0,
    starts: int = 4,
    patience: int = 300,
    start: Tiles | None = None,
    sparsity: float = 0.5,
    report: Callable[[float], None] | None = None,
) -> Tiles:
    """Take the best of several starts, then climb from it until time or patience ends.

    Once the wrong entries look like independent flips, only noise is left to explain, and the search ends.

    Parameters
    ----------
    table : BitTable
    X : array or sparse matrix of float of shape (n, m)
        The numbers that relaxed starts read.
    rank : int
        Number of tiles.
    rng : numpy.random.Generator
    seconds : float
        Time limit.
    starts : int
        Number of relaxed starts.
    patience : int
        Trials without success after which the search ends.
    start : Tiles, optional
        Where to climb from instead of from the best of several starts.
    sparsity : float
        See `relaxed_factors`.
    report : callable, optional
        Called with the lowest error so far whenever there is news.

    Returns
    -------
    Tiles

    Raises
    ------
    Stopped
        After Ctrl-C, with the best tiles so far.
    """
    begin = clock()
    best: Tiles | None = None
    try:
        for found in [start] if start is not None else several_starts(table, X, rank, rng, starts, sparsity):
            if best is None or found.error < best.error:
                best = found
            if report is not None:
                report(best.error)
            if finished(table, best) or clock() - begin > 0.5 * seconds:
                break
        assert best is not None
        left = seconds - (clock() - begin)
        if patience > 0 and left > 0 and not finished(table, best):
            best = repeated_climbs(table, best, rng, left, patience, report)
    except Stopped:
        raise
    except KeyboardInterrupt:
        if best is None:
            raise
        raise Stopped(best.usage, best.columns, best.error) from None
    return best


def repeated_climbs(
    table: BitTable,
    start: Tiles,
    rng: np.random.Generator,
    seconds: float,
    patience: int,
    report: Callable[[float], None] | None = None,
) -> Tiles:
    """Several short climbs, each from `start`, and a long one from the best of them.

    Which deep optimum a climb ends in is decided early and by chance, so several beginnings are worth their time.
    Takes and raises what `search` does.
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
            climb_report = None if report is None else at_most(report, best.error)
            patient = max(1, int(share * patience))
            climbed = climb(table, source.usage, source.columns, rng, left, patient, report=climb_report)
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


def at_most(report: Callable[[float], None], least: float) -> Callable[[float], None]:
    """A `report` that passes on the error, or `least` if that is lower: the error of an earlier climb."""
    return lambda error: report(min(error, least))


def several_starts(
    table: BitTable, X: Any, rank: int, rng: np.random.Generator, count: int, sparsity: float
) -> Iterator[Tiles]:
    """Yield starts: relaxed ones, and a cover by concepts; each as it is, and then after every tile replaced.

    Where the cover by concepts takes milliseconds, so does a short climb from it, and they come first. Elsewhere
    the cover comes after the first relaxed start.
    """
    quick = is_affordable(table) and is_instant(table, rank)
    if quick:
        tiles = concept_start(table, rank)
        yield tiles
        climbed = climb(table, tiles.usage, tiles.columns, rng, 1.0, QUICK)
        yield alternate(table, Tiles(*climbed))
    for i in range(count):
        tiles = from_relaxed(table, X, rank, rng, sparsity)
        yield tiles
        yield from relocations(table, tiles, rng)
        if i == 0 and is_affordable(table) and not quick:
            tiles = concept_start(table, rank)
            yield tiles
            yield from relocations(table, tiles, rng)


def concept_start(table: BitTable, rank: int) -> Tiles:
    """The greedy cover by concepts, improved by `alternate`."""
    return alternate(table, Tiles(*concept_cover(table, rank), float("inf")))


def finished(table: BitTable, tiles: Tiles) -> bool:
    """Whether nothing is wrong, or nothing but what looks like noise."""
    return tiles.error == 0 or looks_like_flips(table, tiles.usage, tiles.columns)


def refine_likelihood(table: BitTable, tiles: Tiles, rng: np.random.Generator, rounds: int = 4) -> Tiles:
    """Go on from the fewest wrong entries to the most probable tiles.

    Estimates of the noise (`likely_prices`) and the tiles are improved in turn, for at most `rounds`, until the
    tiles stay the same. The error of the tiles returned is that of their wrong entries.
    """
    for _ in range(rounds):
        prices = likely_prices(table, tiles.usage, tiles.columns)
        then = tiles.copy()
        then.error = float("inf")
        then = relocate(table, alternate(table, then, prices), rng, prices)
        settled = np.array_equal(then.usage, tiles.usage) and np.array_equal(then.columns, tiles.columns)
        tiles = then
        if settled:
            break
    tiles.error = float(error_of(table, tiles.usage, tiles.columns))
    return tiles
