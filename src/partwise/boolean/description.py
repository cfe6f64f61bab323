"""How many bits it takes to write a table down: tiles, then the entries that they get wrong.

A two-part code. A tile is written as how many rows and columns it has and which; what is wrong is written, apart for
covered and for uncovered entries, as how many and which. Each "which" of a things among b costs log₂ C(b, a)
bits, each count up to b costs log₂(b + 1). No tiles at all is a valid description, so a table of noise gets none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from partwise.boolean.bits import count, pack, product
from partwise.boolean.table import Table

_LN2 = float(np.log(2.0))


def which(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
    """log₂ C(b, a) + log₂(b + 1)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    choice = gammaln(b + 1.0) - gammaln(a + 1.0) - gammaln(b - a + 1.0)
    return (choice + np.log(b + 1.0)) / _LN2


def description_length(table: Table, usage: np.ndarray, columns: np.ndarray) -> float:
    """Bits for the tiles (k × m `columns`, n × k `usage`) and for the observed entries they get wrong."""
    cover = product(usage, pack(columns)) if len(columns) else np.zeros_like(table.rows)
    covered = int(count(cover & table.seen).sum())
    missed = int(count(table.rows & ~cover).sum())
    overdone = int(count(cover & ~table.rows & table.seen).sum())
    tiles = which(usage.sum(axis=0), table.n).sum() + which(columns.sum(axis=1), table.m).sum()
    return float(tiles + which(overdone, covered) + which(missed, table.n_observed - covered))
