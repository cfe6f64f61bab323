"""A greedy cover by concepts: tiles of nothing but ones, each the largest that can be found in what is uncovered.

A concept is a set of rows and the columns that all of them have, such that no other row has all these columns
(Belohlavek & Vychodil 2010, whose greedy search this follows: begin with no column, and add the one whose closure
covers most). Where many tiles are wanted it is a far better start than relaxed factors, which spread thin.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bits import ones, pack
from partwise.boolean.table import Table
from partwise.jit import njit

#: Columns times columns times words of a column: more work than this for a tile is not worth a start.
MOST_WORK = 2e8
#: The same for all tiles together, where it is a matter of milliseconds.
LITTLE_WORK = 1e7


def work(table: Table) -> float:
    """Words that are looked at for one tile, but for a factor of the columns it gets."""
    return float(table.m**2 * table.by_column.plain.shape[1])


def affordable(table: Table) -> bool:
    """Is the search for concepts cheap enough here?"""
    return work(table) <= MOST_WORK


def instant(table: Table, rank: int) -> bool:
    """Is it cheaper than anything else?"""
    return work(table) * rank <= LITTLE_WORK


def concept_cover(table: Table, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """`rank` concepts (fewer never: empty ones fill up) as usage (n × k) and columns (k × m)."""
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
    """The concept that covers most of `left`, into `extent` and `intent`; what it covers is removed from `left`."""
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
                possible += ones(trial[w])
            if possible == 0:
                continue
            cover = 0
            for c in range(m):
                inside, new = True, 0
                for w in range(width):
                    if trial[w] & ~columns[c, w]:
                        inside = False
                        break
                    new += ones(trial[w] & left[c, w])
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
