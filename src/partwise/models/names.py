"""Names of columns and rows: those of a frame, where two lists differ, and one frame in the order of another."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from partwise.domains.annotated import is_anndata, matrix_of


def names_of(X: Any) -> np.ndarray | None:
    """The names of the columns as scikit-learn keeps them in `feature_names_in_`, those of an AnnData too.

    Returns
    -------
    array of str objects or None
        None for arrays, and for frames whose names are not text.

    Raises
    ------
    ValueError
        If two columns have one name.
    """
    if is_anndata(X):
        return np.asarray(X.var_names, dtype=object)
    if not hasattr(X, "columns"):
        return None
    require_different_names(X)
    # What scikit-learn knows of frames (pandas, polars, …) is public only as what it sets on an estimator.
    holder = BaseEstimator()
    validate_data(holder, X, reset=True, skip_check_array=True)
    return getattr(holder, "feature_names_in_", None)


def require_different_names(X: Any) -> None:
    """Refuse a DataFrame with two columns of one name: scikit-learn lets the library under it complain of its own."""
    names = getattr(X, "columns", None)
    if names is None or not hasattr(names, "is_unique") or names.is_unique:
        return
    twice = names[names.duplicated()][0]
    raise ValueError(
        f"Several columns of this DataFrame have the same name, as {twice!r}. Rename them, or give X.to_numpy(), "
        "which has no names."
    )


def difference(given: Iterable[Any], expected: Iterable[Any]) -> str | None:
    """Where names first differ from those that are expected, in words; None where they do not."""
    names, wanted = list(given), list(expected)
    if len(names) == len(wanted) and all(one == other for one, other in zip(names, wanted)):
        return None
    held, asked = set(names), set(wanted)
    lacking = next((name for name in wanted if name not in held), None)
    if lacking is not None:
        return f"there is no {lacking!r}"
    more = next((name for name in names if name not in asked), None)
    if more is not None:
        return f"{more!r} is not among them"
    if len(names) != len(wanted):
        return f"there are {len(names)} instead of {len(wanted)}"
    i = next(i for i, (one, other) in enumerate(zip(names, wanted)) if one != other)
    return f"{names[i]!r} stands at {i}, where {wanted[i]!r} is expected"


def aligned_weights(weights: Any, X: Any) -> Any:
    """Weights of entries in the order of X, where both have names of columns, or of rows.

    Names are those of frames and of an AnnData; the numbers 0, 1, 2, … that pandas gives where there are none are not
    names, unless rows of the other have the same numbers in another order. Weights without names, and names that X
    has none for, are taken by position.

    Parameters
    ----------
    weights : object
        As the user gave them.
    X : object
        The data as the user gave them.

    Returns
    -------
    object
        The weights themselves where nothing is out of order, else an array.

    Raises
    ------
    ValueError
        If names of weights are not those of X.
    """
    # (Asked for before the columns are put in order, which leaves no names.)
    rows, wanted = _row_labels(weights), _row_labels(X)
    rows, wanted = _counted(weights, rows, wanted), _counted(X, wanted, rows)
    weights = aligned_columns(weights, column_labels(X), "weights")
    return _in_order(weights, rows, wanted, "weights", "rows", 0)


def aligned_columns(frame: Any, wanted: Iterable[Any] | None, what: str) -> Any:
    """A frame, known to the user as `what`, with its columns in the order of these names; see `aligned_weights`."""
    return _in_order(frame, column_labels(frame), wanted, what, "columns", 1)


def aligned_rows(frame: Any, X: Any, what: str) -> Any:
    """A frame, known to the user as `what`, with its rows in the order of those of X; see `aligned_weights`."""
    rows, wanted = _row_labels(frame), _row_labels(X)
    return _in_order(frame, _counted(frame, rows, wanted), _counted(X, wanted, rows), what, "rows", 0)


def warn_other_order(series: Any, X: Any, what: str) -> None:
    """Say so where a Series has the names of the rows of X in another order: it goes by position all the same.

    That is scikit-learn's way, and what a permutation test means; who has shuffled X alone means another thing.

    Parameters
    ----------
    series : object
        As the user gave it.
    X : object
        The data as the user gave them.
    what : str
        What the user calls the series.
    """
    if not hasattr(series, "iloc") or hasattr(series, "columns") or not hasattr(X, "iloc"):
        return
    rows, wanted = _labels(series.index), _row_labels(X)
    rows = list(range(len(series))) if rows is None else rows
    wanted = list(range(len(X))) if wanted is None else wanted
    if rows != wanted and len(rows) == len(set(rows)) == len(wanted) and set(rows) == set(wanted):
        warnings.warn(
            f"{what} has the names of the rows of X in another order, and is taken by position. To match names, give "
            f"{what}.loc[X.index]; if position is meant, {what}.to_numpy().",
            UserWarning,
            stacklevel=4,
        )


def column_labels(X: Any) -> list[Any] | None:
    """What the columns of a frame or an AnnData are called, text or not; None where they have no names."""
    return _annotated(X.var_names) if is_anndata(X) else _labels(getattr(X, "columns", None))


def _row_labels(X: Any) -> list[Any] | None:
    if is_anndata(X):
        return _annotated(X.obs_names)
    # (`index` of a list is a method, and frames of other libraries have none.)
    return _labels(X.index) if hasattr(X, "columns") and hasattr(X, "iloc") else None


def _labels(index: Any) -> list[Any] | None:
    """The names in an index of a frame; None for 0, 1, 2, … that pandas gives by itself.

    Such numbers in an index of another kind are what somebody made it of.
    """
    if index is None or (type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1):
        return None
    return list(index)


def _counted(frame: Any, labels: list[Any] | None, others: list[Any] | None) -> list[Any] | None:
    """Names of rows; 0, 1, 2, … that pandas gave are such where the rows of the other side have these numbers, too.

    That is how a frame looks whose rows were shuffled or sorted.
    """
    if labels is None and others is not None and hasattr(frame, "iloc") and len(frame) == len(others):
        counted = list(range(len(others)))
        return counted if set(others) == set(counted) else None
    return labels


def _annotated(index: Any) -> list[Any] | None:
    """The names in an index of an AnnData; None for "0", "1", … that anndata gives by itself."""
    labels = list(index)
    return None if labels == [str(i) for i in range(len(labels))] else labels


def _in_order(
    frame: Any, labels: list[Any] | None, wanted: Iterable[Any] | None, what: str, which: str, axis: int
) -> Any:
    if labels is None or wanted is None:
        return frame
    wanted = list(wanted)
    differs = difference(labels, wanted)
    if differs is None:
        return frame
    place = {label: i for i, label in enumerate(labels)}
    if not len(place) == len(labels) == len(wanted) == len(set(wanted)) or place.keys() != set(wanted):
        raise ValueError(
            f"The {which} of {what} are not those of X: {differs}. Give {what} the {which} of X, in any order, or as "
            "an array without names, which is taken by position."
        )
    values, order = matrix_of(frame) if is_anndata(frame) else frame, [place[label] for label in wanted]
    if sp.issparse(values):
        return values.tocsr()[order] if axis == 0 else values.tocsc()[:, order]
    return np.take(np.asarray(values), order, axis=axis)
