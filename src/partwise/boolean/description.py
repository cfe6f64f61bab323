"""How many bits it takes to write a table down: tiles, then the entries that they get wrong.

A two-part code. A tile is written as how many rows and columns it has and which; what is wrong is written, apart for
covered and for uncovered entries, as how many and which. Each "which" of a things among b costs log₂ C(b, a)
bits, each count up to b costs log₂(b + 1). An entry of weight w counts as w entries.
No tiles at all is a valid description, so a table of noise gets none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from partwise.boolean.bits import pack, product
from partwise.boolean.table import Table

_LN2 = float(np.log(2.0))


def which(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
    """log₂ C(b, a) + log₂(b + 1)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    choice = gammaln(b + 1.0) - gammaln(a + 1.0) - gammaln(b - a + 1.0)
    return (choice + np.log(b + 1.0)) / _LN2


def outcome(table: Table, usage: np.ndarray, columns: np.ndarray) -> tuple[float, float, float]:
    """Weights of what is observed and covered, of ones that are not covered, and of zeros that are."""
    side = table.by_row
    if len(columns) == 0:
        return 0.0, table.n_ones, 0.0
    cover = side.spread(product(usage, pack(columns))) & side.seen
    return (
        side.total(cover),
        side.total(side.bits & ~cover),
        side.total(cover & ~side.bits),
    )


def description_length(table: Table, usage: np.ndarray, columns: np.ndarray) -> float:
    """Bits for the tiles (k × m `columns`, n × k `usage`) and for the observed entries they get wrong."""
    covered, missed, overdone = outcome(table, usage, columns)
    tiles = which(usage.sum(axis=0), table.n).sum() + which(columns.sum(axis=1), table.m).sum()
    return float(tiles + which(overdone, covered) + which(missed, table.n_observed - covered))
