"""A Boolean factorization: its error, its cost, and the alternation between its rows and its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.boolean.descent import best_usage
from partwise.boolean.description import cover_totals
from partwise.boolean.prices import WRONG, Prices


@dataclass
class Tiles:
    """A Boolean factorization: which rows use each tile (n × k), which columns it has (k × m), and its error."""

    usage: np.ndarray
    columns: np.ndarray
    error: float

    def copy(self) -> Tiles:
        """A copy whose arrays can be changed."""
        return Tiles(self.usage.copy(), self.columns.copy(), self.error)

    def pack(self) -> dict[str, Any]:
        """The fields by name, for a checkpoint."""
        return {"usage": self.usage, "columns": self.columns, "error": float(self.error)}

    @classmethod
    def unpack(cls, packed: dict[str, Any]) -> Tiles:
        """The tiles of which `pack` gave these fields; other names are not looked at."""
        return cls(packed["usage"], packed["columns"], packed["error"])


def no_tiles(table: BitTable) -> Tiles:
    """The factorization without tiles: every one is wrong."""
    return Tiles(np.zeros((table.n, 0), bool), np.zeros((0, table.m), bool), float(table.n_ones))


def error_of(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> float:
    """Total weight of the wrong observed entries, without weights their number; `columns` is k × m."""
    _, missed, overdone = cover_totals(table, usage, columns)
    return missed + overdone


def cost_of(table: BitTable, tiles: Tiles, prices: Prices) -> float:
    """Cost of tiles at given prices: uncovered ones, covered zeros, and the set bits of both factors."""
    _, missed, overdone = cover_totals(table, tiles.usage, tiles.columns)
    bits = int(tiles.usage.sum() + tiles.columns.sum())
    return prices.one * missed + prices.zero * overdone + prices.tile * bits


def alternate(
    table: BitTable, tiles: Tiles, prices: Prices = WRONG, max_rounds: int = 100, exact: bool | None = None
) -> Tiles:
    """Improve rows for given columns, then columns for given rows, until the cost no longer falls; in place.

    The cost goes into `tiles.error`. `exact` is passed on to `best_usage`. Wherever Ctrl-C ends it, the tiles are
    valid and cost no more than before; their error may then be an old one, which was higher.
    """
    before = tiles.error
    for _ in range(max_rounds):
        best_usage(table.by_row, pack(tiles.columns), tiles.usage, prices, exact)
        held = np.ascontiguousarray(tiles.columns.T)
        error = best_usage(table.by_column, pack(tiles.usage.T), held, prices, exact)
        tiles.columns = np.ascontiguousarray(held.T)
        tiles.error = error
        if tiles.error >= before - 1e-9:
            break
        before = tiles.error
    return tiles
