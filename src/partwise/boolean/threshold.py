"""From relaxed factors to bits: thresholds by grid search (Gonsior 2019, algorithm 4.1).

As printed, the algorithm measures errors against the noise-free matrix, which is not known where there are only data.
Here they are measured against a given table: the data, or `BitTable.of(clean)` where the noise-free matrix is known.
"""

from __future__ import annotations

from itertools import product as pairs

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.tiles import Tiles, cost_of, error_of

#: The grid of Hess, Piatkowski & Morik 2018, 0, 0.05, … 1; and without 0 and 1.
WHOLE = tuple(round(0.05 * i, 2) for i in range(21))
THRESHOLDS = WHOLE[1:-1]
#: The grid of Gonsior 2019, algorithm 4.1: 0.01, 0.02, … 0.99.
FINE = tuple(round(0.01 * i, 2) for i in range(1, 100))


def cut(
    table: BitTable, W: np.ndarray, Ht: np.ndarray, each: bool = False, prices: Prices = WRONG
) -> tuple[Tiles, tuple[tuple[float, float], tuple[float, float]]]:
    """Cut relaxed factors at the thresholds of the lowest cost: by default, with the fewest wrong entries.

    Parameters
    ----------
    table : BitTable
        What the tiles are compared with.
    W, Ht : arrays of shapes (n, k) and (m, k)
    each : bool
        One threshold for both factors, from `FINE` (Gonsior 2019); or one for each, from `THRESHOLDS` (Hess,
        Piatkowski & Morik 2018).
    prices : Prices
        With a price of bits, the grids include 1, where no bit is left, and tiles without rows or without columns are
        cleared: no tiles at all is an answer, and a bit that covers nothing costs nothing.

    Returns
    -------
    tuple
        The tiles, and the first and the last pair of thresholds, in the order of the grid, that cost as little.
    """
    sparse = prices.tile > 0.0
    grid = list(pairs(THRESHOLDS, THRESHOLDS)) if each else [(tau, tau) for tau in FINE]
    if sparse:
        grid = list(pairs(WHOLE, WHOLE)) if each else [(tau, tau) for tau in (*FINE, 1.0)]
    best: Tiles | None = None
    lowest, highest, least = grid[0], grid[0], float("inf")
    for rows, columns in grid:
        tiles = cut_at(table, W, Ht, rows, columns)
        if sparse:
            tiles = without_empty(tiles)
        cost = cost_of(table, tiles, prices) if sparse else tiles.error
        if best is None or cost < least:
            best, least, lowest, highest = tiles, cost, (rows, columns), (rows, columns)
        elif cost == least:
            highest = (rows, columns)
    assert best is not None
    return best, (lowest, highest)


def cut_coarsely(table: BitTable, W: np.ndarray, Ht: np.ndarray) -> Tiles:
    """Relaxed factors W (n × k) and Ht (m × k), cut at the one of `THRESHOLDS` with the fewest wrong entries."""
    return min((cut_at(table, W, Ht, at, at) for at in THRESHOLDS), key=lambda tiles: tiles.error)


def cut_at(table: BitTable, W: np.ndarray, Ht: np.ndarray, rows: float, columns: float) -> Tiles:
    """Tiles from both factors, cut at the given thresholds (Gonsior 2019, equation 2.17), with their error."""
    usage, tiles = rows < W, np.ascontiguousarray((columns < Ht).T)
    return Tiles(usage, tiles, error_of(table, usage, tiles))


def without_empty(tiles: Tiles) -> Tiles:
    """The tiles that have rows and columns; the others cover nothing."""
    kept = tiles.usage.any(axis=0) & tiles.columns.any(axis=1)
    return Tiles(np.ascontiguousarray(tiles.usage[:, kept]), tiles.columns[kept], tiles.error)
