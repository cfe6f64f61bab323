"""The number of tiles, by description length."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.boolean.descent import WRONG, Prices
from partwise.boolean.description import description_length
from partwise.boolean.search import Tiles, alternate, from_relaxed, replanted
from partwise.boolean.table import Table


def without(tiles: Tiles, t: int) -> Tiles:
    """The same without tile t."""
    return Tiles(np.delete(tiles.usage, t, axis=1), np.delete(tiles.columns, t, axis=0), float("inf"))


def pruned(table: Table, tiles: Tiles, prices: Prices = WRONG) -> tuple[Tiles, float]:
    """Drop tiles, one by one, as long as the description gets shorter; and its length."""
    length = description_length(table, tiles.usage, tiles.columns)
    while len(tiles.columns):
        trials = [without(tiles, t) for t in range(len(tiles.columns))]
        lengths = [description_length(table, trial.usage, trial.columns) for trial in trials]
        best = int(np.argmin(lengths))
        trial = trials[best]
        if lengths[best] >= length:
            # The others may take over what the tile covered, at less than it cost.
            if len(trial.columns) == 0:
                break
            alternate(table, trial, prices)
            shorter = description_length(table, trial.usage, trial.columns)
            if shorter >= length:
                break
            lengths[best] = shorter
        tiles, length = trial, lengths[best]
    return tiles, length


def choose_rank(
    table: Table, X: Any, rng: np.random.Generator, first: int = 8, most: int | None = None
) -> tuple[Tiles, list[tuple[int, float]]]:
    """Fit with more and more tiles and prune, until some are pruned; the shortest description, and all lengths."""
    most = min(table.n, table.m) if most is None else most
    empty = Tiles(np.zeros((table.n, 0), bool), np.zeros((0, table.m), bool), float(table.n_ones))
    best, shortest = empty, description_length(table, empty.usage, empty.columns)
    seen = [(0, shortest)]
    rank = min(first, most)
    while rank >= 1:
        tiles = replanted(table, from_relaxed(table, X, rank, rng), rng)
        tiles, length = pruned(table, tiles)
        if len(tiles.columns):
            alternate(table, tiles)
            length = description_length(table, tiles.usage, tiles.columns)
        seen.append((len(tiles.columns), length))
        if length < shortest:
            best, shortest = tiles, length
        if len(tiles.columns) <= 0.8 * rank or rank >= most:
            break
        rank = min(2 * rank, most)
    return best, seen
