"""Choose a start by name."""

from __future__ import annotations

import numpy as np

from partwise.initial.nndsvd import nndsvd
from partwise.initial.random import random_factors
from partwise.matrix import Matrix

INITS = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom")


def start_factors(
    X: Matrix, n_components: int, init: str | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ to start from; None means "nndsvd" with zeros filled in, where k ≤ min(n, m), else "random"."""
    fits = n_components <= min(X.shape)
    if init is None:
        if fits:
            return nndsvd(X, n_components, "filled", rng)
        init = "random"
    if init == "random":
        return random_factors(X, n_components, rng)
    if init not in ("nndsvd", "nndsvda", "nndsvdar"):
        raise ValueError(f"init must be None or one of {list(INITS)}; got {init!r}.")
    if not fits:
        raise ValueError(
            f"init = '{init}' can only be used when n_components <= min(n_samples, n_features); "
            f"n_components is {n_components} and X has shape {X.shape}. Use init='random'."
        )
    return nndsvd(X, n_components, init, rng)
