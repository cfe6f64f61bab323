"""Iterated local search in compiled code: disturb a tile, improve rows and columns in turn, keep what is no worse.

A trial takes a fraction of a millisecond on small tables, so the loop itself has to be compiled. Several chains run
side by side, each with random numbers of its own; their number does not depend on the threads, so neither does the
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise.boolean.descent import WRONG, Prices, as_floats, desk_for
from partwise.boolean.disturb import Room, disturb
from partwise.boolean.faces import Face, State, carry, copy, is_stale, repack, settle, state_of
from partwise.boolean.table import Table
from partwise.compiling import clock
from partwise.jit import leaf, njit
from partwise.parallel import over_rows

#: Chains that search side by side, and how much worse than its record each may become, as a share of the
#: record (of a hundred wrong entries, where the record is less), at the crest and at the end of a wave.
SLACK = ((0.005, 0.002), (0.08, 0.0))
#: Legs of a wave, and trials of a leg at most. At the crest a chain that has fallen behind goes on from the best one.
WAVE, LEG = 8, 256


class Stopped(KeyboardInterrupt):
    """Somebody had seen enough. What was found until then is not lost: usage, columns, what they pay."""

    def __init__(self, usage: np.ndarray, columns: np.ndarray, error: float) -> None:
        super().__init__()
        self.found = usage, columns, error


class Chain:
    """One search: where it stands, the best it has seen, and how much worse than that it may wander."""

    def __init__(
        self, table: Table, usage: np.ndarray, columns: np.ndarray, slack: tuple[float, float]
    ) -> None:
        self.rows = Face.of(table.by_row, usage.copy())
        self.columns = Face.of(table.by_column, np.array(columns.T, order="C"))
        self.room = Room.of(table, usage.shape[1])
        self.kept = State.like(self.rows), State.like(self.columns)
        self.best = usage.copy(), np.array(columns.T, order="C")
        self.record = np.inf
        self.crest, self.end = slack

    def follow(self, leader: Chain) -> None:
        """Go on from the best tiles of another chain, or from one's own if these are as good."""
        source = leader if leader.record < self.record - 1e-9 else self
        self.record = source.record
        for mine, theirs, face in zip(self.best, source.best, (self.rows, self.columns), strict=True):
            mine[:] = theirs
            face.use[:] = theirs
            for marks in (face.stale, face.dirty, face.moved):
                marks[:] = True

    def leg(self, prices: Prices, trials: int, seed: int, number: int = 0) -> None:
        """So many trials."""
        phase = (number % WAVE) / (WAVE - 1)
        slack = self.end + (self.crest - self.end) * (1.0 - phase) ** 2
        self.record = climb_chain(
            self.rows,
            self.columns,
            self.room,
            *self.kept,
            *self.best,
            self.record,
            slack,
            prices,
            trials,
            seed,
        )


def climb(
    table: Table,
    usage: np.ndarray,
    columns: np.ndarray,
    rng: np.random.Generator,
    seconds: float,
    patience: int,
    prices: Prices = WRONG,
    tell: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """From the given tiles on, until `patience` trials of every chain in a row found nothing, or time is up.

    A trial is accepted if it is no more than a little worse than the chain's record (record-to-record travel, Dueck):
    a chain that accepts no loss settles where it began. How much worse goes in waves, for no one level suits all
    tables. Ctrl-C raises `Stopped`, which has what was found.
    """
    held = as_floats(prices)
    chains = [Chain(table, usage, columns, slack) for slack in SLACK]
    # No trials: what the start pays.
    for chain in chains:
        chain.leg(held, 0, 0)
    begin = clock()
    best = np.inf
    trials, idle, number = 8, 0, 0
    stopped = False
    while idle < patience and clock() - begin < seconds and not stopped:
        seeds = rng.integers(2**31 - 1, size=len(chains))
        if number % WAVE == 0:
            leader = min(chains, key=lambda chain: chain.record)
            for chain in chains:
                chain.follow(leader)

        def task(
            first: int, last: int, trials: int = trials, seeds: Any = seeds, number: int = number
        ) -> None:
            for c in range(first, last):
                chains[c].leg(held, trials, int(seeds[c]), number)

        try:
            over_rows(task, len(chains), grain=1)
            now = min(chain.record for chain in chains)
            idle = 0 if now < best - 1e-9 else idle + trials
            best = min(best, now)
            if tell is not None:
                tell(best)
        except KeyboardInterrupt:
            stopped = True
        if best <= 0:
            break
        number += 1
        # Longer legs, but not by the clock: the answer must not depend on the machine unless time ends the search.
        trials = min(2 * trials, max(8, min(LEG, patience // WAVE)))
    winner = min(chains, key=lambda chain: chain.record)
    found = winner.best[0], np.ascontiguousarray(winner.best[1].T), float(winner.record)
    if stopped:
        raise Stopped(*found)
    return found


@leaf()
def paid_by(cost: np.ndarray, use: np.ndarray, prices: Prices) -> float:
    """What columns pay, and what rows pay for their tiles."""
    total, uses = 0.0, 0
    for j in range(cost.shape[0]):
        total += cost[j]
    for i in range(use.shape[0]):
        for t in range(use.shape[1]):
            uses += int(use[i, t])
    return total + prices.tile * uses


@njit(cache=True, nogil=True, error_model="numpy")
def climb_chain(
    rows: Face,
    columns: Face,
    room: Room,
    kept_rows: State,
    kept_columns: State,
    best_rows: np.ndarray,
    best_columns: np.ndarray,
    record: float,
    slack: float,
    prices: Prices,
    trials: int,
    seed: int,
) -> float:
    """`trials` disturbances, and the best of what they lead to; returns what that pays."""
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator; this one is the thread's own)
    k = rows.use.shape[1]
    before, desk = np.empty(k, np.bool_), desk_for(k)
    # One loop over both sides: whatever is called here is compiled into this function once for each call.
    faces, kept, best = (rows, columns), (kept_rows, kept_columns), (best_rows, best_columns)
    standing = paid_by(kept_columns.cost, kept_rows.use, prices)
    for trial in range(trials + 1):
        fresh = trial == 0 and is_stale(rows)
        if trial > 0:
            disturb(rows, columns, room, prices)
        while is_stale(rows) or is_stale(columns):
            for side in range(2):
                repack(faces[side], faces[1 - side])
                settle(faces[side], faces[1 - side], prices, before, desk)
        paid = paid_by(columns.cost, rows.use, prices)
        better = paid < record - 1e-9
        record = paid if better else record
        stays = fresh or paid <= max(standing, record + slack * max(record, 100.0 * prices.one)) + 1e-9
        standing = paid if stays else standing
        for side in range(2):
            face = faces[side]
            if better:
                copy(face.use, best[side])
            now = state_of(face)
            carry(now if stays else kept[side], kept[side] if stays else now, face.moved)
    return record
