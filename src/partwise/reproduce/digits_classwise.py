"""Mixtures of Gaussians with one covariance for each class: a reading of the EM baseline of Lee, Seung & Saul."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, ClassifierMixin

from partwise.core import run
from partwise.mixture.contrastive import Labelled
from partwise.mixture.generative import GaussianEM, Gaussians, GaussianState, start_gaussians
from partwise.mixture.start import clustered
from partwise.mixture.training import TrainingProgress


class ClasswiseGaussians(ClassifierMixin, BaseEstimator):
    """EM for each class by itself, and Bayes' rule.

    The components of a class share a covariance that is the class's own, so the quadratic terms of two classes differ
    and the posterior has not the form (1). `MixtureClassifier(training="em")` has one covariance for all.

    Parameters
    ----------
    n_mixtures : int
        Components for each class.
    covariance : {"spherical", "diagonal", "tied"}
        Of each class.
    max_iter : int, default=100
    tol : float, default=1e-6
    random_state : int, default=0

    Attributes
    ----------
    classes_ : array
    fitted_ : list of (GaussianState, float)
        The Gaussians of each class, and its weight.
    n_iter_, n_parameters_ : int
    """

    penalty_ = 0.0

    def __init__(
        self, n_mixtures: int, covariance: str, max_iter: int = 100, tol: float = 1e-6, random_state: int = 0
    ) -> None:
        self.n_mixtures = n_mixtures
        self.covariance = covariance
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClasswiseGaussians:
        """Gaussians for each class.

        Parameters
        ----------
        X : array of shape (n_samples, d)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        ClasswiseGaussians
        """
        rng = np.random.default_rng(self.random_state)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        self.classes_ = np.unique(y)
        self.fitted_: list[tuple[GaussianState, float]] = []
        counts = np.array([self.n_mixtures])
        for one in self.classes_:
            rows = np.flatnonzero(y == one)
            own = Labelled(np.asarray(X[rows], float), np.zeros(len(rows), np.int64), weight[rows])
            result = run(
                Gaussians(own, counts, self.covariance),
                GaussianEM(),
                start_gaussians(own, clustered(own, counts, "kmeans", rng)),
                max_iter=self.max_iter,
                stopping=TrainingProgress(self.tol),
            )
            self.fitted_.append((result.state, own.total))
        d = X.shape[1]
        size = {"spherical": 1, "diagonal": d, "tied": d * (d + 1) // 2}[self.covariance]
        self.n_iter_ = max(state.iteration for state, _ in self.fitted_)
        self.n_parameters_ = len(self.classes_) * (self.n_mixtures * (d + 1) + size)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample.

        Parameters
        ----------
        X : array of shape (n_samples, d)

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = [log_density(np.asarray(X, float), state) + np.log(total) for state, total in self.fitted_]
        return np.asarray(self.classes_[np.argmax(scores, axis=0)])


def log_density(X: np.ndarray, state: GaussianState) -> np.ndarray:
    """The log of Σ_j π_j N(h; μ_j, Σ) of each row, less ½ d log 2π."""
    white = solve_triangular(state.root, state.means.T, lower=True).T
    H = solve_triangular(state.root, X.T, lower=True).T
    scores = H @ white.T - 0.5 * (white**2).sum(axis=1) + np.log(state.masses / state.masses.sum())
    top = scores.max(axis=1)
    within = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(within - 0.5 * (H**2).sum(axis=1) - np.log(np.diag(state.root)).sum())
