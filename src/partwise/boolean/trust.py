"""How far each tile can be trusted (thesis, 2.2.4): does it come back, and what could stand in for it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise.boolean.bits import pack, product
from partwise.boolean.descent import WRONG, best_usage
from partwise.boolean.grow import gains
from partwise.boolean.search import Tiles, error_of
from partwise.boolean.table import Table

#: Tiles that share at least so much of their joint area are the same tile.
SAME = 0.8
#: Alternatives listed for a tile at most.
LISTED = 5


def likeness(a: Tiles, b: Tiles) -> np.ndarray:
    """Jaccard index of the areas of each tile of a and each tile of b."""
    if len(a.columns) == 0 or len(b.columns) == 0:
        return np.zeros((len(a.columns), len(b.columns)))
    rows = a.usage.T.astype(float) @ b.usage.astype(float)
    columns = a.columns.astype(float) @ b.columns.T.astype(float)
    both = rows * columns
    either = area(a)[:, None] + area(b) - both
    return np.where(either > 0, both / np.maximum(either, 1.0), 0.0)


def area(tiles: Tiles) -> np.ndarray:
    """Rows times columns of each tile."""
    return tiles.usage.sum(axis=0, dtype=float) * tiles.columns.sum(axis=1, dtype=float)


def returns(tiles: Tiles, others: list[Tiles]) -> tuple[np.ndarray, np.ndarray]:
    """For each tile: the share of the others that have it, and its likeness to the nearest of theirs, on average."""
    nearest = np.array([likeness(tiles, other).max(axis=1, initial=0.0) for other in others])
    if len(nearest) == 0:
        return np.full(len(tiles.columns), np.nan), np.full(len(tiles.columns), np.nan)
    return (nearest >= SAME).mean(axis=0), nearest.mean(axis=0)


def alternatives(table: Table, tiles: Tiles, pool: np.ndarray) -> list[list[dict[str, Any]]]:
    """For each tile, column sets of the pool (p × m) that would take its place without more wrong entries.

    The other tiles keep their rows and columns; the stand-in takes the rows that gain by it.
    """
    now = error_of(table, tiles.usage, tiles.columns)
    side = table.by_row
    out = []
    for t in range(len(tiles.columns)):
        usage = np.delete(tiles.usage, t, axis=1)
        columns = np.delete(tiles.columns, t, axis=0)
        cover = product(usage, pack(columns)) if len(columns) else np.zeros_like(side.plain)
        covered = side.spread(cover)
        without = error_of(table, usage, columns)
        found = []
        for v in pool:
            if np.array_equal(v, tiles.columns[t]):
                continue
            gain = gains(side, covered, pack(v[None])[0], WRONG)
            change = without - float(gain[gain > 0].sum()) - now
            if change <= 1e-9:
                found.append({"columns": v, "rows": int((gain > 0).sum()), "change": change})
        found.sort(key=lambda one: one["change"])
        out.append(found[:LISTED])
    return out


def undecided(table: Table, tiles: Tiles) -> tuple[np.ndarray, np.ndarray]:
    """For each tile, how many rows and how many columns could be in it or not, at the same error."""
    k = len(tiles.columns)
    rows, columns = np.zeros(k, np.int64), np.zeros(k, np.int64)
    flipped = Tiles(np.ascontiguousarray(tiles.columns.T), np.ascontiguousarray(tiles.usage.T), tiles.error)
    for out, side, view in ((rows, table.by_row, tiles), (columns, table.by_column, flipped)):
        for t in range(k):
            usage = np.delete(view.usage, t, axis=1)
            others = np.delete(view.columns, t, axis=0)
            cover = product(usage, pack(others)) if len(others) else np.zeros_like(side.plain)
            gain = gains(side, side.spread(cover), pack(view.columns[t : t + 1])[0], WRONG)
            out[t] = int((np.abs(gain) < 1e-9).sum())
    return rows, columns


def measure(
    table: Table,
    tiles: Tiles,
    again: Callable[[int], Tiles],
    resampled: Callable[[int], Tiles],
    n_restarts: int,
    n_resamples: int,
) -> dict[str, Any]:
    """Everything above, for `again(i)`, the i-th search of the same data, and `resampled(i)`, of other rows.

    Tiles from resampled rows get their rows of the table at hand.
    """
    restarts = [again(i) for i in range(n_restarts)]
    resamples = []
    for i in range(n_resamples):
        other = resampled(i)
        usage = np.zeros((table.n, len(other.columns)), bool)
        if len(other.columns):
            best_usage(table.by_row, pack(other.columns), usage)
        resamples.append(Tiles(usage, other.columns, 0.0))
    found = [run.columns for run in restarts + resamples if len(run.columns)]
    pool = np.unique(np.vstack([*found, tiles.columns]), axis=0) if found else tiles.columns
    restart_share, restart_likeness = returns(tiles, restarts)
    resample_share, resample_likeness = returns(tiles, resamples)
    rows, columns = undecided(table, tiles)
    return {
        "restarts": restart_share,
        "restart_likeness": restart_likeness,
        "resamples": resample_share,
        "resample_likeness": resample_likeness,
        "undecided_rows": rows,
        "undecided_columns": columns,
        "alternatives": alternatives(table, tiles, pool),
    }
