"""Coordinate descent on the entries of X: Kullback-Leibler, and Frobenius with missing data or weights.

The mathematics of one coordinate is in `partwise.solvers.descend`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeGuard

import numpy as np

from partwise.core import Problem, RelativeProgress, State, Stopping, ViolationRatio
from partwise.losses import Loss
from partwise.matrix import Dense, InMemory, RowSlab
from partwise.parallel import over_rows, own_threads, worthwhile
from partwise.priors import Terms
from partwise.priors.terms import KernelTerms
from partwise.solvers.base import AlternatingSolver, balanced_start, signed
from partwise.solvers.descend import DESCEND
from partwise.solvers.descend_observed import by_length, descend_observed, with_the_rest
from partwise.solvers.descend_pairs import descend_pairs, rows_for_pairs
from partwise.solvers.extrapolation import Attempted, Push, rounding
from partwise.solvers.lanes import lanes_of
from partwise.solvers.row_start import least_squares_start
from partwise.solvers.sweep import HIGHEST

#: What entries of both factors are kept below while both are learned from data with gaps: what explains nothing that
#: was observed may grow in both, and squares of the product would overflow.
BOTH = {np.dtype(np.float32): 1e8, np.dtype(np.float64): 1e70}
#: Where a step reads X entry by entry, and so costs much, a run is done when as many steps again would gain less than
#: so many times the tolerance: with the default, half of a percent of the objective.
AHEAD = 50.0
#: Rounds over a row that signed components are given at least.
SIGNED_ROUNDS = 2000


@dataclass(frozen=True)
class CoordinateDescent(AlternatingSolver):
    """Scalar Newton steps with damping, row by row.

    Parameters
    ----------
    inner_sweeps : int
        Rounds over a row's coordinates for each reading of the row, at most.
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
        """Losses with a scalar Newton step, data in memory; signed factors only for the Frobenius loss."""
        if problem.loss.newton is None:
            return (
                "minimises only the Kullback-Leibler and Frobenius losses; "
                f"for beta_loss={problem.loss.name!r} use 'mu'."
            )
        if not problem.X.in_memory:
            other = "'hals' or 'mu'" if problem.loss.gram else "'emu' or 'mu'"
            return f"reads columns as well as rows, so X must be in memory; use {other}."
        if isinstance(problem.X, InMemory) and not problem.X.has_entries:
            return "reads X entry by entry, which data with labels do not offer; use 'hals' or 'mu'."
        if problem.loss.pole and signed(problem):
            return (
                f"keeps factors nonnegative under beta_loss={problem.loss.name!r}; use beta_loss='frobenius'."
            )
        return None

    def stopping(self, tol: float) -> Stopping:
        """Relative progress, or scikit-learn's rule with `like_sklearn`."""
        return ViolationRatio(tol) if self.like_sklearn else RelativeProgress(tol, AHEAD)

    def slack(self, problem: Problem) -> float:
        """The objective is a difference of large sums."""
        return rounding(problem)

    def attempt(self, problem: Problem, at: State, push: Push | None, rng: np.random.Generator) -> Attempted:
        """W, then H as the W of the transposed problem."""
        X = problem.X
        assert isinstance(X, InMemory)
        k = at.W.shape[1]
        plain, terms = at.W.copy(), problem.terms_at_W(at.W, at.Ht)
        measured = not problem.update_H
        violation, rows = self._descend(X, plain, at.Ht, problem, terms, problem.order_W(k), rng, measured)
        at.W = plain if push is None else push(slice(0, len(plain)), plain)
        if problem.update_H:
            Ht, terms = at.Ht.copy(), problem.terms_at_H(at.Ht, at.W)
            more, rows = self._descend(X.T, Ht, at.W, problem, terms, problem.order_H(k), rng)
            at.Ht = Ht
            violation += more
        elif X.row_weight is not None:
            rows = rows * X.row_weight
        objective = problem.constant() + float(rows.sum()) + problem.prior_value(at.W, at.Ht)
        return Attempted(violation, objective, plain)

    def _descend(
        self,
        X: InMemory,
        A: np.ndarray,
        B: np.ndarray,
        problem: Problem,
        terms: Terms,
        order: np.ndarray,
        rng: np.random.Generator,
        measured: bool = True,
    ) -> tuple[float, np.ndarray]:
        order = rng.permutation(order) if self.shuffle else order
        loss, shift = problem.loss, problem.shift
        most = (BOTH if problem.update_H else HIGHEST)[A.dtype]
        return descend(
            X, A, B, loss, shift, terms, order, self.inner_sweeps, 0.1, measured=measured, highest=most
        )

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """One reading of each row, with sweeps until it no longer changes."""
        X = problem.X
        assert isinstance(X, InMemory)
        still = max(tol, 1e-10 if X.dtype == np.float64 else 1e-6)
        with own_threads():
            A = balanced_start(X, Ht, problem.terms_W)
            if in_pairs(X, problem.loss) and not signed(problem) and X.inner_weight is None:
                least_squares_start(X, A, Ht, problem.terms_W)
            order = np.arange(Ht.shape[1])
            # Signed components cancel each other, and rows then settle slowly.
            rounds = max(max_iter, SIGNED_ROUNDS) if Ht.min(initial=0.0) < 0 else max_iter
            descend(X, A, Ht, problem.loss, problem.shift, problem.terms_W, order, rounds, 0.0, still, False)
        return A


def in_pairs(X: InMemory, loss: Loss) -> TypeGuard[Dense]:
    """Whether rows are read two at a time: the Kullback-Leibler loss, dense data without weights."""
    return loss.newton == "poisson" and isinstance(X, Dense) and not X.weighted


def descend(
    X: InMemory,
    A: np.ndarray,
    B: np.ndarray,
    loss: Loss,
    shift: float,
    terms: Terms,
    order: np.ndarray,
    sweeps: int,
    keep: float,
    still: float = 0.0,
    measured: bool = True,
    highest: float | None = None,
) -> tuple[float, np.ndarray]:
    """Up to `sweeps` rounds over the coordinates `order` of each row of A, in place; entries stay below `highest`.

    Returns the violation, and each row's loss without what does not depend on the factors; zeros unless `measured`.
    """
    held = terms.for_kernels(*A.shape)
    held = held._replace(upper=min(held.upper, HIGHEST[A.dtype] if highest is None else highest))
    if loss.newton == "quadratic" and X.only_observed and not (held.log.any() or held.concave.any()):
        return descend_where_observed(X, A, B, held, order, (sweeps, keep, still, measured))
    Bc = X.inner(B)
    k = A.shape[1]
    # What entries outside the held ones contribute, for all rows alike.
    assert loss.newton is not None
    base = X.background * (Bc.sum(axis=0, dtype=float) if loss.flat else np.zeros(k))
    gram = X.background * (B.T @ Bc).astype(float) if loss.gram and X.background else np.zeros((0, 0))
    violation, losses = np.zeros(len(A)), np.zeros(len(A))
    Bt = np.ascontiguousarray(B.T)
    descend_rows = DESCEND[loss.newton]
    pairs = in_pairs(X, loss)

    def slab_task(slab: RowSlab) -> None:
        longest = int(np.diff(slab.indptr).max(initial=0))
        ratio = np.zeros(longest + 1, A.dtype)
        bits = ratio.view(np.int32 if ratio.itemsize == 4 else np.int64)
        settings = (
            shift,
            order,
            *held,
            sweeps,
            keep,
            still,
            measured,
            violation,
            losses,
            ratio,
            bits,
            slab.start,
        )
        alone = np.arange(slab.stop - slab.start)
        if pairs and longest:
            rows = slab.u.reshape(-1, longest)
            fit_for_pairs = rows_for_pairs(rows)
            together, alone = np.flatnonzero(fit_for_pairs), np.flatnonzero(~fit_for_pairs)
            if together.size:
                descend_pairs(together, rows, A, Bt, base, *settings)
        if alone.size:
            descend_rows(alone, slab.indptr, slab.indices, slab.u, slab.v, A, Bt, base, gram, *settings)

    def task(a: int, b: int) -> None:
        for slab in X.packed(a, b):
            slab_task(slab)

    over_rows(task, len(A), grain=worthwhile(5.0 * X.entries / max(1, len(A)) * k, 8))
    return float(violation.sum()), losses


def descend_where_observed(
    X: InMemory,
    A: np.ndarray,
    B: np.ndarray,
    terms: KernelTerms,
    order: np.ndarray,
    ends: tuple[int, float, float, bool],
) -> tuple[float, np.ndarray]:
    """`descend` under the Frobenius loss, entries observed or missing; `ends` are its last four arguments."""
    violation, losses, B = np.zeros(len(A)), np.zeros(len(A)), np.ascontiguousarray(B)
    k = A.shape[1]
    visits = with_the_rest(order, k), len(order)

    def task(a: int, b: int) -> None:
        for slab in X.packed(a, b):
            rows = by_length(slab.indptr, k, A.dtype)
            data, prior = (slab.indptr, slab.indices, slab.u), (terms.linear, terms.quadratic)
            bounds = terms.lower, terms.upper
            descend_observed(
                *rows, *data, A, B, *visits, *prior, *bounds, *ends, violation, losses, slab.start
            )

    # Ranges of whole groups of rows: where some lanes are empty, time is lost.
    over_rows(task, len(A), grain=worthwhile(5.0 * X.entries / max(1, len(A)) * k, lanes_of(A.dtype)))
    return float(violation.sum()), losses
