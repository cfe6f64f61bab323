"""Coordinate descent on the entries of X: Kullback-Leibler, and Frobenius with missing data or weights.

The mathematics of one coordinate is in `partwise.solvers.descend`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partwise.core import Info, Problem, RelativeProgress, State, Stopping, ViolationRatio
from partwise.matrix import InMemory, RowSlab
from partwise.parallel import over_rows, own_threads
from partwise.priors import Terms
from partwise.solvers.base import AlternatingSolver, balanced_start
from partwise.solvers.descend import descend_rows
from partwise.solvers.extrapolation import Push, extrapolated_step, rounding


@dataclass(frozen=True)
class CoordinateDescent(AlternatingSolver):
    """Scalar Newton steps with damping, row by row.

    Parameters
    ----------
    inner_sweeps : int
        At most so many rounds over a row's coordinates for each reading of the row.
    extrapolate : bool
        Push the factors on along their last moves; see `partwise.solvers.extrapolation`.
    shuffle : bool
        Visit the components in a new random order each time.
    like_sklearn : bool
        Stop by scikit-learn's rule.
    """

    inner_sweeps: int = 2
    extrapolate: bool = True
    shuffle: bool = False
    like_sklearn: bool = False
    name: ClassVar[str] = "scd"

    def lacks(self, problem: Problem) -> str | None:
        """β = 1 or 2, data in memory."""
        if problem.loss.beta not in (1.0, 2.0):
            return (
                "minimises only the Kullback-Leibler and Frobenius losses; "
                f"for beta_loss={problem.loss.name!r} use 'mu'."
            )
        if not problem.X.in_memory:
            return "reads columns as well as rows, so X must be in memory; use 'hals' or 'mu'."
        return None

    def stopping(self, tol: float) -> Stopping:
        """Ours, or scikit-learn's."""
        return ViolationRatio(tol) if self.like_sklearn else RelativeProgress(tol)

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """W, then H as the W of the transposed problem; pushed on where that lowers the objective."""
        X = problem.X
        assert isinstance(X, InMemory)
        k = state.W.shape[1]

        def attempt(at: State, push: Push | None) -> tuple[float, float]:
            violation, rows = self._descend(X, at.W, at.Ht, problem, problem.prior_W, np.arange(k), rng)
            if push is not None:
                push(slice(0, len(at.W)), at.W)
            if problem.update_H:
                order = problem.order_H(k)
                more, rows = self._descend(X.T, at.Ht, at.W, problem, problem.prior_H, order, rng)
                violation += more
            elif X.row_weight is not None:
                rows = rows * X.row_weight
            return violation, problem.constant() + float(rows.sum()) + problem.prior_value(at.W, at.Ht)

        if self.extrapolate and problem.update_H:
            return extrapolated_step(problem, state, attempt, rounding(problem))
        violation, state.objective = attempt(state, None)
        state.iteration += 1
        return state, Info(state.iteration, state.objective, violation)

    def _descend(
        self,
        X: InMemory,
        A: np.ndarray,
        B: np.ndarray,
        problem: Problem,
        terms: Terms,
        order: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[float, np.ndarray]:
        order = rng.permutation(order) if self.shuffle else order
        return descend(X, A, B, problem.loss.beta, problem.shift, terms, order, self.inner_sweeps, 0.1)

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """One reading of each row; its own sweeps until it stands still."""
        X = problem.X
        assert isinstance(X, InMemory)
        still = max(0.1 * tol, 1e-10 if X.dtype == np.float64 else 1e-6)
        with own_threads():
            A = balanced_start(X, Ht, problem.prior_W)
            order = np.arange(Ht.shape[1])
            descend(X, A, Ht, problem.loss.beta, problem.shift, problem.prior_W, order, max_iter, 0.0, still)
        return A


def descend(
    X: InMemory,
    A: np.ndarray,
    B: np.ndarray,
    beta: float,
    shift: float,
    terms: Terms,
    order: np.ndarray,
    sweeps: int,
    keep: float,
    still: float = 0.0,
) -> tuple[float, np.ndarray]:
    """Up to `sweeps` rounds over the coordinates `order` of each row of A, in place.

    Returns the violation, and each row's loss without what does not depend on the factors.
    """
    Bc = X.inner(B)
    k = A.shape[1]
    # What entries outside the held ones contribute, for all rows alike.
    base = X.background * (Bc.sum(axis=0, dtype=float) if beta == 1.0 else np.zeros(k))
    gram = X.background * (B.T @ Bc).astype(float) if beta == 2.0 else np.zeros((k, k))
    Bt = np.ascontiguousarray(B.T)
    linear, quadratic = terms.rows(len(A))
    violation, loss = np.zeros(len(A)), np.zeros(len(A))

    def slab_task(slab: RowSlab) -> None:
        longest = int(np.diff(slab.indptr).max(initial=0))
        ratio = np.zeros(longest + 1, A.dtype)
        descend_rows(
            slab.indptr,
            slab.indices,
            slab.u,
            slab.v,
            A,
            Bt,
            base,
            gram,
            beta,
            shift,
            order,
            linear,
            quadratic,
            terms.log,
            terms.concave,
            terms.shift,
            sweeps,
            keep,
            still,
            violation,
            loss,
            ratio,
            ratio.view(np.int32 if ratio.itemsize == 4 else np.int64),
            slab.start,
        )

    def task(a: int, b: int) -> None:
        for slab in X.packed(a, b):
            slab_task(slab)

    over_rows(task, len(A), grain=8)
    return float(violation.sum()), loss
