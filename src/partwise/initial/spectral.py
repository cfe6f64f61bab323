"""Where W of A ≈ W Wᵀ starts: eigenvectors turned until they are nearly nonnegative, or at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from partwise.initial.lanczos import seeded

#: Turns of the eigenvectors, at most, and the change of the turned matrix that ends them.
_TURNS, _STILL = 100, 1e-4
#: Rows by which a turn is found, at most: it has only as many numbers as there are pairs of components.
_ROWS = 20_000


def spectral_root(A: Any, n_components: int, rng: np.random.Generator, directed: bool = False) -> np.ndarray:
    """B with B Bᵀ the best approximation of A by a positive semidefinite matrix of this rank.

    Where A is directed, it is that of the root of (A Aᵀ + Aᵀ A) / 2, in which nodes are alike if they link to, and
    are linked from, the same nodes.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Symmetric unless `directed`.
    n_components : int
        Columns of B.
    rng : Generator
        For the start of the Lanczos iterations.
    directed : bool
        Whether A is.

    Returns
    -------
    array of shape (n, n_components)
        Eigenvectors of the largest eigenvalues, times their roots; zeros for eigenvalues below zero.
    """
    n = A.shape[0]
    if n <= max(3 * n_components, 50):
        # Hardly larger than W itself.
        full = A.toarray()
        values, vectors = np.linalg.eigh(0.5 * (full @ full.T + full.T @ full) if directed else full)
    else:
        At = A.T.tocsr()
        seen = LinearOperator(A.shape, lambda v: 0.5 * (A @ (At @ v) + At @ (A @ v)), dtype=float)
        try:
            # A start does not need the last digits.
            settings = {"tol": 1e-4, "v0": rng.random(n), "maxiter": 300, **seeded()}
            values, vectors = eigsh(seen if directed else A, n_components, which="LA", **settings)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
    values = np.maximum(values, 0.0)
    values = np.sqrt(values) if directed else values
    order = np.argsort(-values)[:n_components]
    B = np.zeros((n, n_components))
    B[:, : len(order)] = vectors[:, order] * np.sqrt(values[order])
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
    some = B if len(B) <= _ROWS else B[rng.permutation(len(B))[:_ROWS]]
    Q = np.linalg.qr(rng.standard_normal((B.shape[1], B.shape[1])))[0]
    # Columns point to where they are larger: one without a positive entry would stay at zero.
    below, above = (np.linalg.norm(np.maximum(sign * (some @ Q), 0.0), axis=0) for sign in (-1, 1))
    Q = np.where(below > above, -Q, Q)
    W = np.maximum(some @ Q, 0.0)
    for _ in range(_TURNS):
        left, _, right = np.linalg.svd(some.T @ W)
        Q = left @ right
        before, W = W, np.maximum(some @ Q, 0.0)
        if np.linalg.norm(W - before) <= _STILL * np.linalg.norm(W):
            break
    return np.maximum(B @ Q, 0.0)


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
