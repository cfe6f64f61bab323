"""PanPAL: Boolean factorization relaxed to [0, 1], by proximal alternating linearized steps.

Hess, Morik & Piatkowski 2017; equation numbers are those of Gonsior 2019, section 2.2.5. With D (m × n) ≈ Y Xᵀ, the
objective is F = ½‖D − Y Xᵀ‖² + ½(|X| + |Y|) (2.6). A step goes down the gradient of one factor (2.10, 2.11), by the
inverse of γ > 1 times its Lipschitz modulus, and then applies the proximal operator (2.13), which pushes values
towards 0 and 1. The moduli are the spectral norms of the *other* factor's Gram matrix, YᵀY and XᵀX: as printed,
(2.15) has Y Yᵀ and X Xᵀ, which have the same norm and m² and n² entries.

What a step lowers is not F but F + Λ(X) + Λ(Y) (Bolte, Sabach & Teboulle 2014). With step 1/L the operator
solves argmin ½(x − x*)² + Λ(x*)/L; the operator (2.13) with push 2ρ belongs to Λ(x) = 2 ρ L min(x, 1 − x) on
[0, 1]. To keep Λ the same function from step to step, ρ is `weight` / L.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

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


@dataclass
class Relaxed:
    """State of PanPAL: the data D (m × n), the factors X (n × r) and Y (m × r), and the settings.

    `weight` is that of the penalty Λ, `sparsity` the ½ before |X| + |Y| in (2.6). `entry`, if given, has the
    weights of the entries of D in the loss, each at most 1.
    """

    D: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    weight: float = 1.0
    sparsity: float = 0.5
    entry: np.ndarray | None = None

    def loss(self) -> float:
        """½‖D − Y Xᵀ‖², each square times the weight of its entry."""
        squares = (self.D - self.Y @ self.X.T) ** 2
        return 0.5 * float((squares if self.entry is None else self.entry * squares).sum())

    def slope_X(self) -> np.ndarray:
        """Gradient of the loss by X: (2.10) without the sparsity."""
        if self.entry is None:
            return self.X @ (self.Y.T @ self.Y) - self.D.T @ self.Y
        return (self.entry * (self.Y @ self.X.T - self.D)).T @ self.Y

    def slope_Y(self) -> np.ndarray:
        """Gradient of the loss by Y: (2.11) without the sparsity."""
        if self.entry is None:
            return self.Y @ (self.X.T @ self.X) - self.D @ self.X
        return (self.entry * (self.Y @ self.X.T - self.D)) @ self.X

    def objective(self) -> float:
        """The objective F (2.6)."""
        return self.loss() + self.sparsity * float(np.abs(self.X).sum() + np.abs(self.Y).sum())

    def penalised(self) -> float:
        """F + Λ(X) + Λ(Y), which no step raises."""
        return self.objective() + penalty(self.X, self.weight) + penalty(self.Y, self.weight)

    def gradient_X(self) -> np.ndarray:
        """Gradient of F by X (2.10)."""
        return self.slope_X() + self.sparsity

    def gradient_Y(self) -> np.ndarray:
        """Gradient of F by Y (2.11)."""
        return self.slope_Y() + self.sparsity

    def modulus_X(self) -> float:
        """Lipschitz modulus of the gradient by X (2.15); an upper bound on it if entries have weights."""
        return float(np.linalg.norm(self.Y.T @ self.Y, 2))

    def modulus_Y(self) -> float:
        """Lipschitz modulus of the gradient by Y (2.15); an upper bound on it if entries have weights."""
        return float(np.linalg.norm(self.X.T @ self.X, 2))

    def step(self) -> None:
        """Update X, then Y (2.8, 2.9), with the step sizes (2.16)."""
        L = GAMMA * max(self.modulus_X(), 1e-12)
        self.X = prox(self.X - self.gradient_X() / L, self.weight / L)
        L = GAMMA * max(self.modulus_Y(), 1e-12)
        self.Y = prox(self.Y - self.gradient_Y() / L, self.weight / L)


def panpal(
    D: np.ndarray,
    rank: int,
    rng: np.random.Generator,
    max_iter: int = 2000,
    tol: float = 1e-6,
    weight: float = 0.1,
    sparsity: float = 0.5,
    objective: type[Relaxed] = Relaxed,
    entry: np.ndarray | None = None,
) -> Iterator[Relaxed]:
    """Run from a random start, yielding the state after each step.

    Parameters
    ----------
    D : array of shape (m, n)
    rank : int
    rng : numpy.random.Generator
    max_iter : int
        Most steps.
    tol : float
        Ends when a step lowers the penalised objective by no more than this share of it.
    weight, sparsity, entry :
        See `Relaxed`.
    objective : type
        `Relaxed` or a subclass with another objective.

    Yields
    ------
    Relaxed
        The state; the same object every time.
    """
    m, n = D.shape
    state = objective(D, rng.random((n, rank)), rng.random((m, rank)), weight, sparsity, entry)
    before = state.penalised()
    for _ in range(max_iter):
        state.step()
        yield state
        now = state.penalised()
        if before - now <= tol * max(abs(before), 1e-12):
            return
        before = now
