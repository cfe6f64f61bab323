"""From what a user hands over to a `Matrix`: validation, missing values, weights, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_X_y, validate_data

from partwise.domains.annotated import is_anndata, layer_in, matrix_of, say_other_layer
from partwise.io.coding import Coding
from partwise.io.table import Table
from partwise.matrix import Dense, InMemory, Matrix, Sparse
from partwise.matrix.span import Span, span_of
from partwise.models.block_names import BlockNames
from partwise.models.masks import without_mask
from partwise.models.names import aligned_weights, require_different_names, warn_other_order
from partwise.models.streams import row_source, stream
from partwise.models.units import divided, exponent_of
from partwise.well_formed import require_well_formed


@dataclass(frozen=True)
class Given:
    """Data, the names of their rows if they had any, the power of two they were divided by, and the array itself.

    `largest` is the largest absolute value of an entry, after the division; 0 where it was not looked for.
    """

    X: Matrix
    row_names: Any = None
    exponent: int = 0
    array: Any = None
    largest: float = 0.0


#: The share of all entries, stored or not, that may be missing from sparse data before they are taken as dense.
MANY_GAPS = 0.1


def row_names(X: Any) -> Any:
    """The names of the observations of an AnnData; None for anything else, of which scikit-learn takes care."""
    return X.obs_names if is_anndata(X) else None


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, **checks: Any) -> Any:
    """scikit-learn's `validate_data`, for AnnData too: its variables are the feature names.

    Returns X, or X and y if there is a y. Where `checks` accept no sparse X, that of an AnnData is made dense.
    """
    if not is_anndata(X):
        _require_array(X, type(estimator).__name__)
        require_different_names(X)
        if reset:
            remember_layer(estimator, None)
        # Before scikit-learn converts it: scipy's conversions trust the indices too.
        require_well_formed(X)
        # (Signalling NaN, as damaged files hold, make NumPy warn before scikit-learn refuses them.)
        with plainly_refused(type(estimator).__name__), np.errstate(invalid="ignore", over="ignore"):
            found = validate_data(estimator, without_mask(X), y, reset=reset, **checks)
            array = found[0] if isinstance(found, tuple) else found
            if array.dtype.kind in "US":
                raise ValueError(f"could not convert string to float: {str(array.flat[0])!r}")
        return found
    check_names(estimator, X, reset)
    array = matrix_of(X)
    require_well_formed(array)
    if sp.issparse(array) and not checks.get("accept_sparse"):
        array = array.toarray()
    with plainly_refused(type(estimator).__name__):
        if isinstance(y, str):
            return check_array(array, estimator=estimator, input_name="X", **checks)
        return check_X_y(array, y, estimator=estimator, **checks)


def _require_array(X: Any, whom: str) -> None:
    """Refuse functions, dicts and the like, which NumPy would take for single numbers of an odd kind."""
    if callable(X) and not hasattr(X, "shape"):
        raise ValueError(
            f"X is a function, and {whom} takes an array, a sparse matrix or a DataFrame. Functions that return row "
            "blocks are for NMF and the models that say so; see the page on large data."
        )
    if isinstance(X, Table):
        raise ValueError(
            "X is a Table as partwise.io.read returns it. Give its numbers, X.data, or a frame with its names: "
            "pandas.DataFrame(X.data, X.row_names, X.column_names)."
        )
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError(
            "X is an array of records. Give a table of numbers: pandas.DataFrame(X), or "
            "numpy.lib.recfunctions.structured_to_unstructured(X)."
        )
    if isinstance(X, dict) and not hasattr(X, "shape"):  # (Sparse matrices by keys are dicts.)
        raise ValueError(
            "X is a dict. Give an array or a sparse matrix; pandas.DataFrame(X) makes a table of named columns of it."
        )


@contextmanager
def plainly_refused(whom: str) -> Iterator[None]:
    """Words and missing entries refused in words of ours: those of scikit-learn advise other libraries' models."""
    try:
        yield
    except np.exceptions.DTypePromotionError as error:
        raise ValueError(
            f"X has columns of different kinds, such as dates beside numbers, and {whom} takes numbers. Leave such "
            "columns out, or turn them into numbers (days since a date)."
        ) from error
    except ValueError as error:
        text = str(error)
        if "fill value must be 0" in text:
            raise ValueError(
                "X is a DataFrame of sparse columns that leave out another value than 0. Give it whole: "
                "X.sparse.to_dense(); NaN counts as missing there."
            ) from error
        if "could not convert string to float" in text:
            found = re.search(r"""float: (?:np\.str_\()?(?:'(.*?)'|"(.*?)")""", text, re.DOTALL)
            word = " ".join((found[1] or found[2] or "").split())[:40] if found else "text"
            raise ValueError(
                f"X holds words, as '{word}', and {whom} takes numbers. From a file, "
                "partwise.io.read(path, yes_no=True) reads words for yes and no as 1 and 0; for data in memory, "
                "compare them with the word that means yes: X == word."
            ) from error
        if text.startswith("Input X contains NaN"):
            raise ValueError(
                f"Input X contains NaN, and {whom} takes no missing entries. Fill them in, leave these rows or "
                "columns out, or put an NMF before it, which does without them."
            ) from error
        raise


def check_names(estimator: Any, adata: Any, reset: bool) -> None:
    """Keep (`reset`) or compare the names of the variables of an AnnData, as scikit-learn does for a DataFrame."""
    import pandas as pd

    if not adata.var_names.is_unique:
        twice = adata.var_names[adata.var_names.duplicated()][0]
        raise ValueError(
            f"Several variables of this AnnData have the same name, as {twice!r}; call adata.var_names_make_unique()."
        )
    frame = pd.DataFrame(columns=adata.var_names)
    validate_data(estimator, frame, reset=reset, skip_check_array=True)
    if reset:
        remember_layer(estimator, layer_in(adata))
    else:
        say_other_layer(Coding.of(estimator), adata)


def remember_layer(estimator: Any, layer: str | None) -> None:
    """Keep which layer the data of a fit were, as the command line keeps --key, and forget that of an earlier fit."""
    estimator.__dict__.pop("reading_", None)
    if layer is not None:
        estimator.reading_ = Coding(options={"key": layer}).kept()


def given(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    missing_values: float | None = np.nan,
    weights: Any = None,
    sample_weight: Any = None,
    positive: bool = False,
    highest: float = np.inf,
    loss_name: str = "",
    by_blocks: bool = False,
    exponent: int | None = 0,
    signed: bool = False,
) -> Given:
    """Validate X and wrap it; sets `n_features_in_` and `feature_names_in_` on a fit (`reset`).

    Where `by_blocks`, X may also be a `Matrix`, a function that returns row blocks, a large `numpy.memmap`, or an
    AnnData whose X is read from its file; see `partwise.models.streams`. The data are divided by 2^exponent; None
    finds one that suits them (see `partwise.models.units`). A `Matrix` is taken as it is. Negative entries are
    refused unless `signed`.
    """

    def check(array: Any) -> Span:
        whom, span = type(estimator).__name__, span_of(array)
        unstored_missing = _is(missing_values, 0.0)
        _check_entries(array, span, whom, missing_values is not None, positive, unstored_missing, signed)
        check_highest(array, span, highest, loss_name)
        return span

    def wrap(
        array: Any, by_row: np.ndarray | None, weights: Any = None, span: Span | None = None
    ) -> InMemory:
        if sp.issparse(array):
            return _sparse(array, missing_values, weights, by_row, positive)
        return _dense(array, span_of(array) if span is None else span, missing_values, weights, by_row)

    read = row_source(X) if by_blocks else None
    if read is not None or isinstance(X, Matrix):
        if weights is not None:
            raise ValueError(
                "weights need X as an array or a sparse matrix; row blocks carry NaN where nothing was seen."
            )
        matrix, power = X, 0
        names = BlockNames(estimator, reset)
        if read is not None:
            matrix, power = stream(
                names.watched(read), check, wrap, lambda n_rows: row_weight(sample_weight, n_rows), exponent
            )
        elif sample_weight is not None:
            raise ValueError(
                "sample_weight needs X as an array; a Matrix carries the weights of its rows itself."
            )
        if is_anndata(X):
            check_names(estimator, X, reset)
        else:
            _check_n_features(estimator, matrix.shape[1], reset)
            if read is not None:
                names.settle(estimator, reset)
            if reset:
                remember_layer(estimator, names.layer)
        return Given(matrix, row_names(X), exponent=power)
    require_well_formed(weights, "weights")
    warn_other_order(sample_weight, X, "sample_weight")
    weights = aligned_weights(weights, X)
    if is_anndata(weights):
        weights = matrix_of(weights)
    array = validated(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    if sp.issparse(array) and not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    span = check(array)
    power = exponent_of(span.largest) if exponent is None else exponent
    array = divided(array, power, span.largest)
    by_row = row_weight(sample_weight, array.shape[0])
    # (Whether anything is NaN does not depend on the units; where zeros are missing, division may make more of them.)
    matrix = wrap(array, by_row, weights, span if power == 0 else None)
    return Given(matrix, row_names(X), power, array, float(np.ldexp(span.largest, -power)))


def _check_n_features(estimator: Any, n_features: int, reset: bool) -> None:
    """What scikit-learn does for arrays."""
    if reset:
        estimator.n_features_in_ = n_features
        # A `Matrix` has no names; those of an earlier fit would be wrong.
        estimator.__dict__.pop("feature_names_in_", None)
    elif estimator.n_features_in_ != n_features:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )


def place_of(array: Any, bad: Any) -> str:
    """Where the first entry for which `bad(values)` holds stands, in words."""
    if sp.issparse(array):
        e = int(np.flatnonzero(bad(array.data))[0])
        outer = int(np.searchsorted(array.indptr, e, side="right") - 1)
        inner = int(array.indices[e])
        row, column = (outer, inner) if array.format == "csr" else (inner, outer)
        value = array.data[e]
    else:
        row, column = (int(i) for i in np.argwhere(bad(array))[0])
        value = array[row, column]
    return f"X[{row}, {column}] = {value:g}"


def _check_entries(
    array: Any, span: Span, whom: str, allow_nan: bool, positive: bool, unstored_missing: bool, signed: bool
) -> None:
    low, high, nan = span
    if np.isinf(low) or np.isinf(high):
        raise ValueError(
            f"Input contains infinity: {place_of(array, np.isinf)}. Replace infinite entries, "
            "or mark them as missing with NaN."
        )
    if not allow_nan and nan:
        raise ValueError(
            f"Input X contains NaN: {place_of(array, np.isnan)}. "
            "With missing_values=nan, NaN marks an entry that was not observed."
        )
    if np.isnan(low):
        return
    if low < 0 and not signed:
        raise ValueError(
            f"Negative values in data passed to {whom}: {place_of(array, lambda v: v < 0)}. "
            "Entries must be nonnegative; shift, clip or drop the negative ones, or use a model that takes them: "
            "SemiNMF, DeepNMF(semi=True)."
        )
    if positive and not (unstored_missing and not sp.issparse(array)):
        unstored = sp.issparse(array) and array.nnz < array.shape[0] * array.shape[1] and not unstored_missing
        if low == 0 or unstored:
            where = "unstored entries are zeros" if low > 0 else place_of(array, lambda v: v == 0)
            raise ValueError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values "
                f"to X, or use a positive beta_loss ({where})."
            )


def check_highest(array: Any, span: Span, highest: float, loss_name: str) -> None:
    """Raise ValueError if an entry is above what the loss can take."""
    if span.high > highest:
        raise ValueError(
            f"beta_loss='{loss_name}' takes data between 0 and {highest:g}; "
            f"{place_of(array, lambda v: v > highest)}. Rescale the data, or choose another loss."
        )


def row_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights of rows, checked, as an array of float; None if there are none."""
    if sample_weight is None:
        return None
    r = np.asarray(without_mask(sample_weight), dtype=float)
    if r.ndim == 0:
        r = np.full(n_rows, float(r))
    if r.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows; got shape {r.shape}."
        )
    if not np.isfinite(r).all() or r.min() < 0:
        i = int(np.flatnonzero(~(np.isfinite(r) & (r >= 0)))[0])
        raise ValueError(f"sample_weight must be finite and nonnegative; sample_weight[{i}] = {r[i]:g}.")
    if r.max() == 0:
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    if not 1e-18 <= r.max() <= 1e18:
        raise ValueError(
            f"The largest sample_weight is {r.max():g}, and sums with it would lose their digits. "
            "Divide all of them by one number; the components will be the same."
        )
    return r


def entry_weights(weights: Any, shape: tuple[int, int]) -> Any:
    """Weights of entries, checked: an array of float, or CSR if they are sparse."""
    require_well_formed(weights, "weights")
    weights = without_mask(weights)
    w: Any = sp.csr_array(weights, dtype=float) if sp.issparse(weights) else np.asarray(weights, dtype=float)
    if w.shape != shape:
        raise ValueError(f"weights must have the shape of X, {shape}; got {w.shape}.")
    _check_weights(w.data if sp.issparse(w) else w)
    return w


def over_largest(weights: Any) -> Any:
    """Weights of entries over the largest of them; None, and what will be refused, as it is."""
    if weights is None:
        return None
    w = weights if sp.issparse(weights) else np.asarray(without_mask(weights), dtype=float)
    largest = float(w.max()) if 0 not in w.shape else 0.0
    return w / largest if 0.0 < largest < np.inf else w


def _check_weights(w: np.ndarray) -> None:
    if w.size and not (np.isfinite(w).all() and w.min() >= 0):
        place = tuple(int(i) for i in np.argwhere(~(np.isfinite(w) & (w >= 0)))[0])
        raise ValueError(f"weights must be finite and nonnegative; weights{list(place)} = {w[place]:g}.")


def _check_fits(w: np.ndarray, dtype: Any) -> None:
    """Weights that the numbers of X cannot be multiplied by are refused."""
    largest, limit = float(w.max(initial=0.0)), min(float(np.finfo(dtype).max) ** 0.85, 1e100)
    if largest > limit or 0.0 < largest < 1.0 / limit:
        raise ValueError(
            f"The largest of weights is {largest:g}, and X of {np.dtype(dtype)} cannot be multiplied by that. "
            "Divide all weights by one number; the components will be the same."
        )


def _is(value: float | None, x: float) -> bool:
    return value is not None and float(value) == x


def _dense(
    X: np.ndarray, span: Span, missing_values: float | None, weights: Any, row_weight: np.ndarray | None
) -> InMemory:
    w = None if weights is None else entry_weights(_toarray(weights), X.shape)
    if w is not None:
        _check_fits(w, X.dtype)
    missing = None
    # (Comparing every entry makes an array of truth values, which takes longer than all other checks together.)
    if missing_values is not None and (span.nan or not np.isnan(missing_values)):
        missing = np.isnan(X) if np.isnan(missing_values) else (missing_values == X) | np.isnan(X)
        if not missing.any():
            missing = None
    if missing is not None:
        w = (~missing).astype(X.dtype) if w is None else np.where(missing, 0, w)
    return Dense.of(X, w, row_weight)


def _toarray(weights: Any) -> Any:
    return weights.toarray() if sp.issparse(weights) else weights


def _sparse(
    X: Any, missing_values: float | None, weights: Any, row_weight: np.ndarray | None, positive: bool
) -> InMemory:
    """Unstored entries are zeros, or unobserved when `missing_values` is 0; stored NaN is unobserved.

    Data that must be positive store every entry, so nothing is unstored; saying so keeps d(0 | y), which is
    infinite for β ≤ 0, out of the sums.
    """
    unstored_observed = not (_is(missing_values, 0.0) or positive)
    w = None
    if weights is not None:
        w = _stored_weights(X, weights, unstored_observed)
        _check_fits(w, X.dtype)
    nan = np.isnan(X.data)
    if nan.any():
        w = (~nan).astype(X.dtype) if w is None else np.where(nan, 0, w)
    if w is not None and unstored_observed and np.count_nonzero(w == 0) > MANY_GAPS * X.shape[0] * X.shape[1]:
        # Sums over what was observed would be differences of sums over all and over the gaps, where factors may be
        # of any size.
        weights = np.ones(X.shape, X.dtype)
        entries = X.tocoo()
        weights[entries.row, entries.col] = w
        return Dense.of(np.where(weights > 0, X.toarray(), 0), weights, row_weight)
    return Sparse.of(X, w, row_weight, unstored_observed)


def _stored_weights(X: Any, weights: Any, unstored_observed: bool) -> np.ndarray:
    """Weights of the stored entries of X, in their order.

    Given as a sparse matrix with the pattern of X, or as one number for each stored entry. Unstored entries
    keep weight 1 (or 0, where they are unobserved): a full array of weights would defeat sparse data.
    """
    if sp.issparse(weights):
        if weights.shape != X.shape:
            raise ValueError(f"weights must have the shape of X, {X.shape}; got {weights.shape}.")
        weights = weights.asformat(X.format)
        if not weights.has_canonical_format:
            weights = weights.copy()
            weights.sum_duplicates()
        same = np.array_equal(weights.indptr, X.indptr) and np.array_equal(weights.indices, X.indices)
        if not same:
            raise ValueError(
                "With sparse X, weights must store exactly the entries that X stores. Store explicit zeros in X "
                "where an unstored entry needs a weight of its own."
            )
        w = np.asarray(weights.data, dtype=float)
    else:
        w = np.asarray(without_mask(weights), dtype=float)
        if w.shape == X.shape and w.ndim == 2:
            outside = w.copy()
            rows, columns = _pattern(X)
            stored = w[rows, columns]
            outside[rows, columns] = 1.0
            if unstored_observed and not np.all(outside == 1.0):
                raise ValueError(
                    "With sparse X, entries that X does not store keep weight 1; make X dense, or store explicit "
                    "zeros where other weights are wanted."
                )
            w = stored
        elif w.shape != X.data.shape:
            raise ValueError(
                f"With sparse X, weights must be sparse with the pattern of X, or one number for each of its "
                f"{X.data.size} stored entries; got shape {w.shape}."
            )
    _check_weights(w)
    return w


def _pattern(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each stored entry, explicit zeros included, in the order of `data`."""
    outer = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    return (outer, X.indices) if X.format == "csr" else (X.indices, outer)


def check_start(A: Any, shape: tuple[int, int], whom: str, dtype: Any, signed: bool = False) -> np.ndarray:
    """A factor given by the user: shape, sign and type as the data ask for."""
    A = check_array(without_mask(A), dtype=[np.float64, np.float32])
    for axis, (word, name) in enumerate((("first", "rows"), ("second", "columns"))):
        if A.shape[axis] != shape[axis]:
            raise ValueError(
                f"Array with wrong {word} dimension passed to {whom}. Expected {shape[axis]} {name}, "
                f"but got {A.shape[axis]}."
            )
    if A.min() < 0 and not signed:
        raise ValueError(f"Negative values in data passed to {whom}.")
    if not A.any():
        raise ValueError(f"Array passed to {whom} is full of zeros.")
    if A.dtype != dtype:
        raise TypeError(f"{whom} should have the same dtype as X, {dtype}; got {A.dtype}.")
    return A
