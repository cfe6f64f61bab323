"""Two answers made one: the tiles of both, without those of least worth.

Where many tiles are asked for in a narrow table, climbs end in different optima that no small perturbation leads
out of. What they found can be combined: each has tiles that the other lacks.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.boolean.descent import best_usage
from partwise.boolean.grow import tile_values
from partwise.boolean.tiles import Tiles, alternate


def merged(table: BitTable, first: Tiles, second: Tiles, rng: np.random.Generator) -> Tiles:
    """As many tiles as `first` has, from those of both, improved by `alternate`.

    Rows may use all of them; then the tile of least worth is dropped (of several, one at random), and rows choose
    again, until enough are gone. Equal tiles count once; if there are not more than needed, the answer is `first`.
    """
    k = len(first.columns)
    both = np.vstack((first.columns, second.columns))
    kept = np.sort(np.unique(both, axis=0, return_index=True)[1])
    if len(kept) <= k:
        return first.copy()
    usage = np.ascontiguousarray(np.hstack((first.usage, second.usage))[:, kept])
    columns = np.ascontiguousarray(both[kept])
    while len(columns) > k:
        best_usage(table.by_row, pack(columns), usage, exact=False)
        worth = tile_values(table, usage, columns)
        t = int(rng.choice(np.flatnonzero(worth == worth.min())))
        usage, columns = np.delete(usage, t, axis=1), np.delete(columns, t, axis=0)
    return alternate(table, Tiles(np.ascontiguousarray(usage), np.ascontiguousarray(columns), float("inf")))
