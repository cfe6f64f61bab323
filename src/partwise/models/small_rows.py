"""Rows that are much smaller than those of the fit, solved at the size of these.

Losses with a pole at 0 add a constant δ to every reconstruction, tiny against the mean of the data of the fit
(`partwise.losses.Loss.shift`). Against a row that is smaller by many orders of magnitude it is not tiny: it would
explain the row by itself, and leave nothing to the parts. A homogeneous loss does not see units, so such a row is
multiplied by a power of two, solved, and its W divided by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.core import Problem
from partwise.matrix import Dense, Sparse
from partwise.priors import Terms
from partwise.solvers.base import AlternatingSolver

#: Rows whose mean is below this share of that of the fit are small: δ is then 1e-5 of it in single precision.
SMALL = 2.0**-10


def solve_rows(
    solver: AlternatingSolver, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """The best W for a held H, whatever the sizes of rows.

    Parameters
    ----------
    solver : AlternatingSolver
        What solves for the rows.
    problem : Problem
        Of which W is to be found.
    Ht : array of shape (n_features, n_components)
        The transpose of H.
    max_iter, tol
        As of `AlternatingSolver.solve_rows`.

    Returns
    -------
    array of shape (n_samples, n_components)
        W.
    """
    W = solver.solve_rows(problem, Ht, max_iter, tol)
    if problem.shift == 0 or problem.loss.degree is None or not _free(problem.terms_W):
        return W
    X = problem.X
    usual = problem.shift / problem.loss.shift(1.0, X.dtype)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = X.product(np.ones((X.shape[1], 1), X.dtype))[:, 0].astype(float) / X.row_observed()
    small = np.flatnonzero((means > 0) & (means < SMALL * usual))
    if not small.size:
        return W
    part = X.rows(small)
    if not isinstance(part, Dense | Sparse):
        return W
    exponents = np.round(np.log2(usual) - np.log2(means[small])).astype(int)
    raised = replace(problem, X=part.raised(exponents), prior_W=problem.prior_W.rows(small))
    W[small] = np.ldexp(solver.solve_rows(raised, Ht, max_iter, tol), -exponents[:, None])
    return W


def _free(terms: Terms) -> bool:
    """Whether nothing but signs is believed of W, so that a row may be multiplied by any number."""
    return bool(terms.scale_free) and terms.lower in (0.0, -np.inf) and terms.upper == np.inf
