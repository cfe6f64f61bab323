"""Disturbances of a search: one tile, or a few, are changed at random. Compiled.

No one kind serves all tables: where tiles are large and few, it is tiles regrown from what is uncovered; where they
are small and many, it is variants of tiles, and rows taken as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.descent import Prices, taking
from partwise.boolean.faces import Face, copy
from partwise.boolean.table import Table
from partwise.jit import leaf

#: A tile that takes another's place is the best of up to so many, each grown by so many rounds at most.
SEEDS, ROUNDS = 8, 4
#: Kinds of disturbances; see `disturb`.
KINDS = 7
_ZERO, _ONE, _FULL = np.uint64(0), np.uint64(1), ~np.uint64(0)


class Room(NamedTuple):
    """Where disturbances write: what other tiles cover, and the columns and rows of a tile, packed."""

    row_cover: np.ndarray
    column_cover: np.ndarray
    row: np.ndarray
    column: np.ndarray
    best_row: np.ndarray
    best_column: np.ndarray
    #: Tiles that give way.
    gone: np.ndarray

    @classmethod
    def of(cls, table: Table, rank: int) -> Room:
        """Empty."""
        row, column = table.by_row.bits, table.by_column.bits
        shapes = (row.shape, column.shape, *2 * ((1, row.shape[1]), (1, column.shape[1])))
        row_cover, column_cover, *tiles = (np.zeros(shape, np.uint64) for shape in shapes)
        return cls(row_cover, column_cover, tiles[0], tiles[1], tiles[2], tiles[3], np.zeros(rank, bool))


@leaf()
def clear(packed: np.ndarray) -> None:
    """Nothing is set any more."""
    for i in range(packed.shape[0]):
        for w in range(packed.shape[1]):
            packed[i, w] = _ZERO


@leaf()
def disturb(rows: Face, columns: Face, room: Room, prices: Prices) -> None:
    """Change one tile, or a few, at random.

    Marks them as stale, and rows and columns that lost or took them as dirty.
    """
    k = rows.use.shape[1]
    t, r, kind = np.random.randint(k), np.random.randint(k), np.random.randint(KINDS)  # noqa: NPY002
    if kind == 0:
        flip(rows, columns, t)
    elif kind == 1:
        blend(rows, columns, t, r, np.random.randint(2) == 0)  # noqa: NPY002
    elif kind == 2:
        split(rows, columns, t, r)
    else:
        replace(rows, columns, t, room, prices, kind > 4)


@leaf()
def flip(rows: Face, columns: Face, t: int) -> None:
    """A few columns join or leave tile t."""
    rows.stale[t] = True
    for _ in range(1 + np.random.randint(3)):  # noqa: NPY002
        j = np.random.randint(columns.use.shape[0])  # noqa: NPY002
        columns.use[j, t] = not columns.use[j, t]
        columns.dirty[j] = True


@leaf()
def blend(rows: Face, columns: Face, t: int, r: int, both: bool) -> None:
    """Tile t takes the columns that it shares with another, or those that either has."""
    rows.stale[t] = True
    for j in range(columns.use.shape[0]):
        mine, theirs = columns.use[j, t], columns.use[j, r]
        on = (mine and theirs) if both else (mine or theirs)
        columns.dirty[j] = columns.dirty[j] or on != mine
        columns.use[j, t] = on


@leaf()
def split(rows: Face, columns: Face, t: int, r: int) -> None:
    """Tile t becomes a variant of another."""
    for i in range(rows.use.shape[0]):
        rows.dirty[i] = rows.dirty[i] or rows.use[i, t] != rows.use[i, r]
        rows.use[i, t] = rows.use[i, r]
    for j in range(columns.use.shape[0]):
        columns.dirty[j] = columns.dirty[j] or columns.use[j, t] != columns.use[j, r]
        columns.use[j, t] = columns.use[j, r]
    columns.stale[t] = True
    flip(rows, columns, t)


@leaf()
def replace(rows: Face, columns: Face, t: int, room: Room, prices: Prices, regrow: bool) -> None:
    """Tile t gives way: with `regrow`, often with a few others, to tiles grown one after the other from what is left
    uncovered; without, to the columns of a row or of two, for rows to take or leave.
    """
    k = rows.use.shape[1]
    for r in range(k):
        room.gone[r] = r == t
    while regrow and np.random.randint(2) == 0:  # noqa: NPY002
        room.gone[np.random.randint(k)] = True  # noqa: NPY002
    if regrow or np.random.randint(2) == 0:  # noqa: NPY002
        cover_without(rows, room.gone, room.row_cover)
    else:
        clear(room.row_cover)
    cover_without(columns, room.gone, room.column_cover)
    for r in range(k):
        if not room.gone[r]:
            continue
        rows.stale[r] = True
        columns.stale[r] = True
        clear(room.best_row)
        clear(room.best_column)
        if regrow:
            most = -np.inf
            for _ in range(1 + np.random.randint(SEEDS)):  # noqa: NPY002
                worth = grow(rows, columns, room, prices)
                # Left to itself, what is uncovered often becomes a tile that was there.
                if worth > most and not known(room.row, rows.tiles, room.gone):
                    most = worth
                    copy(room.row, room.best_row)
                    copy(room.column, room.best_column)
        else:
            sow(rows, room.row_cover, room.best_row)
        put(columns, r, room.best_column, room.best_row, room.column_cover)
        put(rows, r, room.best_row, room.best_column, room.row_cover)


@leaf()
def known(row: np.ndarray, tiles: np.ndarray, among: np.ndarray) -> bool:
    """Has the row the columns of one of these tiles?"""
    for t in range(tiles.shape[0]):
        equal = among[t]
        for w in range(tiles.shape[1]):
            equal = equal and row[0, w] == tiles[t, w]
        if equal:
            return True
    return False


@leaf()
def cover_without(face: Face, gone: np.ndarray, out: np.ndarray) -> None:
    """What each row has covered by other tiles than those."""
    for i in range(face.use.shape[0]):
        affected = False
        for t in range(gone.shape[0]):
            affected = affected or (gone[t] and face.use[i, t])
        for w in range(face.once.shape[1]):
            out[i, w] = _ZERO if affected else face.once[i, w]
        if affected:
            for t in range(gone.shape[0]):
                if face.use[i, t] and not gone[t]:
                    for w in range(face.once.shape[1]):
                        out[i, w] |= face.tiles[t, w]


@leaf()
def put(face: Face, t: int, tile: np.ndarray, packed: np.ndarray, cover: np.ndarray) -> None:
    """Let the marked rows use tile t, which covers that, and no others."""
    for i in range(face.use.shape[0]):
        on = (packed[0, i >> 6] >> np.uint64(i & 63)) & _ONE == _ONE
        face.dirty[i] = face.dirty[i] or on or face.use[i, t]
        face.use[i, t] = on
        if on:
            for w in range(cover.shape[1]):
                cover[i, w] |= tile[0, w]


@leaf()
def grow(rows: Face, columns: Face, room: Room, prices: Prices) -> float:
    """A tile grown from a random seed beside what is covered: its columns into `room.row`, its rows into
    `room.column`; returns what it gains.
    """
    # One loop over both sides: whatever is called here is compiled into this function once for each call.
    faces, covers, tiles = (rows, columns), (room.row_cover, room.column_cover), (room.row, room.column)
    side = 0 if np.random.randint(2) == 0 else 1  # noqa: NPY002
    sow(faces[side], covers[side], tiles[side])
    worth, started = -np.inf, side == 0
    for _ in range(2 * ROUNDS + side):
        then = join(faces[side], covers[side], tiles[side], tiles[1 - side], prices)
        # After both sides had their say.
        if side == 1 and started:
            if then <= worth:
                break
            worth = then
        started = True
        side = 1 - side
    return worth


@leaf()
def sow(face: Face, cover: np.ndarray, out: np.ndarray) -> None:
    """What a random row has uncovered, or what two rows have; into all planes."""
    n, width = face.use.shape[0], face.bits.shape[1]
    planes = face.weight.shape[0]
    plane = width // planes
    alone = np.random.randint(2) == 0  # noqa: NPY002
    for _ in range(4):
        i, other = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
        found = False
        for w in range(plane):
            word, second = _ZERO, _ZERO
            for p in range(planes):
                word |= face.bits[i, w + p * plane] & ~cover[i, w + p * plane]
                second |= face.bits[other, w + p * plane]
            word &= _FULL if alone else second
            found = found or word != _ZERO
            for p in range(planes):
                out[0, w + p * plane] = word
        if found:
            break


@leaf()
def join(face: Face, cover: np.ndarray, tile: np.ndarray, out: np.ndarray, prices: Prices) -> float:
    """The rows that gain by a tile beside what is covered, packed into all planes; returns what they gain."""
    bits, zeros, weight = face.bits, face.zeros, face.weight
    n = bits.shape[0]
    width = (n + 63) // 64
    total = 0.0
    for w in range(width):
        word = _ZERO
        for i in range(64 * w, min(n, 64 * w + 64)):
            gain = taking(bits, zeros, weight, i, tile, 0, cover, prices, -1) - prices.tile
            if gain > 0.0:
                total += gain
                word |= _ONE << np.uint64(i & 63)
        out[0, w] = word
    for w in range(width, out.shape[1]):
        out[0, w] = out[0, w - width]
    return total
