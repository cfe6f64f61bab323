"""Tiles by search among bits: alternate between rows and columns until nothing changes, then perturb and repeat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.climb import SLACK, climb
from partwise.boolean.log import SearchLog
from partwise.boolean.merge import merged
from partwise.boolean.noise import looks_like_flips
from partwise.boolean.starts import Start, several_starts
from partwise.boolean.tiles import Tiles, alternate
from partwise.core import Session

#: Entries times tiles up to which a table is small: patience soon ends a search, which then needs no time limit.
SMALL = 2.5e5
#: Share of patience, of trials and of time that the last climb gets.
LAST = 0.36
#: Different answers that are kept to be merged, and climbs that must have ended at the best error for merging to end.
POOL, AGREE = 4, 4


class Plan(NamedTuple):
    """The climbs of a search before the last: from starts, and from `merges` of what others found.

    Each has the share `short` of patience; `slack` is that of `climb`. From the best start alone, or, if there are
    merges, from one start after the other: climbs from one start may agree on an optimum that is not a good one.
    """

    climbs: int
    merges: int
    short: float
    slack: tuple[tuple[float, float], ...]


#: Where many tiles are asked for in a narrow table, climbs end in different optima, which small steps do not leave.
MERGING = Plan(4, 8, 0.1, ((0.02, 0.002), (0.08, 0.0)))
PLAIN = Plan(4, 0, 0.16, SLACK)


def work(table: BitTable, k: int) -> float:
    """What one perturbation of k tiles costs: entries, in each plane of the weights, times tiles."""
    return float(table.n * table.m * table.by_row.planes * k)


def search(
    log: SearchLog,
    table: BitTable,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    starts: int = 4,
    patience: int = 300,
    most: float = np.inf,
    sparsity: float = 0.5,
    plan: Plan | None = None,
) -> tuple[Tiles, str]:
    """Take several starts, then climb from the best, or from each of a small table, and merge what was found.

    Ends by patience, the limits or Ctrl-C; and once the wrong entries look like independent flips, for then only
    noise is left to explain.

    Parameters
    ----------
    log : SearchLog
        Gets the lowest error so far whenever there is news; its session says when to stop.
    table : BitTable
    X : array or sparse matrix of float of shape (n, m)
        The numbers that relaxed starts read.
    rank : int
        Number of tiles.
    rng : numpy.random.Generator
    starts : int
        Number of relaxed starts; half of the time is theirs at most.
    patience : int
        Trials without success after which the search ends.
    most : float
        Trials in all, at most.
    sparsity : float
        See `relaxed_factors`.
    plan : Plan, optional
        The climbs; by default `MERGING` for small tables, `PLAIN` for others.

    Returns
    -------
    tuple
        The best tiles, and what ended the search: "converged" (nothing is wrong), "noise", "patience", "max_iter",
        "max_time" (also where the clock ended no more than a part of it) or "interrupted".

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there were any tiles.
    """
    session, before = log.session, log.trials
    half_time = session.seconds + 0.5 * seconds_left(session)
    best, ended_by, begun = None, "", []
    for one in several_starts(log, table, X, rank, rng, starts, sparsity, most):
        if best is not None and (session.interrupted or log.out_of_time(half_time)):
            break
        started, ended_by = one_start(log, table, one, best, half_time, rng)
        begun.append(started)
        best = min(begun, key=lambda tiles: tiles.error)
        if ended_by:
            break
    assert best is not None
    if not ended_by:
        ended_by = "patience"
        if patience > 0 and not session.interrupted:
            left = most - (log.trials - before)
            begun.sort(key=lambda tiles: tiles.error)
            if plan is None:
                plan = MERGING if work(table, rank) <= SMALL else PLAIN
            best, ended_by = repeated_climbs(log, table, begun, rng, patience, left, plan)
        if log.timed and ended_by != "converged":
            ended_by = "max_time"
    return best, "interrupted" if session.interrupted else ended_by


def seconds_left(session: Session) -> float:
    """Time until the limit of the session, infinite if it has none."""
    return float("inf") if session.max_time is None else session.max_time - session.seconds


def one_start(
    log: SearchLog,
    table: BitTable,
    start: Start,
    best: Tiles | None,
    half_time: float,
    rng: np.random.Generator,
) -> tuple[Tiles, str]:
    """The best of the tiles that a start yields, and what ends the search there, if anything; `best` is from before.

    Ends at `half_time` (on the session's clock) or after Ctrl-C with the best so far; raises KeyboardInterrupt if
    there are none.
    """
    name, candidates = start
    session = log.session

    def compute() -> dict[str, Any]:
        lowest: Tiles | None = None
        ended_by, record = "", np.inf if best is None else best.error
        with session.interruptible():
            for found in candidates():
                if lowest is None or found.error < lowest.error:
                    lowest = found
                if found.error < record:
                    record, ended_by = found.error, finished(table, found)
                log.report(record)
                if ended_by or session.interrupted or log.out_of_time(half_time):
                    break
        if lowest is None:
            raise KeyboardInterrupt
        return lowest.pack() | {"ended_by": ended_by}

    try:
        packed = log.stage(name, compute, rng)
    except KeyboardInterrupt:
        if best is None:
            raise
        session.interrupt()
        return best, ""
    return Tiles.unpack(packed), packed["ended_by"]


def finished(table: BitTable, tiles: Tiles) -> str:
    """Why a search may end with these tiles: "converged", "noise" (all that is wrong looks like it), or ""."""
    if tiles.error == 0:
        return "converged"
    return "noise" if looks_like_flips(table, tiles.usage, tiles.columns) else ""


def repeated_climbs(
    log: SearchLog,
    table: BitTable,
    starts: list[Tiles],
    rng: np.random.Generator,
    patience: int,
    most: float,
    plan: Plan = PLAIN,
) -> tuple[Tiles, str]:
    """Several short climbs, and a long one from the best of them.

    Which deep optimum a climb ends in is decided early and by chance, so several beginnings are worth their time.
    With a `plan` that merges, short climbs go on from tiles of two that ended differently, until `AGREE` of all have
    ended at the best error. A climb that ends early leaves its trials (of `most` in all) and its time to the next.
    `starts` has the best first. Returns the best tiles, and what ended the last climb.
    """
    session, before = log.session, log.trials
    begin, seconds, best = session.seconds, seconds_left(session), starts[0]
    ended_by, pool = "patience", Pool()

    def climb_from(source: Callable[[], Tiles], share: float, until: float) -> dict[str, Any]:
        begun = source()
        climbed = climb(
            session,
            table,
            begun.usage,
            begun.columns,
            rng,
            max(1, int(share * patience)),
            until * most - (log.trials - before),
            begin + until * seconds - session.seconds,
            report=lambda error, trials: log.report(min(error, best.error), trials),
            slack=plan.slack,
        )
        log.timed = log.timed or climbed.ended_by == "max_time"
        return Tiles(climbed.usage, climbed.columns, climbed.error).pack() | {"ended_by": climbed.ended_by}

    with session.interruptible():
        count = plan.climbs + plan.merges
        for number in range(1, count + 2):
            last = number > count
            share, until = (LAST, 1.0) if last else (plan.short, number * (1.0 - LAST) / count)
            if session.interrupted or log.out_of_time(begin + until * seconds):
                continue
            if not last and number > plan.climbs and (pool.agreed or len(pool.tiles) < 2):
                continue
            source: Callable[[], Tiles] = lambda: best  # noqa: B023, E731  (called before the next turn)
            if not last and number <= plan.climbs:
                start = starts[(number - 1) % len(starts) if plan.merges else 0]
                source = partial(Tiles.copy, start)
            elif not last:
                source = partial(pool.child, table, rng)
            packed = log.stage(f"climb{number}", partial(climb_from, source, share, until), rng)
            found, ended_by = Tiles.unpack(packed), packed["ended_by"]
            pool.add(found)
            best = min(best, found, key=lambda tiles: tiles.error)
            if best.error == 0:
                return best, "converged"
        if not session.interrupted:
            settled = alternate(table, best.copy(), exact=True)
            best = settled if settled.error < best.error else best
    return best, ended_by


class Pool:
    """The best different answers of the climbs so far, and how many climbs ended at the best error."""

    def __init__(self) -> None:
        self.tiles: list[Tiles] = []
        self.reached = 0

    @property
    def agreed(self) -> bool:
        """Whether so many climbs ended at the best error that others would hardly find less."""
        return self.reached >= AGREE

    def add(self, found: Tiles) -> None:
        """Take note of what a climb found; answers of equal error are taken for the same."""
        lowest = min((tiles.error for tiles in self.tiles), default=np.inf)
        if found.error <= lowest + 1e-9:
            self.reached = self.reached + 1 if found.error >= lowest - 1e-9 else 1
        if all(abs(found.error - tiles.error) > 1e-9 for tiles in self.tiles):
            self.tiles = sorted([*self.tiles, found], key=lambda tiles: tiles.error)[:POOL]

    def child(self, table: BitTable, rng: np.random.Generator) -> Tiles:
        """Two of the answers, drawn at random, merged."""
        first, second = rng.choice(len(self.tiles), 2, replace=False)
        return merged(table, self.tiles[first], self.tiles[second], rng)
