"""HALS from a compressed start: most of the way on a small problem, the last steps on all of X.

A randomized range finder (Halko, Martinsson & Tropp 2011) gives X ≈ Q B with Q of k + 20 columns. On Q B
a HALS iteration costs (n + m) (k + 20) k instead of n m k operations, and W and H are still the full factors, so
nonnegativity needs no tricks. The run itself then polishes on X, and only lowers the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from partwise.core import Problem, RelativeProgress, State, run
from partwise.initial.nndsvd import range_finder
from partwise.matrix.low_rank import LowRank
from partwise.solvers.hals import Hals


@dataclass(frozen=True)
class Randomized(Hals):
    """Hals, with a start found on compressed data.

    Parameters
    ----------
    oversample : int
        Columns of the compressed data beyond the number of components.
    compressed_iterations : int
        Iterations on the compressed data, at most.
    """

    oversample: int = 20
    compressed_iterations: int = 200
    name: ClassVar[str] = "randomized"

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray) -> State:
        """Factors of the compressed data, or those given where compression would not pay."""
        state = super().init(problem, W, Ht)
        size = W.shape[1] + self.oversample
        pays = 2 * size < min(problem.X.shape) and problem.X.row_weight is None
        if not (problem.update_H and pays):
            return state
        rng = np.random.default_rng(0)
        Q = range_finder(problem.X, size, rng, n_power=2).astype(problem.X.dtype)
        small = LowRank(Q, np.ascontiguousarray(problem.X.transposed_product(Q).T))
        compressed = replace(problem, X=small)
        inner = Hals(self.inner_sweeps, self.extrapolate, self.shuffle)
        found = run(
            compressed,
            inner,
            inner.init(compressed, W, Ht),
            stopping=RelativeProgress(1e-4),
            max_iter=self.compressed_iterations,
            rng=rng,
        ).state
        return State(found.W, found.Ht)
