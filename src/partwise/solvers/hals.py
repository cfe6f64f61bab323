"""Hierarchical alternating least squares: exact coordinate descent for the Frobenius norm.

With H held, every row of W is a small quadratic problem with the same k × k matrix G = H Hᵀ; one sweep
minimises over each coordinate in turn (Cichocki & Phan 2009; what scikit-learn calls "cd"). Repeating the sweep
while it pays costs no further pass over X (Gillis & Glineur 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from partwise.core import Info, Problem, RelativeProgress, State, Stopping, ViolationRatio
from partwise.matrix import InMemory
from partwise.parallel import over_rows
from partwise.priors import Terms
from partwise.priors.scalar import quadratic_minimiser
from partwise.solvers.base import AlternatingSolver, balanced_start
from partwise.solvers.one_pass import one_pass

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@dataclass(frozen=True)
class Hals(AlternatingSolver):
    """Coordinate descent on Gram matrices.

    Parameters
    ----------
    inner_sweeps : int
        At most so many sweeps for each pass over X; a row stops when a sweep moves it by less than a tenth
        of what the first did.
    shuffle : bool
        Visit the components in a new random order each time.
    like_sklearn : bool
        Stop by scikit-learn's rule.
    """

    inner_sweeps: int = 10
    shuffle: bool = False
    like_sklearn: bool = False
    name: ClassVar[str] = "hals"

    def lacks(self, problem: Problem) -> str | None:
        """Only the Frobenius loss, only with complete data."""
        if problem.loss.beta != 2.0:
            other = "'scd' or 'mu'" if problem.loss.beta == 1.0 else "'mu'"
            return f"minimises only the Frobenius loss; for beta_loss={problem.loss.name!r} use {other}."
        if problem.X.weighted:
            return "has no missing entries or entry weights; use 'scd' or 'mu', or leave it to 'auto'."
        return None

    def stopping(self, tol: float) -> Stopping:
        """Ours, or scikit-learn's."""
        return ViolationRatio(tol) if self.like_sklearn else RelativeProgress(tol)

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """W, then H."""

        def update(
            A: np.ndarray, sums: tuple[np.ndarray, np.ndarray], terms: Terms, order: np.ndarray
        ) -> float:
            order = rng.permutation(order) if self.shuffle else order
            return sweep(A, sums, terms, order, self.inner_sweeps, 0.1)

        violation, sums = one_pass(problem, state, gram_sums, update)
        state.iteration += 1
        state.objective = _objective(problem, state, sums)
        return state, Info(state.iteration, state.objective, violation)

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """One pass over X; then each row's own sweeps until it stands still."""
        parts = []
        # Sweeps are cheap here, so go on well past what was asked.
        still = max(1e-3 * tol, 1e-10 if problem.X.dtype == np.float64 else 1e-6)
        for rows, block in problem.X.blocks():
            terms = problem.prior_W.slice(rows)
            A = balanced_start(block, Ht, terms)
            sums = gram_sums(block, A, Ht)
            sweep(A, sums, terms, np.arange(Ht.shape[1]), max(max_iter, 1000), 0.0, still)
            parts.append(A)
        return np.concatenate(parts)


def gram_sums(block: InMemory, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X B and Bᵀ B, with inner weights: all that A's update asks of the data."""
    Bc = block.inner(B)
    return block.product(Bc), B.T @ Bc


def _objective(problem: Problem, state: State, sums: tuple[np.ndarray, np.ndarray]) -> float:
    """½‖X − W H‖² + priors from the sums at hand: no further pass over X. Accumulated in double precision."""
    N, G = sums[0], sums[1].astype(float)
    A = (state.Ht if problem.update_H else state.W).astype(float, copy=False)
    rows = 0.5 * np.einsum("ij,ij->i", A @ G, A) - np.einsum("ij,ij->i", N, A, dtype=float)
    r = None if problem.update_H else problem.X.row_weight
    loss = 0.5 * problem.squared_norm() + (rows.sum() if r is None else rows @ r)
    return max(float(loss), 0.0) + problem.prior_value(state.W, state.Ht)


def sweep(
    A: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray],
    terms: Terms,
    order: np.ndarray,
    sweeps: int,
    keep: float,
    still: float = 0.0,
) -> float:
    """Up to `sweeps` rounds over the coordinates `order` of every row of A, in place; returns the violation."""
    N, G = sums
    linear, quadratic = terms.rows(len(A))
    violation = np.zeros(len(A))
    over_rows(
        lambda a, b: sweep_rows(
            A[a:b],
            N[a:b],
            G,
            order,
            linear[a:b],
            quadratic[a:b],
            terms.log,
            terms.concave,
            terms.shift,
            sweeps,
            keep,
            still,
            violation[a:b],
        ),
        len(A),
    )
    return float(violation.sum())


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def sweep_rows(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    order: np.ndarray,
    linear: np.ndarray,
    quadratic: np.ndarray,
    log_weight: float,
    concave: float,
    eps: float,
    sweeps: int,
    keep: float,
    still: float,
    violation: np.ndarray,
) -> None:
    """Exact minimisation over one coordinate after the other.

    A row's sweeps end when one moves it by less than `keep` times the first sweep's movement, or by less
    than `still` times its own size; both are measured in units of the reconstruction.
    """
    k = A.shape[1]
    for i in range(A.shape[0]):
        first = 0.0
        for s in range(sweeps):
            moved = 0.0
            size = 0.0
            for t in order:
                dot = G.dtype.type(0.0)
                for r in range(k):
                    dot += G[t, r] * A[i, r]
                a = np.float64(A[i, t])
                curvature = np.float64(G[t, t])
                h = curvature + quadratic[i]
                slope = linear[i] + (concave / (a + eps) if concave > 0.0 else 0.0)
                b = np.float64(N[i, t]) - np.float64(dot) + curvature * a - slope
                if s == 0:
                    gradient = h * a - b - (log_weight / a if log_weight > 0.0 else 0.0)
                    violation[i] += abs(gradient) if a > 0.0 else max(-gradient, 0.0)
                new = quadratic_minimiser(h, b, log_weight, a)
                A[i, t] = new
                moved += h * (new - a) * (new - a)
                size += h * new * new
            if s == 0:
                first = moved
            if moved <= keep * keep * first or moved <= still * still * size:
                break
