"""The methods of `BooleanMF`: from a table to tiles."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.climb import SLACK
from partwise.boolean.grow import tile_values
from partwise.boolean.log import SearchLog
from partwise.boolean.measures import Found, settled
from partwise.boolean.pal_tiling import pal_tiling, sparse_rounding, trusted_rounding
from partwise.boolean.palm import MAX_ITER, panpal, panpal_problem
from partwise.boolean.prices import SPARSE
from partwise.boolean.primp import primp
from partwise.boolean.rank import FIRST, RankPoint, best_drop, choose_rank, drop_tile, prune_path, rank_point
from partwise.boolean.refine import refine_likelihood, refine_sparse, refined, trusted_only
from partwise.boolean.search import SMALL, finished, search, work
from partwise.boolean.threshold import cut, without_empty
from partwise.boolean.tiles import Tiles, error_of, no_tiles
from partwise.core import open_session

#: patience="auto": perturbations without success after which the search ends, for each tile and each row and column
#: (the geometric mean of their numbers), and most of them times entries times tiles.
PATIENCE, EFFORT = 20.0, 1e11
#: How far on either side of the best number of tiles others are tried, before it is chosen.
REACH = 2
#: Methods that cut relaxed factors and search no further, and the level of "trustpal" by default.
RELAXED, LEVEL = ("panpal", "primp", "trustpal"), 0.01


@dataclass(frozen=True)
class Settings:
    """The parameters of `BooleanMF` that the methods read; see there."""

    n_components: Any
    method: str
    fdr: float | None
    objective: str
    regularization: float
    thresholds: str
    n_init: int
    patience: Any
    max_iter: int | None
    max_time: Any

    def rank(self) -> int | None:
        """The number of tiles, None if it is to be chosen."""
        return None if self.n_components == "auto" else int(self.n_components)

    def seconds(self, table: BitTable, k: int) -> float | None:
        """Time limit of a search for k tiles; None without one."""
        if self.max_time != "auto":
            return None if self.max_time is None else float(self.max_time)
        size = work(table, k)
        return None if size <= SMALL else 9.0 * float(min(np.sqrt(size / SMALL), 3.0))

    def trials(self, table: BitTable, k: int) -> int:
        """Perturbations of a chain without success after which a search for k tiles ends."""
        return default_patience(table, k) if self.patience == "auto" else int(self.patience)

    def most_trials(self) -> float:
        """Perturbations of a search, at most."""
        return np.inf if self.max_iter is None else float(self.max_iter)

    def bar(self, table: BitTable) -> tuple[float, str, bool]:
        """Where the progress bar of a fit is full, what the number beside it is, and whether it runs in seconds."""
        if self.method in RELAXED:
            return self.max_iter or MAX_ITER, "objective", False
        k = self.rank() or FIRST
        seconds, searches = self.seconds(table, k), 1 if self.rank() else 2 * REACH + 1
        if seconds is not None:
            return seconds, "wrong", True
        return searches * min(len(SLACK) * self.trials(table, k), self.most_trials()), "wrong", False


def default_patience(table: BitTable, k: int) -> int:
    """Perturbations of a chain without success after which a search for k tiles ends by default."""
    return int(np.clip(min(PATIENCE * np.sqrt(table.n * table.m) * k, EFFORT / work(table, k)), 50, 100_000))


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
    find = relaxed_tiles if settings.method in RELAXED else partial(searched_tiles, numbers=numbers)
    found = find(log, table, settings=settings, rng=rng)
    level = LEVEL if settings.fdr is None and settings.method == "trustpal" else settings.fdr
    # Rows that take other tiles than the factors were cut for change what tiles cover, so that the test comes last.
    return found if level is None else log.session.completed(partial(trusted_only, table, found, level))


def relaxed_tiles(log: SearchLog, table: BitTable, settings: Settings, rng: np.random.Generator) -> Found:
    """Methods "panpal", "primp" and "trustpal": relaxed factors, cut."""
    k, session, steps = settings.rank(), log.session, settings.max_iter or MAX_ITER
    sparse, each = settings.objective == "sparse", settings.thresholds == "each"
    D, weights = table.unpacked()[0].astype(float), table.entry_weights()
    entry = None if (weights == weights.flat[0]).all() else weights / weights.max()
    if settings.method == "trustpal" or (settings.method == "panpal" and sparse):
        problem = panpal_problem(D, settings.regularization, entry)
        trusting = settings.method == "trustpal"
        level = LEVEL if settings.fdr is None else settings.fdr
        rounding = trusted_rounding(table, level) if trusting else sparse_rounding(table, each)
        rounded, result = pal_tiling(session, problem, rounding, rng, k, steps)
        tiles, thresholds = rounded.tiles, rounded.thresholds
    elif settings.method == "primp":
        described, result = primp(session, table, D, rng, k, entry=entry, max_iter=steps)
        tiles, thresholds = described.tiles, described.thresholds
    else:
        assert k is not None
        result = panpal(D, k, rng, settings.regularization, entry, name="panpal", max_iter=steps)
        factors = result.state.W, result.state.Ht
        tiles, (thresholds, _) = session.completed(partial(cut, table, *factors, each))
    with session.interruptible():
        log.record(error_of(table, tiles.usage, tiles.columns))
    ended_by = "max_time" if session.out_of_time else result.reason
    found = Found(tiles, ended_by, n_iter=result.state.iteration, thresholds=thresholds)
    return session.completed(partial(as_sparse, table, found)) if sparse else found


def as_sparse(table: BitTable, found: Found) -> Found:
    """What was found as an answer to (2.5): rows take the tiles that cost least.

    Tiles that do not earn their bits are dropped one by one: no change of rows or of columns alone would do that.
    """
    found = replace(found, criterion="sparse", prices=SPARSE)
    while True:
        tiles = without_empty(settled(table, found))
        found = replace(found, tiles=tiles)
        if len(tiles.columns) == 0:
            return found
        worth = tile_values(table, tiles.usage, tiles.columns, SPARSE) - tiles.columns.sum(axis=1)
        if worth.min() > 0.0:
            return found
        found = replace(found, tiles=drop_tile(tiles, int(np.argmin(worth))))


def searched_tiles(
    log: SearchLog, table: BitTable, numbers: Any, settings: Settings, rng: np.random.Generator
) -> Found:
    """Method "auto": search among bits, then refine for the objective."""
    session, k = log.session, settings.rank()
    if k is None:
        found = best_number(log, table, numbers, settings, rng)
    else:
        session.max_time = settings.seconds(table, k)
        found = tiles_of_rank(log, table, numbers, k, settings, rng)
    found.n_iter = log.trials
    return found


def tiles_of_rank(
    log: SearchLog, table: BitTable, numbers: Any, k: int, settings: Settings, rng: np.random.Generator
) -> Found:
    """The search for k tiles, within the limits of the session."""
    patience, most, before = settings.trials(table, k), settings.most_trials(), log.trials
    session, end = log.session, log.session.max_time
    sparse = settings.objective == "sparse"
    # The fewest wrong entries are where the search for the least cost begins: it has the other half of the budget.
    if sparse and end is not None:
        session.max_time = session.seconds + 0.5 * (end - session.seconds)
    first = 0.5 * most if sparse else most
    found = Found(
        *search(log, table, numbers, k, rng, settings.n_init, patience, first, settings.regularization)
    )
    session.max_time = end
    if sparse:
        found = refine_sparse(log, table, found, rng, patience, most - (log.trials - before))
        return session.completed(partial(as_sparse, table, found))
    return refined(log, table, found, settings.objective, rng)


def best_number(
    log: SearchLog, table: BitTable, numbers: Any, settings: Settings, rng: np.random.Generator
) -> Found:
    """The tiles that describe a table in the fewest bits, whatever their number.

    `choose_rank` says about how many they are. From there on, each number within `REACH` of the best so far gets the
    search that it would get if it were asked for, with the same random numbers; where time is limited, with an equal
    share of it. On a large table, a number at which only noise is left to explain is the last.
    """
    session, end, fresh = log.session, log.session.max_time, deepcopy(rng)
    start, met = choose_rank(log, table, numbers, rng, sparsity=settings.regularization)
    best, shortest, history = Found(start, "patience" if len(start.columns) else "noise"), np.inf, log.reports
    each = 1.0 / (2 * REACH + 1)
    share = np.inf if end is None else each * (end - session.seconds)
    tried: dict[int, float] = {}
    endings: list[str] = []

    def consider(found: Found, begin: int) -> RankPoint:
        """Point of the tiles found; they, or what is left of them, become the best if none were shorter."""
        nonlocal best, shortest, history
        described = list(shortened(table, found))
        met.extend(point for _, point in described)
        last, point = described[-1]
        if point.bits < shortest:
            reports = log.reports[begin:] or [(session.seconds, float(log.trials), point.wrong)]
            best, shortest, history = last, point.bits, reports
        return described[0][1]

    with session.interruptible():
        log.prefix, k = "start_", max(1, len(start.columns))
        if not session.interrupted:
            best.ended_by = finished(table, start) or best.ended_by
            consider(refined(log, table, replace(best), settings.objective, rng), len(log.reports))
            consider(Found(no_tiles(table), "noise"), len(log.reports))
        large = work(table, k) > SMALL
        k = 0 if large and best.ended_by == "noise" else k
        while k and not session.interrupted and not log.out_of_time():
            log.prefix, begin, seconds = f"{k}tiles_", len(log.reports), settings.seconds(table, k)
            if seconds is not None:
                session.max_time = session.seconds + min(each * seconds, share)
            found = tiles_of_rank(log, table, numbers, k, settings, deepcopy(fresh))
            session.max_time = end
            endings.append(found.ended_by)
            tried[k] = consider(found, begin).bits
            k = 0 if large and endings[-1] == "noise" else next_number(tried, min(table.n, table.m))
        if not session.interrupted:
            # A description whose rows are not those that `transform` gives is not one of a model.
            path = prune_path(table, settled(table, best))
            met = [point for point in (*met, *path) if point.bits >= shortest]
    session.max_time, log.reports, log.prefix, best.points = end, history, "", met
    if settings.objective == "sparse" and best.criterion != "sparse":
        best = session.completed(partial(as_sparse, table, best))
    if best.ended_by != "converged" and (log.timed or "max_iter" in endings):
        best.ended_by = "max_time" if log.timed else "max_iter"
    return best


def next_number(tried: dict[int, float], most: int) -> int:
    """The number of tiles to try next, within `REACH` of that with the fewest bits and nearest to it; 0 for none."""
    best = min(tried, key=lambda k: tried[k])
    near = [k for k in range(max(1, best - REACH), min(most, best + REACH) + 1) if k not in tried]
    return min(near, key=lambda k: abs(k - best), default=0)


def shortened(table: BitTable, found: Found) -> Iterator[tuple[Found, RankPoint]]:
    """Yields what was found, then with ever fewer tiles as long as that shortens the description; and its point."""
    tiles = settled(table, found)
    point = rank_point(table, tiles)
    yield found, point
    while len(tiles.columns):
        fewer = replace(found, tiles=drop_tile(tiles, best_drop(table, tiles)[0]))
        tiles = settled(table, fewer)
        before, point = point, rank_point(table, tiles)
        if point.bits >= before.bits:
            break
        yield fewer, point


def quick_search(
    table: BitTable, numbers: Any, k: int, likely: bool, settings: Settings, rng: np.random.Generator
) -> Tiles:
    """A search like that of "auto" for k tiles, with a quarter of its patience, trials and time.

    Refined if the tiles are to be `likely`.
    """
    patience, seconds = max(1, settings.trials(table, k) // 4), settings.seconds(table, k)
    with open_session(None if seconds is None else 0.25 * seconds) as session:
        log = SearchLog(session)
        most = 0.25 * settings.most_trials()
        tiles, _ = search(log, table, numbers, k, rng, 1, patience, most, settings.regularization)
        return refine_likelihood(log, table, tiles, rng) if likely else tiles
