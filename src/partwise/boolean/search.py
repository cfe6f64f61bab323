"""Tiles by search among bits: alternate between rows and columns until nothing changes, then perturb and repeat."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.climb import climb
from partwise.boolean.log import SearchLog
from partwise.boolean.noise import looks_like_flips
from partwise.boolean.starts import Start, several_starts
from partwise.boolean.tiles import Tiles, alternate
from partwise.core import Session

#: Number of short climbs before the long one, and the share of patience, of trials and of time that each gets.
CLIMBS, SHORT = 4, 0.16


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
) -> tuple[Tiles, str]:
    """Take the best of several starts, then climb from it until patience, the limits or Ctrl-C end it.

    Once the wrong entries look like independent flips, only noise is left to explain, and the search ends.

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
    best, ended_by = None, ""
    for one in several_starts(log, table, X, rank, rng, starts, sparsity, most):
        if best is not None and (session.interrupted or log.out_of_time(half_time)):
            break
        best, ended_by = better_start(log, table, one, best, half_time, rng)
        if ended_by:
            break
    assert best is not None
    if not ended_by:
        ended_by = "patience"
        if patience > 0 and not session.interrupted:
            left = most - (log.trials - before)
            best, ended_by = repeated_climbs(log, table, best, rng, patience, left)
        if log.timed and ended_by != "converged":
            ended_by = "max_time"
    return best, "interrupted" if session.interrupted else ended_by


def seconds_left(session: Session) -> float:
    """Time until the limit of the session, infinite if it has none."""
    return float("inf") if session.max_time is None else session.max_time - session.seconds


def better_start(
    log: SearchLog,
    table: BitTable,
    start: Start,
    best: Tiles | None,
    half_time: float,
    rng: np.random.Generator,
) -> tuple[Tiles, str]:
    """The best of the tiles that a start yields and of those before it, and what ends the search there, if anything.

    Ends at `half_time` (on the session's clock) or after Ctrl-C with the best so far; raises KeyboardInterrupt if
    there are none.
    """
    name, candidates = start
    session = log.session

    def compute() -> dict[str, Any]:
        lowest, ended_by = best, ""
        with session.interruptible():
            for found in candidates():
                if lowest is None or found.error < lowest.error:
                    lowest = found
                    ended_by = finished(table, lowest)
                log.report(lowest.error)
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
    log: SearchLog, table: BitTable, start: Tiles, rng: np.random.Generator, patience: int, most: float
) -> tuple[Tiles, str]:
    """Several short climbs, each from `start`, and a long one from the best of them.

    Which deep optimum a climb ends in is decided early and by chance, so several beginnings are worth their time.
    A climb that ends early leaves its trials (of `most` in all) and its time to the next. Returns the best tiles, and
    what ended the last climb.
    """
    session, before = log.session, log.trials
    begin, seconds, best = session.seconds, seconds_left(session), start
    ended_by = "patience"

    def climb_from(source: Tiles, share: float, until: float) -> dict[str, Any]:
        climbed = climb(
            session,
            table,
            source.usage,
            source.columns,
            rng,
            max(1, int(share * patience)),
            until * most - (log.trials - before),
            begin + until * seconds - session.seconds,
            report=lambda error, trials: log.report(min(error, best.error), trials),
        )
        log.timed = log.timed or climbed.ended_by == "max_time"
        lower = climbed.error < best.error
        found = Tiles(climbed.usage, climbed.columns, climbed.error) if lower else best
        return found.pack() | {"ended_by": climbed.ended_by}

    with session.interruptible():
        for number in range(1, CLIMBS + 2):
            last = number > CLIMBS
            source, share, until = (best, 1 - CLIMBS * SHORT, 1.0) if last else (start, SHORT, number * SHORT)
            if session.interrupted or log.out_of_time(begin + until * seconds):
                continue
            packed = log.stage(f"climb{number}", partial(climb_from, source, share, until), rng)
            best, ended_by = Tiles.unpack(packed), packed["ended_by"]
            if best.error == 0:
                return best, "converged"
        if not session.interrupted:
            settled = alternate(table, best.copy(), exact=True)
            best = settled if settled.error < best.error else best
    return best, ended_by
