"""The number of tiles, chosen by description length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.description import choice_bits, cover_totals, description_length, wrong_bits
from partwise.boolean.grow import covered_alone
from partwise.boolean.log import SearchLog
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.starts import from_relaxed, relocations
from partwise.boolean.tiles import Tiles, alternate, no_tiles
from partwise.core import Session

#: Number of tiles to begin with, where it is to be chosen.
FIRST = 8


class RankPoint(NamedTuple):
    """What is remembered of a factorization: its number of tiles, wrong entries, and description length."""

    n_tiles: int
    wrong: float
    bits: float


def drop_tile(tiles: Tiles, t: int) -> Tiles:
    """The same without tile t; the error is left to be computed."""
    return Tiles(np.delete(tiles.usage, t, axis=1), np.delete(tiles.columns, t, axis=0), float("inf"))


def rank_point(table: BitTable, tiles: Tiles) -> RankPoint:
    """Number of tiles, wrong entries and description length of a factorization."""
    _, missed, overdone = cover_totals(table, tiles.usage, tiles.columns)
    length = description_length(table, tiles.usage, tiles.columns)
    return RankPoint(len(tiles.columns), missed + overdone, length)


def best_drop(table: BitTable, tiles: Tiles) -> tuple[int, RankPoint]:
    """The tile without which the description is shortest, and the `RankPoint` without it.

    The rows and columns of the other tiles stay as they are, so one pass over what each tile covers alone is enough.
    """
    covered, missed, overdone = cover_totals(table, tiles.usage, tiles.columns)
    hits, slips = covered_alone(table, tiles.usage, tiles.columns)
    tile_bits = choice_bits(tiles.usage.sum(axis=0), table.n) + choice_bits(
        tiles.columns.sum(axis=1), table.m
    )
    covered = covered - hits - slips
    wrong = wrong_bits(table, covered, missed + hits, overdone - slips)
    lengths = tile_bits.sum() - tile_bits + wrong
    t = int(np.argmin(lengths))
    error = float(missed + hits[t] + overdone - slips[t])
    return t, RankPoint(len(tiles.columns) - 1, error, float(lengths[t]))


def prunings(table: BitTable, tiles: Tiles, prices: Prices = WRONG) -> Iterator[tuple[Tiles, RankPoint]]:
    """Drop tiles one by one as long as the description gets shorter.

    Yields the tiles that are left and their point, from the given ones on.
    """
    point = rank_point(table, tiles)
    yield tiles, point
    while len(tiles.columns):
        t, now = best_drop(table, tiles)
        trial = drop_tile(tiles, t)
        if now.bits >= point.bits:
            # The other tiles may take over what this one covered, for fewer bits.
            if len(trial.columns) == 0:
                break
            alternate(table, trial, prices)
            now = rank_point(table, trial)
            if now.bits >= point.bits:
                break
        tiles, point = trial, now
        yield tiles, point


def prune_path(table: BitTable, tiles: Tiles) -> list[RankPoint]:
    """The points met when tiles are dropped one by one, the least useful first, down to none."""
    path = [rank_point(table, tiles)]
    while len(tiles.columns):
        t, now = best_drop(table, tiles)
        tiles = drop_tile(tiles, t)
        path.append(now)
    return path


def pruned_start(
    session: Session, table: BitTable, X: Any, rank: int, rng: np.random.Generator, sparsity: float
) -> Iterator[tuple[Tiles, RankPoint | None]]:
    """A relaxed start with `rank` tiles, its tiles moved to better places, then pruned and improved.

    Yields the tiles after every change; with their point, where it is one to remember.
    """
    for moved in relocations(table, from_relaxed(session, table, X, rank, rng, sparsity), rng):
        yield moved, None
    for left, point in prunings(table, moved):
        yield left, point
    if len(left.columns):
        alternate(table, left)
        yield left, rank_point(table, left)


def choose_rank(
    log: SearchLog,
    table: BitTable,
    X: Any,
    rng: np.random.Generator,
    first: int = FIRST,
    most: int | None = None,
    sparsity: float = 0.5,
) -> tuple[Tiles, list[RankPoint]]:
    """Fit more and more tiles, and prune them, until a good part is pruned.

    Parameters
    ----------
    log : SearchLog
        Its session says when to stop.
    table : BitTable
    X : array or sparse matrix of float of shape (n, m)
        The numbers that relaxed starts read.
    rng : numpy.random.Generator
    first, most : int
        Number of tiles to begin with, and the largest (default: the smaller side of the table).
    sparsity : float
        See `relaxed_factors`.

    Returns
    -------
    tuple
        The tiles with the shortest description, and all points met.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there were any tiles.
    """
    most = min(table.n, table.m) if most is None else most
    best = no_tiles(table)
    points = [rank_point(table, best)]
    shortest = points[0].bits
    rank = min(first, most)
    with log.session.interruptible():
        while rank >= 1:
            tiles, path = one_rank(log, table, X, rank, rng, sparsity)
            points += path
            if path[-1].bits < shortest:
                best, shortest = tiles, path[-1].bits
            if len(tiles.columns) <= 0.8 * rank or rank >= most or log.session.interrupted:
                break
            if log.out_of_time():
                break
            rank = min(2 * rank, most)
    if len(points) == 1:
        raise KeyboardInterrupt
    return best, points


def one_rank(
    log: SearchLog, table: BitTable, X: Any, rank: int, rng: np.random.Generator, sparsity: float
) -> tuple[Tiles, list[RankPoint]]:
    """The last tiles of `pruned_start`, and the points met; of what was reached, if time or Ctrl-C ends it.

    Raises KeyboardInterrupt if there were no tiles by then.
    """
    session = log.session

    def compute() -> dict[str, Any]:
        tiles: Tiles | None = None
        path: list[RankPoint] = []
        point: RankPoint | None = None
        with session.interruptible():
            for now, point in pruned_start(session, table, X, rank, rng, sparsity):
                tiles = now
                if point is not None:
                    path.append(point)
                    log.show(point.wrong)
                if session.interrupted or log.out_of_time():
                    break
        if tiles is None:
            raise KeyboardInterrupt
        if point is None or session.interrupted:
            # The tiles have changed since the last point was taken.
            path.append(rank_point(table, tiles))
            tiles.error = path[-1].wrong
        return tiles.pack() | {"path": np.array(path)}

    packed = log.stage(f"rank{rank}", compute, rng)
    path = [RankPoint(int(k), float(wrong), float(bits)) for k, wrong, bits in packed["path"]]
    return Tiles.unpack(packed), path


def best_by_rank(points: list[RankPoint]) -> dict[str, np.ndarray]:
    """The best that was met with each number of tiles.

    Returns arrays of equal length: "tiles", the fewest "wrong" entries with at most so many, and the fewest "bits" of
    a description with exactly so many.
    """
    order = sorted({point.n_tiles for point in points})
    wrong, bits = (
        np.array([min(getattr(point, name) for point in points if point.n_tiles == k) for k in order], float)
        for name in ("wrong", "bits")
    )
    return {
        "tiles": np.array(order, dtype=np.int64),
        "wrong": np.minimum.accumulate(wrong),
        "bits": bits,
    }
