"""What is said of the tiles of a fit: their order, error, description length, and a table with a line for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, unpack
from partwise.boolean.descent import best_usage
from partwise.boolean.description import description_length
from partwise.boolean.discovery import chances, densities
from partwise.boolean.grow import tile_values
from partwise.boolean.prices import FEWEST, Prices
from partwise.boolean.rank import RankPoint, best_by_rank, prune_path, rank_point
from partwise.boolean.tiles import Tiles, cost_of, error_of

#: Largest table, in words, whose rows are always assigned to tiles by branch and bound; it takes a second at most.
SMALL = 100_000


@dataclass
class Found:
    """Where a fit ended.

    Attributes
    ----------
    tiles : Tiles
    ended_by : str
        See `BooleanMF.ended_by_`.
    criterion : str
        What was minimised, "error" or "likelihood".
    prices : Prices
        At which rows are assigned to the tiles.
    n_iter : int
        Trials of the climbs, or steps of PALM.
    thresholds : tuple of float
        Where relaxed factors were cut.
    points : list of RankPoint
        What was met while the number of tiles was chosen; empty where it was given.
    """

    tiles: Tiles
    ended_by: str
    criterion: str = "error"
    prices: Prices = FEWEST
    n_iter: int = 0
    thresholds: tuple[float, ...] = ()
    points: list[RankPoint] = field(default_factory=list)


@dataclass
class Measures:
    """What a fit says of its tiles; the fields are the attributes of `BooleanMF` of the same names."""

    tiles: Tiles
    objective: float
    reconstruction_err: float
    description_length: float
    ranks: dict[str, np.ndarray]
    details: dict[str, np.ndarray]


def usage_of(table: BitTable, columns: np.ndarray, prices: Prices, exact: bool | None = True) -> np.ndarray:
    """Which tiles each row of a table uses (n × k), for tiles with given columns (k × m)."""
    usage = np.zeros((table.n, len(columns)), bool)
    if len(columns):
        best_usage(table.by_row, pack(columns), usage, prices, exact)
    return usage


def measured(table: BitTable, found: Found, thorough: bool = True) -> Measures:
    """Put tiles into the order of their worth, assign the rows to them, and measure them.

    Parameters
    ----------
    table : BitTable
    found : Found
    thorough : bool
        Whether to spend more than about a second on a large table: on branch and bound with many tiles, and on what
        fewer tiles would do.

    Returns
    -------
    Measures
    """
    kept = settled(table, found, thorough)
    usage, columns, error = kept.usage, kept.columns, kept.error
    points = [*found.points, rank_point(table, kept)]
    if thorough and not found.points:
        points += prune_path(table, kept)
    return Measures(
        tiles=kept,
        objective=float(error if found.criterion == "error" else cost_of(table, kept, found.prices)),
        reconstruction_err=error if table.weighted else int(error),
        description_length=description_length(table, usage, columns),
        ranks=best_by_rank(points),
        details={
            "rows": usage.sum(axis=0),
            "columns": columns.sum(axis=1),
            "density": densities(table, usage, columns),
            "adds": tile_values(table, usage, columns) if len(columns) else np.zeros(0),
            "log10_chance": chances(table, usage, columns),
        },
    )


def weight_of_wrong(table: BitTable, tiles: Tiles, weights: Any, row_weights: np.ndarray | None) -> float:
    """The weight of wrong observed entries by the weights as they were given, which the table may have rounded.

    Parameters
    ----------
    table : BitTable
    tiles : Tiles
    weights : array or CSR matrix of shape (n, m), optional
    row_weights : array of shape (n,), optional

    Returns
    -------
    float
    """
    total = 0.0
    height = max(1, (1 << 22) // max(1, table.m))
    for start in range(0, table.n, height):
        rows = slice(start, min(start + height, table.n))
        ones, seen = (unpack(bits[rows], table.m) for bits in (table.by_row.plain, table.by_row.plain_seen))
        covered = tiles.usage[rows].astype(np.float32) @ tiles.columns.astype(np.float32) > 0
        wrong = ((ones != covered) & seen).astype(float)
        if weights is not None:
            part = weights[rows]
            wrong *= part.toarray() if hasattr(part, "toarray") else part
        by_row = wrong.sum(axis=1)
        total += float(by_row.sum() if row_weights is None else by_row @ row_weights[rows])
    return total


def settled(table: BitTable, found: Found, thorough: bool = True) -> Tiles:
    """The tiles in the order of their worth, with the rows that `transform` will say use them; see `measured`."""
    columns, usage = found.tiles.columns, found.tiles.usage
    small = table.by_row.bits.size <= SMALL
    # Which of two equal subsets a row uses depends on the order of the tiles, so that comes first.
    for again in (False, True):
        worth = tile_values(table, usage, columns) if len(columns) else np.zeros(0)
        order = np.argsort(-worth, kind="stable")
        if again and (order == np.arange(len(order))).all():
            break
        columns = np.ascontiguousarray(columns[order])
        usage = usage_of(table, columns, found.prices, True if thorough or small else None)
    return Tiles(np.ascontiguousarray(usage), columns, error_of(table, usage, columns))
