"""Both sides of a table in the midst of a search: what rows and columns use, cover and pay, and what has changed.

Compiled. After a change only rows that it may concern are looked at, and it can be taken back.
Loops instead of slices: the compiler takes seconds over each assignment to a slice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.descent import Desk, Prices, improve, taking
from partwise.boolean.table import Side
from partwise.jit import leaf, njit

#: What a row is given for using a tile that changes nothing. Tiles then overlap where they can, and tiles that
#: overlap can change places: with the opposite sign, or none, searches end sooner and higher.
TIE = 1e-6
_ZERO = np.uint64(0)


class Face(NamedTuple):
    """One side of the table in a search: its rows (or columns), the tiles they use, and what has changed since."""

    bits: np.ndarray
    zeros: np.ndarray
    weight: np.ndarray
    #: Which tiles each row uses (n × k), and the packed tiles: the other face's use, k × words and words × k.
    use: np.ndarray
    tiles: np.ndarray
    across: np.ndarray
    #: What each row has covered, once or more and twice or more, and what it pays.
    once: np.ndarray
    twice: np.ndarray
    cost: np.ndarray
    #: Tiles that have changed since the rows looked; rows that were changed from outside.
    stale: np.ndarray
    dirty: np.ndarray
    #: Rows that were looked at since the state was last kept.
    moved: np.ndarray

    @classmethod
    def of(cls, side: Side, use: np.ndarray) -> Face:
        """Everything is to be looked at."""
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
            across=np.zeros((width, k), np.uint64),
            once=words(n),
            twice=words(n),
            cost=np.zeros(n),
            stale=np.ones(k, bool),
            dirty=np.ones(n, bool),
            moved=np.ones(n, bool),
        )


class State(NamedTuple):
    """What a face has at a time: for the moment itself, or kept to return to."""

    use: np.ndarray
    tiles: np.ndarray
    across: np.ndarray
    once: np.ndarray
    twice: np.ndarray
    cost: np.ndarray

    @classmethod
    def like(cls, face: Face) -> State:
        """Room for one."""
        return cls(*(np.zeros_like(getattr(face, part)) for part in cls._fields))


@leaf()
def copy(source: np.ndarray, target: np.ndarray) -> None:
    """Matrices, entry by entry."""
    for i in range(source.shape[0]):
        for w in range(source.shape[1]):
            target[i, w] = source[i, w]


@leaf()
def is_stale(face: Face) -> bool:
    """Has any tile changed?"""
    found = False
    for t in range(face.stale.shape[0]):
        found = found or face.stale[t]
    return found


@leaf()
def repack(face: Face, other: Face) -> None:
    """The stale tiles of a face, from the other's use; as often as there are planes."""
    n, width = other.use.shape[0], (other.use.shape[0] + 63) // 64
    for t in range(face.stale.shape[0]):
        if not face.stale[t]:
            continue
        for w in range(width):
            word = _ZERO
            for b in range(min(64, n - 64 * w)):
                word |= np.uint64(other.use[64 * w + b, t]) << np.uint64(b)
            for plane in range(w, face.tiles.shape[1], width):
                face.tiles[t, plane] = word
                face.across[plane, t] = word


@njit(cache=True, nogil=True, error_model="numpy")
def settle(face: Face, other: Face, prices: Prices, before: np.ndarray, desk: Desk) -> None:
    """Improve every row of a face from what it has, where only its stale tiles have changed since.

    A row that uses none of those had nothing to gain from the others and still has not: only steps that take a
    changed tile in are tried, and what it has covered `once` and `twice` is as it was. Tiles that rows took or
    left become stale for the other face.
    """
    # Names for the parts: a call for every row passes what it needs, not the whole face.
    bits, zeros, weight, use = face.bits, face.zeros, face.weight, face.use
    tiles, across = face.tiles, face.across
    once, twice, cost, dirty, moved = face.once, face.twice, face.cost, face.dirty, face.moved
    n, k = use.shape
    changed = np.flatnonzero(face.stale)
    for i in range(n):
        look = dirty[i]
        for c in range(changed.shape[0]):
            look = look or use[i, changed[c]]
        if not look and not gains_by(
            bits, zeros, weight, i, tiles, use, once, twice, cost[i], changed, prices
        ):
            continue
        dirty[i] = False
        moved[i] = True
        for t in range(k):
            before[t] = use[i, t]
        cost[i] = improve(bits, zeros, weight, i, tiles, across, use, once, twice, desk, prices, -TIE)
        for t in range(k):
            if use[i, t] != before[t]:
                other.stale[t] = True
    for t in range(k):
        face.stale[t] = False


@leaf(forceinline=True)
def gains_by(
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
    """Would row i gain by one of the changed tiles, none of which it uses, alone or for one that it uses?"""
    for c in range(changed.shape[0]):
        b = changed[c]
        gain = taking(bits, zeros, weight, i, tiles, b, once, prices, -1)
        if gain - prices.tile > 1e-9:
            return True
        # An exchange frees zeros that are covered now, at best all of them: at most what the row pays.
        if gain + cost <= 1e-9:
            continue
        for a in range(use.shape[1]):
            if use[i, a] and gain - taking(bits, zeros, weight, i, tiles, a, twice, prices, b) > 1e-9:
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def state_of(face: Face) -> State:
    """Where a face stands."""
    return State(face.use, face.tiles, face.across, face.once, face.twice, face.cost)


@leaf()
def carry(source: State, target: State, moved: np.ndarray) -> None:
    """Make a state equal to another, from which only `moved` rows differ; then none do."""
    for i in range(moved.shape[0]):
        if moved[i]:
            moved[i] = False
            target.cost[i] = source.cost[i]
            for t in range(source.use.shape[1]):
                target.use[i, t] = source.use[i, t]
            for w in range(source.once.shape[1]):
                target.once[i, w] = source.once[i, w]
                target.twice[i, w] = source.twice[i, w]
    copy(source.tiles, target.tiles)
    copy(source.across, target.across)
