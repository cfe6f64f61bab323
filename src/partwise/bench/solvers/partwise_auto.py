"""partwise, with the solver that "auto" picks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer
from partwise.core import Problem, RelativeProgress
from partwise.losses import BetaDivergence
from partwise.matrix import Dense, Sparse
from partwise.parallel import own_threads
from partwise.solvers import best_solver


class Racer(BaseRacer):
    """The loop of `partwise.core.run`, one step at a time."""

    name: ClassVar[str] = "partwise"
    single_steps: ClassVar[bool] = True

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It can run every case."""
        return None

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        self.matrix = Sparse.of(X) if hasattr(X, "tocsr") else Dense.of(X)
        self.loss = BetaDivergence(beta)
        self.start = W, np.ascontiguousarray(H.T)
        self.state: Any = None
        self.rng = np.random.default_rng(0)

    def advance(self, iterations: int) -> None:
        """The first call also pays for what is computed from the data before the first step."""
        with own_threads():
            if self.state is None:
                # Only losses with a pole at zero ask for the data's mean.
                mean = self.matrix.mean() if self.loss.pole else 0.0
                shift = self.loss.shift(mean, self.matrix.dtype)
                self.problem = Problem(self.matrix, self.loss, shift=shift)
                self.solver = best_solver(self.problem)
                self.state = self.solver.init(self.problem, *self.start)
                self.state.objective = self.solver.value(self.problem, self.state)
                self.rule = RelativeProgress(1e-5)
                self.rule.begin(self.state.objective)
            for _ in range(iterations):
                self.state, info = self.solver.step(self.problem, self.state, self.rng)
                self.converged = self.converged or self.rule.done(info)

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """The current iterate."""
        if self.state is None:
            return self.start[0], self.start[1].T
        return self.state.W, self.state.Ht.T
