"""Mixtures of Gaussians for each class by EM, with one covariance for all: their posterior has the form (1).

With a covariance Σ that all components share, the quadratic term of the log-densities is the same for all and
cancels: θ_j = Σ⁻¹ μ_j and log W_j = log π_j − μ_jᵀ Σ⁻¹ μ_j / 2. Σ may be σ² I ("spherical"), diagonal, or full
("tied"). Data are whitened with the current Σ, so that the E-step only sees distances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from partwise.core import Info, RunState
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled
from partwise.mixture.spread import at_least, least_covariance
from partwise.mixture.start import Clusters

COVARIANCES = ("spherical", "diagonal", "tied")


class Gaussians:
    """The mean log-likelihood of samples and classes: Σ_k w_k log Σ_{j of y_k} π_j N(h_k; μ_j, Σ) / Σ_k w_k.

    Parameters
    ----------
    data : Labelled
    counts : array of int
        Number of components of each class.
    covariance : {"spherical", "diagonal", "tied"}
    """

    def __init__(self, data: Labelled, counts: np.ndarray, covariance: str) -> None:
        self.X, self.weight, self.total = data.X.astype(float), data.weight, data.total
        self.counts, self.covariance = counts, covariance
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.floor = variance_floor(data)
        self.least = least_covariance(data, int(counts.sum()), self.floor)
        self.members = [np.flatnonzero((data.y == c) & (data.weight > 0)) for c in range(len(counts))]
        if covariance == "tied":
            self.second = (self.X * self.weight[:, None]).T @ self.X
        else:
            self.second = self.weight @ self.X**2


@dataclass
class GaussianState(RunState):
    """The parameters of the Gaussians.

    Attributes
    ----------
    means : array of shape (J, d)
    masses : array of shape (J,)
        π times the sum of the samples' weights.
    root : array of shape (d, d)
        Cholesky factor of Σ.
    sums, shares : arrays of shapes (J, d) and (J,), optional
        Σ_k w_k r_kj h_k and Σ_k w_k r_kj at these parameters, which the next M-step needs; r are responsibilities.
    """

    means: np.ndarray
    masses: np.ndarray
    root: np.ndarray
    sums: np.ndarray | None = None
    shares: np.ndarray | None = None


class GaussianEM:
    """EM; the mean log-likelihood never falls."""

    def value(self, problem: Gaussians, state: GaussianState) -> float:
        """The E-step: the mean log-likelihood; sums of responsibilities are kept in the state."""
        means, root = state.means, state.root
        log_prior = np.log(np.maximum(state.masses, 1e-300) / problem.total)
        white = solve_triangular(root, means.T, lower=True).T
        constant = -np.log(np.diag(root)).sum() - 0.5 * means.shape[1] * np.log(2.0 * np.pi)
        value = 0.0
        sums, shares = np.zeros_like(means), np.zeros_like(state.masses)
        for c, rows in enumerate(problem.members):
            own = slice(problem.starts[c], problem.starts[c + 1])
            X, weight = problem.X[rows], problem.weight[rows]
            H = solve_triangular(root, X.T, lower=True).T
            distance = (H**2).sum(axis=1)[:, None] - 2.0 * H @ white[own].T + (white[own] ** 2).sum(axis=1)
            scores = log_prior[own] - 0.5 * distance
            top = scores.max(axis=1)
            share = np.exp(scores - top[:, None])
            norm = share.sum(axis=1)
            value += float(weight @ (top + np.log(norm) + constant))
            share *= (weight / norm)[:, None]
            shares[own] = share.sum(axis=0)
            sums[own] = share.T @ X
        state.sums, state.shares = sums, shares
        state.objective = value / problem.total
        return state.objective

    def step(
        self, problem: Gaussians, state: GaussianState, rng: np.random.Generator
    ) -> tuple[GaussianState, Info]:
        """The M-step, and the E-step of what it gives."""
        if state.sums is None or state.shares is None:
            self.value(problem, state)
        assert state.sums is not None
        assert state.shares is not None
        # A component that no sample belongs to stays where it is.
        used = state.shares > 1e-10 * problem.total
        means = np.where(used[:, None], state.sums / np.maximum(state.shares, 1e-300)[:, None], state.means)
        after = replace(
            state,
            means=means,
            masses=np.maximum(state.shares, 1e-10 * problem.total),
            root=spread_root(problem, means, np.where(used, state.shares, 0.0)),
            iteration=state.iteration + 1,
        )
        self.value(problem, after)
        return after, Info(after.iteration, after.objective)


def variance_floor(data: Labelled) -> float:
    """The smallest variance that the covariance may have: above what rounding leaves of constant features."""
    X = data.X.astype(float)
    spread, size = float(X.var(axis=0).mean()), float((X**2).mean())
    return max(1e-6 * spread, 1e-12 * size) or 1.0


def start_gaussians(data: Labelled, clusters: Clusters) -> GaussianState:
    """Gaussians at clusters, with the mean variance within these."""
    width = np.sqrt(max(clusters.width, variance_floor(data)))
    return GaussianState(clusters.means, clusters.masses, width * np.eye(data.X.shape[1]))


def bounded(problem: Gaussians, state: GaussianState) -> GaussianState:
    """A start whose covariance is not below the least one: EM climbs only from there."""
    root = bounded_root(problem, state.root @ state.root.T)
    return state if np.allclose(root, state.root, rtol=1e-12, atol=0.0) else replace(state, root=root)


def posterior_components(state: GaussianState, counts: np.ndarray) -> Components:
    """The exponents and weights by which the Gaussians' posterior has the form of `partwise.mixture.components`."""
    white = solve_triangular(state.root, state.means.T, lower=True).T
    exponents = solve_triangular(state.root, white.T, lower=True, trans="T").T
    log_weight = np.log(state.masses / state.masses.sum()) - 0.5 * (white**2).sum(axis=1)
    return Components.of(exponents, log_weight, counts)


def spread_root(problem: Gaussians, means: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """The Cholesky factor of the shared covariance: second moments less those of the means, not below the least."""
    if problem.covariance == "tied":
        S = (problem.second - (means * masses[:, None]).T @ means) / problem.total
    else:
        S = np.diag((problem.second - masses @ means**2) / problem.total)
    return bounded_root(problem, S)


def bounded_root(problem: Gaussians, S: np.ndarray) -> np.ndarray:
    """The Cholesky factor of the likeliest covariance of the problem's form, for samples of covariance S."""
    if problem.covariance == "tied":
        return np.asarray(cholesky(at_least(S, problem.least), lower=True))
    variance, least = np.diag(S), np.diag(problem.least)
    if problem.covariance == "spherical":
        variance, least = np.full(len(S), variance.mean()), np.full(len(S), least.mean())
    return np.diag(np.sqrt(np.maximum(variance, np.maximum(least, problem.floor))))
