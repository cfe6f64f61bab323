"""Random perturbations of one tile or a few, for the search in `climb`. Compiled.

No one kind serves all tables: where tiles are large and few, tiles regrown from what is uncovered help most; where
they are small and many, variants of tiles and the columns of single rows do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.descent import gain_of_taking
from partwise.boolean.prices import Prices
from partwise.boolean.search_state import SideState, copy_matrix
from partwise.jit import leaf

#: Most seeds that are tried for a regrown tile, and most rounds of growing each.
SEEDS, ROUNDS = 8, 4
#: Number of equally likely kinds of perturbations; see `perturb`.
KINDS = 7
_ZERO, _ONE, _FULL = np.uint64(0), np.uint64(1), ~np.uint64(0)


class PerturbScratch(NamedTuple):
    """Scratch arrays of perturbations: covers of rows and columns, and packed candidate tiles."""

    row_cover: np.ndarray
    column_cover: np.ndarray
    tile_columns: np.ndarray
    tile_rows: np.ndarray
    best_columns: np.ndarray
    best_rows: np.ndarray
    #: Tiles that are being replaced.
    removed: np.ndarray

    @classmethod
    def of(cls, table: BitTable, rank: int) -> PerturbScratch:
        """Scratch arrays for a table and a number of tiles, all zero."""
        row, column = table.by_row.bits, table.by_column.bits
        shapes = (row.shape, column.shape, *2 * ((1, row.shape[1]), (1, column.shape[1])))
        row_cover, column_cover, *tiles = (np.zeros(shape, np.uint64) for shape in shapes)
        return cls(row_cover, column_cover, tiles[0], tiles[1], tiles[2], tiles[3], np.zeros(rank, bool))


@leaf()
def clear(packed: np.ndarray) -> None:
    """Set all bits of a packed matrix to zero."""
    for i in range(packed.shape[0]):
        for w in range(packed.shape[1]):
            packed[i, w] = _ZERO


@leaf()
def perturb(rows: SideState, columns: SideState, scratch: PerturbScratch, prices: Prices) -> None:
    """Change one tile, or a few, at random.

    Changed tiles are marked as stale, and the rows and columns whose use of them changed as dirty. The kinds: flip a
    few columns; intersect with or add the columns of another tile; copy another tile and flip a few columns; replace
    tiles by the columns of rows (two of `KINDS`) or by tiles grown from what is uncovered (two of `KINDS`).
    """
    k = rows.use.shape[1]
    t, r, kind = np.random.randint(k), np.random.randint(k), np.random.randint(KINDS)  # noqa: NPY002
    if kind == 0:
        flip_columns(rows, columns, t)
    elif kind == 1:
        blend_tiles(rows, columns, t, r, np.random.randint(2) == 0)  # noqa: NPY002
    elif kind == 2:
        copy_tile(rows, columns, t, r)
    else:
        replace_tiles(rows, columns, t, scratch, prices, kind > 4)


@leaf()
def flip_columns(rows: SideState, columns: SideState, t: int) -> None:
    """Let one to three random columns join or leave tile t."""
    rows.stale[t] = True
    for _ in range(1 + np.random.randint(3)):  # noqa: NPY002
        j = np.random.randint(columns.use.shape[0])  # noqa: NPY002
        columns.use[j, t] = not columns.use[j, t]
        columns.dirty[j] = True


@leaf()
def blend_tiles(rows: SideState, columns: SideState, t: int, r: int, both: bool) -> None:
    """Give tile t the columns that it shares with tile r (`both`), or those that either has."""
    rows.stale[t] = True
    for j in range(columns.use.shape[0]):
        mine, theirs = columns.use[j, t], columns.use[j, r]
        on = (mine and theirs) if both else (mine or theirs)
        columns.dirty[j] = columns.dirty[j] or on != mine
        columns.use[j, t] = on


@leaf()
def copy_tile(rows: SideState, columns: SideState, t: int, r: int) -> None:
    """Make tile t a variant of tile r: the same rows and columns, but for a few columns."""
    for i in range(rows.use.shape[0]):
        rows.dirty[i] = rows.dirty[i] or rows.use[i, t] != rows.use[i, r]
        rows.use[i, t] = rows.use[i, r]
    for j in range(columns.use.shape[0]):
        columns.dirty[j] = columns.dirty[j] or columns.use[j, t] != columns.use[j, r]
        columns.use[j, t] = columns.use[j, r]
    columns.stale[t] = True
    flip_columns(rows, columns, t)


@leaf()
def replace_tiles(
    rows: SideState, columns: SideState, t: int, scratch: PerturbScratch, prices: Prices, regrow: bool
) -> None:
    """Replace tile t.

    With `regrow`, it and often a few other random tiles are replaced by tiles grown one after the other from what the
    remaining tiles leave uncovered. Without, tile t gets columns of a random row, all or only the uncovered ones, or
    those of them that a second row has; which rows use it is decided when rows are improved.
    """
    k = rows.use.shape[1]
    for r in range(k):
        scratch.removed[r] = r == t
    while regrow and np.random.randint(2) == 0:  # noqa: NPY002
        scratch.removed[np.random.randint(k)] = True  # noqa: NPY002
    if regrow or np.random.randint(2) == 0:  # noqa: NPY002
        cover_without(rows, scratch.removed, scratch.row_cover)
    else:
        clear(scratch.row_cover)
    cover_without(columns, scratch.removed, scratch.column_cover)
    for r in range(k):
        if not scratch.removed[r]:
            continue
        rows.stale[r] = True
        columns.stale[r] = True
        clear(scratch.best_columns)
        clear(scratch.best_rows)
        if regrow:
            most = -np.inf
            for _ in range(1 + np.random.randint(SEEDS)):  # noqa: NPY002
                worth = grow_from_seed(rows, columns, scratch, prices)
                # Regrowing often leads back to a tile that was just removed; that would change nothing.
                if worth > most and not is_known(scratch.tile_columns, rows.tiles, scratch.removed):
                    most = worth
                    copy_matrix(scratch.tile_columns, scratch.best_columns)
                    copy_matrix(scratch.tile_rows, scratch.best_rows)
        else:
            seed_columns(rows, scratch.row_cover, scratch.best_columns)
        assign_tile(columns, r, scratch.best_rows, scratch.best_columns, scratch.column_cover)
        assign_tile(rows, r, scratch.best_columns, scratch.best_rows, scratch.row_cover)


@leaf()
def is_known(row: np.ndarray, tiles: np.ndarray, among: np.ndarray) -> bool:
    """Whether a packed row equals one of the tiles marked in `among`."""
    for t in range(tiles.shape[0]):
        equal = among[t]
        for w in range(tiles.shape[1]):
            equal = equal and row[0, w] == tiles[t, w]
        if equal:
            return True
    return False


@leaf()
def cover_without(side: SideState, removed: np.ndarray, out: np.ndarray) -> None:
    """Write what each row of a side has covered by tiles not marked in `removed` into `out`."""
    for i in range(side.use.shape[0]):
        affected = False
        for t in range(removed.shape[0]):
            affected = affected or (removed[t] and side.use[i, t])
        for w in range(side.once.shape[1]):
            out[i, w] = _ZERO if affected else side.once[i, w]
        if affected:
            for t in range(removed.shape[0]):
                if side.use[i, t] and not removed[t]:
                    for w in range(side.once.shape[1]):
                        out[i, w] |= side.tiles[t, w]


@leaf()
def assign_tile(side: SideState, t: int, tile: np.ndarray, packed: np.ndarray, cover: np.ndarray) -> None:
    """Let exactly the rows marked in `packed` use tile t, and add the packed `tile` to their `cover`."""
    for i in range(side.use.shape[0]):
        on = (packed[0, i >> 6] >> np.uint64(i & 63)) & _ONE == _ONE
        side.dirty[i] = side.dirty[i] or on or side.use[i, t]
        side.use[i, t] = on
        if on:
            for w in range(cover.shape[1]):
                cover[i, w] |= tile[0, w]


@leaf()
def grow_from_seed(rows: SideState, columns: SideState, scratch: PerturbScratch, prices: Prices) -> float:
    """Grow a tile from a random seed in what is uncovered; returns its gain.

    Its columns go into `scratch.tile_columns` and its rows into `scratch.tile_rows`, packed.
    """
    # One loop over both sides: whatever is called here is compiled into this function once for each call.
    sides, covers = (rows, columns), (scratch.row_cover, scratch.column_cover)
    tiles = (scratch.tile_columns, scratch.tile_rows)
    s = 0 if np.random.randint(2) == 0 else 1  # noqa: NPY002
    seed_columns(sides[s], covers[s], tiles[s])
    worth, started = -np.inf, s == 0
    for _ in range(2 * ROUNDS + s):
        then = joining_rows(sides[s], covers[s], tiles[s], tiles[1 - s], prices)
        # The gain counts once both rows and columns have been chosen.
        if s == 1 and started:
            if then <= worth:
                break
            worth = then
        started = True
        s = 1 - s
    return worth


@leaf()
def seed_columns(side: SideState, cover: np.ndarray, out: np.ndarray) -> None:
    """Write what a random row has uncovered, or what of it a second row has too, into all planes of `out`."""
    n, width = side.use.shape[0], side.bits.shape[1]
    planes = side.weight.shape[0]
    plane = width // planes
    alone = np.random.randint(2) == 0  # noqa: NPY002
    for _ in range(4):
        i, other = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
        found = False
        for w in range(plane):
            word, second = _ZERO, _ZERO
            for p in range(planes):
                word |= side.bits[i, w + p * plane] & ~cover[i, w + p * plane]
                second |= side.bits[other, w + p * plane]
            word &= _FULL if alone else second
            found = found or word != _ZERO
            for p in range(planes):
                out[0, w + p * plane] = word
        if found:
            break


@leaf()
def joining_rows(
    side: SideState, cover: np.ndarray, tile: np.ndarray, out: np.ndarray, prices: Prices
) -> float:
    """Find the rows that gain by a tile beside `cover`, packed into all planes of `out`; returns the total gain."""
    bits, zeros, weight = side.bits, side.zeros, side.weight
    n = bits.shape[0]
    width = (n + 63) // 64
    total = 0.0
    for w in range(width):
        word = _ZERO
        for i in range(64 * w, min(n, 64 * w + 64)):
            gain = gain_of_taking(bits, zeros, weight, i, tile, 0, cover, prices, -1) - prices.tile
            if gain > 0.0:
                total += gain
                word |= _ONE << np.uint64(i & 63)
        out[0, w] = word
    for w in range(width, out.shape[1]):
        out[0, w] = out[0, w - width]
    return total
