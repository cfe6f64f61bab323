"""One iteration in one pass over the row blocks, for solvers whose updates need only sums over the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from partwise.core import Problem, State
from partwise.matrix import InMemory
from partwise.priors import Terms
from partwise.solvers.extrapolation import Push

#: (block, A, B) → the sums that A's update needs; sums over the blocks of a matrix add up.
Gather = Callable[[InMemory, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
#: (A, sums, terms, order) → violation; updates the components `order` of A in place.
Update = Callable[[np.ndarray, tuple[np.ndarray, np.ndarray], Terms, np.ndarray], float]


class Passed(NamedTuple):
    """What one pass found: the violation met, W before it was pushed on, and the sums that were last used.

    The sums are those of H's update, or where H is held those of W's, which has a row for each row of X.
    """

    violation: float
    W_plain: np.ndarray
    sums: tuple[np.ndarray, np.ndarray]


def one_pass(
    problem: Problem,
    state: State,
    gather: Gather,
    update_W: Update,
    update_H: Update,
    push: Push | None = None,
    known: tuple[np.ndarray, np.ndarray] | None = None,
) -> Passed:
    """Update each block's rows of W, collect what H needs of them, then update H. Replaces the factors of the state.

    `push`, if given, moves each block's rows of W on before H is updated from them. `known` are the sums for the
    update of W where they have been found before; the first has a row for each row of X.
    """
    k = state.W.shape[1]
    terms, order = problem.terms_at_W(state.W, state.Ht), problem.order_W(k)

    def task(rows: slice, block: InMemory, A: np.ndarray) -> Any:
        A = A.copy()
        sums = gather(block, A, state.Ht) if known is None else (known[0][rows], known[1])
        violation = update_W(A, sums, terms.rows(rows), order)
        plain = A
        if push is not None:
            A = push(rows, A)
        if problem.update_H:
            return (A, plain), (*gather(block.T, state.Ht, A), np.array(violation))
        # What belongs to the rows is put together by rows; what is the same for all blocks, H being held, stays.
        return (A, plain, sums[0]), (np.array(violation),)

    if problem.update_H:
        (state.W, plain), (num, den, violation) = problem.X.map_reduce(task, state.W)
        met = float(violation)
        Ht = state.Ht.copy()
        met += update_H(Ht, (num, den), problem.terms_at_H(Ht, state.W), problem.order_H(k))
        state.Ht = Ht
        return Passed(met, plain, (num, den))
    (state.W, plain, num), (violation,) = problem.X.map_reduce(task, state.W)
    return Passed(float(violation), plain, (num, np.empty((0, 0))))
