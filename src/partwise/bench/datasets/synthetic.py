"""Planted low-rank matrices: need no download."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.datasets import make_low_rank


def load() -> np.ndarray:
    """Dense Poisson counts of rank 20, 3,000 × 1,000."""
    data = make_low_rank(3000, 1000, 20, density=0.5, noise="poisson", random_state=0).data
    return data.astype(np.float32)


def load_sparse() -> Any:
    """Sparse counts, 10,000 × 5,000, about 2 % stored."""
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (10_000, 20)) * (rng.random((10_000, 20)) < 0.2)
    H = rng.dirichlet(np.full(5_000, 0.05), 20)
    blocks = [sp.csr_matrix(rng.poisson(40 * W[i : i + 1000] @ H)) for i in range(0, 10_000, 1000)]
    return sp.csr_matrix(sp.vstack(blocks), dtype=np.float32)
