"""Random start."""

from __future__ import annotations

import numpy as np

from partwise.matrix import Matrix


def random_factors(X: Matrix, n_components: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """|N(0, 1)| entries times √(mean(X) / k), so that W H has about the mean of X.

    Without that scale, factors bounded to [0, 1] collapse on the first step and others waste many on it.
    """
    scale = np.sqrt(X.mean() / n_components)
    n, m = X.shape
    H = scale * np.abs(rng.standard_normal((n_components, m)))
    W = scale * np.abs(rng.standard_normal((n, n_components)))
    return W.astype(X.dtype), np.ascontiguousarray(H.T, dtype=X.dtype)
