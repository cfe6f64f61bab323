"""The posterior of Lee, Seung & Saul (equation 1), in log space.

Component j belongs to one class and scores a sample by θ_j · h + log W_j; a class's score is the log-sum-exp of
its components, and the posterior is their softmax. (Lee, Seung & Saul write a full matrix W_ij; their count of
parameters, 6,480 for ten classes of eight components on 80 features, is that of one weight for each component, so W
is block diagonal.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Rows whose scores are held in memory at a time.
CHUNK = 2048


@dataclass
class Components:
    """The parameters of the posterior.

    Attributes
    ----------
    exponents : array of shape (J, d)
        θ, the components of the first class first.
    log_weight : array of shape (J,)
        log W.
    starts : array of int of shape (n_classes + 1,)
        The first component of each class, and J.
    """

    exponents: np.ndarray
    log_weight: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, exponents: np.ndarray, log_weight: np.ndarray, counts: np.ndarray) -> Components:
        """From the number of components of each class, in the order of the classes."""
        return cls(exponents, log_weight, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    @property
    def owner(self) -> np.ndarray:
        """The class of each component."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.starts))

    def copy(self) -> Components:
        """A copy that later steps will not change."""
        return Components(self.exponents.copy(), self.log_weight.copy(), self.starts)

    def class_scores(self, X: np.ndarray) -> np.ndarray:
        """The log of Σ_j W_j e^{θ_j · h} over the components of each class.

        Parameters
        ----------
        X : array of shape (n_samples, d)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        out = np.empty((len(X), self.n_classes))
        first = self.starts[:-1]
        for a in range(0, len(X), CHUNK):
            scores = X[a : a + CHUNK] @ self.exponents.T + self.log_weight
            top = np.maximum.reduceat(scores, first, axis=1)
            scores -= np.repeat(top, np.diff(self.starts), axis=1)
            out[a : a + CHUNK] = top + np.log(np.add.reduceat(np.exp(scores), first, axis=1))
        return out


def log_posterior(class_scores: np.ndarray) -> np.ndarray:
    """The log-softmax of `Components.class_scores` over the classes."""
    top = class_scores.max(axis=1, keepdims=True)
    return class_scores - top - np.log(np.exp(class_scores - top).sum(axis=1, keepdims=True))
