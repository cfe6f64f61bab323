"""Reading .h5ad with anndata, which is an optional package (the extra "tables")."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.errors import DataError
from partwise.io.table import Table, numeric_matrix
from partwise.io.words import shorten


def read_h5ad(path: Path, source: str, key: str | None) -> Table:
    """Return X, or the layer ``key``, of an .h5ad file, with obs_names and var_names as names, and what obs says."""
    import anndata

    try:
        with warnings.catch_warnings():
            # anndata warns of its own older file layouts, which the reader of a matrix need not know of.
            warnings.simplefilter("ignore")
            annotated = anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise many kinds on damaged files
        raise DataError(
            f"{source} is not a readable .h5ad file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; write it again."
        ) from error
    layers = ", ".join(f"'{name}'" for name in annotated.layers) or "none"
    if key is None or key == "X":
        matrix = annotated.X
        if matrix is None:
            raise DataError(f"{source} has no X. Give one of its layers as key; it has: {layers}.")
    elif key in annotated.layers:
        matrix = annotated.layers[key]
    else:
        raise DataError(f"{source} has no layer '{key}'. Its layers are: {layers}.")
    if not hasattr(matrix, "dtype"):
        matrix = np.asarray(matrix)
    text, extra = _annotations(annotated.obs)
    return Table(
        numeric_matrix(matrix, source),
        [str(name) for name in annotated.obs_names],
        [str(name) for name in annotated.var_names],
        source,
        text=text,
        extra=extra,
    )


def _annotations(obs: Any) -> tuple[dict[str, list[str]], dict[str, np.ndarray[Any, Any]]]:
    """Return the columns of a data frame that hold categories or strings, and those that hold numbers."""
    from pandas.api import types

    text: dict[str, list[str]] = {}
    extra: dict[str, np.ndarray[Any, Any]] = {}
    for name in obs.columns:
        column = obs[name]
        if types.is_numeric_dtype(column.dtype):
            plain = isinstance(column.dtype, np.dtype)
            extra[str(name)] = column.to_numpy() if plain else column.to_numpy(float, na_value=np.nan)
        elif isinstance(column.dtype, types.CategoricalDtype) or types.is_string_dtype(column.dtype):
            missing = column.isna()
            text[str(name)] = ["" if gone else str(value) for value, gone in zip(column, missing)]
    return text, extra
