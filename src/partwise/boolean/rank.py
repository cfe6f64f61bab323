"""The number of tiles, by description length."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.boolean.descent import WRONG, Prices
from partwise.boolean.description import description_length, outcome, which
from partwise.boolean.grow import covered_alone
from partwise.boolean.search import Tiles, alternate, from_relaxed, replanted
from partwise.boolean.table import Table

#: Tiles, wrong entries, bits: one factorization that was met.
Met = tuple[int, float, float]


def without(tiles: Tiles, t: int) -> Tiles:
    """The same without tile t."""
    return Tiles(np.delete(tiles.usage, t, axis=1), np.delete(tiles.columns, t, axis=0), float("inf"))


def met(table: Table, tiles: Tiles) -> Met:
    """What to remember of a factorization."""
    _, missed, overdone = outcome(table, tiles.usage, tiles.columns)
    length = description_length(table, tiles.usage, tiles.columns)
    return len(tiles.columns), missed + overdone, length


def met_without(table: Table, tiles: Tiles) -> tuple[int, Met]:
    """The tile without which the description is shortest, and what is met without it.

    From one pass over what each tile covers alone.
    """
    covered, missed, overdone = outcome(table, tiles.usage, tiles.columns)
    hits, slips = covered_alone(table, tiles.usage, tiles.columns)
    book = which(tiles.usage.sum(axis=0), table.n) + which(tiles.columns.sum(axis=1), table.m)
    covered = covered - hits - slips
    wrong = which(overdone - slips, covered) + which(missed + hits, table.n_observed - covered)
    lengths = book.sum() - book + wrong
    t = int(np.argmin(lengths))
    return t, (len(tiles.columns) - 1, float(missed + hits[t] + overdone - slips[t]), float(lengths[t]))


def pruned(table: Table, tiles: Tiles, prices: Prices = WRONG) -> tuple[Tiles, list[Met]]:
    """Drop tiles, one by one, as long as the description gets shorter; and all that was met."""
    path = [met(table, tiles)]
    while len(tiles.columns):
        t, now = met_without(table, tiles)
        trial = without(tiles, t)
        if now[2] >= path[-1][2]:
            # The others may take over what the tile covered, at less than it cost.
            if len(trial.columns) == 0:
                break
            alternate(table, trial, prices)
            now = met(table, trial)
            if now[2] >= path[-1][2]:
                break
        tiles = trial
        path.append(now)
    return tiles, path


def fewer(table: Table, tiles: Tiles) -> list[Met]:
    """What is left when tiles are dropped one by one, the least useful first, down to none."""
    path = [met(table, tiles)]
    while len(tiles.columns):
        t, now = met_without(table, tiles)
        tiles = without(tiles, t)
        path.append(now)
    return path


def choose_rank(
    table: Table,
    X: Any,
    rng: np.random.Generator,
    first: int = 8,
    most: int | None = None,
    sparsity: float = 0.5,
) -> tuple[Tiles, list[Met]]:
    """Fit with more and more tiles and prune, until some are pruned; the shortest description, and all met."""
    most = min(table.n, table.m) if most is None else most
    best = Tiles(np.zeros((table.n, 0), bool), np.zeros((0, table.m), bool), float(table.n_ones))
    seen = [met(table, best)]
    shortest = seen[0][2]
    rank = min(first, most)
    while rank >= 1:
        tiles, path = pruned(table, replanted(table, from_relaxed(table, X, rank, rng, sparsity), rng))
        seen += path
        if len(tiles.columns):
            alternate(table, tiles)
            seen.append(met(table, tiles))
        if seen[-1][2] < shortest:
            best, shortest = tiles, seen[-1][2]
        if len(tiles.columns) <= 0.8 * rank or rank >= most:
            break
        rank = min(2 * rank, most)
    return best, seen


def by_number(seen: list[Met]) -> dict[str, np.ndarray]:
    """For each number of tiles that was met, the shortest description and what was wrong with it."""
    best: dict[int, Met] = {}
    for one in seen:
        if one[0] not in best or one[2] < best[one[0]][2]:
            best[one[0]] = one
    order = sorted(best)
    return {
        "tiles": np.array(order, dtype=np.int64),
        "wrong": np.array([best[k][1] for k in order], dtype=float),
        "bits": np.array([best[k][2] for k in order], dtype=float),
    }
