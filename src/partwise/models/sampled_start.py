"""A start for tall data: factors of a sample of the rows, and the best W of all rows for the H of the sample.

Where there are many more rows than columns, a few rows for each column tell almost as much of H as all of them do,
and an iteration on them costs as much less as they are fewer. What the sample leaves open the fit itself settles.
"""

from __future__ import annotations

import numpy as np

from partwise.core import Problem, Session, run
from partwise.initial import start_factors
from partwise.matrix import Dense
from partwise.models.frobenius_start import ENOUGH, is_plain
from partwise.solvers import AlternatingSolver, Hals

#: Rows of the sample for each column, and how many times as many there must be for a sample to pay.
ROWS, TALL = 10, 2
#: Entries of X from which on a fit takes long enough.
ENTRIES = 1 << 21


def sample_helps(problem: Problem, solver: AlternatingSolver) -> bool:
    """Whether a sample is a good start: tall or wide, dense, complete data of some size, solved by Gram matrices."""
    X = problem.X
    long, short = max(X.shape), min(X.shape)
    return (
        solver.name == "hals"
        and isinstance(X, Dense)
        and not X.weighted
        and X.row_weight is None
        and is_plain(problem)
        and long >= TALL * ROWS * short
        and long * short >= ENTRIES
    )


def sampled_start(
    session: Session, problem: Problem, k: int, tol: float, max_iter: int, rng: np.random.Generator, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ to begin at, by a fit of a sample of the rows (of the columns, where there are more of these).

    Parameters
    ----------
    session : Session
        Of the fit.
    problem : Problem
        What is to be solved afterwards.
    k : int
        Number of components.
    tol, max_iter
        Of the fit.
    rng : Generator
        Draws the sample.
    name : str
        Of the run in a checkpoint.

    Returns
    -------
    W, Ht : arrays of shape (n_samples, k) and (n_features, k)
        The factors to begin at.
    """
    n, m = problem.X.shape
    tall = problem if n >= m else problem.T
    chosen = np.sort(rng.choice(max(n, m), ROWS * min(n, m), replace=False))
    part = tall.rows(chosen)
    solver = Hals()
    start = session.stage(
        f"{name}-factors", lambda: dict(zip(("W", "Ht"), start_factors(part.X, k, None, rng))), rng
    )
    result = run(
        part,
        solver,
        solver.init(part, start["W"], start["Ht"]),
        stopping=solver.stopping(max(tol, ENOUGH)),
        max_iter=max_iter,
        rng=rng,
        name=name,
    )
    held = result.state.Ht
    # A row needs to be solved no better than the iterations to come would solve it.
    W = session.completed(lambda: solver.solve_rows(tall, held, 20, 0.01))
    return (W, held) if n >= m else (held, W)
