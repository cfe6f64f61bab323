"""Joint updates of all layers, X ≈ W H_l ⋯ H_1, or with a function g between them, X ≈ g(⋯ g(W H_l) ⋯ H_2) H_1.

None of them raises the objective ½‖X − …‖². Entries that were not observed are filled in by the reconstruction at the
beginning of each update: what is then minimised lies above the loss and touches it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

import numpy as np

from partwise.core import Info, Problem
from partwise.core.state import RunState
from partwise.losses import FROBENIUS
from partwise.matrix import InMemory
from partwise.models.deep_activation import Activation
from partwise.parallel import over_rows
from partwise.priors import NO_PRIOR
from partwise.solvers.sweep import inner_product, sweep

#: Sweeps for each product with X.
SWEEPS = 3
#: Rows that pass through the layers together, so that what is made of them stays in cache.
TOGETHER = 512
#: How many times the data's squares the terms of ‖F H‖² may be; where they are larger it is not found from them, as
#: rounding would cost more than 1e-12 of these squares in double precision.
CANCELS = 1e4


@dataclass
class DeepState(RunState):
    """W, the bases H_1 … H_l as "0" … "l−1", and the lengths of the last steps of the factors that have some."""

    W: np.ndarray
    bases: dict[str, np.ndarray]
    lengths: dict[str, np.ndarray] = field(default_factory=dict)
    #: Label factors by layer, where there are labels.
    C: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def H(self) -> list[np.ndarray]:
        """H_1 … H_l."""
        return [self.bases[str(i)] for i in range(len(self.bases))]


def as_bases(H: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The bases by their numbers."""
    return {str(i): one for i, one in enumerate(H)}


def chained(H: Sequence[np.ndarray]) -> np.ndarray:
    """H_l ⋯ H_1, from the narrow end."""
    return reduce(np.matmul, H[::-1])


def filled_product(X: InMemory, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X B, with A Bᵀ in the place of entries that were not observed; rows of B count by the weights of samples."""
    inner = X.inner(B)
    if not X.weighted:
        return X.product(inner)
    seen, rebuilt = X.ratio_sums(A, B, FROBENIUS, 0.0)
    return seen - rebuilt + A @ (B.T @ inner)


def weighted_gram(X: InMemory, F: np.ndarray) -> np.ndarray:
    """FᵀF, rows counted by the weights of samples."""
    return F.T @ X.T.inner(F)


def objective(problem: Problem, F: np.ndarray, Ht: np.ndarray, product: np.ndarray | None = None) -> float:
    """½‖X − F H‖² over the observed entries; `product` is Xᵀ F where it is known."""
    if problem.X.weighted:
        return problem.data_loss(F, Ht)
    X = problem.X
    assert isinstance(X, InMemory)
    gram = _square(problem, F, Ht.T @ Ht)
    if gram is None:
        return problem.data_loss(F, Ht)
    product = X.transposed_product(X.T.inner(F)) if product is None else product
    return max(0.5 * problem.squared_norm() - inner_product(product, Ht) + 0.5 * gram, 0.0)


def loss_of(problem: Problem, F: np.ndarray, Ht: np.ndarray, P: np.ndarray, G: np.ndarray) -> float:
    """½‖X − F H‖² over the observed entries, where P = X Hᵀ and G = H Hᵀ are known."""
    X = problem.X
    if X.weighted:
        return problem.data_loss(F, Ht)
    assert isinstance(X, InMemory)
    gram = _square(problem, F, G)
    if gram is None:
        return problem.data_loss(F, Ht)
    return max(0.5 * problem.squared_norm() - inner_product(P, X.T.inner(F)) + 0.5 * gram, 0.0)


def _square(problem: Problem, F: np.ndarray, G: np.ndarray) -> float | None:
    """‖F H‖², where G = H Hᵀ; None if it is a small difference of large numbers.

    Features that are nearly the same get bases that are large and nearly cancel, as least squares have it.
    """
    assert isinstance(problem.X, InMemory)
    of_features, of_bases = weighted_gram(problem.X, F).astype(float), G.astype(float)
    size = float(np.vdot(np.abs(of_features), np.abs(of_bases)))
    return float(np.vdot(of_features, of_bases)) if size <= CANCELS * problem.squared_norm() else None


class _Monotone:
    """Steps that are kept only where the objective does not rise, which rounding alone can make it do."""

    def step(self, problem: Problem, state: DeepState, rng: np.random.Generator) -> tuple[DeepState, Info]:
        """One update of every factor."""
        found = self.moved(problem, state)
        if not found.objective <= state.objective:
            found = DeepState(state.W, state.bases, found.lengths, state.C, objective=state.objective)
        found.iteration = state.iteration + 1
        return found, Info(found.iteration, found.objective)

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """The factors after one update."""
        raise NotImplementedError


class LayerSweeps(_Monotone):
    """Nonnegative layers without a function between them: coordinate descent on Gram matrices, factor by factor.

    X is read twice, by products with as many columns as the last layer has parts. The update of a middle layer is
    ½⟨H, G H Q⟩ − ⟨T, H⟩ with G = ΦᵀΦ, Q = ΨΨᵀ, T = Φᵀ X Ψᵀ for X ≈ Φ H Ψ; Q is replaced by its largest
    eigenvalue, which lies above.
    """

    def value(self, problem: Problem, state: DeepState) -> float:
        """The objective."""
        return objective(problem, state.W, chained(state.H).T)

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """W, then H_1 … H_l."""
        X, W, H = problem.X, state.W.copy(), [one.copy() for one in state.H]
        assert isinstance(X, InMemory)
        Ht = np.ascontiguousarray(chained(H).T)
        _sweep(W, filled_product(X, W, Ht), Ht.T @ Ht)
        product, S = filled_product(X.T, Ht, W), weighted_gram(X, W)
        sweep_bases(H, product, S)
        Ht = np.ascontiguousarray(chained(H).T)
        value = objective(problem, W, Ht, None if X.weighted else product)
        return DeepState(W, as_bases(H), objective=value)


def sweep_bases(H: list[np.ndarray], product: np.ndarray, S: np.ndarray) -> None:
    """Move H_1 … H_l in turn, where ½⟨S, B Bᵀ⟩ − ⟨productᵀ, B⟩ of B = H_l ⋯ H_1 is minimised."""
    for i in range(len(H)):
        C = chained(H[i + 1 :]) if i + 1 < len(H) else np.eye(len(S), dtype=S.dtype)
        G, T = C.T @ S @ C, product @ C
        if i == 0:
            H[0] = swept(H[0], T, G)
            continue
        below = chained(H[:i])
        Q, T = below @ below.T, below @ T
        most = S.dtype.type(np.linalg.eigvalsh(Q.astype(float))[-1])
        if most <= 0:
            continue
        for _ in range(SWEEPS):
            H[i] = swept(H[i], T - Q @ H[i].T @ G + most * (H[i].T @ G), most * G)


def _sweep(A: np.ndarray, N: np.ndarray, G: np.ndarray) -> None:
    sums = np.ascontiguousarray(N), np.ascontiguousarray(G)
    sweep(A, sums, NO_PRIOR.terms(), np.arange(A.shape[1]), SWEEPS, 0.1)


def swept(H: np.ndarray, N: np.ndarray, G: np.ndarray) -> np.ndarray:
    """H after sweeps over its columns, where ½⟨H, G H⟩ − ⟨Nᵀ, H⟩ is minimised."""
    A = np.ascontiguousarray(H.T)
    _sweep(A, N, G)
    return np.ascontiguousarray(A.T)


class Further(Protocol):
    """What else the objective says of the features of some rows at a layer."""

    def __call__(self, layer: int, rows: slice, F: np.ndarray, value: np.ndarray, D: np.ndarray) -> None:
        """Add it to the value of each row, and its derivative by F to D, both in place."""


@dataclass(frozen=True)
class ActivatedSteps(_Monotone):
    """Layers with a function between them: H_1 by least squares, the others along their gradients.

    Parameters
    ----------
    activation : Activation
        g.
    semi : bool
        Whether the bases may have negative entries.
    """

    activation: Activation
    semi: bool

    def forward(
        self, W: np.ndarray, H: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
        """Features of every layer, F_1 … F_l = W, and the derivatives of g where F_i = g(Z_i) was taken."""
        F, slopes = [W], []
        for one in H[:0:-1]:
            value, slope = self.activation.both(F[-1] @ one)
            F.append(value)
            slopes.append(slope)
        return F[::-1], slopes[::-1]

    def features(self, W: np.ndarray, H: Sequence[np.ndarray]) -> list[np.ndarray]:
        """F_1 … F_l = W of all rows, a few rows at a time."""
        if len(W) <= TOGETHER:
            return self.forward(W, H)[0]
        out = [np.empty((len(W), len(one)), W.dtype) for one in H]

        def passed(start: int, stop: int) -> None:
            for rows in _some(start, stop):
                for whole, part in zip(out, self.forward(W[rows], H)[0]):
                    whole[rows] = part

        over_rows(passed, len(W), TOGETHER)
        return out

    def value(self, problem: Problem, state: DeepState) -> float:
        """The objective."""
        return objective(problem, self.features(state.W, state.H)[0], state.H[0].T)

    def gradient(
        self,
        W: np.ndarray,
        H: Sequence[np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        r: np.ndarray | None = None,
        only: int | None = None,
        further: Further | None = None,
        together: int = TOGETHER,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """½⟨F_1 G, F_1⟩ − ⟨P, F_1⟩ of each row, and its derivatives by W, H_2 … H_l, in this order.

        With P = X H_1ᵀ and G = H_1 H_1ᵀ this is the loss, but for a constant; r are weights of the rows.

        Parameters
        ----------
        W, H, P, G, r : arrays
            As above.
        only : int, optional
            The one derivative that is wanted: that by W (0), or by the basis H[only].
        further : callable, optional
            What else is to be added at each layer.
        together : int
            How many rows pass through the layers together.

        Returns
        -------
        value : array of shape (len(W),)
            The value of each row.
        slopes : list of arrays
            The derivatives; the one that is wanted, if `only` is given.
        """
        value = np.empty(len(W))
        by_W = np.empty_like(W) if not only else None
        parts: dict[int, list[np.ndarray]] = {}

        def passed(start: int, stop: int) -> None:
            for rows in _some(start, stop, together):
                value[rows], D, parts[rows.start] = self._passed(W[rows], H, P, G, r, only, further, rows)
                if by_W is not None:
                    by_W[rows] = D

        # Ranges, and with them sums, do not depend on the number of threads.
        over_rows(passed, len(W), together)
        sums = [reduce(np.add, each) for each in zip(*(parts[start] for start in sorted(parts)))]
        return value, sums if by_W is None else [by_W, *sums]

    def _passed(
        self,
        W: np.ndarray,
        H: Sequence[np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        r: np.ndarray | None,
        only: int | None,
        further: Further | None,
        rows: slice,
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """`gradient` of some rows, of which W is given: the values, the derivatives by W, those by bases."""
        F, slopes = self.forward(W, H)
        D = F[0] @ G
        value = np.einsum("ij,ij->i", F[0], 0.5 * D - P[rows]).astype(float)
        D -= P[rows]
        if r is not None:
            value *= r[rows]
            D *= r[rows, None].astype(D.dtype)
        by_base = []
        for i in range(len(H)):
            if i > 0:
                slope = slopes[i - 1]
                D = D if slope is None else np.multiply(D, slope, out=D)
                if only is None or only == i:
                    by_base.append(F[i].T @ D)
                if only == i:
                    break
                D = D @ H[i].T
            if further is not None:
                further(i, rows, F[i], value, D)
        return value, D, by_base

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """H_1, then W, H_l … H_2."""
        X, W, H = problem.X, state.W, state.H
        assert isinstance(X, InMemory)
        F = self.features(W, H)[0]
        Ht = np.ascontiguousarray(H[0].T)
        H[0] = self._first(Ht, filled_product(X.T, Ht, F), weighted_gram(X, F))
        Ht = np.ascontiguousarray(H[0].T)
        P, G = filled_product(X, F, Ht), H[0] @ Ht
        lengths, r = dict(state.lengths), X.row_weight
        W, lengths["W"] = self.rows(W, H, P, G, length=lengths.get("W"))
        for i in range(len(H) - 1, 0, -1):

            def of_base(A: np.ndarray, i: int = i) -> tuple[np.ndarray, np.ndarray]:
                value, (slope,) = self.gradient(W, [*H[:i], A, *H[i + 1 :]], P, G, r, i)
                return value.sum(keepdims=True)[:, None], slope

            lower = -np.inf if self.semi else 0.0
            H[i], lengths[str(i)] = descended(of_base, H[i], lower, 1, lengths.get(str(i)))
        F = self.features(W, H)[0]
        return DeepState(W, as_bases(H), lengths, objective=loss_of(problem, F, Ht, P, G))

    def rows(
        self,
        W: np.ndarray,
        H: Sequence[np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        r: np.ndarray | None = None,
        further: Further | None = None,
        steps: int = 1,
        length: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """W after steps along its gradient, each row with a length of its own; a few rows at a time."""
        out, lengths = np.empty_like(W), np.empty((len(W), 1))

        def passed(start: int, stop: int) -> None:
            for rows in _some(start, stop):

                def of_rows(A: np.ndarray, rows: slice = rows) -> tuple[np.ndarray, np.ndarray]:
                    value, slope, _ = self._passed(A, H, P, G, r, 0, further, rows)
                    return value[:, None], slope

                before = None if length is None else length[rows]
                out[rows], lengths[rows] = descended(of_rows, W[rows], 0.0, steps, before)

        over_rows(passed, len(W), TOGETHER)
        return out, lengths

    def _first(self, Ht: np.ndarray, product: np.ndarray, G: np.ndarray) -> np.ndarray:
        if not self.semi:
            return swept(np.ascontiguousarray(Ht.T), product, G)
        # In double precision, and as a correction: what G cannot see stays as it is.
        G = G.astype(float)
        more = (product - Ht @ G) @ np.linalg.pinv(G, rcond=1e-12, hermitian=True)
        return np.ascontiguousarray((Ht + more).T, dtype=Ht.dtype)


def _some(start: int, stop: int, together: int = TOGETHER) -> Iterator[slice]:
    """Slices of a few rows each."""
    for first in range(start, stop, together):
        yield slice(first, min(first + together, stop))


def descended(
    function: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    A: np.ndarray,
    lower: float,
    steps: int,
    length: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Projected gradient steps of spectral length (Birgin, Martínez & Raydan 2000).

    A step after which the value has not fallen is not made, and the next one is shorter: a second trial of a few rows
    would cost as much as a step of all of them.

    Parameters
    ----------
    function : callable
        From A to a value and its gradient. The value is of shape (1, 1), or (len(A), 1) where rows are independent:
        then each row has a length of its own.
    A : array
        Where to start.
    lower : float
        No entry goes below it.
    steps : int
        How many steps.
    length : array, optional
        Of the first step, as returned by an earlier call.

    Returns
    -------
    A : array
        Where the steps ended; the value is not above that of the start.
    length : array
        Of the next step.
    """
    value, slope = function(A)
    axis = 1 if len(value) == len(A) else None

    def total(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.sum(axis=axis, keepdims=True, dtype=float))

    if length is None:
        each = A.size / len(value)
        size = 0.1 * np.sqrt(total(A.astype(float) ** 2) / each + 1e-12)
        length = size / np.sqrt(total(slope**2) / each + 1e-300)
    for _ in range(steps):
        trial = np.maximum(A - length * slope, lower).astype(A.dtype)
        new, new_slope = function(trial)
        moved, turned = trial - A, new_slope - slope
        fell = new <= value + 1e-4 * total(slope * moved)
        far, bent = total(moved**2), total(moved * turned)
        with np.errstate(divide="ignore", invalid="ignore"):
            spectral = np.where(bent > 0, far / bent, np.where(far > 0, 2.0 * length, length))
        # Lengths have the units of A over those of its slope: bounds are only there to keep them finite.
        length = np.clip(np.where(fell, spectral, 0.25 * length), 1e-150, 1e150)
        A, slope = (
            (trial, new_slope) if fell.all() else (np.where(fell, trial, A), np.where(fell, new_slope, slope))
        )
        value = np.where(fell, new, value)
    return A, length
