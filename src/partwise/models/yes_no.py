"""Yes/no data as they are given: 0, 1, bool, NaN; dense or sparse; with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from partwise.boolean.table import Table
from partwise.models.inputs import entry_weights, place_of, row_weight


def yes_no(array: Any, weights: Any, sample_weight: Any, allow_missing: bool) -> tuple[Table, Any]:
    """The packed table of an array or a sparse matrix, and the numbers as float32 that relaxed starts read.

    There, what was not observed stands at its column's mean, and what weighs little stands near it: the first
    step of EM for weighted least squares.
    """
    if array.dtype == object:
        array = check_array(array, dtype=np.float64, ensure_all_finite=False)
    missing = missing_of(array, allow_missing)
    weights = None if weights is None else entry_weights(weights, array.shape)
    by_row = row_weight(sample_weight, array.shape[0])
    if sp.issparse(array):
        bits = array.astype(np.float32)
        unseen = None
        if missing.any():
            unseen = sp.csr_array((missing.astype(np.float32), array.indices, array.indptr), array.shape)
            bits.data[missing] = 0.0
        return Table.of(bits, unseen, weights, by_row), bits
    ones = (array == 1) & ~missing
    table = Table.of(ones, missing if missing.any() else None, weights, by_row)
    share = shares(~missing, weights, by_row)
    numbers = ones.astype(np.float32)
    if share is not None:
        means = (numbers * share).sum(axis=0) / np.maximum(share.sum(axis=0), 1e-12)
        numbers = means + share * (numbers - means)
    return table, numbers.astype(np.float32, copy=False)


def missing_of(array: Any, allowed: bool) -> np.ndarray:
    """Which (stored) values are NaN; all others must be 0 or 1."""
    values = array.data if sp.issparse(array) else array
    missing = is_nan(values)
    if missing.any() and not allowed:
        raise ValueError(f"Input X contains NaN: {place_of(array, np.isnan)}.")
    odd = (values != 0) & (values != 1) & ~missing
    if odd.any():
        raise ValueError(
            f"BooleanMF takes 0 and 1 (or bool), NaN for missing; "
            f"{place_of(array, lambda v: (v != 0) & (v != 1) & ~is_nan(v))}. Binarize the data first, "
            "for instance with X > threshold."
        )
    return missing


def is_nan(values: np.ndarray) -> np.ndarray:
    """Whole numbers and bool have none."""
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def shares(observed: np.ndarray, weights: Any, by_row: np.ndarray | None) -> np.ndarray | None:
    """Weights as shares of the largest; None if all are the same."""
    if weights is None and by_row is None:
        return None if observed.all() else observed.astype(np.float32)
    out = observed.astype(np.float32)
    if weights is not None:
        out *= np.asarray(weights.toarray() if sp.issparse(weights) else weights, dtype=np.float32)
    if by_row is not None:
        out *= np.asarray(by_row, dtype=np.float32)[:, None]
    return np.asarray(out / max(float(out.max(initial=0.0)), 1e-30))
