"""From what each node has of each community to shares and labels."""

from __future__ import annotations

from typing import Any

import numpy as np


def shares(W: np.ndarray) -> np.ndarray:
    """Rows of W that sum to one; evenly where all entries are 0."""
    total = W.sum(axis=1, keepdims=True)
    return np.divide(W, total, out=np.full_like(W, 1.0 / W.shape[1]), where=total > 0)


def labels_from(W: np.ndarray) -> np.ndarray:
    """The place of the largest entry of each row; −1 where all entries are 0."""
    return np.where(W.max(axis=1) > 0, W.argmax(axis=1), -1)


def voted(A: Any, W: np.ndarray) -> np.ndarray:
    """The weight of each node's edges into each community, less what chance would put there.

    A neighbour belongs to communities by its shares of W. (In W itself nodes of high degree have more of their
    community, so that a single such neighbour would outweigh all others.) Chance is that of modularity: edges fall on
    nodes in proportion to their degrees. The node itself counts as much as one of its edges does in the mean.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        The graph, symmetric.
    W : array of shape (n, n_components)
        What each node has of each community.

    Returns
    -------
    array of shape (n, n_components)
        Not below zero. The shares of W where a node has more edges than by chance into no community; zeros where it
        has none of these either.
    """
    own = np.where(W.any(axis=1, keepdims=True), shares(W), 0.0)
    degree = np.asarray(A.sum(axis=1)).ravel()
    one_edge = degree / np.maximum(np.diff(A.indptr), 1)
    votes = A @ own + one_edge[:, None] * own - np.outer(degree, degree @ own) / degree.sum()
    # What is left of equal numbers after rounding is no vote.
    votes = np.where(votes > 1e-12 * degree[:, None], votes, 0.0)
    return np.where(votes.any(axis=1, keepdims=True), votes, own)
