"""Multiplicative updates for every loss.

Lee & Seung (1999) for β = 1 and β = 2, Févotte & Idier (2011) for the others. Under Gamma priors the rule for β = 1
is the MAP-EM of Ben Baccar (2018), equations 5 and 6, which are printed with the factors of step t on the right; that
is not monotone. Here W is updated first, and H from the new W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.core import ObjectiveEveryTen, Problem, RelativeProgress, State, Stopping, run, whole_session
from partwise.jit import njit
from partwise.matrix import InMemory
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Terms
from partwise.priors.scalar import surrogate_minimiser
from partwise.solvers.base import AlternatingSolver, balanced_start, signed
from partwise.solvers.extrapolation import Attempted, Push
from partwise.solvers.one_pass import one_pass


@dataclass(frozen=True)
class MultiplicativeUpdate(AlternatingSolver):
    """Each entry goes to the minimiser of a surrogate that touches the objective at the current factors.

    Parameters
    ----------
    extrapolate : bool
        Push the factors on along their last moves (see `partwise.solvers.extrapolation`), and stop by relative
        progress rather than by scikit-learn's rule.
    """

    extrapolate: bool = False
    name: ClassVar[str] = "mu"

    def lacks(self, problem: Problem) -> str | None:
        """Every loss, prior, weight and matrix, but only nonnegative factors."""
        if signed(problem):
            return "keeps factors nonnegative; for signed factors use 'hals', or 'scd' with missing entries."
        return None

    def stopping(self, tol: float) -> Stopping:
        """Rule of scikit-learn; with `extrapolate`, relative progress."""
        return RelativeProgress(tol) if self.extrapolate else ObjectiveEveryTen(tol)

    def attempt(self, problem: Problem, at: State, push: Push | None, rng: np.random.Generator) -> Attempted:
        """W, then H from the new W."""

        def gather(block: InMemory, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return block.ratio_sums(A, B, problem.loss, problem.shift)

        def update(
            A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, order: np.ndarray
        ) -> float:
            multiply(A, sums, terms, order, problem.loss.powers)
            return float("nan")

        done = one_pass(problem, at, gather, update, update, push)
        return Attempted(done.violation, problem.objective(at.W, at.Ht), done.W_plain)

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """W-steps alone until the objective hardly falls."""

        def task(rows: slice, block: InMemory) -> Any:
            return (balanced_start(block, Ht, problem.terms_W.rows(rows)),), ()

        state = self.init(problem, problem.X.map_reduce(task)[0][0], Ht)
        with whole_session():
            return run(problem, self, state, stopping=RelativeProgress(1e-3 * tol), max_iter=max_iter).state.W


@dataclass(frozen=True)
class ExtrapolatedUpdate(MultiplicativeUpdate):
    """Multiplicative updates, pushed on: what "auto" takes where nothing faster is known."""

    extrapolate: bool = True
    name: ClassVar[str] = "emu"


def multiply(
    A: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray],
    terms: Terms,
    order: np.ndarray,
    powers: tuple[float, float],
) -> None:
    """The update itself, in place, for either factor."""
    num, den = sums
    p, q = powers
    held = terms.for_kernels(*A.shape)
    # Entries on their way to zero are set to zero once they no longer register beside their column's largest, and
    # what they explain of the data does not register beside what the column explains: a tiny entry may be all that
    # stands for a datum, and without it a loss with a pole would rise.
    floor = np.where(held.log > 0, 0.0, np.finfo(np.float64).eps * A.max(axis=0, initial=0.0))
    least = np.finfo(np.float64).eps * np.einsum("ij,ij->j", A, num, dtype=float)
    over_rows(
        lambda a, b: multiply_rows(
            A[a:b],
            num[a:b],
            den[a:b],
            order,
            *held.rows(a, b),
            held.log,
            held.concave,
            held.shift,
            held.upper,
            floor,
            least,
            p,
            q,
        ),
        len(A),
        grain=worthwhile(20.0 * A.shape[1], 64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_rows(
    A: np.ndarray,
    num: np.ndarray,
    den: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: np.ndarray,
    concave: np.ndarray,
    eps: np.ndarray,
    upper: float,
    floor: np.ndarray,
    least: np.ndarray,
    p: float,
    q: float,
) -> None:
    """Replace each entry by its surrogate's minimiser; the concave prior enters by its tangent.

    A linear term that pulls up (a coupling's) is majorised as the numerator is: it lies below its own power r^(p+1).
    """
    # Terms with a single row, or a single column, hold for all.
    row, column = int(linear.shape[0] > 1), int(linear.shape[1] > 1)
    deep, wide = int(quadratic.shape[0] > 1), int(quadratic.shape[1] > 1)
    for i in range(A.shape[0]):
        for t in order:
            a = np.float64(A[i, t])
            if a > 0.0:
                slope = linear[row * i, column * t]
                down = max(slope, 0.0) + (concave[t] / (a + eps[t]) if concave[t] > 0.0 else 0.0)
                new = surrogate_minimiser(
                    a,
                    np.float64(num[i, t]) - min(slope, 0.0),
                    np.float64(den[i, t]) + down,
                    quadratic[deep * i, wide * t],
                    log_weight[t],
                    p,
                    q,
                )
                kept = new > floor[t] or a * np.float64(num[i, t]) > least[t]
                A[i, t] = min(new, upper) if kept else 0.0
