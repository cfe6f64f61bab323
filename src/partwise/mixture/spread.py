"""How little spread components may have: what a few more samples, spread as the data are, would leave of it.

Components at copies of one row have no spread, and a Gaussian without spread is sure of everything. With J
components and n samples, one more sample for each component with the covariance C of its class would make the shared
covariance (n Σ + J C) / (n + J): never less than J / (n + J) C, whatever Σ is. In the same way one more sample for
each of c classes, with the variances V of all samples, makes it no less than c / (n + c) V, which counts where a
feature never changes within a class. The larger of the two is the least covariance here. It is a bound and no
shrinkage, so that where samples are spread, estimates are those of maximum likelihood.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from partwise.mixture.contrastive import Labelled


def effective_size(data: Labelled) -> float:
    """Number of samples of equal weight that say as much (Kish 1965): (Σ w)² / Σ w²."""
    weight = data.weight / max(float(data.weight.max(initial=0.0)), 1e-300)
    return max(float(weight.sum() ** 2 / max(float(weight @ weight), 1e-300)), 1.0)


def pseudo_share(data: Labelled, n_groups: int) -> float:
    """J / (n + J): the share that one more sample for each of J groups has in all samples."""
    return n_groups / (effective_size(data) + n_groups)


def least_covariance(data: Labelled, n_components: int, floor: float) -> np.ndarray:
    """The least covariance of components: shares of the one within classes and of the variances of all samples.

    Parameters
    ----------
    data : Labelled
    n_components : int
        J, of all classes.
    floor : float
        The least variance of a feature that varies nowhere.

    Returns
    -------
    array of shape (d, d)
        Positive definite.
    """
    X, weight = data.X.astype(float), data.weight
    share = weight / data.total
    spread, size = share @ (X - share @ X) ** 2, share @ X**2
    classes = np.unique(data.y)
    for c in classes:
        own = data.y == c
        X[own] -= (weight[own] / weight[own].sum()) @ X[own]
    within = (X * share[:, None]).T @ X
    # Second moments, from which covariances are made, keep no digits of a variance far below them.
    least = np.maximum(pseudo_share(data, len(classes)) * spread, 1e-14 * size)
    least = np.where(spread > 1e-12 * size, least, floor)
    return at_least(pseudo_share(data, n_components) * within, np.diag(least))


def at_least(S: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The covariance of greatest likelihood, for samples of covariance S, among those not below `least`.

    In coordinates in which `least` is the identity, eigenvalues of S below 1 become 1. S itself comes back where
    there are none.

    Parameters
    ----------
    S : array of shape (d, d)
    least : array of shape (d, d)
        Positive definite.

    Returns
    -------
    array of shape (d, d)
    """
    try:
        cholesky(S - least, lower=True)
    except np.linalg.LinAlgError:
        pass
    else:
        return S
    root = cholesky(least, lower=True)
    half = solve_triangular(root, S, lower=True)
    values, vectors = eigh(solve_triangular(root, half.T, lower=True))
    turned = root @ vectors
    return np.asarray((turned * np.maximum(values, 1.0)) @ turned.T)
