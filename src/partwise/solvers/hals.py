"""Hierarchical alternating least squares: exact coordinate descent for the Frobenius norm.

With H held, every row of W is a small quadratic problem with the same k × k matrix G = H Hᵀ; one sweep
minimises over each coordinate in turn (Cichocki & Phan 2009; what scikit-learn calls "cd"). Repeating the sweep
while it pays costs no further pass over X (Gillis & Glineur 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.core import Problem, RelativeProgress, State, Stopping, ViolationRatio
from partwise.matrix import InMemory, Matrix
from partwise.parallel import own_threads
from partwise.priors import Terms
from partwise.solvers.active_set import finish_rows
from partwise.solvers.base import AlternatingSolver, balanced_start
from partwise.solvers.extrapolation import Attempted, Push, rounding
from partwise.solvers.one_pass import Update, one_pass
from partwise.solvers.sweep import inner_product, sweep


@dataclass(frozen=True)
class Hals(AlternatingSolver):
    """Coordinate descent on Gram matrices.

    Parameters
    ----------
    inner_sweeps : int
        Sweeps for each product with X, at most, and no more than half of what the product costs (the rule of Gillis &
        Glineur 2012); a row stops when a sweep moves it by less than a tenth of what the first did.
    extrapolate : bool
        Push the factors on along their last moves; see `partwise.solvers.extrapolation`.
    shuffle : bool
        Visit the components in a new random order each time.
    like_sklearn : bool
        Stop by scikit-learn's rule.
    """

    inner_sweeps: int = 5
    extrapolate: bool = True
    shuffle: bool = False
    like_sklearn: bool = False
    name: ClassVar[str] = "hals"

    def lacks(self, problem: Problem) -> str | None:
        """Only the Frobenius loss, only with complete data."""
        if not problem.loss.gram:
            other = "'scd' or 'mu'" if problem.loss.newton else "'mu'"
            return f"minimises only the Frobenius loss; for beta_loss={problem.loss.name!r} use {other}."
        if problem.X.weighted:
            return "has no missing entries or entry weights; use 'scd' or 'mu', or leave it to 'auto'."
        return None

    def stopping(self, tol: float) -> Stopping:
        """Relative progress, or scikit-learn's rule with `like_sklearn`."""
        return ViolationRatio(tol) if self.like_sklearn else RelativeProgress(tol)

    def slack(self, problem: Problem) -> float:
        """The objective is a difference of large sums."""
        return rounding(problem)

    def value(self, problem: Problem, state: State) -> float:
        """From one product with X, as the steps find it; the state keeps the product for the first of them."""
        G = problem.X.gram(state.Ht) if isinstance(problem.X, InMemory) else state.Ht.T @ state.Ht

        def task(rows: slice, block: InMemory, A: np.ndarray) -> Any:
            N = block.product(block.inner(state.Ht))
            return (N,), (np.array(_gram_loss(A, (N, G), block.row_weight, block.row_groups)),)

        (N,), (loss,) = problem.X.map_reduce(task, state.W)
        state.extra = {**(state.extra or {}), "N": N, "G": G}
        return max(problem.constant() + float(loss), 0.0) + problem.prior_value(state.W, state.Ht)

    def attempt(self, problem: Problem, at: State, push: Push | None, rng: np.random.Generator) -> Attempted:
        """Sweeps over W, then over H, each on its Gram matrix."""
        n, m = problem.X.shape
        groups_W, groups_H = row_groups(problem.X), column_groups(problem.X)
        update_W, update_H = self._update(problem, rng, n, groups_W), self._update(problem, rng, m, groups_H)
        extra = at.extra or {}
        # Sums that `value` found at the start: no step has moved H since.
        known = (extra.pop("N"), extra.pop("G")) if "N" in extra else None
        done = one_pass(problem, at, gram_sums, update_W, update_H, push, known)
        if problem.update_H:
            loss = _gram_loss(at.Ht, done.sums, None, groups_H)
        else:
            G = problem.X.gram(at.Ht) if isinstance(problem.X, InMemory) else at.Ht.T @ at.Ht
            loss = _gram_loss(at.W, (done.sums[0], G), problem.X.row_weight, groups_W)
        # Sums over the rows are accumulated in double precision, since the terms nearly cancel.
        objective = max(problem.constant() + loss, 0.0) + problem.prior_value(at.W, at.Ht)
        return Attempted(done.violation, objective, done.W_plain)

    def _update(
        self, problem: Problem, rng: np.random.Generator, n_rows: int, groups: np.ndarray | None
    ) -> Update:
        def update(
            A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, order: np.ndarray
        ) -> float:
            order = rng.permutation(order) if self.shuffle else order
            # A row's product touches entries / n_rows numbers k times over, its sweep k numbers k times.
            worth = 1 + problem.X.entries / max(1, 2 * n_rows * A.shape[1])
            sweeps = max(1, min(self.inner_sweeps, round(worth)))
            return sweep(A, sums, terms, order, sweeps, 0.1, measure=self.like_sklearn, groups=groups)

        return update

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """One pass over X; then sweeps over each row until it no longer changes, or an active set where it creeps."""
        # Sweeps are cheap here, so go on well past what was asked.
        still = max(1e-3 * tol, 1e-10 if problem.X.dtype == np.float64 else 1e-6)

        def task(rows: slice, block: InMemory) -> Any:
            terms = problem.terms_W.rows(rows)
            A = balanced_start(block, Ht, terms)
            sums = gram_sums(block, A, Ht)
            order, most = np.arange(Ht.shape[1]), max(max_iter, 1000)
            sweep(A, sums, terms, order, most, 0.0, still, groups=block.row_groups)
            if block.row_groups is None:
                finish_rows(A, sums, terms, still)
            return (A,), ()

        with own_threads():
            return problem.X.map_reduce(task)[0][0]


def gram_sums(block: InMemory, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X B and Bᵀ B, with inner weights: all that A's update asks of the data."""
    return block.product(block.inner(B)), block.gram(B)


def _gram_loss(
    A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], r: np.ndarray | None, groups: np.ndarray | None
) -> float:
    """½⟨G, AᵀA⟩ − ⟨N, A⟩, the rows of A weighted by r; with groups of rows, each with its own G."""
    N, G = sums
    weighted = A if r is None else A * r[:, None].astype(A.dtype)
    if groups is None:
        gram = float(np.vdot(G.astype(float), (A.T @ weighted).astype(float)))
    else:
        members = (np.flatnonzero(groups == g) for g in range(len(G)))
        gram = sum(float(np.vdot(g, (A[i].T @ weighted[i]).astype(float))) for g, i in zip(G, members))
    return 0.5 * gram - inner_product(N, weighted)


def row_groups(X: Matrix) -> np.ndarray | None:
    """Rows of X that share a Gram matrix."""
    return X.row_groups if isinstance(X, InMemory) else None


def column_groups(X: Matrix) -> np.ndarray | None:
    """Columns of X that share a Gram matrix."""
    return X.T.row_groups if isinstance(X, InMemory) and X.row_groups is not None else None
