"""One convention for the scale and the order of components, for every model of the library.

A factorization says nothing about the order of its parts, and, without priors, nothing about how a
part's size is split between W and H. So that an answer does not depend on such accidents:

- order: parts stand by falling share of the reconstruction, Σ_i r_i W_ik · Σ_j H_kj, largest first;
- scale: where no prior settles it, every part sums to one, Σ_j H_kj = 1; W then gives, in the units of X, how
  much of each row a part accounts for.

What the user gave keeps its place: with ``init="custom"`` or fixed components nothing is moved or scaled.
"""

from __future__ import annotations

import numpy as np


def conventional(
    W: np.ndarray, Ht: np.ndarray, row_weight: np.ndarray | None, scale_free: bool
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ in the order, and if `scale_free` at the scale, of the convention."""
    mass = Ht.sum(axis=0, dtype=float)
    used = (W if row_weight is None else W * row_weight[:, None]).sum(axis=0, dtype=float)
    order = np.argsort(-(mass * used), kind="stable")
    W, Ht, mass = W[:, order], Ht[:, order], mass[order]
    if scale_free:
        size = np.where(mass > 0, mass, 1.0)
        W, Ht = (W * size).astype(W.dtype), (Ht / size).astype(Ht.dtype)
    return np.ascontiguousarray(W), np.ascontiguousarray(Ht)
