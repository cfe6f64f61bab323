"""How far each tile can be trusted: is it found again by other searches, and which tiles could replace it?

Gonsior 2019, section 2.2.4, lists the ambiguities of Boolean factorizations that make the question necessary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product
from partwise.boolean.descent import best_usage
from partwise.boolean.grow import row_gains
from partwise.boolean.prices import WRONG
from partwise.boolean.tiles import Tiles, error_of
from partwise.core import Session

#: Jaccard index from which two tiles count as the same.
SAME = 0.8
#: Most alternatives listed for a tile.
LISTED = 5


def jaccard(a: Tiles, b: Tiles) -> np.ndarray:
    """Jaccard index of the areas of each tile of `a` and each tile of `b`, as a matrix."""
    if len(a.columns) == 0 or len(b.columns) == 0:
        return np.zeros((len(a.columns), len(b.columns)))
    rows = a.usage.T.astype(float) @ b.usage.astype(float)
    columns = a.columns.astype(float) @ b.columns.T.astype(float)
    both = rows * columns
    either = area(a)[:, None] + area(b) - both
    return np.where(either > 0, both / np.maximum(either, 1.0), 0.0)


def area(tiles: Tiles) -> np.ndarray:
    """Area of each tile: its rows times its columns."""
    return tiles.usage.sum(axis=0, dtype=float) * tiles.columns.sum(axis=1, dtype=float)


def recurrence(tiles: Tiles, others: list[Tiles]) -> tuple[np.ndarray, np.ndarray]:
    """How often each tile is found again in other factorizations.

    Returns, for each tile, the share of the others that have one with a Jaccard index of at least `SAME`, and the
    mean Jaccard index with the most similar tile of each; NaN if there are no others.
    """
    nearest = np.array([jaccard(tiles, other).max(axis=1, initial=0.0) for other in others])
    if len(nearest) == 0:
        return np.full(len(tiles.columns), np.nan), np.full(len(tiles.columns), np.nan)
    return (nearest >= SAME).mean(axis=0), nearest.mean(axis=0)


def alternatives(table: BitTable, tiles: Tiles, t: int, pool: np.ndarray) -> list[dict[str, Any]]:
    """Column sets of the pool (p × m) that could replace tile t without more wrong entries.

    The other tiles keep their rows and columns; the replacement gets the rows that gain by it. Returns up to `LISTED`
    dicts of "columns", number of "rows" and "change" of the error, lowest change first.
    """
    now = error_of(table, tiles.usage, tiles.columns)
    side = table.by_row
    usage = np.delete(tiles.usage, t, axis=1)
    columns = np.delete(tiles.columns, t, axis=0)
    cover = product(usage, pack(columns)) if len(columns) else np.zeros_like(side.plain)
    covered = side.spread(cover)
    without = error_of(table, usage, columns)
    found = []
    for v in pool:
        if np.array_equal(v, tiles.columns[t]):
            continue
        gain = row_gains(side, covered, pack(v[None])[0], WRONG)
        change = without - float(gain[gain > 0].sum()) - now
        if change <= 1e-9:
            found.append({"columns": v, "rows": int((gain > 0).sum()), "change": change})
    found.sort(key=lambda one: one["change"])
    return found[:LISTED]


def undecided(table: BitTable, tiles: Tiles) -> tuple[np.ndarray, np.ndarray]:
    """For each tile, the numbers of rows and of columns that could be in it or not at the same error."""
    k = len(tiles.columns)
    rows, columns = np.zeros(k, np.int64), np.zeros(k, np.int64)
    flipped = Tiles(np.ascontiguousarray(tiles.columns.T), np.ascontiguousarray(tiles.usage.T), tiles.error)
    for out, side, view in ((rows, table.by_row, tiles), (columns, table.by_column, flipped)):
        for t in range(k):
            usage = np.delete(view.usage, t, axis=1)
            others = np.delete(view.columns, t, axis=0)
            cover = product(usage, pack(others)) if len(others) else np.zeros_like(side.plain)
            gain = row_gains(side, side.spread(cover), pack(view.columns[t : t + 1])[0], WRONG)
            out[t] = int((np.abs(gain) < 1e-9).sum())
    return rows, columns


def measure_trust(
    session: Session,
    table: BitTable,
    tiles: Tiles,
    again: Callable[[int], Tiles],
    resampled: Callable[[int], Tiles],
    n_restarts: int,
    n_resamples: int,
) -> dict[str, Any]:
    """Everything that `BooleanMF.trust` returns, for the given tiles of a table.

    Ctrl-C ends the searches; what is returned is then based on those that were complete, and without alternatives for
    the tiles that were not reached.

    Parameters
    ----------
    session : Session
        Shows how many searches are done, and takes note of Ctrl-C.
    table : BitTable
    tiles : Tiles
    again, resampled : callable
        Give the tiles of the i-th search of the same data, and of the i-th search of resampled rows. The latter are
        then assigned to the rows of this table.
    n_restarts, n_resamples : int

    Returns
    -------
    dict
    """

    def assigned(i: int) -> Tiles:
        other = resampled(i)
        usage = np.zeros((table.n, len(other.columns)), bool)
        if len(other.columns):
            best_usage(table.by_row, pack(other.columns), usage)
        return Tiles(usage, other.columns, other.error)

    rows, columns = undecided(table, tiles)
    listed: list[list[dict[str, Any]]] = [[] for _ in tiles.columns]
    restarts = complete_searches(session, again, n_restarts)
    resamples = complete_searches(session, assigned, n_resamples, n_restarts)
    if not session.interrupted:
        with session.interruptible():
            found = [run.columns for run in restarts + resamples if len(run.columns)]
            pool = np.unique(np.vstack([*found, tiles.columns]), axis=0) if found else tiles.columns
            for t in range(len(tiles.columns)):
                listed[t] = alternatives(table, tiles, t, pool)
    restart_share, restart_likeness = session.completed(partial(recurrence, tiles, restarts))
    resample_share, resample_likeness = session.completed(partial(recurrence, tiles, resamples))
    return {
        "restarts": restart_share,
        "restart_likeness": restart_likeness,
        "resamples": resample_share,
        "resample_likeness": resample_likeness,
        "undecided_rows": rows,
        "undecided_columns": columns,
        "alternatives": listed,
    }


def complete_searches(
    session: Session, search: Callable[[int], Tiles], count: int, done: int = 0
) -> list[Tiles]:
    """The tiles of `count` searches, or of those that were complete when Ctrl-C was pressed.

    `done` is how many searches came before these, for the bar.
    """
    found: list[Tiles] = []
    with session.interruptible():
        for i in range(count):
            if session.interrupted:
                break
            tiles = search(i)
            if not session.interrupted:
                found.append(tiles)
                session.show(done + i + 1, tiles.error)
    return found
