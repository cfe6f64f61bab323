"""PanPAL: Boolean factorization relaxed to [0, 1], by proximal alternating linearized steps.

Hess, Morik & Piatkowski 2017; equation numbers are those of Gonsior 2019, section 2.2.5. With D (m × n) ≈ Y Xᵀ, the
objective is F = ½‖D − Y Xᵀ‖² + ½(|X| + |Y|) (2.6). A step goes down the gradient of one factor (2.10, 2.11), by the
inverse of γ > 1 times its Lipschitz modulus, and then applies the proximal operator (2.13), which pushes values
towards 0 and 1. The moduli are the spectral norms of the *other* factor's Gram matrix, YᵀY and XᵀX: as printed,
(2.15) has Y Yᵀ and X Xᵀ, which have the same norm and m² and n² entries.

What a step lowers is not F but F + Λ(X) + Λ(Y) (Bolte, Sabach & Teboulle 2014). With step 1/L the operator
solves argmin ½(x − x*)² + Λ(x*)/L; the operator (2.13) with push 2ρ belongs to Λ(x) = 2 ρ L min(x, 1 − x) on
[0, 1]. To keep Λ the same function from step to step, ρ is `weight` / L.

Here Y is W and X is Ht, and both are moved by one function: the step of Ht is the step of W in the problem of Dᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from partwise.core import Info, RelativeProgress, Result, State, run
from partwise.parallel import matmul

#: The factor γ of (2.16); above 1, every step lowers the penalised objective strictly.
GAMMA = 1.00001


def prox(A: np.ndarray, rho: float) -> np.ndarray:
    """The proximal operator (2.13), entry by entry: 2ρ towards the nearer of 0 and 1, but not beyond it."""
    return np.where(A <= 0.5, np.maximum(0.0, A - 2.0 * rho), np.minimum(1.0, A + 2.0 * rho))


def penalty(A: np.ndarray, weight: float) -> float:
    """Sum of Λ over the entries: 2 · weight · min(a, 1 − a) inside [0, 1], infinite outside."""
    if A.min(initial=0.0) < 0.0 or A.max(initial=0.0) > 1.0:
        return float("inf")
    return float(2.0 * weight * np.minimum(A, 1.0 - A).sum())


class FactorTerm(Protocol):
    """What the objective has of one factor alone, beside Λ."""

    def value(self, A: np.ndarray) -> float:
        """The term where the factor is A ≥ 0."""
        ...

    def gradient(self, A: np.ndarray) -> np.ndarray | float:
        """Its gradient, of a shape that broadcasts to A's."""
        ...

    def modulus(self, A: np.ndarray) -> float:
        """Upper bound on the Lipschitz modulus of the gradient."""
        ...


@dataclass(frozen=True)
class Sparsity:
    """`amount` times the sum of the entries: the ½|X| of (2.6)."""

    amount: float = 0.5

    def value(self, A: np.ndarray) -> float:
        """The amount times |A|."""
        return self.amount * float(np.abs(A).sum())

    def gradient(self, A: np.ndarray) -> float:
        """The amount, for every entry."""
        return self.amount

    def modulus(self, A: np.ndarray) -> float:
        """0: the gradient is constant."""
        return 0.0


@dataclass(frozen=True)
class RelaxedProblem:
    """scale/2 ‖D − W Htᵀ‖² plus a term for each factor and Λ, over W (n × k) and Ht (m × k) in [0, 1].

    Attributes
    ----------
    D : array of shape (n, m)
    on_W, on_Ht : FactorTerm
    weight : float
        Weight of Λ.
    entry : array of shape (n, m), optional
        Weights of the squares, each at most 1.
    scale : float
        Weight of the loss.
    """

    D: np.ndarray
    on_W: FactorTerm
    on_Ht: FactorTerm
    weight: float = 1.0
    entry: np.ndarray | None = None
    scale: float = 1.0

    @property
    def T(self) -> RelaxedProblem:
        """The same problem for Dᵀ ≈ Ht Wᵀ: what is said of W there is true of Ht here."""
        entry = None if self.entry is None else self.entry.T
        return RelaxedProblem(self.D.T, self.on_Ht, self.on_W, self.weight, entry, self.scale)

    def objective(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """The objective F, without Λ."""
        squares = (self.D - matmul(W, Ht.T)) ** 2
        loss = 0.5 * float((squares if self.entry is None else self.entry * squares).sum())
        return self.scale * loss + self.on_W.value(W) + self.on_Ht.value(Ht)

    def penalised(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """F + Λ(W) + Λ(Ht), which no step raises."""
        return self.objective(W, Ht) + penalty(W, self.weight) + penalty(Ht, self.weight)

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """Gradient of F by W (2.11)."""
        if self.entry is None:
            slope = W @ (Ht.T @ Ht) - matmul(self.D, Ht)
        else:
            slope = matmul(self.entry * (matmul(W, Ht.T) - self.D), Ht)
        return np.asarray(self.scale * slope + self.on_W.gradient(W))

    def modulus(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """Lipschitz modulus of the gradient by W with Ht held (2.15); an upper bound if entries have weights."""
        return self.scale * float(np.linalg.norm(Ht.T @ Ht, 2)) + self.on_W.modulus(W)


def half_step(problem: RelaxedProblem, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
    """W after a proximal step (2.9) of the size (2.16), with Ht held."""
    L = GAMMA * max(problem.modulus(W, Ht), 1e-12)
    return prox(W - problem.gradient(W, Ht) / L, problem.weight / L)


class Palm:
    """Proximal alternating linearized minimization, as `run` asks for it."""

    def init(self, problem: RelaxedProblem, rank: int, rng: np.random.Generator) -> State:
        """Factors at random in [0, 1]."""
        n, m = problem.D.shape
        Ht = rng.random((m, rank))
        return State(W=rng.random((n, rank)), Ht=Ht)

    def value(self, problem: RelaxedProblem, state: State) -> float:
        """The penalised objective."""
        return problem.penalised(state.W, state.Ht)

    def step(self, problem: RelaxedProblem, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """Ht, then W (2.8, 2.9); a new state, so that one cut short leaves the old one whole."""
        Ht = half_step(problem.T, state.Ht, state.W)
        W = half_step(problem, state.W, Ht)
        after = State(W=W, Ht=Ht, iteration=state.iteration + 1, objective=problem.penalised(W, Ht))
        return after, Info(after.iteration, after.objective)


class SmallStep(RelativeProgress):
    """Converged when one step lowers the objective by no more than `tol` times itself."""

    window = 1


def descend(
    problem: RelaxedProblem,
    rank: int,
    rng: np.random.Generator,
    max_iter: int,
    tol: float,
    name: str = "",
    begin: State | None = None,
) -> Result[State]:
    """Run PALM from a random start, or from given factors and random ones beside them.

    Parameters
    ----------
    problem : RelaxedProblem
    rank : int
    rng : numpy.random.Generator
    max_iter : int
        Most steps.
    tol : float
        Ends when a step lowers the penalised objective by no more than this share of it.
    name : str, optional
        Under which a checkpoint keeps the run.
    begin : State, optional
        Has the first columns of both factors, at most `rank`.

    Returns
    -------
    Result
        Its state has the factors W and Ht.
    """
    method = Palm()
    start = method.init(problem, rank if begin is None else rank - begin.W.shape[1], rng)
    if begin is not None:
        start = State(W=np.hstack((begin.W, start.W)), Ht=np.hstack((begin.Ht, start.Ht)))
    return run(problem, method, start, max_iter=max_iter, stopping=SmallStep(tol), rng=rng, name=name)


#: Most steps of PanPAL, and the share of the objective below which a step ends it.
MAX_ITER, TOL = 2000, 1e-6


def panpal_problem(D: np.ndarray, sparsity: float = 0.5, entry: np.ndarray | None = None) -> RelaxedProblem:
    """PanPAL's problem (2.6) with `sparsity` for its ½, and the weight of Λ that suits binary tables."""
    term = Sparsity(sparsity)
    return RelaxedProblem(D, term, term, 0.1, entry)


def panpal(
    D: np.ndarray,
    rank: int,
    rng: np.random.Generator,
    sparsity: float = 0.5,
    entry: np.ndarray | None = None,
    name: str = "",
    max_iter: int = MAX_ITER,
) -> Result[State]:
    """PanPAL with the settings that suit binary tables.

    Parameters
    ----------
    D : array of shape (n, m)
    rank : int
    rng : numpy.random.Generator
    sparsity : float
        The ½ before |X| + |Y| in (2.6).
    entry : array of shape (n, m), optional
        Weights of the entries, each at most 1.
    name : str, optional
        Under which a checkpoint keeps the run.
    max_iter : int
        Most steps.

    Returns
    -------
    Result
    """
    return descend(panpal_problem(D, sparsity, entry), rank, rng, max_iter, TOL, name)
