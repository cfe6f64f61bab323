"""State of the rows and of the columns of a table during a search: tiles used, cover, cost, and what has changed.

Compiled. After a change only the rows that it may concern are improved again, and the change can be undone.
Matrices are copied by loops, because Numba takes seconds to compile each assignment to a slice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import Side
from partwise.boolean.descent import RowScratch, gain_of_taking, improve
from partwise.boolean.prices import Prices
from partwise.jit import leaf, piece

#: Reward for using a tile that changes nothing. Tiles then overlap where they can, and overlapping tiles can be
#: exchanged: with a penalty instead, or neither, searches end sooner and at a higher cost.
TIE = 1e-6
_ZERO = np.uint64(0)


class SideState(NamedTuple):
    """One side of the table in a search: its rows (or columns), the tiles they use, and what has changed.

    `bits`, `zeros` and `weight` are those of `bit_table.Side`.
    """

    bits: np.ndarray
    zeros: np.ndarray
    weight: np.ndarray
    #: Which tiles each row uses (n × k), and the packed tiles, from the other side's use: k × words and words × k.
    use: np.ndarray
    tiles: np.ndarray
    tiles_T: np.ndarray
    #: What each row has covered by at least one and by at least two tiles, and its cost.
    once: np.ndarray
    twice: np.ndarray
    cost: np.ndarray
    #: Tiles that changed since the rows were last improved; rows whose use was changed by a perturbation.
    stale: np.ndarray
    dirty: np.ndarray
    #: Rows that were improved since the last snapshot was taken or restored.
    touched: np.ndarray

    @classmethod
    def of(cls, side: Side, use: np.ndarray) -> SideState:
        """State of a side whose rows use the tiles in `use`; everything is marked as changed."""
        n, width = side.bits.shape
        k = use.shape[1]

        def words(rows: int) -> np.ndarray:
            return np.zeros((rows, width), np.uint64)

        return cls(
            bits=side.bits,
            zeros=side.zeros,
            weight=side.weight,
            use=use,
            tiles=words(k),
            tiles_T=np.zeros((width, k), np.uint64),
            once=words(n),
            twice=words(n),
            cost=np.zeros(n),
            stale=np.ones(k, bool),
            dirty=np.ones(n, bool),
            touched=np.ones(n, bool),
        )


class SideSnapshot(NamedTuple):
    """The part of a `SideState` that a rejected trial has to restore."""

    use: np.ndarray
    tiles: np.ndarray
    tiles_T: np.ndarray
    once: np.ndarray
    twice: np.ndarray
    cost: np.ndarray

    @classmethod
    def like(cls, side: SideState) -> SideSnapshot:
        """A snapshot of zeros, with the shapes of a side."""
        return cls(*(np.zeros_like(getattr(side, part)) for part in cls._fields))


@leaf()
def copy_matrix(source: np.ndarray, target: np.ndarray) -> None:
    """Copy a matrix into another of the same shape."""
    for i in range(source.shape[0]):
        for w in range(source.shape[1]):
            target[i, w] = source[i, w]


@leaf()
def any_stale(side: SideState) -> bool:
    """Whether any tile has changed since the rows of this side were last improved."""
    found = False
    for t in range(side.stale.shape[0]):
        found = found or side.stale[t]
    return found


@leaf()
def repack(side: SideState, other: SideState) -> None:
    """Pack the stale tiles of a side anew from the use of the other side, once for every plane."""
    n, width = other.use.shape[0], (other.use.shape[0] + 63) // 64
    for t in range(side.stale.shape[0]):
        if not side.stale[t]:
            continue
        for w in range(width):
            word = _ZERO
            for b in range(min(64, n - 64 * w)):
                word |= np.uint64(other.use[64 * w + b, t]) << np.uint64(b)
            for plane in range(w, side.tiles.shape[1], width):
                side.tiles[t, plane] = word
                side.tiles_T[plane, t] = word


@piece()
def improve_side(
    side: SideState, other: SideState, prices: Prices, before: np.ndarray, scratch: RowScratch
) -> None:
    """Improve every row of a side that may gain since the tiles marked `stale` changed; then none is stale.

    A row that uses no changed tile and is not dirty had nothing to gain from the other tiles, and its cover is as
    it was: for it, only steps that take a changed tile are tried. Tiles that rows take or drop become stale on the
    other side. `before` and `scratch` are scratch arrays, one entry per tile.
    """
    # The calls for every row pass single arrays: to pass the whole side would count references to all of them.
    bits, zeros, weight, use = side.bits, side.zeros, side.weight, side.use
    tiles, tiles_T = side.tiles, side.tiles_T
    once, twice, cost, dirty, touched = side.once, side.twice, side.cost, side.dirty, side.touched
    n, k = use.shape
    changed = np.flatnonzero(side.stale)
    for i in range(n):
        look = dirty[i]
        for c in range(changed.shape[0]):
            look = look or use[i, changed[c]]
        if not look and not gains_by_changed(
            bits, zeros, weight, i, tiles, use, once, twice, cost[i], changed, prices
        ):
            continue
        dirty[i] = False
        touched[i] = True
        for t in range(k):
            before[t] = use[i, t]
        cost[i] = improve(bits, zeros, weight, i, tiles, tiles_T, use, once, twice, scratch, prices, -TIE)
        for t in range(k):
            if use[i, t] != before[t]:
                other.stale[t] = True
    for t in range(k):
        side.stale[t] = False


@leaf(forceinline=True)
def gains_by_changed(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    tiles: np.ndarray,
    use: np.ndarray,
    once: np.ndarray,
    twice: np.ndarray,
    cost: float,
    changed: np.ndarray,
    prices: Prices,
) -> bool:
    """Whether row i would gain by taking one of the `changed` tiles, alone or in exchange for one it uses.

    The row uses none of the changed tiles.
    """
    for c in range(changed.shape[0]):
        b = changed[c]
        gain = gain_of_taking(bits, zeros, weight, i, tiles, b, once, prices, -1)
        if gain - prices.tile > 1e-9:
            return True
        # What an exchange gains beyond this is zeros uncovered: at most the cost of the row.
        if gain + cost <= 1e-9:
            continue
        for a in range(use.shape[1]):
            if use[i, a] and gain - gain_of_taking(bits, zeros, weight, i, tiles, a, twice, prices, b) > 1e-9:
                return True
    return False


@piece()
def current_state(side: SideState) -> SideSnapshot:
    """The arrays of a side that a snapshot has; not copied."""
    return SideSnapshot(side.use, side.tiles, side.tiles_T, side.once, side.twice, side.cost)


@leaf()
def copy_touched(source: SideSnapshot, target: SideSnapshot, touched: np.ndarray) -> None:
    """Make `target` equal to `source`, where they differ only in `touched` rows and in tiles; clears `touched`."""
    for i in range(touched.shape[0]):
        if touched[i]:
            touched[i] = False
            target.cost[i] = source.cost[i]
            for t in range(source.use.shape[1]):
                target.use[i, t] = source.use[i, t]
            for w in range(source.once.shape[1]):
                target.once[i, w] = source.once[i, w]
                target.twice[i, w] = source.twice[i, w]
    copy_matrix(source.tiles, target.tiles)
    copy_matrix(source.tiles_T, target.tiles_T)
