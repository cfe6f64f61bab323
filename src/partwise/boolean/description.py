"""How many bits it takes to write a table down: tiles, then the entries that they get wrong.

A two-part code. A tile is written as how many rows and columns it has and which; what is wrong is written, apart for
covered and for uncovered entries, as how many and which. Each "which" of a things among b costs log₂ C(b, a)
bits, each count up to b costs log₂(b + 1). An entry of weight w counts as w entries.
No tiles at all is a valid description, so a table of noise gets none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from partwise.boolean.bits import ones, pack
from partwise.boolean.table import Table
from partwise.jit import njit
from partwise.parallel import over_rows

_LN2 = float(np.log(2.0))


def which(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
    """log₂ C(b, a) + log₂(b + 1)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    choice = gammaln(b + 1.0) - gammaln(a + 1.0) - gammaln(b - a + 1.0)
    return (choice + np.log(b + 1.0)) / _LN2


def outcome(table: Table, usage: np.ndarray, columns: np.ndarray) -> tuple[float, float, float]:
    """Weights of what is observed and covered, of ones that are not covered, and of zeros that are."""
    if len(columns) == 0:
        return 0.0, table.n_ones, 0.0
    side = table.by_row
    tiles, out = side.spread(pack(columns)), np.zeros((table.n, 3))
    over_rows(
        lambda a, b: tally_rows(side.bits[a:b], side.zeros[a:b], side.weight, tiles, usage[a:b], out[a:b]),
        table.n,
        grain=256,
    )
    hits, missed, slips = (float(part) for part in out.sum(axis=0))
    return hits + slips, missed, slips


@njit(cache=True, nogil=True)
def tally_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    out: np.ndarray,
) -> None:
    """Weights of the ones that each row has covered and has not, and of the zeros that it has."""
    k, words = tiles.shape
    width = words // weight.shape[0]
    cover = np.empty(words, np.uint64)
    for i in range(bits.shape[0]):
        for w in range(words):
            cover[w] = 0
        for t in range(k):
            if usage[i, t]:
                for w in range(words):
                    cover[w] |= tiles[t, w]
        for p in range(weight.shape[0]):
            hit, missed, slip = 0, 0, 0
            for w in range(p * width, (p + 1) * width):
                hit += ones(cover[w] & bits[i, w])
                missed += ones(bits[i, w] & ~cover[w])
                slip += ones(cover[w] & zeros[i, w])
            out[i, 0] += weight[p] * hit
            out[i, 1] += weight[p] * missed
            out[i, 2] += weight[p] * slip


def description_length(table: Table, usage: np.ndarray, columns: np.ndarray) -> float:
    """Bits for the tiles (k × m `columns`, n × k `usage`) and for the observed entries they get wrong."""
    covered, missed, overdone = outcome(table, usage, columns)
    tiles = which(usage.sum(axis=0), table.n).sum() + which(columns.sum(axis=1), table.m).sum()
    return float(tiles + which(overdone, covered) + which(missed, table.n_observed - covered))
