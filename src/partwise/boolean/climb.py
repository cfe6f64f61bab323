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

from partwise.boolean.bits import ones
from partwise.boolean.descent import WRONG, Prices, improve
from partwise.boolean.table import Table
from partwise.parallel import over_rows

#: Chains that search side by side, and how much worse than its record each may become, as a share of the
#: record (of a hundred wrong entries, where the record is less), at the crest and at the end of a wave.
SLACK = ((0.005, 0.002), (0.08, 0.0))
#: Legs of a wave. At the crest a chain that has fallen behind goes on from the best one.
WAVE = 8
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Chain:
    """One search: where it stands, the best it has seen, and how much worse than that it may wander."""

    def __init__(self, usage: np.ndarray, columns: np.ndarray, slack: tuple[float, float]) -> None:
        self.U, self.Vt = usage.copy(), np.ascontiguousarray(columns.T)
        self.best_U, self.best_Vt = self.U.copy(), self.Vt.copy()
        self.record = np.inf
        self.crest, self.end = slack

    def follow(self, best: Chain) -> None:
        """Go on from the best tiles of another chain, or from one's own if these are as good."""
        source = best if best.record < self.record - 1e-9 else self
        self.best_U[:], self.best_Vt[:] = source.best_U, source.best_Vt
        self.U[:], self.Vt[:] = source.best_U, source.best_Vt
        self.record = source.record

    def leg(self, table: Table, prices: Prices, trials: int, seed: int, number: int = 0) -> None:
        """So many trials."""
        one, zero, cost = (float(price) for price in prices)
        phase = (number % WAVE) / (WAVE - 1)
        slack = self.end + (self.crest - self.end) * (1.0 - phase) ** 2
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
            slack,
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
    a chain that accepts no loss settles where it began. How much worse goes in waves, for no one level suits all
    tables.
    """
    chains = [Chain(usage, columns, slack) for slack in SLACK]
    # No trials: what the start pays; and the compiler, if it has to run, runs before the clock does.
    for chain in chains:
        chain.leg(table, prices, 0, 0)
    begin = perf_counter()
    best = np.inf
    trials, idle, number = 8, 0, 0
    while idle < patience and perf_counter() - begin < seconds:
        seeds = rng.integers(2**31 - 1, size=len(chains))
        if number % WAVE == 0:
            leader = min(chains, key=lambda chain: chain.record)
            for chain in chains:
                chain.follow(leader)

        def task(
            first: int, last: int, trials: int = trials, seeds: Any = seeds, number: int = number
        ) -> None:
            for c in range(first, last):
                chains[c].leg(table, prices, trials, int(seeds[c]), number)

        over_rows(task, len(chains), grain=1)
        now = min(chain.record for chain in chains)
        idle = 0 if now < best - 1e-9 else idle + trials
        best = min(best, now)
        if tell is not None:
            tell(best)
        if best <= 0:
            break
        number += 1
        # Longer legs, but not by the clock: the answer must not depend on the machine unless time ends the search.
        trials = min(2 * trials, max(8, min(1024, patience // 8)))
    winner = min(chains, key=lambda chain: chain.record)
    return winner.best_U, np.ascontiguousarray(winner.best_Vt.T), float(winner.record)


@njit(cache=True, nogil=True)
def pack_bits(A: np.ndarray, stale: np.ndarray, out: np.ndarray) -> None:
    """Stale columns of A (n × k, bool) as packed rows (k × words), repeated as often as `out` has room for."""
    n = A.shape[0]
    width = (n + 63) // 64
    for t in np.flatnonzero(stale):
        for w in range(width):
            bits = _ZERO
            for b in range(min(64, n - 64 * w)):
                bits |= np.uint64(A[64 * w + b, t]) << np.uint64(b)
            out[t, w] = bits
        for w in range(width, out.shape[1]):
            out[t, w] = out[t, w - width]


@njit(cache=True, nogil=True)
def settle(
    rows: np.ndarray,
    seen: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    use: np.ndarray,
    stale: np.ndarray,
    touched: np.ndarray,
    dirty: np.ndarray,
    costs: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    once: np.ndarray,
    twice: np.ndarray,
    bound: np.ndarray,
) -> float:
    """Improve every row from what it has, where only the `stale` tiles have changed since; returns what is paid.

    A row that uses none of those had nothing to gain from the others and still has not: only steps that take a
    changed tile in are tried, and what it has covered `once` and `twice` is as it was.
    Rows that are `dirty` were changed from outside. `costs` has what each row pays,
    `touched` is set for tiles that rows took or left.
    """
    n, k = use.shape
    changed = np.flatnonzero(stale)
    before = np.empty(k, np.bool_)
    for i in range(n):
        full = dirty[i]
        dirty[i] = False
        for t in changed:
            if use[i, t]:
                full = True
                break
        if not full and not gains_by(
            rows[i], seen[i], weight, tiles, use[i], changed, one, zero, cost, once[i], twice[i]
        ):
            continue
        before[:] = use[i]
        costs[i] = improve(rows[i], seen[i], weight, tiles, use[i], one, zero, cost, once[i], twice[i], bound)
        touched |= use[i] != before
    return costs.sum()


@njit(cache=True, nogil=True)
def gains_by(
    row: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    use: np.ndarray,
    changed: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    once: np.ndarray,
    twice: np.ndarray,
) -> bool:
    """Would the row gain by one of the changed tiles, none of which it uses, alone or for one that it uses?"""
    k, width = tiles.shape
    # An exchange frees zeros that are covered now, at best all of them.
    most = cost
    for w in range(width):
        most += weight[w] * zero * ones(once[w] & ~row[w] & observed[w])
    for b in changed:
        gain = -cost
        for w in range(width):
            new = tiles[b, w] & ~once[w] & observed[w]
            gain += weight[w] * (one * ones(new & row[w]) - zero * ones(new & ~row[w]))
        if gain > 1e-9:
            return True
        if gain + most <= 1e-9:
            continue
        for a in range(k):
            if not use[a]:
                continue
            hope = gain + cost
            for w in range(width):
                freed = tiles[a, w] & ~twice[w] & ~tiles[b, w] & observed[w]
                hope += weight[w] * (zero * ones(freed & ~row[w]) - one * ones(freed & row[w]))
            if hope > 1e-9:
                return True
    return False


@njit(cache=True, nogil=True)
def disturb(
    rows: np.ndarray,
    planes: int,
    U: np.ndarray,
    Vt: np.ndarray,
    tiles_v: np.ndarray,
    row: np.ndarray,
    stale_v: np.ndarray,
    stale_u: np.ndarray,
    dirty_v: np.ndarray,
    dirty_u: np.ndarray,
) -> None:
    """Change one tile at random: its columns become those of a row, of two rows, of what a row has uncovered;
    or a few bits flip; or it takes what it shares with another, or what either has.

    Marks the tile as stale, and rows and columns that lost or took it as dirty.
    """
    n, k = U.shape
    m = Vt.shape[0]
    width = rows.shape[1] // planes
    t = np.random.randint(k)  # noqa: NPY002
    kind = np.random.randint(6)  # noqa: NPY002
    stale_v[t] = True
    if kind == 4:
        for _ in range(1 + np.random.randint(3)):  # noqa: NPY002
            j = np.random.randint(m)  # noqa: NPY002
            Vt[j, t] = not Vt[j, t]
            dirty_v[j] = True
        return
    if kind == 5:
        # One tile takes over what two share, or what either has.
        r = np.random.randint(k)  # noqa: NPY002
        both = np.random.randint(2) == 0  # noqa: NPY002
        for j in range(m):
            Vt[j, t] = (Vt[j, t] and Vt[j, r]) if both else (Vt[j, t] or Vt[j, r])
            dirty_v[j] = True
        return
    i, i2 = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
    for w in range(width):
        bits, other = _ZERO, _ZERO
        for p in range(planes):
            bits |= rows[i, w + p * width]
            other |= rows[i2, w + p * width]
        if kind == 1 or kind == 3:
            bits &= other
        row[w] = bits
    if kind >= 2:
        # Only what no other tile covers.
        for r in range(k):
            if r != t and U[i, r]:
                for w in range(width):
                    row[w] &= ~tiles_v[r, w]
    for j in range(m):
        on = (row[j >> 6] >> np.uint64(j & 63)) & _ONE == _ONE
        dirty_v[j] = dirty_v[j] or Vt[j, t] != on
        Vt[j, t] = on
    for i in range(n):
        dirty_u[i] = dirty_u[i] or U[i, t]
        U[i, t] = False
    stale_u[t] = True


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
    kept_tiles_v, kept_tiles_u = tiles_v.copy(), tiles_u.copy()
    # What rows and columns have covered, once or more and twice or more.
    once_v, twice_v = np.zeros((n, wide), np.uint64), np.zeros((n, wide), np.uint64)
    once_u, twice_u = np.zeros((m, tall), np.uint64), np.zeros((m, tall), np.uint64)
    kept_once_v, kept_twice_v = once_v.copy(), twice_v.copy()
    kept_once_u, kept_twice_u = once_u.copy(), twice_u.copy()
    row, bound = np.empty(wide, np.uint64), np.empty(k)
    stale_u, stale_v = np.empty(k, np.bool_), np.empty(k, np.bool_)
    cost_u, cost_v = np.zeros(n), np.zeros(m)
    kept_U, kept_Vt = U.copy(), Vt.copy()
    kept_v = cost_v.copy()
    dirty_u, dirty_v = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    standing = np.inf
    for trial in range(trials + 1):
        # A tile is stale for the rows if its columns have changed (stale_v), for the columns if its rows have.
        stale_u[:] = trial == 0
        stale_v[:] = trial == 0
        dirty_u[:] = trial == 0
        dirty_v[:] = trial == 0
        if trial > 0:
            disturb(rows, planes, U, Vt, tiles_v, row, stale_v, stale_u, dirty_v, dirty_u)
        now = np.inf
        while True:
            pack_bits(Vt, stale_v, tiles_v)
            settle(
                rows,
                seen,
                row_weight,
                tiles_v,
                U,
                stale_v,
                stale_u,
                dirty_u,
                cost_u,
                one,
                zero,
                cost,
                once_v,
                twice_v,
                bound,
            )
            stale_v[:] = False
            pack_bits(U, stale_u, tiles_u)
            now = settle(
                columns,
                seen_columns,
                column_weight,
                tiles_u,
                Vt,
                stale_u,
                stale_v,
                dirty_v,
                cost_v,
                one,
                zero,
                cost,
                once_u,
                twice_u,
                bound,
            )
            stale_u[:] = False
            if not stale_v.any():
                break
        paid = now
        if cost > 0.0:
            for i in range(n):
                for t in range(k):
                    if U[i, t]:
                        paid += cost
        if paid < record - 1e-9:
            record = paid
            best_U[:] = U
            best_Vt[:] = Vt
        if trial == 0 or paid <= max(standing, record + max(slack * record, 100.0 * slack * one)) + 1e-9:
            standing = paid
            kept_U[:] = U
            kept_Vt[:] = Vt
            kept_v[:] = cost_v
            kept_tiles_v[:] = tiles_v
            kept_tiles_u[:] = tiles_u
            kept_once_v[:] = once_v
            kept_twice_v[:] = twice_v
            kept_once_u[:] = once_u
            kept_twice_u[:] = twice_u
        else:
            U[:] = kept_U
            Vt[:] = kept_Vt
            cost_v[:] = kept_v
            once_v[:] = kept_once_v
            twice_v[:] = kept_twice_v
            once_u[:] = kept_once_u
            twice_u[:] = kept_twice_u
            tiles_v[:] = kept_tiles_v
            tiles_u[:] = kept_tiles_u
    return record
