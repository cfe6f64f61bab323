"""What the wrong entries of a factorization say of the noise."""

from __future__ import annotations

import numpy as np

from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.descent import Prices
from partwise.boolean.description import outcome
from partwise.boolean.table import Table

#: Entries wrong, for each row and column and in all, below which flips cannot be told from what was not modelled.
ENOUGH, ENOUGH_IN_ALL = 5.0, 2000
#: Entries that are looked at, at most (and a thousand rows at least).
LOOK = 20_000_000
#: How much more the wrong entries may vary from row to row, or column to column, than independent flips do.
MOST_DISPERSION = 1.35


def noise_rates(table: Table, usage: np.ndarray, columns: np.ndarray) -> tuple[float, float]:
    """Shares of ones among what is not covered, and of zeros among what is."""
    covered, missed, overdone = outcome(table, usage, columns)
    return (missed + 0.5) / (table.n_observed - covered + 1.0), (overdone + 0.5) / (covered + 1.0)


def likely_prices(table: Table, usage: np.ndarray, columns: np.ndarray) -> Prices:
    """Prices that make what is paid a log-posterior: flips with the rates seen, bits with the densities seen.

    Leaving a one uncovered instead of covering it costs log((1 − p₋)/p₊), covering a zero log((1 − p₊)/p₋), and a
    bit of either factor log((1 − q)/q); scaled so that the first two add up to 2, as they do for wrong entries.
    """
    add, drop = noise_rates(table, usage, columns)
    add, drop = min(add, 0.49), min(drop, 0.49)
    one, zero = np.log((1 - drop) / add), np.log((1 - add) / drop)
    bits = usage.size + columns.size
    q = min((usage.sum() + columns.sum() + 0.5) / (bits + 1.0), 0.49)
    scale = 2.0 / (one + zero)
    return Prices(float(one * scale), float(zero * scale), float(np.log((1 - q) / q) * scale))


def like_flips(table: Table, usage: np.ndarray, columns: np.ndarray) -> bool:
    """Are the wrong entries spread as independent flips would be, and enough of them to tell?

    Ones that are not covered, and zeros that are, are counted by row and by column; under independent flips each
    count is binomial, and the mean of the squared standardised counts is near 1.
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
    """Mean square of the standardised counts along an axis; 1 where there is nothing to standardise."""
    count, total = wrong.sum(axis=axis), among.sum(axis=axis)
    rate = count.sum() / max(1, total.sum())
    variance = total * rate * (1.0 - rate)
    full = variance > 1.0
    if not full.any():
        return 1.0
    return float((((count - total * rate) ** 2)[full] / variance[full]).mean())
