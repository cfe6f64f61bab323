"""Leading singular vectors of dense and sparse matrices, centred or not, with a sign convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from partwise.initial.lanczos import lanczos_svd

#: Entries up to which a dense matrix is decomposed whole, whatever the rank that is asked for.
SMALL = 1_000_000


def column_means(X: Any) -> np.ndarray:
    """Mean of each column, summed in double precision.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The data.

    Returns
    -------
    array of shape (m,)
        The means.
    """
    if not sp.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    ones = np.ones(X.shape[0])
    return np.asarray(X.T @ ones).ravel() / X.shape[0]


def leading_triplets(
    X: Any, k: int, mean: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k largest singular values of X − 1 · meanᵀ with their vectors (Eckart & Young 1936).

    Small or nearly full decompositions are LAPACK's, others are found by Lanczos iterations (ARPACK) that touch X in
    products only: a sparse X stays sparse, and centring is part of the product. The starting vector is fixed, so that
    the same data give the same answer.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The data.
    k : int
        Between 1 and min(n, m).
    mean : array of shape (m,), optional
        Subtracted from every row.

    Returns
    -------
    U : array of shape (n, k)
        Left singular vectors.
    sigma : array of shape (k,)
        Singular values, largest first.
    Vt : array of shape (k, m)
        Right singular vectors. The signs of a pair are such that the positive entries of its right vector have at
        least half of its squared length.
    """
    n, m = X.shape
    short = min(n, m)
    # A sparse matrix is made dense only where the factors take half as much anyway.
    whole = 2 * k >= short if sp.issparse(X) else X.size <= SMALL or 6 * k >= short
    if whole:
        dense = X.toarray() if sp.issparse(X) else X
        U, sigma, Vt = scipy.linalg.svd(
            dense if mean is None else dense - mean.astype(dense.dtype), full_matrices=False
        )
        U, sigma, Vt = U[:, :k], sigma[:k], Vt[:k]
    elif _vanishes(X, mean):
        U, sigma, Vt = np.eye(n, k, dtype=X.dtype), np.zeros(k, X.dtype), np.eye(k, m, dtype=X.dtype)
    else:
        U, sigma, Vt = lanczos_svd(centred(X, mean), k, X.dtype)
    turn = np.where((np.sign(Vt) * Vt**2).sum(axis=1) < 0, -1, 1).astype(Vt.dtype)
    return U * turn, sigma, Vt * turn[:, None]


def centred(X: Any, mean: np.ndarray | None) -> Any:
    """X − 1 · meanᵀ by its products with vectors; X itself where there is no mean."""
    if mean is None:
        return X
    shift = mean.astype(X.dtype)

    def times(V: np.ndarray) -> np.ndarray:
        return np.asarray(X @ V) - shift @ V

    def transposed_times(U: np.ndarray) -> np.ndarray:
        return np.asarray(X.T @ U) - np.multiply.outer(shift, U.sum(axis=0))

    return LinearOperator(
        X.shape,
        matvec=lambda v: times(np.ravel(v)),
        rmatvec=lambda u: transposed_times(np.ravel(u)),
        matmat=times,
        rmatmat=transposed_times,
        dtype=X.dtype,
    )


def _vanishes(X: Any, mean: np.ndarray | None) -> bool:
    """Whether nothing but rounding is left of X, centred: Lanczos iterations need something to begin with."""
    size = squared_norm(X)
    left = size if mean is None else size - X.shape[0] * float(mean @ mean)
    return left <= 16 * np.finfo(X.dtype).eps * size


def squared_norm(X: Any) -> float:
    """Sum of squared entries in double precision, a few rows at a time; NaN counts as nothing.

    Parameters
    ----------
    X : array or sparse matrix
        The data.

    Returns
    -------
    float
        ‖X‖².
    """
    values = X.data if sp.issparse(X) else np.ravel(X)
    step = 1 << 22
    return float(
        sum(
            np.nansum(values[i : i + step].astype(np.float64) ** 2)
            for i in range(0, max(values.size, 1), step)
        )
    )
