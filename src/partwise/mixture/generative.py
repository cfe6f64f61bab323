"""Mixtures of Gaussians for each class by EM, with one covariance for all: their posterior has the form (1).

With a covariance Σ that all components share, the quadratic term of the log-densities is the same for all and
cancels: θ_j = Σ⁻¹ μ_j and log W_j = log π_j − μ_jᵀ Σ⁻¹ μ_j / 2. Σ may be σ² I ("spherical"), diagonal, or full
("tied"). Data are whitened with the current Σ, so that the E-step only sees distances.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled
from partwise.mixture.start import clustered

COVARIANCES = ("spherical", "diagonal", "tied")


def run_em(
    data: Labelled,
    counts: np.ndarray,
    init: str,
    covariance: str,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    watch: Callable[[int, float], bool],
) -> tuple[Components, np.ndarray, bool]:
    """The components, their means, and whether it converged; the mean log-likelihood never falls."""
    X, total = data.X.astype(float), data.total
    d = X.shape[1]
    means, masses, variance = clustered(data, counts, init, rng)
    starts = np.concatenate([[0], np.cumsum(counts)])
    floor = 1e-6 * max(float(X.var(axis=0).mean()), 1e-300)
    root = np.sqrt(max(variance, floor)) * np.eye(d)
    members = [np.flatnonzero((data.y == c) & (data.weight > 0)) for c in range(len(counts))]
    second = (X * data.weight[:, None]).T @ X if covariance == "tied" else data.weight @ X**2
    before, converged = -np.inf, False
    for step in range(max_iter):
        log_prior = np.log(np.maximum(masses, 1e-300) / total)
        white = solve_triangular(root, means.T, lower=True).T
        constant = -np.log(np.diag(root)).sum() - 0.5 * d * np.log(2.0 * np.pi)
        value = 0.0
        new_means, new_masses = np.zeros_like(means), np.zeros_like(masses)
        for c, rows in enumerate(members):
            mine = slice(starts[c], starts[c + 1])
            H = solve_triangular(root, X[rows].T, lower=True).T
            distance = (H**2).sum(axis=1)[:, None] - 2.0 * H @ white[mine].T + (white[mine] ** 2).sum(axis=1)
            scores = log_prior[mine] - 0.5 * distance
            top = scores.max(axis=1)
            share = np.exp(scores - top[:, None])
            sums = share.sum(axis=1)
            value += float(data.weight[rows] @ (top + np.log(sums) + constant))
            share *= (data.weight[rows] / sums)[:, None]
            new_masses[mine] = share.sum(axis=0)
            new_means[mine] = share.T @ X[rows]
        value /= total
        if watch(step, value):
            converged = True
            break
        if step > 0 and value - before <= tol * max(1.0, abs(before)):
            converged = True
            break
        before = value
        # A component that nobody uses stays where it is.
        used = new_masses > 1e-10 * total
        means = np.where(used[:, None], new_means / np.maximum(new_masses, 1e-300)[:, None], means)
        masses = np.maximum(new_masses, 1e-10 * total)
        root = spread_root(second, means, np.where(used, new_masses, 0.0), total, covariance, floor)
    white = solve_triangular(root, means.T, lower=True).T
    exponents = solve_triangular(root, white.T, lower=True, trans="T").T
    log_weight = np.log(masses / total) - 0.5 * (white**2).sum(axis=1)
    return Components.of(exponents, log_weight, counts), means, converged


def spread_root(
    second: np.ndarray, means: np.ndarray, masses: np.ndarray, total: float, covariance: str, floor: float
) -> np.ndarray:
    """The Cholesky factor of the shared covariance: second moments less those of the means."""
    d = means.shape[1]
    if covariance == "tied":
        S = (second - (means * masses[:, None]).T @ means) / total
        try:
            return np.asarray(cholesky(S, lower=True))
        except np.linalg.LinAlgError:
            return np.asarray(cholesky(S + floor * np.eye(d), lower=True))
    variance = (second - masses @ means**2) / total
    if covariance == "spherical":
        variance = np.full(d, variance.mean())
    return np.diag(np.sqrt(np.maximum(variance, floor)))
