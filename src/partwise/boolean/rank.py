"""The number of tiles, chosen by description length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.description import choice_bits, cover_totals, description_length
from partwise.boolean.grow import covered_alone
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.search import Tiles, alternate, from_relaxed, relocate


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
    wrong = choice_bits(overdone - slips, covered) + choice_bits(missed + hits, table.n_observed - covered)
    lengths = tile_bits.sum() - tile_bits + wrong
    t = int(np.argmin(lengths))
    error = float(missed + hits[t] + overdone - slips[t])
    return t, RankPoint(len(tiles.columns) - 1, error, float(lengths[t]))


def prune(table: BitTable, tiles: Tiles, prices: Prices = WRONG) -> tuple[Tiles, list[RankPoint]]:
    """Drop tiles one by one as long as the description gets shorter.

    Returns the tiles that are left, and the points along the way.
    """
    path = [rank_point(table, tiles)]
    while len(tiles.columns):
        t, now = best_drop(table, tiles)
        trial = drop_tile(tiles, t)
        if now.bits >= path[-1].bits:
            # The other tiles may take over what this one covered, for fewer bits.
            if len(trial.columns) == 0:
                break
            alternate(table, trial, prices)
            now = rank_point(table, trial)
            if now.bits >= path[-1].bits:
                break
        tiles = trial
        path.append(now)
    return tiles, path


def prune_path(table: BitTable, tiles: Tiles) -> list[RankPoint]:
    """The points met when tiles are dropped one by one, the least useful first, down to none."""
    path = [rank_point(table, tiles)]
    while len(tiles.columns):
        t, now = best_drop(table, tiles)
        tiles = drop_tile(tiles, t)
        path.append(now)
    return path


def choose_rank(
    table: BitTable,
    X: Any,
    rng: np.random.Generator,
    first: int = 8,
    most: int | None = None,
    sparsity: float = 0.5,
) -> tuple[Tiles, list[RankPoint]]:
    """Fit more and more tiles, and prune them, until a good part is pruned.

    Parameters
    ----------
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
    """
    most = min(table.n, table.m) if most is None else most
    best = Tiles(np.zeros((table.n, 0), bool), np.zeros((0, table.m), bool), float(table.n_ones))
    points = [rank_point(table, best)]
    shortest = points[0].bits
    rank = min(first, most)
    while rank >= 1:
        tiles, path = prune(table, relocate(table, from_relaxed(table, X, rank, rng, sparsity), rng))
        points += path
        if len(tiles.columns):
            alternate(table, tiles)
            points.append(rank_point(table, tiles))
        if points[-1].bits < shortest:
            best, shortest = tiles, points[-1].bits
        if len(tiles.columns) <= 0.8 * rank or rank >= most:
            break
        rank = min(2 * rank, most)
    return best, points


def best_by_rank(points: list[RankPoint]) -> dict[str, np.ndarray]:
    """The shortest description at each number of tiles.

    Returns arrays of equal length: "tiles", "wrong" (entries) and "bits" (description length).
    """
    best: dict[int, RankPoint] = {}
    for point in points:
        if point.n_tiles not in best or point.bits < best[point.n_tiles].bits:
            best[point.n_tiles] = point
    order = sorted(best)
    return {
        "tiles": np.array(order, dtype=np.int64),
        "wrong": np.array([best[k].wrong for k in order], dtype=float),
        "bits": np.array([best[k].bits for k in order], dtype=float),
    }
