"""The methods of `BooleanMF`: from a table to tiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.log import SearchLog
from partwise.boolean.measures import Found
from partwise.boolean.palm import MAX_ITER, panpal
from partwise.boolean.primp import primp
from partwise.boolean.rank import choose_rank
from partwise.boolean.refine import refine_likelihood, refined, unlikely_dropped
from partwise.boolean.search import search
from partwise.boolean.threshold import cut
from partwise.boolean.tiles import Tiles, error_of, no_tiles
from partwise.core import open_session

#: Entries times tiles times perturbations: the work without success after which patience="auto" ends the search.
EFFORT = 1e11


@dataclass(frozen=True)
class Settings:
    """The parameters of `BooleanMF` that the methods read; see there."""

    n_components: Any
    method: str
    fdr: float
    objective: str
    regularization: float
    thresholds: str
    n_init: int
    patience: Any
    max_time: Any

    def rank(self) -> int | None:
        """The number of tiles, None if it is to be chosen."""
        return None if self.n_components == "auto" else int(self.n_components)

    def seconds(self, table: BitTable, k: int) -> float:
        """Time limit of a search for k tiles."""
        if self.max_time != "auto":
            return float(self.max_time)
        return 9.0 * float(np.clip(np.sqrt(table.n * table.m * k / 2.5e5), 1.0, 3.0))

    def trials(self, table: BitTable, k: int) -> int:
        """Perturbations without success after which a search for k tiles ends."""
        if self.patience != "auto":
            return int(self.patience)
        return int(np.clip(EFFORT / (table.n * table.m * table.by_row.planes * k), 50, 100_000))

    def bar(self, table: BitTable) -> tuple[float, str]:
        """Where the progress bar of a fit is full, and what the number beside it is."""
        if self.method in ("panpal", "primp"):
            return MAX_ITER, "objective"
        return self.seconds(table, self.rank() or min(table.n, table.m)), "wrong"


def is_trivial(table: BitTable) -> bool:
    """Whether all observed entries are the same, so that the tiles are known."""
    return not 0 < table.n_ones < table.n_observed


def find_tiles(
    log: SearchLog, table: BitTable, numbers: Any, settings: Settings, rng: np.random.Generator
) -> Found:
    """The tiles of a table.

    Parameters
    ----------
    log : SearchLog
        Gets the errors; its session says when to stop.
    table : BitTable
    numbers : array or sparse matrix of float of shape (n, m)
        The numbers that relaxed starts read.
    settings : Settings
    rng : numpy.random.Generator

    Returns
    -------
    Found

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there were any tiles.
    """
    if is_trivial(table):
        k = int(table.n_ones > 0)
        log.record(0.0)
        return Found(Tiles(np.ones((table.n, k), bool), np.ones((k, table.m), bool), 0.0), "converged")
    if settings.method in ("panpal", "primp"):
        return relaxed_tiles(log, table, settings, rng)
    return searched_tiles(log, table, numbers, settings, rng)


def relaxed_tiles(log: SearchLog, table: BitTable, settings: Settings, rng: np.random.Generator) -> Found:
    """Methods "panpal" and "primp": relaxed factors, cut."""
    k, session = settings.rank(), log.session
    D, weights = table.unpacked()[0].astype(float), table.entry_weights()
    entry = None if (weights == weights.flat[0]).all() else weights / weights.max()
    if k is None or settings.method == "primp":
        described, result = primp(session, table, D, rng, k, entry=entry)
        tiles, thresholds = described.tiles, described.thresholds
    else:
        result = panpal(D, k, rng, settings.regularization, entry, name="panpal")
        factors, each = (result.state.W, result.state.Ht), settings.thresholds == "each"
        tiles, (thresholds, _) = session.completed(partial(cut, table, *factors, each))
    with session.interruptible():
        log.record(error_of(table, tiles.usage, tiles.columns))
    ended_by = "max_time" if session.out_of_time else result.reason
    return Found(tiles, ended_by, n_iter=result.state.iteration, thresholds=thresholds)


def searched_tiles(
    log: SearchLog, table: BitTable, numbers: Any, settings: Settings, rng: np.random.Generator
) -> Found:
    """Methods "auto" and "trustpal": search among bits, then refine for the objective."""
    session, k, start = log.session, settings.rank(), None
    found = Found(no_tiles(table), "noise")
    if k is None:
        start, points = choose_rank(log, table, numbers, rng, sparsity=settings.regularization)
        found, k = Found(start, "noise", points=points), len(start.columns)
    if k > 0 and not session.interrupted:
        if settings.max_time == "auto":
            session.max_time = session.seconds + settings.seconds(table, k)
        patience = settings.trials(table, k)
        found.tiles, found.ended_by = search(
            log, table, numbers, k, rng, settings.n_init, patience, start, settings.regularization
        )
        found = refined(log, table, found, settings.objective, rng)
    if settings.method == "trustpal":
        found.tiles = session.completed(partial(unlikely_dropped, table, found.tiles, settings.fdr))
    found.n_iter = log.trials
    return found


def quick_search(
    table: BitTable, numbers: Any, k: int, likely: bool, settings: Settings, rng: np.random.Generator
) -> Tiles:
    """A search like that of "auto" for k tiles, in a quarter of its time; refined if the tiles are to be `likely`."""
    patience = max(1, settings.trials(table, k) // 4)
    with open_session(0.25 * settings.seconds(table, k)) as session:
        log = SearchLog(session)
        tiles, _ = search(log, table, numbers, k, rng, 1, patience, sparsity=settings.regularization)
        return refine_likelihood(log, table, tiles, rng) if likely else tiles
