"""One iteration in one pass over the row blocks, for solvers whose updates need only sums over the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partwise.core import Problem, State
from partwise.matrix import InMemory
from partwise.priors import Terms

#: (block, A, B) → the sums that A's update needs; sums over the blocks of a matrix add up.
Gather = Callable[[InMemory, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
#: (A, sums, terms, order) → violation; updates the components `order` of A in place.
Update = Callable[[np.ndarray, tuple[np.ndarray, np.ndarray], Terms, np.ndarray], float]


def one_pass(
    problem: Problem,
    state: State,
    gather: Gather,
    update: Update,
    push: Callable[[slice, np.ndarray], None] | None = None,
    update_H: Update | None = None,
) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """Update each block's rows of W, collect what H needs of them, then update H (by `update_H` where that differs).

    `push`, if given, moves each block's rows of W on before H is told of them. Returns the violation met, and the
    sums that were last used: H's, or W's where H is held.
    """
    k = state.W.shape[1]
    everything = np.arange(k)
    violation = 0.0
    total: tuple[np.ndarray, np.ndarray] | None = None
    for rows, block in problem.X.blocks():
        A = state.W[rows]
        sums = gather(block, A, state.Ht)
        violation += update(A, sums, problem.prior_W.slice(rows), everything)
        if push is not None:
            push(rows, A)
        if problem.update_H:
            sums = gather(block.T, state.Ht, A)
            if total is not None:
                for kept, new in zip(total, sums):
                    kept += new
        total = sums if total is None else total
    assert total is not None
    if problem.update_H:
        violation += (update_H or update)(state.Ht, total, problem.prior_H, problem.order_H(k))
    return violation, total
