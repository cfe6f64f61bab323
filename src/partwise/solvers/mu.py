"""Multiplicative updates for every β-divergence.

Lee, Seung & Saul (seed 002, section 2) for β = 1, algorithm 1 of seed 001 for β = 2 (whose rule for A prints
A Sᵀ A where A S Sᵀ is meant, and S Aᵀ A for Aᵀ A S), Févotte & Idier (2011) for the others. Under
Gamma priors the rule for β = 1 is the MAP-EM of seed 003, equations 5 and 6. Seed 003 prints both with the
factors of step t on the right; that is not monotone. Here W is updated first, and H from the new W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partwise.core import Info, ObjectiveEveryTen, Problem, RelativeProgress, State, Stopping, run
from partwise.jit import njit
from partwise.matrix import InMemory
from partwise.parallel import over_rows
from partwise.priors import Terms
from partwise.priors.scalar import surrogate_minimiser
from partwise.solvers.base import AlternatingSolver, balanced_start
from partwise.solvers.extrapolation import Push, extrapolated_step
from partwise.solvers.one_pass import one_pass


def powers(beta: float) -> tuple[float, float]:
    """Exponents (p, q) of the surrogate for this β; see `surrogate_minimiser`."""
    if beta < 1.0:
        return beta - 2.0, 0.0
    if beta <= 2.0:
        return beta - 2.0, beta - 1.0
    return 0.0, beta - 1.0


@dataclass(frozen=True)
class MultiplicativeUpdate(AlternatingSolver):
    """Each entry goes to the minimiser of a surrogate that touches the objective where it stands.

    Parameters
    ----------
    extrapolate : bool
        Push the factors on along their last moves (see `partwise.solvers.extrapolation`), and stop by our rule
        rather than scikit-learn's.
    """

    extrapolate: bool = False
    name: ClassVar[str] = "mu"

    def lacks(self, problem: Problem) -> str | None:
        """Nothing: every loss, prior, weight and matrix."""
        return None

    def stopping(self, tol: float) -> Stopping:
        """scikit-learn's rule, or ours."""
        return RelativeProgress(tol) if self.extrapolate else ObjectiveEveryTen(tol)

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """W, then H from the new W."""
        beta, shift = problem.loss.beta, problem.shift

        def gather(block: InMemory, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return block.ratio_sums(A, B, beta, shift)

        def update(
            A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, order: np.ndarray
        ) -> float:
            multiply(A, sums, terms, order, beta)
            return float("nan")

        def attempt(at: State, push: Push | None) -> tuple[float, float]:
            violation, _ = one_pass(problem, at, gather, update, push)
            return violation, problem.objective(at.W, at.Ht)

        if self.extrapolate and problem.update_H:
            return extrapolated_step(problem, state, attempt, 0.0)
        _, state.objective = attempt(state, None)
        state.iteration += 1
        return state, Info(state.iteration, state.objective)

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """W-steps alone until they stop paying."""
        start = np.concatenate(
            [balanced_start(b, Ht, problem.prior_W.slice(rows)) for rows, b in problem.X.blocks()]
        )
        state = self.init(problem, start, Ht)
        return run(problem, self, state, stopping=RelativeProgress(1e-3 * tol), max_iter=max_iter).state.W


@dataclass(frozen=True)
class ExtrapolatedUpdate(MultiplicativeUpdate):
    """Multiplicative updates, pushed on: what "auto" takes where nothing faster is known."""

    extrapolate: bool = True
    name: ClassVar[str] = "emu"


def multiply(
    A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, order: np.ndarray, beta: float
) -> None:
    """The update itself, in place, for either factor."""
    num, den = sums
    p, q = powers(beta)
    linear, quadratic = terms.rows(len(A))
    # Entries on their way to zero are set to zero once they no longer register beside their column's largest.
    floor = np.finfo(np.float64).eps * A.max(axis=0, initial=0.0) if terms.log == 0 else np.zeros(A.shape[1])
    over_rows(
        lambda a, b: multiply_rows(
            A[a:b],
            num[a:b],
            den[a:b],
            order,
            linear[a:b],
            quadratic[a:b],
            terms.log,
            terms.concave,
            terms.shift,
            floor,
            p,
            q,
        ),
        len(A),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_rows(
    A: np.ndarray,
    num: np.ndarray,
    den: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: float,
    concave: float,
    eps: float,
    floor: np.ndarray,
    p: float,
    q: float,
) -> None:
    """Replace each entry by its surrogate's minimiser; the concave prior enters by its tangent."""
    for i in range(A.shape[0]):
        for t in order:
            a = np.float64(A[i, t])
            if a > 0.0:
                slope = linear[i] + (concave / (a + eps) if concave > 0.0 else 0.0)
                new = surrogate_minimiser(
                    a, np.float64(num[i, t]), np.float64(den[i, t]) + slope, quadratic[i], log_weight, p, q
                )
                A[i, t] = new if new > floor[t] else 0.0
