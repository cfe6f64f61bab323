"""What solvers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from partwise.core import Info, Problem, RelativeProgress, State, Stopping
from partwise.matrix import InMemory
from partwise.priors import Terms
from partwise.solvers.extrapolation import Attempted, Push, extrapolated_step


class Unsupported(ValueError):
    """A solver was asked for what it cannot do; the message names one that can."""


class AlternatingSolver(ABC):
    """Updates W with H held, then H with W held, by one and the same function.

    Subclasses are frozen dataclasses: a solver is its settings, everything that changes is in the `State`.
    """

    name: ClassVar[str]
    #: Whether the factors are pushed on along their last moves; see `partwise.solvers.extrapolation`.
    extrapolate: bool = False

    @abstractmethod
    def lacks(self, problem: Problem) -> str | None:
        """What the problem needs and this solver cannot do.

        Parameters
        ----------
        problem : Problem
            What is to be solved.

        Returns
        -------
        str or None
            The end of a sentence that begins with "solver 'name'" and names another solver; None if nothing lacks.
        """

    @abstractmethod
    def attempt(self, problem: Problem, at: State, push: Push | None, rng: np.random.Generator) -> Attempted:
        """One iteration: W once, then H once; replaces the factors of `at`.

        Parameters
        ----------
        problem : Problem
            What is solved.
        at : State
            The factors to start from.
        push : callable, optional
            Applied to the new rows of W before H is updated.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        Attempted
            The violation and the objective, and W before `push`.
        """

    @abstractmethod
    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """The best W for a held H, from a start that depends on nothing but the data.

        Parameters
        ----------
        problem : Problem
            What is solved.
        Ht : array of shape (n_features, n_components)
            The transpose of H.
        max_iter : int
            Rounds over a row, at most.
        tol : float
            Ends when a round over a row moves it by less than about `tol` of its size.

        Returns
        -------
        array of shape (n_samples, n_components)
            W.
        """

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One iteration, pushed on along the last moves where that lowers the objective.

        Parameters
        ----------
        problem : Problem
            What is solved.
        state : State
            The factors, which are replaced or written into.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : State
            The state after the step.
        info : Info
            What the step reports.
        """
        if self.extrapolate and problem.update_H:
            return extrapolated_step(
                problem, state, lambda at, push: self.attempt(problem, at, push, rng), self.slack(problem)
            )
        made = self.attempt(problem, state, None, rng)
        state.objective = made.objective
        state.iteration += 1
        return state, Info(state.iteration, state.objective, made.violation)

    def slack(self, problem: Problem) -> float:
        """How large a rise of the objective may be due to rounding.

        Parameters
        ----------
        problem : Problem
            What is solved.

        Returns
        -------
        float
            The largest such rise.
        """
        return 0.0

    def value(self, problem: Problem, state: State) -> float:
        """The objective at a state; solvers that compute it from Gram matrices do so here too.

        Parameters
        ----------
        problem : Problem
            What is solved.
        state : State
            The factors.

        Returns
        -------
        float
            The objective.
        """
        return problem.objective(state.W, state.Ht)

    def stopping(self, tol: float) -> Stopping:
        """The stopping rule of this solver.

        Parameters
        ----------
        tol : float
            Tolerance; 0 never stops.

        Returns
        -------
        Stopping
            A new rule, for one run.
        """
        return RelativeProgress(tol)

    def check(self, problem: Problem) -> None:
        """Raise `Unsupported` if the solver cannot solve the problem.

        Parameters
        ----------
        problem : Problem
            What is to be solved.
        """
        missing = self.lacks(problem)
        if missing is not None:
            raise Unsupported(f"solver '{self.name}' {missing}")

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray) -> State:
        """The state to start from: copies of the factors, off the boundary where a prior's density is zero there.

        Parameters
        ----------
        problem : Problem
            What is solved.
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        State
            The state.

        Raises
        ------
        ValueError
            If a factor leaves its bounds.
        """
        k = W.shape[1]
        state = State(np.array(W, problem.X.dtype, order="C"), np.array(Ht, problem.X.dtype, order="C"))
        problem.terms_W.check_inside(state.W[:, problem.order_W(k)], "W")
        lift(state.W, problem.terms_W, problem.order_W(k))
        if problem.update_H:
            problem.terms_H.check_inside(state.Ht[:, problem.order_H(k)], "H")
            lift(state.Ht, problem.terms_H, problem.order_H(k))
        return state


def signed(problem: Problem) -> bool:
    """Whether a factor that is learned may be negative."""
    return problem.terms_W.signed or (problem.update_H and problem.terms_H.signed)


def lift(A: np.ndarray, terms: Terms, order: np.ndarray) -> None:
    """Move zeros to a small positive number, in place, where the prior has log a and so a pole at 0."""
    if terms.has_log and A.size:
        order = order[np.broadcast_to(terms.log, A.shape[1])[order] > 0]
        part = A[:, order]
        scale = part.max() if part.size and part.max() > 0 else 1.0
        A[:, order] = np.where(part > 0, part, A.dtype.type(1e-3 * min(scale, terms.upper)))


def balanced_start(X: InMemory, Ht: np.ndarray, terms: Terms) -> np.ndarray:
    """W with which every component carries an equal share of each row's total: Σ_j ω y = Σ_j ω x."""
    totals = X.product(np.ones((X.shape[1], 1), X.dtype))
    carried = X.weight_product(Ht)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        W = np.where(carried > 0, totals / (Ht.shape[1] * carried), 0).astype(X.dtype)
    # A component that is next to nothing would have to be beyond all numbers.
    far = np.isnan(W) | (1.0 / np.sqrt(np.finfo(X.dtype).tiny) < W)
    W[far] = 0
    W = np.clip(W, terms.lower, terms.upper)
    lift(W, terms, np.arange(W.shape[1]))
    return W
