"""Where a search among bits may begin: relaxed factors and a cover by concepts, then tiles moved to better places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.climb import climb
from partwise.boolean.concepts import concept_cover, is_affordable, is_instant
from partwise.boolean.grow import grow_tile, tile_values
from partwise.boolean.log import SearchLog
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.relaxed import relaxed_factors
from partwise.boolean.threshold import cut_coarsely
from partwise.boolean.tiles import Tiles, alternate, cost_of, error_of
from partwise.core import Session

#: Patience and seconds of the short climb from the cover by concepts.
QUICK, QUICK_SECONDS = 128, 1.0


def from_relaxed(
    session: Session, table: BitTable, X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5
) -> Tiles:
    """Tiles from relaxed factors, cut at the best of a few thresholds and improved by `alternate`."""
    return improved(session, table, cut_coarsely(table, *relaxed_factors(X, rank, rng, sparsity)))


def concept_start(session: Session, table: BitTable, rank: int) -> Tiles:
    """The greedy cover by concepts, improved by `alternate`."""
    return improved(session, table, Tiles(*concept_cover(table, rank), float("inf")))


def improved(session: Session, table: BitTable, tiles: Tiles) -> Tiles:
    """The tiles after `alternate`, or what was reached of it at Ctrl-C."""
    if not session.interrupted:
        with session.interruptible():
            return alternate(table, tiles)
    tiles.error = error_of(table, tiles.usage, tiles.columns)
    return tiles


def relocations(
    table: BitTable, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG, tries: int = 4
) -> Iterator[Tiles]:
    """Replace one of the least valuable tiles by one grown from what is uncovered, as long as that lowers the cost.

    Yields the tiles as given, and then after every replacement. `tries` tiles are tried each time, the least valuable
    first.
    """
    yield tiles
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


#: A start by name: what yields its tiles, each time they are better than before.
Start = tuple[str, Callable[[], Iterator[Tiles]]]


def several_starts(
    log: SearchLog, table: BitTable, X: Any, rank: int, rng: np.random.Generator, count: int, sparsity: float
) -> list[Start]:
    """Starts in the order in which they are worth their time: `count` relaxed ones, and a cover by concepts.

    Where the cover by concepts takes milliseconds, so does a short climb from it, and they come first. Elsewhere
    the cover comes after the first relaxed start.
    """
    session = log.session

    def climbed_concepts() -> Iterator[Tiles]:
        tiles = concept_start(session, table, rank)
        yield tiles
        climbed = climb(session, table, tiles.usage, tiles.columns, rng, QUICK_SECONDS, QUICK)
        log.trials += climbed.trials
        yield alternate(table, Tiles(climbed.usage, climbed.columns, climbed.error))

    def concepts() -> Iterator[Tiles]:
        yield from relocations(table, concept_start(session, table, rank), rng)

    def relaxed() -> Iterator[Tiles]:
        yield from relocations(table, from_relaxed(session, table, X, rank, rng, sparsity), rng)

    starts: list[Start] = [(f"relaxed{i}", relaxed) for i in range(count)]
    if is_affordable(table):
        quick = is_instant(table, rank)
        starts.insert(0 if quick else 1, ("concepts", climbed_concepts if quick else concepts))
    return starts
