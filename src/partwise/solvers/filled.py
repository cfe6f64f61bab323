"""Coordinate descent on Gram matrices for data with missing entries, which are filled in by the reconstruction.

The Frobenius loss over the observed entries M is at most that of the completed data,

    ½ Σ_M (x − (A Bᵀ))²  ≤  ½ ‖X̃ − A Bᵀ‖²,      X̃ = X on M, A₀ B₀ᵀ elsewhere,

with equality at A₀, B₀: lowering the right-hand side lowers the left (it is EM; Zhang et al. 2006 use it for NMF).
So a half-step is that of complete data, and X̃ B = (ω X) B + ((1 − ω) ∘ A₀ Bᵀ) B needs the reconstruction only where
entries are missing. Few of them are visited one by one; of many, the reconstruction is found by products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from partwise.core import Info, Problem, RelativeProgress, State, Stopping
from partwise.jit import njit
from partwise.matrix import Dense
from partwise.parallel import over_rows, worthwhile
from partwise.solvers.base import AlternatingSolver
from partwise.solvers.extrapolation import Attempted, Push, rounding
from partwise.solvers.scd import BOTH, CoordinateDescent
from partwise.solvers.sweep import HIGHEST, inner_product, sweep

#: Shares of missing entries above which products are cheaper than visits, and above which most of a filled matrix is
#: made up, so that coordinate descent on the observed entries gets further.
FEW, MANY = 0.3, 0.4


class Holes(NamedTuple):
    """Where entries are missing, by rows and by columns, as compressed rows without values, and their share.

    The lists are empty where more than `FEW` are missing.
    """

    share: float
    by_row: tuple[np.ndarray, np.ndarray]
    by_column: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FilledHals(AlternatingSolver):
    """Sweeps on Gram matrices of the completed data.

    Parameters
    ----------
    inner_sweeps : int
        Sweeps for each product, at most.
    extrapolate : bool
        Push the factors on along their last moves; see `partwise.solvers.extrapolation`.
    shuffle : bool
        Visit the components in a new random order each time.
    """

    inner_sweeps: int = 5
    extrapolate: bool = True
    shuffle: bool = False
    name: ClassVar[str] = "filled"

    def lacks(self, problem: Problem) -> str | None:
        """Dense data of which entries are either observed or missing, the Frobenius loss."""
        if not problem.loss.gram:
            return (
                f"minimises only the Frobenius loss; for beta_loss={problem.loss.name!r} use 'scd' or 'mu'."
            )
        if not isinstance(problem.X, Dense) or not problem.X.weighted:
            return "fills in what is missing from dense data; use 'hals' for complete data, 'scd' for sparse data."
        holes = holes_of(problem)
        if holes is None:
            return "takes entries as observed or missing; for weights of entries use 'scd' or 'mu'."
        if holes.share > MANY:
            return "fills in at most 40 % of the entries; use 'scd', which visits those that were observed."
        return None

    def stopping(self, tol: float) -> Stopping:
        """Relative progress."""
        return RelativeProgress(tol)

    def slack(self, problem: Problem) -> float:
        """The objective is a difference of large sums."""
        return rounding(problem)

    def step(self, problem: Problem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One iteration; a start that is worse than no factors at all is first brought to the size of the data.

        What is missing is filled in by it: from factors in other units parts would be learned of their own product.
        """
        worse = state.iteration == 0 and state.objective > problem.constant()
        if worse and problem.update_H and problem.terms_W.scale_free:
            state.W *= state.W.dtype.type(nearest_size(problem, state))
        return super().step(problem, state, rng)

    def attempt(self, problem: Problem, at: State, push: Push | None, rng: np.random.Generator) -> Attempted:
        """Sweeps over W, then over H, each on the data completed where it begins."""
        X, k = problem.X, at.W.shape[1]
        assert isinstance(X, Dense)
        holes = holes_of(problem)
        assert holes is not None
        W, violation = at.W.copy(), 0.0
        most = (BOTH if problem.update_H else HIGHEST)[W.dtype]
        order = self._order(problem.order_W(k), rng)
        extra = at.extra or {}
        N = extra.pop("N") if "N" in extra else filled_product(X, W, at.Ht, holes.by_row)[0]
        terms = problem.terms_at_W(at.W, at.Ht)
        violation += sweep(W, (N, X.gram(at.Ht)), terms, order, self._sweeps(X, len(W), k), 0.1, highest=most)
        at.W = W if push is None else push(slice(0, len(W)), W)
        if not problem.update_H:
            return Attempted(violation, problem.objective(at.W, at.Ht), W)
        Ht = at.Ht.copy()
        N, observed = filled_product(X.T, Ht, at.W, holes.by_column)
        G = X.T.gram(at.W)
        order = self._order(problem.order_H(k), rng)
        terms = problem.terms_at_H(at.Ht, at.W)
        violation += sweep(Ht, (N, G), terms, order, self._sweeps(X, len(Ht), k), 0.1, highest=most)
        at.Ht = Ht
        if observed is None:
            # The reconstruction that gives the objective also fills in for the next step: it goes on from this one.
            held = Ht if push is None else push.ahead(Ht)
            N, error = X.filled_product_and_error(at.W, Ht, held)
            at.extra = {"N": N}
            return Attempted(violation, 0.5 * error + problem.prior_value(at.W, at.Ht), W)
        whole = float(np.vdot(G.astype(float), (Ht.T @ Ht).astype(float)))
        made_up = missing_squares(X, at.W, Ht, holes.by_row)
        loss = problem.constant() - inner_product(observed, Ht) + 0.5 * (whole - made_up)
        return Attempted(violation, max(loss, 0.0) + problem.prior_value(at.W, at.Ht), W)

    def _order(self, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.permutation(order) if self.shuffle else order

    def _sweeps(self, X: Dense, n_rows: int, k: int) -> int:
        """As many as cost no more than half of a product (Gillis & Glineur 2012)."""
        return max(1, min(self.inner_sweeps, round(1 + X.entries / max(1, 2 * n_rows * k))))

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """By coordinate descent on the observed entries, which for a single factor needs no completed data."""
        return CoordinateDescent().solve_rows(problem, Ht, max_iter, tol)


def nearest_size(problem: Problem, state: State) -> float:
    """The number c for which c W H is nearest to the observed entries: Σ x y / Σ y², with y of W H."""
    N = problem.X.product(state.Ht)
    r = problem.X.row_weight
    met = inner_product(N if r is None else N * r[:, None].astype(N.dtype), state.W)
    own = 2.0 * (state.objective - problem.prior_value(state.W, state.Ht) - problem.constant() + met)
    return met / own if own > 0 else 1.0


def holes_of(problem: Problem) -> Holes | None:
    """Where entries of a dense matrix are missing; None where they have weights other than 0 and 1."""

    def compute() -> Holes | None:
        X = problem.X
        assert isinstance(X, Dense)
        v = X.weights
        missing = v == 0
        share = float(np.count_nonzero(missing)) / max(1, v.size)
        if np.count_nonzero(v == 1) != v.size - np.count_nonzero(missing):
            return None
        none = (np.empty(0, np.int64), np.empty(0, np.int32))
        if share > FEW:
            return Holes(share, none, none)
        return Holes(share, _compressed(missing), _compressed(missing.T))

    found: Holes | None = problem._once("_holes", compute)
    return found


def without_holes(problem: Problem) -> Problem:
    """The same problem with dense data as a list of what was observed, where that is the smaller part."""
    X = problem.X
    if not isinstance(X, Dense) or not X.weighted or X.inner_weight is not None:
        return problem
    if np.count_nonzero(X.weights) >= (1.0 - MANY) * X.weights.size:
        return problem
    return replace(problem, X=X.observed_only())


def _compressed(missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row by row, the columns where `missing` is true."""
    indptr = np.zeros(len(missing) + 1, np.int64)
    np.cumsum(np.count_nonzero(missing, axis=1), out=indptr[1:])
    return indptr, np.nonzero(missing)[1].astype(np.int32)


def filled_product(
    X: Dense, A: np.ndarray, B: np.ndarray, holes: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray | None]:
    """X̃ · B with X̃ completed by A Bᵀ (inner weights multiplied in), and (ω X) · B where it was found on the way."""
    Bc = np.ascontiguousarray(X.inner(B))
    indptr, indices = holes
    if len(indptr) == 0:
        return X.filled_product(A, B, Bc), None
    observed = X.product(Bc)
    N = observed.copy()
    over_rows(
        lambda a, b: add_missing(indptr, indices, A, B, Bc, N, a, b),
        len(N),
        grain=worthwhile(4.0 * len(indices) / max(1, len(N)) * A.shape[1], 8),
    )
    return N, observed


def missing_squares(X: Dense, A: np.ndarray, B: np.ndarray, holes: tuple[np.ndarray, np.ndarray]) -> float:
    """Σ (A Bᵀ)² over missing entries, rows weighted."""
    indptr, indices = holes
    sums = np.zeros(len(A))
    over_rows(
        lambda a, b: sum_missing(indptr, indices, A, B, sums, a, b),
        len(A),
        grain=worthwhile(2.0 * len(indices) / max(1, len(A)) * A.shape[1], 8),
    )
    return float(sums.sum() if X.row_weight is None else sums @ X.row_weight)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def add_missing(
    indptr: np.ndarray,
    indices: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    Bc: np.ndarray,
    N: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add ((1 − ω) ∘ A Bᵀ) · Bc to rows `start … stop` of N."""
    k = A.shape[1]
    for i in range(start, stop):
        a, out = A[i], N[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            b, c = B[j], Bc[j]
            y = a[0] * b[0]
            for t in range(1, k):
                y += a[t] * b[t]
            for t in range(k):
                out[t] += y * c[t]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def sum_missing(
    indptr: np.ndarray,
    indices: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    sums: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Squares of A Bᵀ at the missing entries of rows `start … stop`, summed by row."""
    k = A.shape[1]
    for i in range(start, stop):
        a, total = A[i], 0.0
        for e in range(indptr[i], indptr[i + 1]):
            b = B[np.uint64(indices[e])]
            y = a[0] * b[0]
            for t in range(1, k):
                y += a[t] * b[t]
            total += float(y) * float(y)
        sums[i] = total
