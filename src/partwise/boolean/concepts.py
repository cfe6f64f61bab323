"""A greedy cover by formal concepts: tiles of nothing but ones, each chosen to cover most of what is uncovered.

A concept is a set of rows and the columns that all of them have, such that no other row has all these columns. The
greedy search follows Belohlavek & Vychodil 2010: begin with no column, and repeatedly add the one whose closure
covers most. Where many tiles are wanted it is a far better start than relaxed factors.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, popcount
from partwise.jit import njit

#: Most work, in words read, that is spent on one tile of a start.
MOST_WORK = 2e8
#: Work, for all tiles together, that takes milliseconds.
LITTLE_WORK = 1e7


def work(table: BitTable) -> float:
    """Words read to find one concept, up to a factor of the number of columns it gets."""
    return float(table.m**2 * table.by_column.plain.shape[1])


def is_affordable(table: BitTable) -> bool:
    """Whether the search for a concept takes at most `MOST_WORK`."""
    return work(table) <= MOST_WORK


def is_instant(table: BitTable, rank: int) -> bool:
    """Whether the search for `rank` concepts takes milliseconds."""
    return work(table) * rank <= LITTLE_WORK


def concept_cover(table: BitTable, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Find `rank` concepts, the last ones empty if fewer cover all; returns usage (n × k) and columns (k × m)."""
    columns = np.ascontiguousarray(table.by_column.plain)
    left = columns.copy()
    usage, chosen = np.zeros((table.n, rank), bool), np.zeros((rank, table.m), bool)
    extent = np.empty(columns.shape[1], np.uint64)
    everything = pack(np.ones((1, table.n), bool))[0]
    for t in range(rank):
        if next_concept(columns, left, everything, extent, chosen[t]) == 0:
            chosen[t] = False
            break
        bits = np.unpackbits(extent.astype("<u8").view(np.uint8), bitorder="little")[: table.n]
        usage[:, t] = bits.astype(bool)
    return usage, chosen


@njit(cache=True, nogil=True)
def next_concept(
    columns: np.ndarray, left: np.ndarray, everything: np.ndarray, extent: np.ndarray, intent: np.ndarray
) -> int:
    """Find the concept that covers most of `left`; returns how many bits of `left` it covers.

    Its rows go into `extent` (packed) and its columns into `intent`; what it covers is removed from `left`.
    `columns` and `left` are packed by columns; `everything` is the packed set of all rows.
    """
    m, width = columns.shape
    for w in range(width):
        extent[w] = everything[w]
    for j in range(m):
        intent[j] = False
    best = 0
    trial = np.empty(width, np.uint64)
    while True:
        chosen = -1
        for j in range(m):
            if intent[j]:
                continue
            possible = 0
            for w in range(width):
                trial[w] = extent[w] & columns[j, w]
                possible += popcount(trial[w])
            if possible == 0:
                continue
            cover = 0
            for c in range(m):
                inside, new = True, 0
                for w in range(width):
                    if trial[w] & ~columns[c, w]:
                        inside = False
                        break
                    new += popcount(trial[w] & left[c, w])
                if inside:
                    cover += new
            if cover > best:
                best, chosen = cover, j
        if chosen < 0:
            break
        for w in range(width):
            extent[w] &= columns[chosen, w]
        for c in range(m):
            inside = True
            for w in range(width):
                if extent[w] & ~columns[c, w]:
                    inside = False
                    break
            intent[c] = inside
    if best > 0:
        for c in range(m):
            if intent[c]:
                for w in range(width):
                    left[c, w] &= ~extent[w]
    return best
