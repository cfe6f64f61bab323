"""Float64 data worked on in float32 for as long as that is exact enough, which takes half the time.

A fit ends when the objective falls by less than `tol` of itself in a step. Rounded to float32, data of some size give
this objective to about 1e-7 of the sum of their squares: steps that matter for a `tol` of 1e-5 are seen as well as in
float64. What is left is done in float64: the digits beyond, where a smaller `tol` asks for them or a fit is nearly
exact, the best W for the H that was found, and the loss.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.core import History, Problem, Result, State
from partwise.matrix import Dense, Sparse
from partwise.models.frobenius_start import is_plain
from partwise.models.run_end import ENOUGH_DIGITS
from partwise.solvers.base import AlternatingSolver

#: Entries (of sparse data those stored) times components from which on half of an iteration is worth a copy of X, and
#: bytes of the largest copy.
WORTHWHILE, LARGEST = 1 << 24, 1 << 31
#: The least tolerance that is judged in float32.
LEAST = 1e-5
#: Means of data that are neither too large nor too small for sums of products in float32.
RANGE = 1e-9, 1e9
#: Solvers that stop by the fall of the objective.
SOLVERS = ("hals", "scd")


def narrow_helps(problem: Problem, solver: AlternatingSolver, k: int, tol: float) -> bool:
    """Whether a fit begins in float32: complete float64 data of some size, nothing believed of the factors."""
    X = problem.X
    return (
        tol > 0
        and isinstance(X, Dense | Sparse)
        and X.dtype == np.float64
        and not X.weighted
        and solver.name in SOLVERS
        and not getattr(solver, "like_sklearn", False)
        and is_plain(problem)
        and (problem.loss.gram or problem.loss.newton == "poisson")
        and X.shape[0] * X.shape[1] * k >= WORTHWHILE
        and 4 * X.entries <= LARGEST
        and RANGE[0] < X.mean() < RANGE[1]
        and X.squared_norm() < 1e30
    )


def narrowed(problem: Problem) -> Problem:
    """The same problem in float32."""
    X = problem.X
    assert isinstance(X, Dense | Sparse)
    shift = problem.loss.shift(X.mean(), np.dtype(np.float32)) if problem.shift else 0.0
    return replace(problem, X=X.narrowed(), shift=shift)


def widened(result: Result[State]) -> Result[State]:
    """A result in float64; how good it is is not known to all digits, and is left to be found."""
    state = result.state
    wide = State(state.W.astype(np.float64), state.Ht.astype(np.float64), iteration=state.iteration)
    return replace(result, state=wide)


def wants_more(problem: Problem, solver: AlternatingSolver, result: Result[State], tol: float) -> bool:
    """Whether digits are missing that float32 does not give: `problem` is the one in float32."""
    few = result.state.objective <= ENOUGH_DIGITS * solver.slack(problem)
    return result.reason == "converged" and (tol < LEAST or few)


def joined(first: History, second: History) -> History:
    """One history of a run in two pieces; the second begins where the first has ended."""
    both = History()
    both.objective = first.objective + second.objective[1:]
    both.seconds = first.seconds + [first.seconds[-1] + seconds for seconds in second.seconds[1:]]
    for name in {*first.notes, *second.notes}:
        both.notes[name] = first.notes.get(name, []) + second.notes.get(name, [])
    return both
