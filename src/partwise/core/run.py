"""The one loop."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

import numpy as np

from partwise.core.callbacks import Callback
from partwise.core.problem import Problem
from partwise.core.state import Info, State
from partwise.core.stopping import Stopping
from partwise.parallel import own_threads


class Solver(Protocol):
    """What the loop asks of a solver."""

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray) -> State:
        """A state that starts at these factors, which are copied."""
        ...

    def value(self, problem: Problem, state: State) -> float:
        """The objective where the state stands, by the sums that the solver's own steps report it from."""
        ...

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One iteration: both factors once."""
        ...


class Interrupted(UserWarning):
    """Said when Ctrl-C ends a run early."""


@dataclass(frozen=True)
class Result:
    """Where a run ended.

    Attributes
    ----------
    state : State
    reason : {"converged", "max_iter", "max_time", "interrupted"}
    """

    state: State
    reason: str

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met."""
        return self.reason == "converged"


def run(
    problem: Problem,
    solver: Solver,
    state: State,
    *,
    stopping: Stopping,
    max_iter: int,
    max_time: float | None = None,
    callbacks: Sequence[Callback] = (),
    rng: np.random.Generator | None = None,
) -> Result:
    """Step until the stopping rule is met, the iterations or the seconds are used up, or Ctrl-C is pressed.

    A state that comes from a file goes on where it was: `max_iter` counts all of its steps. On Ctrl-C the
    factors as they stand are returned; steps lower the objective, so they are the best so far.
    """
    with own_threads():
        return _loop(problem, solver, state, stopping, max_iter, max_time, callbacks, rng)


def _loop(
    problem: Problem,
    solver: Solver,
    state: State,
    stopping: Stopping,
    max_iter: int,
    max_time: float | None,
    callbacks: Sequence[Callback],
    rng: np.random.Generator | None,
) -> Result:
    rng = np.random.default_rng(0) if rng is None else rng
    begin = perf_counter()
    reason = "max_iter"
    try:
        if np.isnan(state.objective):
            state.objective = solver.value(problem, state)
        stopping.begin(state.objective)
        start = Info(state.iteration, state.objective, seconds=perf_counter() - begin)
        for callback in callbacks:
            callback(start, state)
        while state.iteration < max_iter:
            state, info = solver.step(problem, state, rng)
            info = replace(info, seconds=perf_counter() - begin)
            for callback in callbacks:
                callback(info, state)
            if stopping.done(info):
                reason = "converged"
                break
            if max_time is not None and info.seconds >= max_time:
                reason = "max_time"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
        warnings.warn(
            f"Interrupted after {state.iteration} iterations; the factors reached so far are kept.",
            Interrupted,
            stacklevel=3,
        )
    return Result(state, reason)
