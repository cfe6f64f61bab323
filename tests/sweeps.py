"""What the laws sweep over: every registered loss, prior, coupling, matrix, solver and model.

Pieces of installed packages are registered by then (see conftest.py). Those for which there is no example here are
taken as they are made without arguments.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from partwise.losses import REGISTRY, BetaDivergence, NegativeBinomial
from partwise.matrix import Dense, RowBlocks, Sparse
from partwise.models.kinds import known_kinds
from partwise.priors import COUPLINGS, NO_PRIOR, Bounds, Direction, ElasticNet, Gamma, Graph
from partwise.priors import REGISTRY as REGISTERED_PRIORS

BETAS = (2.0, 1.0, 0.0, 1.5, 0.5, -0.7, 2.6)
#: Every registered loss, and some more β.
LOSSES = {
    **{name: make() for name, make in REGISTRY.items()},
    **{f"beta={beta:g}": BetaDivergence(beta) for beta in BETAS if beta not in (0.0, 1.0, 2.0)},
    "negative-binomial": NegativeBinomial(0.7),
}


def without_example(registered, examples):
    """Registered classes that none of the examples is of, made without arguments."""
    shown = {type(one) for one in examples}
    return {name: cls() for name, cls in registered.items() if cls not in shown}


PRIORS = {
    "none": NO_PRIOR,
    "l1": ElasticNet(l1=0.3),
    "l2": ElasticNet(l2=0.7),
    "net": ElasticNet(l1=0.2, l2=0.4),
    "gamma": Gamma(2.5, 1.5),
    "gamma1": Gamma(1.0, 0.8),
    "sparse_gamma": Gamma(0.6, 0.5, shift=1e-3),
    "gamma+net": Gamma(1.7, 0.5) + ElasticNet(0.1, 0.2),
    "unit": Bounds(0.0, 1.0),
    "unit+net": Bounds(0.0, 1.0) + ElasticNet(0.2, 0.1),
}
PRIORS |= without_example(REGISTERED_PRIORS, PRIORS.values())

GRAPH = np.array([[0, 2, 0, 1], [2, 0, 0.5, 0], [0, 0.5, 0, 0], [1, 0, 0, 0]])
#: For factors of four rows.
COUPLED = {
    "Graph": Graph(GRAPH, 0.7),
    "Direction": Direction(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), 0.7),
}
COUPLED |= without_example(COUPLINGS, COUPLED.values())

#: Models of other packages, made without arguments.
OTHER_MODELS = [cls() for cls in known_kinds().values() if not cls.__module__.startswith("partwise.")]


def columnwise_priors(k):
    """Beliefs that differ from component to component."""
    return {
        "gamma by component": Gamma(np.linspace(1.0, 3.0, k), np.linspace(0.5, 1.0, k)),
        "mixed gamma by component": Gamma(np.linspace(0.6, 2.0, k), np.linspace(0.5, 1.0, k), shift=1e-3),
        "net by component": ElasticNet(np.linspace(0.0, 0.4, k), np.linspace(0.3, 0.0, k)),
    }


def data_for(loss, n, m, seed, zeros=0.4, dtype=np.float64):
    """Data within the range of a loss."""
    X = data(n, m, seed, 0.0 if loss.needs_positive_data else zeros, dtype)
    return np.minimum(X, loss.highest).astype(dtype)


def data(n, m, seed, zeros=0.4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, 1.0, (n, m)) + 0.01
    X[rng.random((n, m)) < zeros] = 0.0
    X[0, 0] = 1.5
    return X.astype(dtype)


def factors(n, m, k, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (0.9 * rng.random((n, k)) + 0.05).astype(dtype), (0.9 * rng.random((m, k)) + 0.05).astype(dtype)


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
    return RowBlocks(
        lambda: (loader(s)() for s in starts), heights, X.shape[1], X.dtype, row_weight=row_weight
    )


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
