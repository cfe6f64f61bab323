"""Iterated local search in compiled code: perturb a tile, improve rows and columns in turn, accept or undo.

A trial takes a fraction of a millisecond on small tables, so the loop itself has to be compiled. Several chains run
side by side, each with its own random numbers; their number does not depend on the number of threads, so neither
does the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.descent import row_scratch
from partwise.boolean.perturb import PerturbScratch, perturb
from partwise.boolean.prices import WRONG, Prices, as_floats
from partwise.boolean.search_state import (
    SideSnapshot,
    SideState,
    any_stale,
    copy_matrix,
    copy_touched,
    current_state,
    improve_side,
    repack,
)
from partwise.core import Session
from partwise.jit import leaf, njit
from partwise.parallel import over_rows

#: One pair for each chain: how much worse than its record a chain may become at the beginning and at the end of a
#: wave, as a share of the record (of the price of a hundred uncovered ones, where the record is less).
SLACK = ((0.005, 0.002), (0.08, 0.0))
#: Segments of a wave, and most trials of a segment. At the beginning of a wave, chains continue from the best tiles.
WAVE, SEGMENT = 8, 256


class Climbed(NamedTuple):
    """Where a climb ended: the best tiles and their cost, how many trials it made, and why it made no more.

    `ended_by` is "converged" (the cost is 0), "patience", "max_iter", "max_time" or "interrupted". After Ctrl-C the
    cost may be an old one, which was higher.
    """

    usage: np.ndarray
    columns: np.ndarray
    error: float
    trials: int
    ended_by: str


class Chain:
    """One chain of the search: its current tiles, the best it has seen, and how much worse it may become.

    `slack` has how much higher than the record the cost of an accepted trial may be, as a share of the record, at the
    beginning and at the end of a wave.
    """

    def __init__(
        self, table: BitTable, usage: np.ndarray, columns: np.ndarray, slack: tuple[float, float]
    ) -> None:
        self.rows = SideState.of(table.by_row, usage.copy())
        self.columns = SideState.of(table.by_column, np.array(columns.T, order="C"))
        self.perturb_scratch = PerturbScratch.of(table, usage.shape[1])
        self.kept = SideSnapshot.like(self.rows), SideSnapshot.like(self.columns)
        self.best = usage.copy(), np.array(columns.T, order="C")
        self.record = np.inf
        self.first_slack, self.last_slack = slack

    def follow(self, leader: Chain) -> None:
        """Continue from the best tiles of `leader`, or from this chain's own best if these are no worse."""
        source = leader if leader.record < self.record - 1e-9 else self
        record = source.record
        if source is leader:
            # Ctrl-C may come when half of the tiles are copied; these must not be taken for the best.
            self.record = np.inf
        for mine, theirs, side in zip(self.best, source.best, (self.rows, self.columns), strict=True):
            mine[:] = theirs
            side.use[:] = theirs
            for marks in (side.stale, side.dirty, side.touched):
                marks[:] = True
        self.record = record

    def segment(self, prices: Prices, trials: int, seed: int, number: int = 0) -> None:
        """Run a number of trials; `number` counts segments and says where in its wave this one is."""
        phase = (number % WAVE) / (WAVE - 1)
        slack = self.last_slack + (self.first_slack - self.last_slack) * (1.0 - phase) ** 2
        self.record = climb_chain(
            self.rows,
            self.columns,
            self.perturb_scratch,
            *self.kept,
            *self.best,
            self.record,
            slack,
            prices,
            trials,
            seed,
        )


def climb(
    session: Session,
    table: BitTable,
    usage: np.ndarray,
    columns: np.ndarray,
    rng: np.random.Generator,
    patience: int,
    most: float = np.inf,
    seconds: float = np.inf,
    prices: Prices = WRONG,
    report: Callable[[float, int], None] | None = None,
    slack: tuple[tuple[float, float], ...] = SLACK,
) -> Climbed:
    """Search from given tiles on until patience, the number of trials, time or Ctrl-C ends it.

    A trial is accepted if its cost is at most a little above the chain's record (record-to-record travel, Dueck
    1993): a chain that accepts no loss stays in the optimum where it began. The accepted loss falls in the course
    of a wave and starts again with the next one, because no one level suits all tables.

    Parameters
    ----------
    session : Session
        Its limit and Ctrl-C end the climb.
    table : BitTable
    usage, columns : arrays of bool of shapes (n, k) and (k, m)
        Where to start.
    rng : numpy.random.Generator
    patience : int
        Trials of each chain in a row without a new best, after which the search ends.
    most : float
        Trials of all chains together, at most.
    seconds : float
        Time limit of this climb, beside the session's.
    prices : Prices
    report : callable, optional
        Called after every segment with the lowest cost and the number of trials in the segment.
    slack : tuple of pairs of float
        One for each chain; see `SLACK`.

    Returns
    -------
    Climbed
    """
    held = as_floats(prices)
    chains = [Chain(table, usage, columns, accepted) for accepted in slack]
    best = np.inf
    trials, idle, number, made = 8, 0, 0, 0
    with session.interruptible():
        # A segment without trials computes the cost of the start.
        for chain in chains:
            chain.segment(held, 0, 0)
        until = session.seconds + seconds
        while idle < patience and best > 0 and session.seconds < until and not session.stopped:
            trials = int(min(trials, (most - made) / len(chains)))
            if trials == 0:
                break
            seeds = rng.integers(2**31 - 1, size=len(chains))
            if number % WAVE == 0:
                leader = min(chains, key=lambda chain: chain.record)
                for chain in chains:
                    chain.follow(leader)
            run_segments(chains, held, trials, seeds, number)
            made += len(chains) * trials
            now = min(chain.record for chain in chains)
            idle = 0 if now < best - 1e-9 else idle + trials
            best = min(best, now)
            if report is not None:
                report(best, len(chains) * trials)
            number += 1
            # Segments grow by count, not by the clock: the answer must not depend on the machine's speed.
            trials = min(2 * trials, max(8, min(SEGMENT, patience // WAVE)))
    winner = min(chains, key=lambda chain: chain.record)
    ended_by = "converged" if best <= 0 else "patience" if idle >= patience else "max_time"
    if trials == 0:
        ended_by = "max_iter"
    return Climbed(
        winner.best[0],
        np.ascontiguousarray(winner.best[1].T),
        float(winner.record),
        made,
        "interrupted" if session.interrupted else ended_by,
    )


def run_segments(chains: list[Chain], prices: Prices, trials: int, seeds: np.ndarray, number: int) -> None:
    """Run segment `number` of every chain, each with its own seed, on as many threads as there are."""

    def task(first: int, last: int) -> None:
        for c in range(first, last):
            chains[c].segment(prices, trials, int(seeds[c]), number)

    over_rows(task, len(chains), grain=1)


@leaf()
def total_cost(cost: np.ndarray, use: np.ndarray, prices: Prices) -> float:
    """Sum of the costs of all columns, plus the price of the tiles that rows use (`use`)."""
    total, uses = 0.0, 0
    for j in range(cost.shape[0]):
        total += cost[j]
    for i in range(use.shape[0]):
        for t in range(use.shape[1]):
            uses += int(use[i, t])
    return total + prices.tile * uses


@njit(cache=True, nogil=True, error_model="numpy")
def climb_chain(
    rows: SideState,
    columns: SideState,
    perturb_scratch: PerturbScratch,
    kept_rows: SideSnapshot,
    kept_columns: SideSnapshot,
    best_rows: np.ndarray,
    best_columns: np.ndarray,
    record: float,
    slack: float,
    prices: Prices,
    trials: int,
    seed: int,
) -> float:
    """Run `trials` perturbations of one chain; returns its record, the lowest cost seen.

    The sides hold the current tiles, `kept_rows` and `kept_columns` the last accepted ones, `best_rows` and
    `best_columns` the use of tiles at the record. `slack` is the accepted loss as a share of the record.
    """
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator; this one is the thread's own)
    k = rows.use.shape[1]
    before, scratch = np.empty(k, np.bool_), row_scratch(k)
    # One loop over both sides: whatever is called here is compiled into this function once for each call.
    sides, kept, best = (rows, columns), (kept_rows, kept_columns), (best_rows, best_columns)
    standing = total_cost(kept_columns.cost, kept_rows.use, prices)
    for trial in range(trials + 1):
        fresh = trial == 0 and any_stale(rows)
        if trial > 0:
            perturb(rows, columns, perturb_scratch, prices)
        while any_stale(rows) or any_stale(columns):
            for s in range(2):
                repack(sides[s], sides[1 - s])
                improve_side(sides[s], sides[1 - s], prices, before, scratch)
        cost = total_cost(columns.cost, rows.use, prices)
        better = cost < record - 1e-9
        record = cost if better else record
        stays = fresh or cost <= max(standing, record + slack * max(record, 100.0 * prices.one)) + 1e-9
        standing = cost if stays else standing
        for s in range(2):
            side = sides[s]
            if better:
                copy_matrix(side.use, best[s])
            now = current_state(side)
            copy_touched(now if stays else kept[s], kept[s] if stays else now, side.touched)
    return record
