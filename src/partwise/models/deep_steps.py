"""Joint updates of all layers, X ≈ W H_l ⋯ H_1, or with a function g between them, X ≈ g(⋯ g(W H_l) ⋯ H_2) H_1.

None of them raises the objective ½‖X − …‖². Entries that were not observed are filled in by the reconstruction at the
beginning of each update: what is then minimised lies above the loss and touches it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from partwise.core import Info, Problem
from partwise.core.state import RunState
from partwise.losses import FROBENIUS
from partwise.matrix import InMemory
from partwise.models.deep_activation import Activation
from partwise.priors import NO_PRIOR
from partwise.solvers.sweep import inner_product, sweep

#: Sweeps for each product with X, steps along the gradient for each factor, and how often a step is shortened.
SWEEPS, STEPS, SHORTENED = 3, 2, 30


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
    product = X.transposed_product(X.T.inner(F)) if product is None else product
    gram = float(np.vdot(weighted_gram(X, F).astype(float), (Ht.T @ Ht).astype(float)))
    return max(0.5 * problem.squared_norm() - inner_product(product, Ht) + 0.5 * gram, 0.0)


def loss_of(problem: Problem, F: np.ndarray, Ht: np.ndarray, P: np.ndarray, G: np.ndarray) -> float:
    """½‖X − F H‖² over the observed entries, where P = X Hᵀ and G = H Hᵀ are known."""
    X = problem.X
    if X.weighted:
        return problem.data_loss(F, Ht)
    assert isinstance(X, InMemory)
    gram = float(np.vdot(weighted_gram(X, F).astype(float), G.astype(float)))
    return max(0.5 * problem.squared_norm() - inner_product(P, X.T.inner(F)) + 0.5 * gram, 0.0)


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

    def forward(self, W: np.ndarray, H: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Features of every layer, F_1 … F_l = W, and what g was taken of: F_i = g(Z_i)."""
        F, Z = [W], []
        for one in H[:0:-1]:
            Z.append(F[-1] @ one)
            F.append(self.activation.value(Z[-1]))
        return F[::-1], Z[::-1]

    def value(self, problem: Problem, state: DeepState) -> float:
        """The objective."""
        return objective(problem, self.forward(state.W, state.H)[0][0], state.H[0].T)

    def gradient(
        self,
        W: np.ndarray,
        H: Sequence[np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        r: np.ndarray | None = None,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """½⟨F_1 G, F_1⟩ − ⟨P, F_1⟩ of each row, and its derivatives by W, H_l … H_2, in this order.

        With P = X H_1ᵀ and G = H_1 H_1ᵀ this is the loss, but for a constant; r are weights of the rows.
        """
        F, Z = self.forward(W, H)
        D = F[0] @ G
        value = (F[0] * (0.5 * D - P)).sum(axis=1, dtype=float)
        D -= P
        if r is not None:
            value, D = r * value, D * r[:, None].astype(D.dtype)
        slopes = []
        for i in range(1, len(H)):
            D = D * self.activation.slope(Z[i - 1])
            slopes.append(F[i].T @ D)
            D = D @ H[i].T
        return value, [D, *slopes[::-1]]

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """H_1, then W, H_l … H_2."""
        X, W, H = problem.X, state.W, state.H
        assert isinstance(X, InMemory)
        F = self.forward(W, H)[0][0]
        Ht = np.ascontiguousarray(H[0].T)
        H[0] = self._first(Ht, filled_product(X.T, Ht, F), weighted_gram(X, F))
        Ht = np.ascontiguousarray(H[0].T)
        P, G = filled_product(X, F, Ht), H[0] @ Ht
        lengths, r = dict(state.lengths), X.row_weight
        W, lengths["W"] = self.rows(W, H, P, G, STEPS, lengths.get("W"))
        for i in range(len(H) - 1, 0, -1):

            def of_base(A: np.ndarray, i: int = i) -> tuple[np.ndarray, np.ndarray]:
                value, slopes = self.gradient(W, [*H[:i], A, *H[i + 1 :]], P, G, r)
                return value.sum(keepdims=True)[:, None], slopes[len(H) - i]

            lower = -np.inf if self.semi else 0.0
            H[i], lengths[str(i)] = descended(of_base, H[i], lower, STEPS, lengths.get(str(i)))
        F = self.forward(W, H)[0][0]
        return DeepState(W, as_bases(H), lengths, objective=loss_of(problem, F, Ht, P, G))

    def rows(
        self,
        W: np.ndarray,
        H: Sequence[np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        steps: int,
        length: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """W after steps along its gradient, each row with a length of its own."""

        def of_rows(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, slopes = self.gradient(A, H, P, G)
            return value[:, None], slopes[0]

        return descended(of_rows, W, 0.0, steps, length)

    def _first(self, Ht: np.ndarray, product: np.ndarray, G: np.ndarray) -> np.ndarray:
        if not self.semi:
            return swept(np.ascontiguousarray(Ht.T), product, G)
        # In double precision, and as a correction: what G cannot see stays as it is.
        G = G.astype(float)
        more = (product - Ht @ G) @ np.linalg.pinv(G, rcond=1e-12, hermitian=True)
        return np.ascontiguousarray((Ht + more).T, dtype=Ht.dtype)


def descended(
    function: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    A: np.ndarray,
    lower: float,
    steps: int,
    length: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Projected gradient steps of spectral length (Birgin, Martínez & Raydan 2000), shortened until the value falls.

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
        size = 0.1 * np.sqrt(np.mean(A.astype(float) ** 2) + 1e-12)
        length = size / np.sqrt(total(slope**2) / (A.size / len(value)) + 1e-300)
    for _ in range(steps):
        for _ in range(SHORTENED):
            trial = np.maximum(A - length * slope, lower).astype(A.dtype)
            new, new_slope = function(trial)
            fell = new <= value + 1e-4 * total(slope * (trial - A))
            if fell.all():
                break
            length = np.where(fell, length, 0.25 * length)
        trial, new_slope = np.where(fell, trial, A), np.where(fell, new_slope, slope)
        moved, turned = trial - A, new_slope - slope
        far, bent = total(moved**2), total(moved * turned)
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(bent > 0, far / bent, np.where(far > 0, 2.0 * length, length))
        length = np.clip(length, 1e-12, 1e12)
        A, value, slope = trial, np.where(fell, new, value), new_slope
    return A, length
