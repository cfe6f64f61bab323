"""What the end of a run tells: the loss that it ended at, and whether it was still falling."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.core import Problem, Result, State
from partwise.solvers.base import AlternatingSolver

#: How many times the largest datum a part may put into an entry that is missing, before that is said.
BEYOND_DATA = 1e3
#: How many times its rounding an objective must be for its digits to do: four of them are left then.
ENOUGH_DIGITS = 1e4


def last_loss(problem: Problem, solver: AlternatingSolver, result: Result[State]) -> float:
    """The loss at the end of a run, from its objective; NaN where a step was cut short, or little is left of it.

    An objective that is found as a difference of large sums has few digits where the fit is nearly exact.
    """
    if result.reason == "interrupted":
        return float("nan")
    loss = result.state.objective - problem.prior_value(result.state.W, result.state.Ht)
    return float(loss) if loss > ENOUGH_DIGITS * solver.slack(problem) else float("nan")


def warn_unbounded(W: np.ndarray, Ht: np.ndarray, largest: float, exponent: int) -> None:
    """Say so where parts put far more into missing entries than any datum is.

    A column with one datum, in a row that hardly has a part, may have as much of that part as it likes: only their
    product is seen. Nothing in the data stops it from growing, and predictions elsewhere grow with it. Data and parts
    were divided by 2^exponent.
    """
    tops = np.abs(W).max(axis=0, initial=0.0).astype(float) * np.abs(Ht).max(axis=0, initial=0.0)
    if tops.max(initial=0.0) <= BEYOND_DATA * largest:
        return
    most, seen = (float(np.ldexp(one, exponent)) for one in (tops.max(), largest))
    warnings.warn(
        f"So many entries are missing that the data do not bound the parts: they put up to {most:.2g} into entries "
        f"that were not observed, where the largest that was is {seen:.3g}. Add a penalty, as alpha_W=0.01, or a "
        "prior; or leave out columns and rows with few observed entries.",
        UserWarning,
        stacklevel=5,
    )


def warn_unconverged(model: Any, objective: Sequence[float]) -> None:
    """Say so where a fit ended by `max_iter`, and how much the objective was still falling."""
    if model.ended_by_ != "max_iter" or model.tol == 0:
        return
    window = min(10, len(objective) - 1)
    # (Against where it fell from: a fit that has just begun may fall to a small part of that.)
    fall = (objective[-1 - window] - objective[-1]) / window / max(abs(objective[-1 - window]), 1e-300)
    accept = f", or set tol={2 * fall:.1g} to accept this" if model.tol < fall < 0.01 else ""
    warnings.warn(
        f"Maximum number of iterations {model.max_iter} reached. Increase it to improve convergence. "
        f"The objective was still falling by {100 * fall:.2g} % per iteration: raise max_iter, for "
        f"instance to {5 * model.max_iter}{accept}.",
        ConvergenceWarning,
        stacklevel=4,
    )
