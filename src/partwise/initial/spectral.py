"""Where W of A ≈ W Wᵀ starts: eigenvectors turned until they are nearly nonnegative, or at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

#: Turns of the eigenvectors, at most, and the change of the turned matrix that ends them.
_TURNS, _STILL = 100, 1e-4


def spectral_root(A: Any, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """B with B Bᵀ the best approximation of A by a positive semidefinite matrix of this rank.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Symmetric.
    n_components : int
        Columns of B.
    rng : Generator
        For the start of the Lanczos iterations.

    Returns
    -------
    array of shape (n, n_components)
        Eigenvectors of the largest eigenvalues, times their roots; zeros for eigenvalues below zero.
    """
    n = A.shape[0]
    if n <= max(3 * n_components, 50):
        # Hardly larger than W itself.
        values, vectors = np.linalg.eigh(A.toarray())
    else:
        try:
            # A start does not need the last digits.
            values, vectors = eigsh(A, n_components, which="LA", tol=1e-4, v0=rng.random(n), maxiter=300)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-values)[:n_components]
    B = np.zeros((n, n_components))
    B[:, : len(order)] = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    return B


def turned(B: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The nonnegative part of B Q, for an orthogonal Q that leaves little else (Huang, Sidiropoulos & Swami 2014).

    Q begins at random; then in turn W is the nonnegative part of B Q, and Q the rotation that brings B nearest to W.

    Parameters
    ----------
    B : array of shape (n, n_components)
        What `spectral_root` returned.
    rng : Generator
        Draws the first Q.

    Returns
    -------
    array of shape (n, n_components)
        W.
    """
    Q = np.linalg.qr(rng.standard_normal((B.shape[1], B.shape[1])))[0]
    W = np.maximum(B @ Q, 0.0)
    for _ in range(_TURNS):
        left, _, right = np.linalg.svd(B.T @ W)
        before, W = W, np.maximum(B @ (left @ right), 0.0)
        if np.linalg.norm(W - before) <= _STILL * np.linalg.norm(W):
            break
    return W


def random_root(A: Any, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform numbers for which W Wᵀ has the mean of A.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Nonnegative.
    n_components : int
        Columns of W.
    rng : Generator
        Draws them.

    Returns
    -------
    array of shape (n, n_components)
        W.
    """
    n = A.shape[0]
    return rng.random((n, n_components)) * 2.0 * np.sqrt(A.sum() / n**2 / n_components)
