"""After the search: tiles made most probable, or small, or fewer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.discovery import chances
from partwise.boolean.log import SearchLog
from partwise.boolean.measures import Found
from partwise.boolean.noise import likely_prices, looks_like_flips
from partwise.boolean.prices import FEWEST
from partwise.boolean.starts import relocations
from partwise.boolean.tiles import Tiles, alternate, error_of


def refined(log: SearchLog, table: BitTable, found: Found, objective: str, rng: np.random.Generator) -> Found:
    """What a search found, after the last steps towards its objective; as it is, if Ctrl-C was pressed.

    Parameters
    ----------
    log : SearchLog
    table : BitTable
    found : Found
    objective : {"auto", "error", "likelihood"}
        See `BooleanMF`.
    rng : numpy.random.Generator

    Returns
    -------
    Found
    """
    session = log.session
    # The search lets tiles overlap where that costs nothing; who reads them wants them small.
    if session.interrupted:
        return replace(found, tiles=alternate(table, found.tiles, FEWEST, max_rounds=1))
    with session.interruptible():
        likely = objective == "likelihood"
        if objective == "auto":
            likely = looks_like_flips(table, found.tiles.usage, found.tiles.columns)
        if not likely:
            return replace(found, tiles=alternate(table, found.tiles, FEWEST, exact=True))
        tiles = refine_likelihood(log, table, found.tiles, rng)
        prices = likely_prices(table, tiles.usage, tiles.columns)
        return replace(found, tiles=tiles, criterion="likelihood", prices=prices)
    return found


def refine_likelihood(
    log: SearchLog, table: BitTable, tiles: Tiles, rng: np.random.Generator, rounds: int = 4
) -> Tiles:
    """Go on from the fewest wrong entries to the most probable tiles.

    Estimates of the noise (`likely_prices`) and the tiles are improved in turn, for at most `rounds`, until the
    tiles stay the same, or until Ctrl-C. The error of the tiles returned is that of their wrong entries.
    """

    def compute() -> dict[str, Any]:
        now = tiles
        with log.session.interruptible():
            for _ in range(rounds):
                before = now
                prices = likely_prices(table, before.usage, before.columns)
                start = Tiles(before.usage.copy(), before.columns.copy(), float("inf"))
                for moved in relocations(table, alternate(table, start, prices), rng, prices):
                    now = moved
                if np.array_equal(now.usage, before.usage) and np.array_equal(now.columns, before.columns):
                    break
        return now.pack()

    refined = Tiles.unpack(log.stage("likelihood", compute, rng))
    refined.error = float(error_of(table, refined.usage, refined.columns))
    return refined


def unlikely_dropped(table: BitTable, tiles: Tiles, fdr: float) -> Tiles:
    """The tiles without those that noise could hold: whose bound (see `discovery`) exceeds `fdr`."""
    keep = chances(table, tiles.usage, tiles.columns) <= np.log10(max(fdr, 1e-300))
    return Tiles(np.ascontiguousarray(tiles.usage[:, keep]), tiles.columns[keep], float("inf"))
