"""What the laws sweep over: every registered loss, prior, matrix and solver."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from partwise.matrix import Dense, RowBlocks, Sparse
from partwise.priors import NO_TERMS, ElasticNet, Gamma

BETAS = (2.0, 1.0, 0.0, 1.5, 0.5, -0.7, 2.6)

PRIORS = {
    "none": NO_TERMS,
    "l1": ElasticNet(l1=0.3).terms(),
    "l2": ElasticNet(l2=0.7).terms(),
    "net": ElasticNet(l1=0.2, l2=0.4).terms(),
    "gamma": Gamma(2.5, 1.5).terms(),
    "gamma1": Gamma(1.0, 0.8).terms(),
    "sparse_gamma": Gamma(0.6, 0.5, shift=1e-3).terms(),
    "gamma+net": (Gamma(1.7, 0.5) + ElasticNet(0.1, 0.2)).terms(),
}


def data(n, m, seed, zeros=0.4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, 1.0, (n, m)) + 0.01
    X[rng.random((n, m)) < zeros] = 0.0
    X[0, 0] = 1.5
    return X.astype(dtype)


def factors(n, m, k, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) + 0.05).astype(dtype), (rng.random((m, k)) + 0.05).astype(dtype)


def complete_matrices(X, row_weight=None):
    """The same complete data, seen in every way there is."""
    ones = np.ones_like(X)
    stored = sp.csr_array(X)
    return {
        "dense": Dense.of(X, row_weight=row_weight),
        "fortran": Dense.of(np.asfortranarray(X), row_weight=row_weight),
        "full mask": Dense.of(X, ones, row_weight=row_weight),
        "full mask, fortran": Dense.of(np.asfortranarray(X), ones, row_weight=row_weight),
        "csr": Sparse.of(stored, row_weight=row_weight),
        "csc": Sparse.of(sp.csc_array(X), row_weight=row_weight),
        "csr, full mask": Sparse.of(stored, np.ones(stored.nnz), row_weight),
        "streamed": streamed(X, row_weight),
        "streamed csr": streamed(X, row_weight, sparse=True),
    }


def streamed(X, row_weight=None, sparse=False, height=4):
    starts = range(0, len(X), height)

    def loader(start):
        part = slice(start, start + height)
        r = None if row_weight is None else row_weight[part]
        return lambda: (
            Sparse.of(sp.csr_array(X[part]), row_weight=r) if sparse else Dense.of(X[part], row_weight=r)
        )

    heights = [min(height, len(X) - s) for s in starts]
    return RowBlocks([loader(s) for s in starts], heights, X.shape[1], X.dtype, row_weight=row_weight)


def masked_matrices(X, weights, row_weight=None):
    """The same weighted data, dense and sparse; sparse data whose unstored entries are unobserved."""
    everything = sp.csr_array(np.ones_like(X))
    everything.data[:] = X.ravel()
    observed = weights > 0
    rows, columns = np.nonzero(observed)
    only = sp.csr_array((X[observed], (rows, columns)), shape=X.shape)
    only_zero_kept = sp.csr_array(only)
    return {
        "dense": Dense.of(X, weights, row_weight),
        "fortran": Dense.of(np.asfortranarray(X), np.asfortranarray(weights), row_weight),
        "csr, all stored": Sparse.of(everything, weights.ravel(), row_weight),
        "csr, unstored unobserved": Sparse.of(
            only_zero_kept, weights[observed], row_weight, unstored_observed=False
        ),
    }
