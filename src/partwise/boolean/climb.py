"""Iterated local search in compiled code: disturb a tile, improve rows and columns in turn, keep what is no worse.

A trial takes a fraction of a millisecond on small tables, so the loop itself has to be compiled. Several chains run
side by side, each with random numbers of its own; their number does not depend on the threads, so neither does the
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit

from partwise.boolean.descent import WRONG, Prices, improve
from partwise.boolean.table import Table
from partwise.parallel import over_rows

#: Chains that search side by side, and how much worse than its record each may become, as a share of the
#: record (of a hundred wrong entries, where the record is less).
SLACK = (0.005, 0.025)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Chain:
    """One search: where it stands, the best it has seen, and how much worse than that it may wander."""

    def __init__(self, usage: np.ndarray, columns: np.ndarray, slack: float) -> None:
        self.U, self.Vt = usage.copy(), np.ascontiguousarray(columns.T)
        self.best_U, self.best_Vt = self.U.copy(), self.Vt.copy()
        self.record = np.inf
        self.slack = slack

    def leg(self, table: Table, prices: Prices, trials: int, seed: int) -> None:
        """So many trials."""
        one, zero, cost = (float(price) for price in prices)
        self.record = climb_chain(
            table.by_row.bits,
            table.by_row.seen,
            table.by_row.weight,
            table.by_column.bits,
            table.by_column.seen,
            table.by_column.weight,
            table.by_row.planes,
            self.U,
            self.Vt,
            self.best_U,
            self.best_Vt,
            self.record,
            self.slack,
            one,
            zero,
            cost,
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
    a chain that accepts no loss settles where it began.
    """
    chains = [Chain(usage, columns, slack) for slack in SLACK]
    # No trials: what the start pays; and the compiler, if it has to run, runs before the clock does.
    for chain in chains:
        chain.leg(table, prices, 0, 0)
    begin = perf_counter()
    best = np.inf
    trials, idle = 8, 0
    while idle < patience and perf_counter() - begin < seconds:
        seeds = rng.integers(2**31 - 1, size=len(chains))

        def task(first: int, last: int, trials: int = trials, seeds: Any = seeds) -> None:
            for c in range(first, last):
                chains[c].leg(table, prices, trials, int(seeds[c]))

        over_rows(task, len(chains), grain=1)
        now = min(chain.record for chain in chains)
        idle = 0 if now < best - 1e-9 else idle + trials
        best = min(best, now)
        if tell is not None:
            tell(best)
        if best <= 0:
            break
        # Longer legs, but not by the clock: the answer must not depend on the machine unless time ends the search.
        trials = min(2 * trials, max(8, min(1024, patience // 8)))
    winner = min(chains, key=lambda chain: chain.record)
    return winner.best_U, np.ascontiguousarray(winner.best_Vt.T), float(winner.record)


@njit(cache=True, nogil=True)
def pack_bits(A: np.ndarray, out: np.ndarray) -> None:
    """Columns of A (n × k, bool) as packed rows (k × words), repeated as often as `out` has room for."""
    n, k = A.shape
    width = (n + 63) // 64
    for t in range(k):
        for w in range(out.shape[1]):
            out[t, w] = _ZERO
    for i in range(n):
        for t in range(k):
            if A[i, t]:
                out[t, i >> 6] |= _ONE << np.uint64(i & 63)
    for t in range(k):
        for w in range(width, out.shape[1]):
            out[t, w] = out[t, w - width]


@njit(cache=True, nogil=True)
def settle(
    rows: np.ndarray,
    seen: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    use: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    once: np.ndarray,
    twice: np.ndarray,
) -> float:
    """Improve every row from what it has."""
    total = 0.0
    for i in range(rows.shape[0]):
        total += improve(rows[i], seen[i], weight, tiles, use[i], one, zero, cost, once, twice)
    return total


@njit(cache=True, nogil=True)
def climb_chain(
    rows: np.ndarray,
    seen: np.ndarray,
    row_weight: np.ndarray,
    columns: np.ndarray,
    seen_columns: np.ndarray,
    column_weight: np.ndarray,
    planes: int,
    U: np.ndarray,
    Vt: np.ndarray,
    best_U: np.ndarray,
    best_Vt: np.ndarray,
    record: float,
    slack: float,
    one: float,
    zero: float,
    cost: float,
    trials: int,
    seed: int,
) -> float:
    """`trials` disturbances of U (n × k) and Vt (m × k), and the best of them, in place; returns what that pays."""
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator; this one is the thread's own)
    n, k = U.shape
    m = Vt.shape[0]
    wide, tall = rows.shape[1], columns.shape[1]
    tiles_v, tiles_u = np.empty((k, wide), np.uint64), np.empty((k, tall), np.uint64)
    once_v, twice_v = np.empty(wide, np.uint64), np.empty(wide, np.uint64)
    once_u, twice_u = np.empty(tall, np.uint64), np.empty(tall, np.uint64)
    kept_U, kept_Vt = U.copy(), Vt.copy()
    for trial in range(trials + 1):
        if trial > 0:
            t = np.random.randint(k)  # noqa: NPY002
            kind = np.random.randint(4)  # noqa: NPY002
            if kind < 2:
                i, i2 = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
                for j in range(m):
                    b = np.uint64(j & 63)
                    bit, bit2 = _ZERO, _ZERO
                    for w in range(j >> 6, wide, wide // planes):
                        bit |= (rows[i, w] >> b) & _ONE
                        bit2 |= (rows[i2, w] >> b) & _ONE
                    Vt[j, t] = bit == _ONE and (kind == 0 or bit2 == _ONE)
                for i in range(n):
                    U[i, t] = False
            elif kind == 2:
                for _ in range(1 + np.random.randint(3)):  # noqa: NPY002
                    j = np.random.randint(m)  # noqa: NPY002
                    Vt[j, t] = not Vt[j, t]
            else:
                # One tile takes over what two share, or what either has.
                r = np.random.randint(k)  # noqa: NPY002
                both = np.random.randint(2) == 0  # noqa: NPY002
                for j in range(m):
                    Vt[j, t] = (Vt[j, t] and Vt[j, r]) if both else (Vt[j, t] or Vt[j, r])
        before = np.inf
        while True:
            pack_bits(Vt, tiles_v)
            settle(rows, seen, row_weight, tiles_v, U, one, zero, cost, once_v, twice_v)
            pack_bits(U, tiles_u)
            now = settle(columns, seen_columns, column_weight, tiles_u, Vt, one, zero, cost, once_u, twice_u)
            if now >= before - 1e-9:
                break
            before = now
        paid = min(now, before)
        if cost > 0.0:
            for i in range(n):
                for t in range(k):
                    if U[i, t]:
                        paid += cost
        if paid < record - 1e-9:
            record = paid
            best_U[:] = U
            best_Vt[:] = Vt
        if paid <= record + max(slack * record, 100.0 * slack * one) + 1e-9:
            kept_U[:] = U
            kept_Vt[:] = Vt
        else:
            U[:] = kept_U
            Vt[:] = kept_Vt
    return record
