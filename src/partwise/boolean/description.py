"""Description length of a table: the bits to write down the tiles, and then the entries that they get wrong.

A two-part code. A tile is written as the number of its rows and of its columns, and which they are. Wrong entries are
written as their number and which they are, separately among covered and among uncovered entries. Which a of b things
costs log₂ C(b, a) bits, a count up to b costs log₂(b + 1). No tiles at all is a valid description, so that a table of
noise gets none.

Weights are taken at mean one. They say how much entries count beside each other, not how many there were: with
weights that add up to a population, each row would count as thousands of rows with the same noise, which tiles would
learn.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, popcount
from partwise.jit import njit
from partwise.parallel import over_rows

_LN2 = float(np.log(2.0))


def choice_bits(a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
    """Bits for a number a ≤ b and for which a of b things: log₂ C(b, a) + log₂(b + 1)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    choice = gammaln(b + 1.0) - gammaln(a + 1.0) - gammaln(b - a + 1.0)
    return (choice + np.log(b + 1.0)) / _LN2


def cover_totals(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> tuple[float, float, float]:
    """Weights of the observed entries that are covered, of the ones that are not, and of the zeros that are."""
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
    """For each row, the weights of its covered ones, uncovered ones and covered zeros, added to `out` (n × 3)."""
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
                hit += popcount(cover[w] & bits[i, w])
                missed += popcount(bits[i, w] & ~cover[w])
                slip += popcount(cover[w] & zeros[i, w])
            out[i, 0] += weight[p] * hit
            out[i, 1] += weight[p] * missed
            out[i, 2] += weight[p] * slip


def wrong_bits(
    table: BitTable,
    covered: float | np.ndarray,
    missed: float | np.ndarray,
    overdone: float | np.ndarray,
) -> np.ndarray:
    """Bits for the observed entries that tiles get wrong, from the weights that `cover_totals` finds."""
    unit = table.mean_weight
    return choice_bits(overdone / unit, covered / unit) + choice_bits(
        missed / unit, (table.n_observed - covered) / unit
    )


def description_length(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> float:
    """Bits for the tiles (`usage` n × k, `columns` k × m) and for the observed entries they get wrong."""
    tiles = choice_bits(usage.sum(axis=0), table.n).sum() + choice_bits(columns.sum(axis=1), table.m).sum()
    return float(tiles + wrong_bits(table, *cover_totals(table, usage, columns)))
