"""What a loss leaves to the data, such as a dispersion, found with the means of a few short runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.core import Problem, Session, run
from partwise.matrix import InMemory, Joined
from partwise.solvers.base import AlternatingSolver

#: How a parameter of the loss is estimated: how often, iterations before each time, and from how many rows and
#: entries.
ESTIMATES, SHORT_RUN, SAMPLED_ROWS, SAMPLED_ENTRIES = 3, 30, 5000, 1_000_000


def with_estimated_loss(
    session: Session,
    problem: Problem,
    solver: AlternatingSolver,
    W: np.ndarray,
    Ht: np.ndarray,
    rng: np.random.Generator,
) -> Problem:
    """The problem with its loss's parameter estimated; short runs from W and Ht give the means."""
    loss = problem.loss
    for number in range(ESTIMATES):
        result = run(
            problem,
            solver,
            solver.init(problem, W, Ht),
            stopping=solver.stopping(1e-3),
            max_iter=SHORT_RUN,
            rng=rng,
            name=f"estimate{number}",
        )
        W, Ht = result.state.W, result.state.Ht
        n = problem.X.shape[0]
        rows = np.sort(rng.choice(n, min(n, SAMPLED_ROWS), replace=False))
        r = problem.X.row_weight
        share = None if r is None else np.asarray(r, dtype=float)[rows]
        # Labels beside the data are not drawn from its distribution.
        X = problem.X.X if isinstance(problem.X, Joined) else problem.X
        found = loss.estimate(*sampled_entries(X.rows(rows), W[rows], Ht[: X.shape[1]], rng, share))
        problem = replace(problem, loss=found)
        if session.stopped:
            break
    return problem


def sampled_entries(
    X: InMemory, W: np.ndarray, Ht: np.ndarray, rng: np.random.Generator, row_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, reconstructions and weights of observed entries of some rows.

    Columns are drawn at random where rows are long.
    """
    n, m = X.shape
    if n * m > SAMPLED_ENTRIES:
        columns = np.sort(rng.choice(m, max(1, SAMPLED_ENTRIES // n), replace=False))
        X, Ht = X.T.rows(columns).T, Ht[columns]
    weighted, weights = X.arrays(0, n)
    # A row of weight 2 is that row twice.
    often = weights if row_weight is None else weights * row_weight[:, None]
    seen = often > 0
    return weighted[seen] / weights[seen], (W @ Ht.T)[seen], often[seen]
