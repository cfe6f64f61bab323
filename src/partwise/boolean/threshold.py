"""From relaxed factors to bits: thresholds by grid search (algorithm 4.1 of the thesis).

As printed, the algorithm measures its errors against the noise-free matrix, which nobody has who has only data. Here
the table says what is compared: the observed one for everyday use, `Table.of(clean)` for the oracle.
"""

from __future__ import annotations

from itertools import product as pairs

import numpy as np

from partwise.boolean.search import THRESHOLDS, Tiles, error_of
from partwise.boolean.table import Table

#: The thesis's grid: 0.01, 0.02, … 0.99.
FINE = tuple(round(0.01 * i, 2) for i in range(1, 100))


def cut(
    table: Table, W: np.ndarray, Ht: np.ndarray, each: bool = False
) -> tuple[Tiles, tuple[tuple[float, float], tuple[float, float]]]:
    """The tiles with the fewest wrong entries, and the lowest and the highest pair of thresholds that give as few.

    One threshold for both factors, from a grid of 0.01, as the thesis argues for; or one `each`, from a grid of 0.05,
    as Hess et al. have it.
    """
    grid = list(pairs(THRESHOLDS, THRESHOLDS)) if each else [(tau, tau) for tau in FINE]
    best: Tiles | None = None
    lowest = highest = grid[0]
    for rows, columns in grid:
        tiles = cut_at(table, W, Ht, rows, columns)
        if best is None or tiles.error < best.error:
            best, lowest, highest = tiles, (rows, columns), (rows, columns)
        elif tiles.error == best.error:
            highest = (rows, columns)
    assert best is not None
    return best, (lowest, highest)


def cut_at(table: Table, W: np.ndarray, Ht: np.ndarray, rows: float, columns: float) -> Tiles:
    """Both factors cut, and what is then wrong."""
    usage, tiles = rows < W, np.ascontiguousarray((columns < Ht).T)
    return Tiles(usage, tiles, error_of(table, usage, tiles))
