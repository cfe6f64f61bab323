"""After the search: tiles made most probable, or small, or fewer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.chance_test import ChanceTest
from partwise.boolean.climb import climb
from partwise.boolean.log import SearchLog
from partwise.boolean.measures import Found, settled
from partwise.boolean.noise import likely_prices, looks_like_flips
from partwise.boolean.prices import FEWEST, SPARSE
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


def refine_sparse(
    log: SearchLog, table: BitTable, found: Found, rng: np.random.Generator, patience: int, most: float
) -> Found:
    """Go on from the fewest wrong entries to the least |D − Y ⊙ Xᵀ| + |X| + |Y| (Gonsior 2019, equation 2.5).

    Tiles are moved and then searched at the prices of (2.5), with `patience` and at most `most` trials. The error of
    the tiles returned is that of their wrong entries.
    """
    session, ended_by = log.session, found.ended_by

    def compute() -> dict[str, Any]:
        now, reason = found.tiles.copy(), ended_by
        now.error = float("inf")
        with session.interruptible():
            for moved in relocations(table, alternate(table, now, SPARSE), rng, SPARSE):
                now = moved
            climbed = climb(
                session, table, now.usage, now.columns, rng, patience, max(0.0, most), prices=SPARSE
            )
            log.trials += climbed.trials
            log.timed = log.timed or climbed.ended_by == "max_time"
            now = Tiles(climbed.usage, climbed.columns, climbed.error)
            reason = climbed.ended_by if climbed.ended_by in ("max_iter", "max_time") else "patience"
            alternate(table, now, SPARSE, exact=True)
        return now.pack() | {"ended_by": reason}

    if session.interrupted or not len(found.tiles.columns):
        return found
    packed = log.stage("sparse", compute, rng)
    tiles = Tiles.unpack(packed)
    tiles.error = float(error_of(table, tiles.usage, tiles.columns))
    reason = "interrupted" if session.interrupted else packed["ended_by"]
    return replace(found, tiles=tiles, ended_by=reason)


def trusted_only(table: BitTable, found: Found, level: float) -> Found:
    """What was found without the tiles that noise could hold (`ChanceTest`).

    Without a tile, rows may take others, so the test is repeated until all that are left pass.
    """
    test = ChanceTest.of(table, level)
    while True:
        tiles = settled(table, found)
        keep = test.accepted(tiles.usage, tiles.columns)
        kept = Tiles(np.ascontiguousarray(tiles.usage[:, keep]), tiles.columns[keep], tiles.error)
        found = replace(found, tiles=kept)
        if keep.all():
            return found
