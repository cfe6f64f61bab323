"""What solvers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from partwise.core import Info, Problem, RelativeProgress, State, Stopping
from partwise.matrix import InMemory
from partwise.priors import Terms


class Unsupported(ValueError):
    """A solver was asked for what it cannot do; the message names one that can."""


class AlternatingSolver(ABC):
    """Updates W with H held, then H with W held, by one and the same function.

    Subclasses are frozen dataclasses: a solver is its settings, everything that changes is in the `State`.
    """

    name: ClassVar[str]

    @abstractmethod
    def lacks(self, problem: Problem) -> str | None:
        """What the problem needs and this solver has not, as the end of a sentence; None if nothing."""

    @abstractmethod
    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One iteration: W once, H once."""

    def value(self, problem: Problem, state: State) -> float:
        """The objective where the state stands; solvers that find it from Gram matrices say so here."""
        return problem.objective(state.W, state.Ht)

    @abstractmethod
    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """The best W for a held H, from a start that depends on nothing but the data.

        Ends when a round over a row moves it by less than about `tol` of its size.
        """

    def stopping(self, tol: float) -> Stopping:
        """The rule that `tol` stands for."""
        return RelativeProgress(tol)

    def check(self, problem: Problem) -> None:
        """Raise `Unsupported` if the problem is not for this solver."""
        missing = self.lacks(problem)
        if missing is not None:
            raise Unsupported(f"solver '{self.name}' {missing}")

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray) -> State:
        """Copies of the given factors, off the boundary where a prior's density is zero there."""
        order = problem.order_H(W.shape[1])
        state = State(np.array(W, problem.X.dtype, order="C"), np.array(Ht, problem.X.dtype, order="C"))
        lift(state.W, problem.prior_W, np.arange(W.shape[1]))
        if problem.update_H:
            lift(state.Ht, problem.prior_H, order)
        return state


def lift(A: np.ndarray, terms: Terms, order: np.ndarray) -> None:
    """Move zeros to a small positive number, in place, where the prior has log a and so a pole at 0."""
    if terms.log > 0 and A.size:
        part = A[:, order]
        scale = part.max() if part.size and part.max() > 0 else 1.0
        A[:, order] = np.where(part > 0, part, A.dtype.type(1e-3 * scale))


def balanced_start(X: InMemory, Ht: np.ndarray, terms: Terms) -> np.ndarray:
    """W with which every component carries an equal share of each row's total: Σ_j ω y = Σ_j ω x."""
    totals = X.product(np.ones((X.shape[1], 1), X.dtype))
    carried = X.weight_product(Ht)
    with np.errstate(divide="ignore", invalid="ignore"):
        W = np.where(carried > 0, totals / (Ht.shape[1] * carried), 0).astype(X.dtype)
    lift(W, terms, np.arange(W.shape[1]))
    return W
