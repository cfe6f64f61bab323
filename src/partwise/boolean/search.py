"""Tiles by search among bits: alternate the two sides until nothing moves, then disturb and try again."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from partwise.boolean.bits import pack, product, unpack, wrong
from partwise.boolean.descent import WRONG, Prices, best_usage
from partwise.boolean.relaxed import relaxed_factors
from partwise.boolean.table import Table

#: Thresholds that relaxed factors are cut at, as the thesis has them (algorithm 4.1), but for 0 and 1.
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))


@dataclass
class Tiles:
    """A Boolean factorization: which rows use which tile, and which columns it has."""

    usage: np.ndarray
    columns: np.ndarray
    error: float

    def copy(self) -> Tiles:
        """One to change."""
        return Tiles(self.usage.copy(), self.columns.copy(), self.error)


def error_of(table: Table, usage: np.ndarray, columns: np.ndarray) -> int:
    """Wrong observed entries; `columns` is k × m."""
    return wrong(table.rows, product(usage, pack(columns)), table.seen)


def alternate(table: Table, tiles: Tiles, prices: Prices = WRONG, max_rounds: int = 100) -> Tiles:
    """Best rows for the columns, best columns for the rows, until what is paid stands still. In place."""
    before = tiles.error
    for _ in range(max_rounds):
        best_usage(table.rows, table.seen, pack(tiles.columns), tiles.usage, prices)
        held = np.ascontiguousarray(tiles.columns.T)
        tiles.error = best_usage(table.columns, table.seen_columns, pack(tiles.usage.T), held, prices)
        tiles.columns = np.ascontiguousarray(held.T)
        if tiles.error >= before - 1e-9:
            break
        before = tiles.error
    return tiles


def from_relaxed(table: Table, X: Any, rank: int, rng: np.random.Generator) -> Tiles:
    """Relaxed factors, cut at the one threshold with the least error, then improved bit by bit."""
    W, Ht = relaxed_factors(X, rank, rng)
    best: Tiles | None = None
    for threshold in THRESHOLDS:
        usage, columns = threshold < W, np.ascontiguousarray((Ht > threshold).T)
        error = error_of(table, usage, columns)
        if best is None or error < best.error:
            best = Tiles(usage, columns, error)
    assert best is not None
    return alternate(table, best)


def disturbed(table: Table, tiles: Tiles, rng: np.random.Generator) -> Tiles:
    """A copy with one tile replaced by a row of the data, by what two rows share, or with a few bits flipped."""
    out = tiles.copy()
    k = len(out.columns)
    t = int(rng.integers(k))
    kind = rng.integers(3)
    if kind < 2:
        row = table.rows[rng.integers(table.n)]
        if kind == 1:
            row = row & table.rows[rng.integers(table.n)]
        out.columns[t] = unpack(row[None], table.m)[0]
        out.usage[:, t] = False
    else:
        flips = rng.integers(table.m, size=int(rng.integers(1, 4)))
        out.columns[t, flips] ^= True
    out.error = table.n * table.m
    return out


def search(
    table: Table,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    seconds: float = 5.0,
    starts: int = 4,
    patience: int = 2000,
) -> Tiles:
    """The best of a few relaxed starts, then iterated local search until time or patience ends."""
    begin = perf_counter()
    best: Tiles | None = None
    for _ in range(starts):
        found = from_relaxed(table, X, rank, rng)
        if best is None or found.error < best.error:
            best = found
        if best.error == 0 or perf_counter() - begin > 0.5 * seconds:
            break
    assert best is not None
    current, idle = best.copy(), 0
    while perf_counter() - begin < seconds and idle < patience and best.error > 0:
        trial = alternate(table, disturbed(table, current, rng))
        idle += 1
        if trial.error <= current.error:
            if trial.error < best.error:
                best, idle = trial.copy(), 0
            current = trial
    return best
