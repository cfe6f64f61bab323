"""Limited-memory BFGS (Nocedal & Wright 2006, algorithms 7.4 and 7.5), one step at a time.

It minimises the cost, which is minus the objective. All that a step needs of the ones before is in its state, so a
run can be interrupted, saved, and continued to the same bits.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import line_search

from partwise.core import Info
from partwise.jit import njit
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive
from partwise.mixture.training import TrainingState, note_validation, start_validation

#: Steps whose curvature is remembered.
MEMORY = 20
#: Points that a line search may try in each of its two phases.
LINE_POINTS = 20


@dataclass
class LbfgsState(TrainingState):
    """A `TrainingState` with what L-BFGS remembers.

    Attributes
    ----------
    gradient : array, optional
        Of the cost at `x`; None before the first evaluation.
    moves, bends : arrays of shape (at most MEMORY, len(x))
        The last steps s and the changes y of the gradient along them, the oldest first.
    """

    gradient: np.ndarray | None = None
    moves: np.ndarray | None = None
    bends: np.ndarray | None = None


class Point(NamedTuple):
    """A place with its cost and the gradient of the cost."""

    x: np.ndarray
    cost: float
    gradient: np.ndarray


class Lbfgs:
    """L-BFGS with a line search for the strong Wolfe conditions; the objective never falls.

    Where the line search finds no lower point, curvature is forgotten and the step is one of steepest descent; where
    that finds none either, the state stays as it is.
    """

    def init(self, problem: Contrastive, start: Components) -> LbfgsState:
        """The state at a start."""
        return start_validation(problem, LbfgsState(problem.vector(start)))

    def value(self, problem: Contrastive, state: LbfgsState) -> float:
        """The objective; the gradient that comes with it is kept in the state."""
        state.objective, gradient = problem.value_and_gradient(state.x)
        state.gradient = -gradient
        if state.iteration == 0:
            state.best_objective = state.objective
        return state.objective

    def step(
        self, problem: Contrastive, state: LbfgsState, rng: np.random.Generator
    ) -> tuple[LbfgsState, Info]:
        """A line search along the quasi-Newton direction."""
        if state.gradient is None:
            self.value(problem, state)
        assert state.gradient is not None
        here = Point(state.x, -state.objective, state.gradient)
        none = np.empty((0, len(state.x)))
        moves, bends = (
            none if state.moves is None else state.moves,
            none if state.bends is None else state.bends,
        )
        there = lower_point(problem, here, direction(here.gradient, moves, bends))
        if there is None and len(moves):
            moves = bends = none
            there = lower_point(problem, here, direction(here.gradient, moves, bends))
        if there is None:
            there = here
        move, bend = there.x - here.x, there.gradient - here.gradient
        # Only positive curvature keeps the approximate Hessian positive definite.
        if move @ bend > np.finfo(float).eps * (bend @ bend):
            moves, bends = remembered(moves, move), remembered(bends, bend)
        after = replace(
            state,
            x=there.x,
            objective=-there.cost,
            gradient=there.gradient,
            moves=moves,
            bends=bends,
            iteration=state.iteration + 1,
        )
        violation = float(np.abs(there.gradient).max())
        notes = note_validation(problem, after)
        return after, Info(after.iteration, after.objective, violation, notes=notes)


def remembered(rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    """A copy of the last `MEMORY` − 1 rows with one more.

    Parameters
    ----------
    rows : array of shape (m, d)
    row : array of shape (d,)

    Returns
    -------
    array of shape (min(m + 1, MEMORY), d)
    """
    kept = rows[max(0, len(rows) + 1 - MEMORY) :]
    out = np.empty((len(kept) + 1, len(row)))
    out[:-1] = kept
    out[-1] = row
    return out


# Sums may be taken in any order, so that they run in vectors.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def direction(gradient: np.ndarray, moves: np.ndarray, bends: np.ndarray) -> np.ndarray:
    """Minus the approximate inverse Hessian times the gradient, by the two-loop recursion.

    Parameters
    ----------
    gradient : array
    moves, bends : arrays of shape (m, len(gradient))
        Steps and changes of the gradient, the oldest first. Without any, the direction is that of steepest descent,
        of length one.

    Returns
    -------
    array
        A direction in which the cost falls.
    """
    m, d = moves.shape
    if m == 0:
        return -gradient / max(np.sqrt(np.sum(gradient * gradient)), 1e-300)
    q = gradient.copy()
    shares, along = np.empty(m), np.empty(m)
    for i in range(m - 1, -1, -1):
        inner, share = 0.0, 0.0
        for j in range(d):
            inner += moves[i, j] * bends[i, j]
            share += moves[i, j] * q[j]
        along[i], shares[i] = inner, share / inner
        for j in range(d):
            q[j] -= shares[i] * bends[i, j]
    length = 0.0
    for j in range(d):
        length += bends[m - 1, j] * bends[m - 1, j]
    for j in range(d):
        q[j] *= along[m - 1] / length
    for i in range(m):
        back = 0.0
        for j in range(d):
            back += bends[i, j] * q[j]
        for j in range(d):
            q[j] += (shares[i] - back / along[i]) * moves[i, j]
    return -q


class _Evaluations:
    """Cost and gradient, each point once although the line search asks for the two apart; and the lowest point."""

    def __init__(self, problem: Contrastive, here: Point) -> None:
        self.problem = problem
        self.last = self.lowest = here

    def at(self, x: np.ndarray) -> Point:
        if not np.array_equal(x, self.last.x):
            objective, gradient = self.problem.value_and_gradient(x)
            self.last = Point(x, -objective, -gradient)
            if self.last.cost < self.lowest.cost:
                self.lowest = self.last
        return self.last


def lower_point(problem: Contrastive, here: Point, along: np.ndarray) -> Point | None:
    """The point that a search along a direction finds by the strong Wolfe conditions.

    Parameters
    ----------
    problem : Contrastive
    here : Point
    along : array
        The direction.

    Returns
    -------
    Point or None
        If the search fails, the lowest point it came across; None if none was lower than `here`.
    """
    if not here.gradient @ along < 0:
        return None
    evaluations = _Evaluations(problem, here)
    with warnings.catch_warnings():
        # A search that fails is dealt with below.
        warnings.simplefilter("ignore", RuntimeWarning)
        length = line_search(
            lambda x: evaluations.at(x).cost,
            lambda x: evaluations.at(x).gradient,
            here.x,
            along,
            gfk=here.gradient,
            old_fval=here.cost,
            maxiter=LINE_POINTS,
        )[0]
    if length is not None:
        found = evaluations.at(here.x + length * along)
        if found.cost < here.cost:
            return found
    return evaluations.lowest if evaluations.lowest.cost < here.cost else None
