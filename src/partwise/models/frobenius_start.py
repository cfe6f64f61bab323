"""A start for the Kullback-Leibler divergence: the factors of the same data under the Frobenius loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.core import Problem, Session, run
from partwise.losses import FROBENIUS
from partwise.matrix import Dense
from partwise.solvers import AlternatingSolver, Hals

#: Iterations under the Frobenius loss for each that the fit may take: they cost about a tenth.
ITERATIONS = 2
#: Entries at zero are raised to this share of the mean of their component, so that no datum is left without a part.
RAISED = 1e-3
#: The tolerance of the start, whatever that of the fit: nobody needs a start to be exact.
ENOUGH = 1e-4


def is_plain(problem: Problem) -> bool:
    """Whether both factors are learned whole, with nothing believed of them but that they are nonnegative."""
    tied = problem.pairings or problem.prior_W.couplings() or problem.prior_H.couplings()
    free = not tied and all(
        terms.scale_free and terms.lower == 0 and terms.upper == np.inf
        for terms in (problem.terms_W, problem.terms_H)
    )
    return free and problem.update_H and problem.free_H is None and problem.free_W is None


def helps(problem: Problem, solver: AlternatingSolver) -> bool:
    """Whether such a start is cheap beside the fit: dense, complete data, and coordinate descent on entries.

    Where data are sparse an iteration of coordinate descent costs little more than one of the Frobenius loss, and the
    factors of the two are less alike.
    """
    X = problem.X
    return (
        problem.loss.newton == "poisson"
        and solver.name == "scd"
        and isinstance(X, Dense)
        and not X.weighted
        and is_plain(problem)
    )


def frobenius_start(
    session: Session,
    problem: Problem,
    W: np.ndarray,
    Ht: np.ndarray,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    name: str,
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ after a fit under the Frobenius loss from W and Hᵀ; those given where the fit was stopped.

    Parameters
    ----------
    session : Session
        Of the fit.
    problem : Problem
        What is to be solved afterwards.
    W, Ht : arrays of shape (n_samples, n_components) and (n_features, n_components)
        Where to begin.
    tol, max_iter
        Of the fit.
    rng : Generator
        Of the fit.
    name : str
        Of the run in a checkpoint.

    Returns
    -------
    W, Ht : arrays
        The factors to begin at.
    """
    squares = replace(problem, loss=FROBENIUS, shift=0.0)
    solver = Hals()
    result = run(
        squares,
        solver,
        solver.init(squares, W.copy(), Ht.copy()),
        stopping=solver.stopping(max(tol, ENOUGH)),
        max_iter=ITERATIONS * max_iter,
        rng=rng,
        name=name,
    )
    if session.stopped:
        return W, Ht
    # (A row of weight 2 is a row that occurs twice.)
    found = ((result.state.W, problem.X.row_weight), (result.state.Ht, None))
    raised = [
        np.maximum(A, (RAISED * np.average(A, axis=0, weights=weights)).astype(A.dtype))
        for A, weights in found
    ]
    better = problem.data_loss(raised[0], raised[1]) < problem.data_loss(W, Ht)
    return (raised[0], raised[1]) if better else (W, Ht)
