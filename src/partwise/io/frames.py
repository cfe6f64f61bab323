"""Reading .parquet and .h5ad, the two formats that need the optional packages of partwise[tables]."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.errors import DataError
from partwise.io.table import Table, numeric_matrix
from partwise.io.words import shorten, text_column


def read_parquet(path: Path, source: str) -> Table:
    """Return the numbers of a .parquet file; a stored index or a first text column names the rows."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise _missing(".parquet", "pyarrow") from error
    try:
        # ParquetFile, not read_table: the latter would add columns for folders named like "year=2020".
        with parquet.ParquetFile(path) as file:
            return _from_arrow(file.read(), source)
    except DataError:
        raise
    except Exception as error:  # pyarrow raises its own kinds, OSError and, on damaged pages, others
        raise DataError(
            f"{source} is not a readable .parquet file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; write it again."
        ) from error


def _from_arrow(table: Any, source: str) -> Table:
    names = list(table.column_names)
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    data = [place for place in range(len(names)) if place not in index]
    if not index and len(data) > 1 and _is_text(table.column(data[0]).type):
        index = [data.pop(0)]
    if not data or table.num_rows == 0:
        raise DataError(
            f"{source} is empty: {table.num_rows} rows and {len(data)} columns of data. "
            "Give a table with numbers in it."
        )
    columns = [_numbers(table.column(place), names[place], place, source) for place in data]
    matrix = np.empty((table.num_rows, len(columns)), dtype=np.result_type(*columns))
    for place, column in enumerate(columns):
        matrix[:, place] = column
    return Table(
        numeric_matrix(matrix, source),
        _row_names([table.column(place) for place in index]) if index else None,
        [str(names[place]) for place in data],
        source,
    )


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _numbers(column: Any, name: str, place: int, source: str) -> np.ndarray[Any, Any]:
    """One arrow column as numbers, nulls as NaN; raises DataError when it holds something else."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64())
    elif _is_text(kind):
        rows = ((row, value) for row, value in enumerate(column.to_pylist(), start=1) if value is not None)
        row, value = next(rows, (1, ""))
        raise DataError(text_column(source, name, place, value, row))
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(
            f"{source}: column '{name}' holds values of type {kind}, which are not numbers. "
            "Remove the column or replace it with numbers."
        )
    array: np.ndarray[Any, Any] = column.to_numpy()
    return array


def _row_names(columns: list[Any]) -> list[str]:
    parts = [["" if value is None else str(value) for value in column.to_pylist()] for column in columns]
    return [" / ".join(row) for row in zip(*parts)]


def read_h5ad(path: Path, source: str, key: str | None) -> Table:
    """Return X, or the layer ``key``, of an .h5ad file, with obs_names and var_names as names."""
    try:
        import anndata
    except ImportError as error:
        raise _missing(".h5ad", "anndata") from error
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
    return Table(
        numeric_matrix(matrix, source),
        [str(name) for name in annotated.obs_names],
        [str(name) for name in annotated.var_names],
        source,
    )


def _missing(suffix: str, package: str) -> DataError:
    return DataError(f'Reading {suffix} needs {package}: pip install "partwise[tables]"')
