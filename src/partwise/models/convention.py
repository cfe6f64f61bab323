"""One convention for the scale and the order of components, for every model of the library.

A factorization says nothing about the order of its parts, and, without priors, nothing about how a
part's size is split between W and H. So that an answer does not depend on such accidents:

- order: parts stand by falling share of the reconstruction, Σ_i r_i W_ik · Σ_j H_kj, largest first;
- scale, where no prior settles it: "samples" gives every column of W the root mean square `TYPICAL` over the
  samples, so that W has no units; "components" makes every part sum to one, Σ_j H_kj = 1, so that W says, in the
  units of X, how much of each row a part accounts for.

Where components may have negative entries their size is their Euclidean norm instead of their sum.

What the user gave keeps its place: with ``init="custom"`` or fixed components nothing is moved or scaled.
"""

from __future__ import annotations

import numpy as np

SCALES = ("samples", "components", None)
#: Root mean square of a column of W. Gradient methods with a usual number of steps (scikit-learn's logistic
#: regression takes 100) converge on columns of this size; at one, they often just do not.
TYPICAL = 0.5


def conventional(
    W: np.ndarray,
    Ht: np.ndarray,
    row_weight: np.ndarray | None,
    scale: str | None,
    signed: bool = False,
    n_features: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ in the order of the convention and at one of its `SCALES`; None leaves the scale as it is.

    Where Hᵀ has more rows than `n_features` (labels), the others follow.
    """
    order, size = order_and_size(W, Ht[:n_features], row_weight, scale, signed)
    W, Ht = W[:, order], Ht[:, order]
    if scale is not None:
        W, Ht = (W * size).astype(W.dtype), (Ht / size).astype(Ht.dtype)
    return np.ascontiguousarray(W), np.ascontiguousarray(Ht)


def order_and_size(
    W: np.ndarray, Ht: np.ndarray, row_weight: np.ndarray | None, scale: str | None, signed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The order of the convention, and what columns of W in this order are multiplied by, and those of Hᵀ divided."""
    # Sums of NumPy rather than products of BLAS, whose last bits depend on the number of threads.
    weight = 1.0 if row_weight is None else np.asarray(row_weight, dtype=float)[:, None]
    mass = Ht.sum(axis=0, dtype=float) if not signed else np.sqrt((Ht.astype(float) ** 2).sum(axis=0))
    order = np.argsort(-(mass * (W * weight).sum(axis=0, dtype=float)), kind="stable")
    W, mass = W[:, order], mass[order]
    if scale is None:
        return order, np.ones(len(order))
    size = mass if scale == "components" else TYPICAL / root_mean_square(W, weight)
    return order, np.where(mass > 0, size, 1.0)


def root_mean_square(W: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
    """Of every column, over rows of these weights; `TYPICAL` for columns of zeros."""
    # By the largest entry first, for squares of small or large numbers leave the range of float.
    top = W.max(axis=0).astype(float)
    top[top == 0] = 1.0
    total = np.broadcast_to(weight, (len(W), 1)).sum()
    found = top * np.sqrt((weight * (W / top) ** 2).sum(axis=0) / total)
    return np.where(found > 0, found, TYPICAL)
