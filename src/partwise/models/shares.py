"""How much of each datum comes from each part: the latent counts of the EM algorithm of Ben Baccar (2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from partwise.models.units import outside

#: Entries of X that are looked at together.
TOGETHER = 1_000_000


def places(shape: tuple[int, int], rows: Any, columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows and columns, broadcast against each other; None stands for all of them.

    Raises
    ------
    ValueError
        If one is outside of the table, or they do not go together.
    """
    picked = []
    for given, size, name in ((rows, shape[0], "rows"), (columns, shape[1], "columns")):
        numbers = np.arange(size) if given is None else np.asarray(given)
        if numbers.dtype == bool and numbers.shape == (size,):
            numbers = np.flatnonzero(numbers)
        if numbers.size and (
            numbers.dtype.kind not in "iu" or numbers.min() < -size or numbers.max() >= size
        ):
            raise ValueError(
                f"{name} must be whole numbers from 0 to {size - 1}, for X has {size} {name}; got {given!r}."
            )
        picked.append(numbers.astype(np.int64) % size)
    if (rows is None or columns is None) and picked[0].ndim == 1:
        # All of the others, for each of these.
        picked[0] = picked[0][:, None]
    try:
        i, j = np.broadcast_arrays(*picked)
    except ValueError:
        raise ValueError(
            f"rows and columns are the places of entries and must go together; got shapes {picked[0].shape} and "
            f"{picked[1].shape}. For all pairs of some rows and some columns use numpy.ix_(rows, columns)."
        ) from None
    return i, j


def shares_of(model: Any, X: Any, rows: Any, columns: Any) -> np.ndarray:
    """See `NMF.shares`."""
    shape = np.shape(X) if not hasattr(X, "shape") else tuple(X.shape)
    if len(shape) != 2:
        shape = (len(X), int(model.n_features_in_))
    i, j = places((int(shape[0]), int(shape[1])), rows, columns)
    if i.size == 0:
        return np.zeros((*i.shape, model.components_.shape[0]))
    needed, at = np.unique(i.ravel(), return_inverse=True)
    data, problem, units, Ht = model._held(_safe_indexing(X, needed), None)
    W = model._solve_rows(problem, Ht)
    j = j.ravel()
    out = np.empty((len(j), Ht.shape[1]))
    order = np.argsort(at, kind="stable")
    height = max(1, TOGETHER // problem.X.shape[1])
    for first in range(0, len(needed), height):
        last = min(first + height, len(needed))
        here = order[np.searchsorted(at[order], first) : np.searchsorted(at[order], last)]
        u, weight = data.X.rows(slice(first, last)).arrays(0, last - first)
        u, weight = u[at[here] - first, j[here]], weight[at[here] - first, j[here]]
        part = W[at[here]].astype(float) * Ht[j[here]].astype(float)
        mean = part.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # What was not observed is what the model expects of it.
            seen = np.where(weight > 0, u / weight, mean)
            out[here] = np.where(seen[:, None] == 0, 0.0, part * (seen / mean)[:, None])
    return np.asarray(outside(out, units.data)).reshape(*i.shape, Ht.shape[1])
