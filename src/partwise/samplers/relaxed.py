"""The posterior of relaxed Boolean factors: X ≈ W Hᵀ with normal errors, entries in [0, 1] (Gonsior 2019, 3.2).

log p(W, H | X) = −‖X − W Hᵀ‖² / (2σ²) − N log σ + log p(W) + log p(H), up to a constant; σ² = 1 is the thesis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from partwise.core import State
from partwise.samplers.unit_priors import UnitPrior

#: The prior where none is given.
UNIFORM = UnitPrior()


@dataclass(frozen=True)
class RelaxedPosterior:
    """Data and priors.

    Parameters
    ----------
    X : array of float of shape (n, m)
        The data; 0 where not observed.
    prior : UnitPrior
        Of every entry of both factors.
    noise : float, default=1
        The variance σ², where a sampler holds it; where it is drawn, where it begins.
    observed : array of bool of shape (n, m), optional
        Which entries were observed; by default all.
    noise_prior : tuple of float
        Inverse-gamma prior of σ², where it is drawn: shape and scale.
    """

    X: np.ndarray
    prior: UnitPrior = UNIFORM
    noise: float = 1.0
    observed: np.ndarray | None = None
    noise_prior: tuple[float, float] = (1.0, 0.1)

    @property
    def T(self) -> RelaxedPosterior:
        """The same for Xᵀ ≈ H Wᵀ."""
        return replace(self, X=self.X.T, observed=None if self.observed is None else self.observed.T)

    @cached_property
    def size(self) -> int:
        """Number of observed entries."""
        return self.X.size if self.observed is None else int(self.observed.sum())

    @cached_property
    def squares(self) -> float:
        """Sum of squares of the observed entries."""
        return float(np.square(self.X).sum(dtype=float))

    def residual(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """Sum of squared errors over the observed entries.

        Parameters
        ----------
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.

        Returns
        -------
        float
            ‖X − W Hᵀ‖²; without missing entries by Gram matrices, one product with X.
        """
        if self.observed is None:
            cross = float(np.vdot(W, self.X @ Ht.astype(self.X.dtype)))
            return max(0.0, self.squares - 2.0 * cross + float(np.vdot(W.T @ W, Ht.T @ Ht)))
        error = np.where(self.observed, self.X - W @ Ht.T, 0.0)
        return float(np.vdot(error, error))

    def log_density(self, W: np.ndarray, Ht: np.ndarray, noise: float | None = None) -> float:
        """Log-density, up to a constant of the data.

        Parameters
        ----------
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.
        noise : float, optional
            σ², by default that of the problem; the inverse-gamma prior of σ² is not part of the sum.

        Returns
        -------
        float
            Log-likelihood without its 2π, and the log-priors of the factors.
        """
        noise = self.noise if noise is None else noise
        fit = -0.5 * self.residual(W, Ht) / noise - 0.5 * self.size * np.log(noise)
        return float(fit) + self.prior.log_density(W) + self.prior.log_density(Ht)

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """Gradient of the log-density by W, at the noise of the problem.

        Parameters
        ----------
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.

        Returns
        -------
        array of shape (n, k)
            The gradient.
        """
        return self.slope(W, Ht) + self.prior.gradient(W)

    def slope(self, W: np.ndarray, Ht: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """Gradient of the log-likelihood by W, each column of X counted a number of times.

        Parameters
        ----------
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.
        times : array of shape (m,), optional
            How often each column counts; by default once.

        Returns
        -------
        array of shape (n, k)
            (X − W Hᵀ) diag(times) H / σ², by Gram matrices where all entries were observed.
        """
        counted = Ht if times is None else Ht * times[:, None]
        if self.observed is not None:
            error = np.where(self.observed, self.X - W @ Ht.T, 0.0)
            return np.asarray(error @ counted / self.noise)
        pull = self.X @ counted.astype(self.X.dtype)
        return np.asarray((pull - W @ (Ht.T @ counted)) / self.noise)

    def slope_variance(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """Variance of the slope by W on a single column of X drawn at random, times the number of columns.

        Parameters
        ----------
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.

        Returns
        -------
        array of shape (n, k)
            m Σⱼ gᵢⱼ² − (Σⱼ gᵢⱼ)², with gᵢⱼ = (X − W Hᵀ)ᵢⱼ Hⱼ / σ². Of S columns drawn with replacement it is one
            S-th.
        """
        error = self.X - (W @ Ht.T).astype(self.X.dtype)
        if self.observed is not None:
            error = np.where(self.observed, error, 0)
        H = Ht.astype(self.X.dtype)
        spread = len(Ht) * (np.square(error) @ np.square(H)) - np.square(error @ H)
        return np.maximum(spread, 0) / self.noise**2

    def curvature(self, Ht: np.ndarray) -> np.ndarray:
        """Largest curvatures of −log-likelihood by the columns of W.

        Parameters
        ----------
        Ht : array of shape (m, k)
            The other factor, nonnegative.

        Returns
        -------
        array of shape (k,)
            HHᵀ1 / σ²: for nonnegative H the matrix diag(HHᵀ1) − HHᵀ has no negative eigenvalue, so steps by the
            inverse of these never overshoot. A missing entry only lessens the curvature.
        """
        return np.asarray(Ht.T @ Ht.sum(axis=1) / self.noise)

    def start(self, rank: int, rng: np.random.Generator, size: float = 1.0) -> State:
        """Factors at random, scaled so that their product has the mean of the data.

        Parameters
        ----------
        rank : int
            Number of components.
        rng : Generator
            Where random numbers are drawn from.
        size : float, default=1
            How many times as large both factors are.

        Returns
        -------
        State
            Entries uniform on [0, 2 size √(mean / rank)], at most 1. (The thesis does not say how its random starts
            are scaled; uniform on [0, 1], the first product would be rank / 4.)
        """
        mean = float(self.X.sum()) / max(self.size, 1)
        scale = 2.0 * size * np.sqrt(max(mean, 1e-6) / rank)
        W, Ht = (np.minimum(scale * rng.random((side, rank)), 1.0) for side in self.X.shape)
        return State(W, Ht, {"noise": np.array(self.noise)})


def parameters(state: State) -> dict[str, np.ndarray]:
    """What recorders are shown of a state.

    Parameters
    ----------
    state : State
        Where a chain stands.

    Returns
    -------
    dict
        "W", "Ht" and "noise".
    """
    return {"W": state.W, "Ht": state.Ht, "noise": (state.extra or {})["noise"]}


class RelaxedKernel:
    """What kernels of relaxed factors have in common; each adds its `step`."""

    def init(self, problem: RelaxedPosterior, rank: int, rng: np.random.Generator) -> State:
        """A scaled random start.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        rank : int
            Number of components.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        State
            The first state.
        """
        return problem.start(rank, rng)

    def value(self, problem: RelaxedPosterior, state: State) -> float:
        """Log-density at a state.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            The point.

        Returns
        -------
        float
            Up to a constant of the data.
        """
        return problem.log_density(state.W, state.Ht)

    def draw(self, problem: RelaxedPosterior, state: State) -> dict[str, Any]:
        """The parameters at a state.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            The point.

        Returns
        -------
        dict
            "W", "Ht" and "noise".
        """
        return parameters(state)
