"""Where a search among bits may begin: relaxed factors and a cover by concepts, then tiles moved to better places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.climb import climb
from partwise.boolean.concepts import concept_cover, is_affordable, is_instant
from partwise.boolean.grow import grow_tile, tile_values
from partwise.boolean.log import SearchLog
from partwise.boolean.prices import WRONG, Prices
from partwise.boolean.threshold import cut_coarsely
from partwise.boolean.tiles import Tiles, alternate, cost_of, error_of
from partwise.core import Info, Session, State, Stopping, run
from partwise.matrix import Dense, InMemory, Sparse

#: Steps of the relaxed problem at most, and those over which its penalty grows to its full size.
STEPS, GROWING = 60, 20
#: Rows swept at a time: their coordinates stay in cache.
BLOCK = 8192
#: Patience and most trials of the short climb from the cover by concepts.
QUICK, QUICK_TRIALS = 128, 4096


def from_relaxed(
    session: Session, table: BitTable, X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5
) -> Tiles:
    """Tiles from relaxed factors, cut at the best of a few thresholds and improved by `alternate`."""
    return improved(session, table, cut_coarsely(table, *relaxed_factors(X, rank, rng, sparsity)))


def relaxed_factors(
    X: Any, rank: int, rng: np.random.Generator, sparsity: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Factors in [0, 1] that lower ½‖X − W Hᵀ‖² + sparsity (|W| + |H|), from a random start.

    Parameters
    ----------
    X : array or sparse matrix of float, of shape (n, m)
    rank : int
    rng : Generator
    sparsity : float

    Returns
    -------
    W : array of shape (n, rank)
    Ht : array of shape (m, rank)
        Starts are scaled by √(mean / rank): unscaled ones collapse to zero on the first step.
    """
    n, m = X.shape
    scale = np.sqrt(max(float(X.mean()), 1e-12) / rank)
    W, Ht = (np.minimum(scale * 2.0 * rng.random((size, rank)), 1.0).astype(X.dtype) for size in (n, m))
    matrix = Sparse.of(X.tocsr()) if hasattr(X, "tocsr") else Dense.of(X)
    # The objective is of no use here: it changes with the penalty, and the rule looks at how far the factors move.
    state = State(W, Ht, objective=0.0)
    found = run(matrix, GrowingPenalty(sparsity), state, stopping=AtRest(1e-4), max_iter=STEPS).state
    return found.W, found.Ht


@dataclass(frozen=True)
class GrowingPenalty:
    """HALS within [0, 1] under a linear penalty that grows in.

    At its full size from the first step, the penalty wipes out parts before they have found their place.
    """

    sparsity: float

    def value(self, X: InMemory, state: State) -> float:
        """0: not used."""
        return 0.0

    def step(self, X: InMemory, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One sweep over each factor; notes how far they moved, as a share of their size, squared."""
        penalty = self.sparsity * min(1.0, (state.iteration + 1) / GROWING)
        W = swept(X, state.W, state.Ht, penalty)
        Ht = swept(X.T, state.Ht, W, penalty)
        moved = sum(float(np.vdot(A - B, A - B)) for A, B in ((W, state.W), (Ht, state.Ht)))
        size = float(np.vdot(W, W)) + float(np.vdot(Ht, Ht))
        state.W, state.Ht = W, Ht
        state.iteration += 1
        return state, Info(state.iteration, 0.0, moved / max(size, 1e-300))


def swept(X: InMemory, A: np.ndarray, B: np.ndarray, penalty: float) -> np.ndarray:
    """A after one HALS sweep over its columns within [0, 1], for X ≈ A Bᵀ and `penalty` on the sum of A.

    In NumPy: these starts are a small part of a search, and compiling the sweep of the solvers would be a fifth of
    what a first fit waits for.
    """
    pull, gram = X.product(B), X.gram(B)
    out = np.empty_like(A)
    for first in range(0, len(A), BLOCK):
        rows = slice(first, first + BLOCK)
        # Coordinate by coordinate, each a row.
        now, toward = np.ascontiguousarray(A[rows].T), np.ascontiguousarray(pull[rows].T)
        for k in range(len(now)):
            curvature = gram[k, k]
            if curvature > 0:
                slope = toward[k] - gram[k] @ now + curvature * now[k] - A.dtype.type(penalty)
                np.clip(slope / curvature, 0.0, 1.0, out=now[k])
            else:
                now[k] = 0.0
        out[rows] = now.T
    return out


class AtRest(Stopping):
    """Converged when the penalty has its full size and the factors move by less than `tol` of their size, squared."""

    def done(self, info: Info) -> bool:
        """Whether the last step was such a step."""
        return info.iteration > GROWING + 1 and info.violation <= self.tol


def concept_start(session: Session, table: BitTable, rank: int) -> Tiles:
    """The greedy cover by concepts, improved by `alternate`."""
    return improved(session, table, Tiles(*concept_cover(table, rank), float("inf")))


def improved(session: Session, table: BitTable, tiles: Tiles) -> Tiles:
    """The tiles after `alternate`, or what was reached of it at Ctrl-C."""
    if not session.interrupted:
        with session.interruptible():
            return alternate(table, tiles)
    tiles.error = error_of(table, tiles.usage, tiles.columns)
    return tiles


def relocations(
    table: BitTable, tiles: Tiles, rng: np.random.Generator, prices: Prices = WRONG, tries: int = 4
) -> Iterator[Tiles]:
    """Replace one of the least valuable tiles by one grown from what is uncovered, as long as that lowers the cost.

    Yields the tiles as given, and then after every replacement. `tries` tiles are tried each time, the least valuable
    first.
    """
    yield tiles
    now = cost_of(table, tiles, prices)
    for _ in range(4 * len(tiles.columns)):
        worth = tile_values(table, tiles.usage, tiles.columns, prices)
        for t in np.argsort(worth, kind="stable")[:tries]:
            trial = tiles.copy()
            trial.usage[:, t] = False
            trial.columns[t] = False
            u, v, gain = grow_tile(table, trial.usage, trial.columns, rng, prices)
            if gain <= 0:
                continue
            trial.usage[:, t], trial.columns[t] = u, v
            trial.error = float("inf")
            alternate(table, trial, prices)
            then = cost_of(table, trial, prices)
            if then < now - 1e-9:
                tiles, now = trial, then
                break
        else:
            break
        yield tiles


#: A start by name: what yields its tiles, each time they are better than before.
Start = tuple[str, Callable[[], Iterator[Tiles]]]


def several_starts(
    log: SearchLog,
    table: BitTable,
    X: Any,
    rank: int,
    rng: np.random.Generator,
    count: int,
    sparsity: float,
    most: float,
) -> list[Start]:
    """Starts in the order in which they are worth their time: `count` relaxed ones, and a cover by concepts.

    Where the cover by concepts takes milliseconds, so does a short climb from it, and they come first. Elsewhere
    the cover comes after the first relaxed start. `most` limits the trials of the climb.
    """
    session = log.session

    def climbed_concepts() -> Iterator[Tiles]:
        tiles = concept_start(session, table, rank)
        yield tiles
        climbed = climb(session, table, tiles.usage, tiles.columns, rng, QUICK, min(QUICK_TRIALS, most))
        log.trials += climbed.trials
        yield alternate(table, Tiles(climbed.usage, climbed.columns, climbed.error))

    def concepts() -> Iterator[Tiles]:
        yield from relocations(table, concept_start(session, table, rank), rng)

    def relaxed() -> Iterator[Tiles]:
        yield from relocations(table, from_relaxed(session, table, X, rank, rng, sparsity), rng)

    starts: list[Start] = [(f"relaxed{i}", relaxed) for i in range(count)]
    if is_affordable(table):
        quick = is_instant(table, rank)
        starts.insert(0 if quick else 1, ("concepts", climbed_concepts if quick else concepts))
    return starts
