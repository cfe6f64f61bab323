"""Lanczos iterations that give the same bits every time."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh


def seeded() -> dict[str, Any]:
    """What `scipy.sparse.linalg.eigsh` is given so that it draws the same numbers every time.

    A first vector alone does not do: where the data have a lower rank than is asked for, iterations come to an end
    and go on from a random vector, which newer versions of SciPy draw from a generator of their own.

    Returns
    -------
    dict
        The keyword argument for it; empty for versions that need none.
    """
    return {"rng": np.random.default_rng(0)} if "rng" in inspect.signature(eigsh).parameters else {}


def lanczos_svd(X: Any, k: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, S and Vᵀ of the k largest singular values, largest first.

    From eigenvectors of XᵀX or X Xᵀ, whichever is smaller, as `scipy.sparse.linalg.svds` finds them; but that passes
    no generator on.

    Parameters
    ----------
    X : sparse matrix or LinearOperator of shape (n, m)
        What is decomposed.
    k : int
        Below min(n, m).
    dtype : dtype
        Of the iterations.

    Returns
    -------
    U, S, Vt : arrays of shapes (n, k), (k,) and (k, m)
        The decomposition.

    Raises
    ------
    scipy.sparse.linalg.ArpackError
        Where the iterations do not converge.
    """
    tall = X.shape[0] >= X.shape[1]
    # A is the one with more rows than columns.
    A: Any = aslinearoperator(X) if tall else aslinearoperator(X).T
    size = A.shape[1]
    first = np.random.default_rng(0).standard_normal(size).astype(dtype)
    gram = LinearOperator((size, size), lambda v: A.rmatvec(A.matvec(v)), dtype=dtype)
    _, vectors = eigsh(gram, k, which="LM", v0=first, **seeded())
    # Eigenvectors of values that lie together need not be orthogonal to the last digits.
    basis, _ = np.linalg.qr(vectors)
    left, S, turn = np.linalg.svd(A.matmat(basis), full_matrices=False)
    right = turn @ basis.T
    return (left, S, right) if tall else (right.T, S, left.T)
