"""PAL-Tiling: relaxed factors of ever more tiles, cut where they cost least (Hess, Morik & Piatkowski 2017).

    for r = Δ, 2Δ, …
        append Δ random columns to the relaxed factors of before, and run PALM
        cut both factors (2.17) at the pair of thresholds in {0, 0.05, … 1} whose bits cost least
        stop once more than one of the r tiles is of no use

(2.17) is that of Gonsior 2019. What bits cost is a parameter. With |D − Y ⊙ Xᵀ| + |X| + |Y| (2.5) this is PanPAL as
printed; with the wrong entries of those tiles alone that noise is unlikely to hold it is TrustPal (Hess, Piatkowski
& Morik 2018). Half of (2.5) is the relaxed objective (2.6) at bits whose tiles do not overlap; where c ≥ 2 tiles
cover an entry, twice (2.6) has (d − c)² for it and (2.5) at most one: at bits, twice (2.6) is never below (2.5).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.chance_test import ChanceTest
from partwise.boolean.palm import MAX_ITER, TOL, RelaxedProblem, descend
from partwise.boolean.prices import SPARSE
from partwise.boolean.threshold import WHOLE, cut, without_empty
from partwise.boolean.tiles import Tiles, cost_of, error_of, no_tiles
from partwise.core import Result, Session, State

#: Tiles that are added at a time, and how many may be of no use before no more are added.
STEP, IDLE = 10, 1


class Cut(NamedTuple):
    """Tiles, the thresholds of usage and of columns that they were cut at, and their cost."""

    tiles: Tiles
    thresholds: tuple[float, float]
    cost: float


#: From the relaxed factors W (n × k) and Ht (m × k) to bits.
Rounding = Callable[[np.ndarray, np.ndarray], Cut]


def sparse_rounding(table: BitTable, each: bool) -> Rounding:
    """The cut of least |D − Y ⊙ Xᵀ| + |X| + |Y| (2.5), at one threshold for both factors or at one `each`."""

    def rounded(W: np.ndarray, Ht: np.ndarray) -> Cut:
        tiles, (thresholds, _) = cut(table, W, Ht, each, SPARSE)
        return Cut(tiles, thresholds, cost_of(table, tiles, SPARSE))

    return rounded


def trusted_rounding(table: BitTable, level: float) -> Rounding:
    """The cut with the fewest wrong entries, after tiles that noise could hold are cleared (`ChanceTest`)."""
    test = ChanceTest.of(table, level)

    def rounded(W: np.ndarray, Ht: np.ndarray) -> Cut:
        empty = no_tiles(table)
        best = Cut(empty, (1.0, 1.0), empty.error)
        # Most entries of the factors are near 0 or 1, so that many pairs of thresholds give the same bits.
        by_row = {(rows < W).tobytes(): rows for rows in WHOLE}
        by_column = {(columns < Ht).tobytes(): columns for columns in WHOLE}
        for rows in by_row.values():
            for columns in by_column.values():
                candidates = without_empty(Tiles(rows < W, np.ascontiguousarray((columns < Ht).T), 0.0))
                kept = test.accepted(candidates.usage, candidates.columns)
                usage = np.ascontiguousarray(candidates.usage[:, kept])
                error = error_of(table, usage, candidates.columns[kept])
                if error < best.cost:
                    best = Cut(Tiles(usage, candidates.columns[kept], error), (rows, columns), error)
        return best

    return rounded


def pal_tiling(
    session: Session,
    problem: RelaxedProblem,
    rounding: Rounding,
    rng: np.random.Generator,
    rank: int | None = None,
    max_iter: int = MAX_ITER,
) -> tuple[Cut, Result[State]]:
    """Run PAL-Tiling.

    Parameters
    ----------
    session : Session
        Ends the runs, and takes note of Ctrl-C.
    problem : RelaxedProblem
    rounding : callable
        Cuts relaxed factors; see `sparse_rounding` and `trusted_rounding`.
    rng : numpy.random.Generator
    rank : int, optional
        Number of tiles at most; by default `STEP` more at a time, as long as they are of use.
    max_iter : int
        Most steps of each run.

    Returns
    -------
    tuple
        The tiles of least cost, and the run that they come from.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there were any factors.
    """
    most = min(problem.D.shape)
    best: tuple[Cut, Result[State]] | None = None
    begin: State | None = None
    with session.interruptible():
        r = min(STEP if rank is None else rank, most)
        while True:
            result = descend(problem, r, rng, max_iter, TOL, f"pal{r}", begin)
            now = session.completed(partial(rounding, result.state.W, result.state.Ht))
            if best is None or now.cost < best[0].cost:
                best = now, result
            full = len(now.tiles.columns) >= r - IDLE
            if rank is not None or not full or r >= most or session.stopped:
                break
            begin, r = result.state, min(r + STEP, most)
    if best is None:
        raise KeyboardInterrupt
    return best
