"""Coordinate descent on the entries of X: Kullback-Leibler, and Frobenius with missing data or weights.

One coordinate a of a row with reconstruction y = δ + Σ_t a_t b_t has the loss f(a), convex. For the
Kullback-Leibler loss

    f′ = Σ_j ω_j b_j − Σ_j u_j b_j / y_j,     f″ = Σ_j u_j (b_j / y_j)²,     u = ω x,

and f′ is concave, so a Newton step that goes up (f′ < 0) stops short of the minimum and cannot overshoot. A
step down is damped: with ρ = max b_j / y_j over u_j > 0, −log(1 − s) ≤ s + s² φ(|d| ρ) bounds f along the
way, and the bound's minimiser is d = −f′ / (f″ + ρ f′) (the self-concordant step; ρ ≤ 1/a, so a stays
nonnegative up to the final cut at 0). Every step lowers the objective; no line search. A Gamma prior of
shape ≥ 1 is one more datum with u = shape − 1 and b/y = 1/a.

For the Frobenius loss f is a parabola, and the step is exact.
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

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@dataclass(frozen=True)
class CoordinateDescent(AlternatingSolver):
    """Scalar Newton steps with damping, row by row.

    Parameters
    ----------
    inner_sweeps : int
        At most so many rounds over a row's coordinates for each reading of the row.
    shuffle : bool
        Visit the components in a new random order each time.
    like_sklearn : bool
        Stop by scikit-learn's rule.
    """

    inner_sweeps: int = 2
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
        """W, then H as the W of the transposed problem."""
        X = problem.X
        assert isinstance(X, InMemory)
        k = state.W.shape[1]
        violation = self._descend(X, state.W, state.Ht, problem, problem.prior_W, np.arange(k), rng)
        if problem.update_H:
            order = problem.order_H(k)
            violation += self._descend(X.T, state.Ht, state.W, problem, problem.prior_H, order, rng)
        state.iteration += 1
        state.objective = problem.objective(state.W, state.Ht)
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
    ) -> float:
        order = rng.permutation(order) if self.shuffle else order
        return descend(X, A, B, problem.loss.beta, problem.shift, terms, order, self.inner_sweeps, 0.1)

    def solve_rows(self, problem: Problem, Ht: np.ndarray, max_iter: int, tol: float) -> np.ndarray:
        """One reading of each row; its own sweeps until it stands still."""
        X = problem.X
        assert isinstance(X, InMemory)
        A = balanced_start(X, Ht, problem.prior_W)
        still = max(tol, 1e-10 if X.dtype == np.float64 else 1e-6)
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
) -> float:
    """Up to `sweeps` rounds over the coordinates `order` of each row of A, in place; returns the violation."""
    Bc = X.inner(B)
    k = A.shape[1]
    # What entries outside the held ones contribute, for all rows alike.
    base = X.background * (Bc.sum(axis=0, dtype=float) if beta == 1.0 else np.zeros(k))
    gram = X.background * (B.T @ Bc).astype(float) if beta == 2.0 else np.zeros((k, k))
    Bt = np.ascontiguousarray(B.T)
    linear, quadratic = terms.rows(len(A))
    violation = np.zeros(len(A))
    for slab in X.slabs():
        start = slab.start

        def task(a: int, b: int, slab=slab, start: int = start) -> None:  # type: ignore[no-untyped-def]
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
                start,
                a,
                b,
            )

        over_rows(task, slab.stop - slab.start, grain=8)
    return float(violation.sum())


@njit(cache=True, nogil=True, error_model="numpy")
def descend_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    A: np.ndarray,
    Bt: np.ndarray,
    base: np.ndarray,
    gram: np.ndarray,
    beta: float,
    shift: float,
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
    offset: int,
    first_row: int,
    last_row: int,
) -> None:
    """Rows of a slab. A sparse row first copies the columns of B that it meets next to each other."""
    k, m = Bt.shape
    dense = indices.shape[0] == 0 and indptr[indptr.shape[0] - 1] > 0
    longest = m
    if not dense:
        longest = 0
        for i in range(first_row, last_row):
            longest = max(longest, indptr[i + 1] - indptr[i])
    y = np.empty(longest, Bt.dtype)
    met = np.empty((0 if dense else k, longest), Bt.dtype)
    fixed = np.empty(k)
    weighted = v.shape[0] > 0
    for i in range(first_row, last_row):
        start, stop = indptr[i], indptr[i + 1]
        p = stop - start
        if dense:
            b = Bt
        else:
            for t in range(k):
                for e in range(p):
                    met[t, e] = Bt[t, indices[start + e]]
            b = met
        a = A[offset + i]
        reconstruct(a, b, shift, y, p)
        ui = u[start:stop]
        vi = v[start:stop] if weighted else v
        for t in range(k):
            fixed[t] = base[t] + (weigh(vi, b[t], p) if weighted and beta == 1.0 else 0.0)
        r = offset + i
        initial = 0.0
        for s in range(sweeps):
            moved = 0.0
            size = 0.0
            for t in order:
                old = np.float64(a[t])
                slope = linear[r] + (concave / (old + eps) if concave > 0.0 else 0.0)
                if beta == 1.0:
                    pull, h = newton_sums(ui, b[t], y, p)
                    h += quadratic[r]
                    g = fixed[t] - pull + slope + quadratic[r] * old
                    if log_weight > 0.0:
                        g -= log_weight / old
                        h += log_weight / (old * old)
                    new = old
                    if g < 0.0:
                        if h > 0.0:
                            new = old - g / h
                    elif g > 0.0 and old > 0.0:
                        rho = steepest(ui, b[t], y, p)
                        if log_weight > 0.0:
                            rho = max(rho, 1.0 / old)
                        new = max(old - g / (h + g * rho), 0.0)
                else:
                    g, h = parabola(ui, vi, b[t], y, p, weighted)
                    for q in range(k):
                        g += gram[t, q] * a[q]
                    h += gram[t, t] + quadratic[r]
                    g += slope + quadratic[r] * old
                    new = np.float64(quadratic_minimiser(h, h * old - g, log_weight, old))
                    if log_weight > 0.0:
                        g -= log_weight / old
                if s == 0:
                    violation[r] += abs(g) if old > 0.0 else max(-g, 0.0)
                if new != old:
                    a[t] = new
                    shift_row(y, b[t], np.float64(a[t]) - old, p)
                moved += h * (new - old) * (new - old)
                size += h * new * new
            if s == 0:
                initial = moved
            if moved <= keep * keep * initial or moved <= still * still * size:
                break


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def reconstruct(a: np.ndarray, b: np.ndarray, shift: float, y: np.ndarray, p: int) -> None:
    """Y = shift + Σ_t a_t b_t."""
    for e in range(p):
        y[e] = shift
    for t in range(a.shape[0]):
        if a[t] != 0.0:
            for e in range(p):
                y[e] += a[t] * b[t, e]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def weigh(v: np.ndarray, b: np.ndarray, p: int) -> float:
    """Σ v b."""
    total = b.dtype.type(0.0)
    for e in range(p):
        total += v[e] * b[e]
    return np.float64(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def newton_sums(u: np.ndarray, b: np.ndarray, y: np.ndarray, p: int) -> tuple[float, float]:
    """Σ u b / y and Σ u (b / y)², in one pass."""
    pull = b.dtype.type(0.0)
    curve = b.dtype.type(0.0)
    for e in range(p):
        q = b[e] / y[e]
        s = u[e] * q
        pull += s
        curve += s * q
    return np.float64(pull), np.float64(curve)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def steepest(u: np.ndarray, b: np.ndarray, y: np.ndarray, p: int) -> float:
    """Max b / y where u > 0."""
    best = b.dtype.type(0.0)
    for e in range(p):
        q = b[e] / y[e] if u[e] > 0.0 else b.dtype.type(0.0)
        best = max(best, q)
    return np.float64(best)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def parabola(
    u: np.ndarray, v: np.ndarray, b: np.ndarray, y: np.ndarray, p: int, weighted: bool
) -> tuple[float, float]:
    """Σ (v y − u) b and Σ v b²: slope and curvature of the held entries."""
    g = b.dtype.type(0.0)
    h = b.dtype.type(0.0)
    if weighted:
        for e in range(p):
            vb = v[e] * b[e]
            g += vb * y[e] - u[e] * b[e]
            h += vb * b[e]
    else:
        for e in range(p):
            g -= u[e] * b[e]
    return np.float64(g), np.float64(h)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def shift_row(y: np.ndarray, b: np.ndarray, d: float, p: int) -> None:
    """Y += d b."""
    delta = y.dtype.type(d)
    for e in range(p):
        y[e] += delta * b[e]
