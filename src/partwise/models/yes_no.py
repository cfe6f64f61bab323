"""Validation of yes/no data, dense or sparse, with missing entries and weights, into a packed table."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from partwise.boolean.bit_table import BitTable
from partwise.models.inputs import entry_weights, place_of, plainly_refused, row_weight


def to_bit_table(
    array: Any, weights: Any, sample_weight: Any, allow_missing: bool, model: str = "BooleanMF"
) -> tuple[BitTable, Any]:
    """Pack an array or sparse matrix of 0, 1 and NaN.

    Parameters
    ----------
    array : array or CSR matrix of shape (n, m)
    weights : array-like or sparse matrix of shape (n, m), or None
    sample_weight : array-like of shape (n,), or None
    allow_missing : bool
        Whether NaN marks entries that were not observed; otherwise it is an error.
    model : str
        Which model the messages name.

    Returns
    -------
    tuple
        The `BitTable`, and the numbers that relaxed starts read, as float32. In dense numbers, an entry that was not
        observed is at the mean of its column, and one of little weight near it: the first step of EM for weighted
        least squares.
    """
    if array.dtype == object:
        with plainly_refused(model):
            array = check_array(array, dtype=np.float64, ensure_all_finite=False)
    missing = missing_of(array, allow_missing, model)
    weights = None if weights is None else entry_weights(weights, array.shape)
    by_row = row_weight(sample_weight, array.shape[0])
    if sp.issparse(array):
        bits = array.astype(np.float32)
        unseen = None
        if missing.any():
            unseen = sp.csr_array((missing.astype(np.float32), array.indices, array.indptr), array.shape)
            bits.data[missing] = 0.0
        return BitTable.of(bits, unseen, weights, by_row), bits
    ones = (array == 1) & ~missing
    table = BitTable.of(ones, missing if missing.any() else None, weights, by_row)
    share = shares(~missing, weights, by_row)
    numbers = ones.astype(np.float32)
    if share is not None:
        means = (numbers * share).sum(axis=0) / np.maximum(share.sum(axis=0), 1e-12)
        numbers = means + share * (numbers - means)
    return table, numbers.astype(np.float32, copy=False)


def missing_of(array: Any, allowed: bool, model: str = "BooleanMF") -> np.ndarray:
    """Which values (of a sparse matrix, stored values) are NaN; raises ValueError for any other than 0 and 1."""
    values = array.data if sp.issparse(array) else array
    missing = is_nan(values)
    if missing.any() and not allowed:
        raise ValueError(f"Input X contains NaN: {place_of(array, np.isnan)}.")
    advice = "Binarize the data first, for instance with X > threshold."
    if (values < 0).any():
        raise ValueError(
            f"Negative values in data passed to {model}, which takes 0 and 1 (or bool), NaN for missing: "
            f"{place_of(array, lambda v: v < 0)}. {advice}"
        )
    if ((values != 0) & (values != 1) & ~missing).any():
        raise ValueError(
            f"{model} takes 0 and 1 (or bool), NaN for missing; "
            f"{place_of(array, lambda v: (v != 0) & (v != 1) & ~is_nan(v))}. {advice}"
        )
    return missing


def is_nan(values: np.ndarray) -> np.ndarray:
    """Which values are NaN; integers and bool never are."""
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def shares(observed: np.ndarray, weights: Any, by_row: np.ndarray | None) -> np.ndarray | None:
    """Weights of the entries as shares of the largest, 0 where not observed; None if all are the same."""
    if weights is None and by_row is None:
        return None if observed.all() else observed.astype(np.float32)
    out = observed.astype(np.float32)
    if weights is not None:
        out *= np.asarray(weights.toarray() if sp.issparse(weights) else weights, dtype=np.float32)
    if by_row is not None:
        out *= np.asarray(by_row, dtype=np.float32)[:, None]
    return np.asarray(out / max(float(out.max(initial=0.0)), 1e-30))
