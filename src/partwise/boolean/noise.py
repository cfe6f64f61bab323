"""Estimates of the noise from the entries that a factorization gets wrong."""

from __future__ import annotations

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.description import cover_totals
from partwise.boolean.prices import Prices

#: Fewest wrong entries, per row or column and in all, from which flips differ visibly from structure.
ENOUGH, ENOUGH_IN_ALL = 5.0, 2000
#: Most entries that are examined (but at least a thousand rows).
LOOK = 20_000_000
#: Largest variance of the counts by row or column, relative to that of independent flips.
MOST_DISPERSION = 1.35


def noise_rates(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> tuple[float, float]:
    """Estimated flip rates: the share of ones among uncovered entries (p₊), of zeros among covered ones (p₋)."""
    covered, missed, overdone = cover_totals(table, usage, columns)
    return (missed + 0.5) / (table.n_observed - covered + 1.0), (overdone + 0.5) / (covered + 1.0)


def likely_prices(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> Prices:
    """Prices at which the cost is a negative log-posterior, at the flip rates and densities of given tiles.

    Leaving a one uncovered instead of covering it costs log((1 − p₋)/p₊), covering a zero log((1 − p₊)/p₋), and a
    bit of either factor log((1 − q)/q), where q is the share of set bits; all scaled so that the first two add up
    to 2, as they do when wrong entries are counted.
    """
    add, drop = noise_rates(table, usage, columns)
    add, drop = min(add, 0.49), min(drop, 0.49)
    one, zero = np.log((1 - drop) / add), np.log((1 - add) / drop)
    bits = usage.size + columns.size
    q = min((usage.sum() + columns.sum() + 0.5) / (bits + 1.0), 0.49)
    scale = 2.0 / (one + zero)
    return Prices(float(one * scale), float(zero * scale), float(np.log((1 - q) / q) * scale))


def looks_like_flips(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> bool:
    """Whether the wrong entries are spread as independent flips would be, and are enough for that to be judged.

    Uncovered ones, and covered zeros, are counted by row and by column; under independent flips each count is
    binomial, and the mean of the squared standardised counts is near 1. It may be at most `MOST_DISPERSION`.
    """
    rows = np.linspace(0, table.n - 1, min(table.n, max(1000, LOOK // table.m))).astype(int)
    X, seen = (unpack(packed[rows], table.m) for packed in (table.by_row.plain, table.by_row.plain_seen))
    cover = unpack(product(np.ascontiguousarray(usage[rows]), pack(columns)), table.m)
    if ((cover != X) & seen).sum() < max(ENOUGH * max(len(rows), table.m), ENOUGH_IN_ALL):
        return False
    return all(
        dispersion((cover != X) & seen & where, seen & where, axis) <= MOST_DISPERSION
        for where in (cover, ~cover)
        for axis in (0, 1)
    )


def dispersion(wrong: np.ndarray, among: np.ndarray, axis: int) -> float:
    """Mean square of the standardised counts of `wrong` entries `among` given ones, summed over `axis`.

    1 where no count has a variance above 1.
    """
    count, total = wrong.sum(axis=axis), among.sum(axis=axis)
    rate = count.sum() / max(1, total.sum())
    variance = total * rate * (1.0 - rate)
    full = variance > 1.0
    if not full.any():
        return 1.0
    return float((((count - total * rate) ** 2)[full] / variance[full]).mean())
