"""Reading .h5ad with anndata, which is an optional package (the extra "tables").

Only the matrix asked for and the names and annotations of rows and columns are read, each after what it announces
has been counted against the limit.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.budget import left, spend
from partwise.io.errors import DataError
from partwise.io.table import Table, numeric_matrix
from partwise.io.words import shorten


def read_h5ad(path: Path, source: str, key: str | None) -> Table:
    """Return X, the layer ``key``, or raw, of an .h5ad file, with obs_names and var_names, and what obs says."""
    import anndata  # noqa: F401 the package that the sentence about a missing one names
    import h5py

    try:
        with warnings.catch_warnings(), h5py.File(path, "r") as file:
            # anndata warns of its own older file layouts, which the reader of a matrix need not know of.
            warnings.simplefilter("ignore")
            matrix = _matrix(file, source, key)
            raw = key == "raw" and "raw" not in file.get("layers", ())
            obs, var = _element(file, "obs"), _element(file["raw"] if raw else file, "var")
            if matrix.shape != (len(obs), len(var)):
                raise _Trouble(
                    f"its matrix has shape {matrix.shape}, but obs has {len(obs)} rows and var has {len(var)}"
                )
            text, extra = _annotations(obs)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # h5py and anndata raise many kinds on damaged files
        raise DataError(
            f"{source} is not a readable .h5ad file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; write it again."
        ) from error
    return Table(
        numeric_matrix(matrix, source),
        [str(name) for name in obs.index],
        [str(name) for name in var.index],
        source,
        text=text,
        extra=extra,
    )


class _Trouble(Exception):
    """Why the file is no .h5ad file, as a clause."""


def _matrix(file: Any, source: str, key: str | None) -> Any:
    layers = ", ".join(f"'{name}'" for name in file.get("layers", ())) or "none"
    if key is None or key == "X":
        matrix = _element(file, "X") if "X" in file else None
        if matrix is None:
            raise DataError(
                f"{source} has no X. Give one of its layers as --key (in Python: key=); it has: {layers}."
            )
    elif "/" not in key and key in file.get("layers", ()):
        matrix = _element(file["layers"], key)
    elif key == "raw" and "X" in file.get("raw", ()):
        matrix = _element(file["raw"], "X")
    else:
        also = ", and it has 'raw'" if "X" in file.get("raw", ()) else ""
        raise DataError(
            f"{source} has no layer '{key}'. Its layers are: {layers}{also}. If its X holds the same kind of data, "
            "take that: --key X (in Python: key='X')."
        )
    if not hasattr(matrix, "dtype"):
        return np.asarray(matrix)
    for name in ("indices", "indptr"):
        part = getattr(matrix, name, None)
        if part is not None and part.dtype.kind in "iu" and part.dtype not in (np.int32, np.int64):
            setattr(matrix, name, part.astype(np.int64))
    return matrix


def _element(group: Any, name: str) -> Any:
    """An element of the file as anndata reads it, after what it will take has been counted."""
    try:
        from anndata.io import read_elem
    except ImportError:
        from anndata.experimental import read_elem
    import h5py

    _count(group, name)
    item = group[name]
    if name in ("obs", "var") and isinstance(item, h5py.Dataset):
        raise _Trouble("it was written by an AnnData before 0.7; read it with anndata and write it again")
    # Sparse matrices announce their shape; as many row pointers may be allocated before they are read.
    shape = np.asarray(item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    if shape.size and (shape.dtype.kind not in "iu" or shape.size != 2 or (shape < 0).any()):
        raise _Trouble(f"its matrix has the shape {shape.tolist()}")
    spend(8 * sum(int(side) for side in shape))
    return read_elem(item)


def _count(group: Any, name: str, depth: int = 0) -> None:
    """Spend what the element and everything below it announces."""
    import h5py

    if isinstance(group.get(name, getlink=True), h5py.ExternalLink) or depth > 8:
        raise _Trouble(f"'{shorten(name)}' leads out of the file, or is nested too deeply")
    item = group[name]
    if isinstance(item, h5py.Group):
        for inner in item:
            _count(item, inner, depth + 1)
        return
    if item.external or item.is_virtual:
        raise _Trouble(f"'{shorten(name)}' is kept in another file")
    # A chunk is unpacked as a whole, however little of it is part of the array.
    spend(item.dtype.itemsize * (math.prod(item.shape or ()) + math.prod(item.chunks or (0,))))
    if item.dtype.hasobject:
        _count_text(item)


def _count_text(item: Any) -> None:
    """Spend what texts of any length take: many entries of a small file may point to one long text."""
    import h5py

    if h5py.check_string_dtype(item.dtype) is None or item.ndim > 1:
        raise _Trouble(f"'{shorten(item.name)}' holds values that are neither numbers nor text")
    # No text is longer than the file.
    step = max(1, min(4096, left() // max(1, item.file.id.get_filesize())))
    for start in range(0, item.shape[0] if item.ndim else 1, step):
        texts = item[start : start + step] if item.ndim else [item[()]]
        spend(sum(64 + len(text) for text in texts))


def _annotations(obs: Any) -> tuple[dict[str, list[str]], dict[str, np.ndarray[Any, Any]]]:
    """Return the columns of a data frame that hold categories or strings, and those that hold numbers."""
    from pandas.api import types

    text: dict[str, list[str]] = {}
    extra: dict[str, np.ndarray[Any, Any]] = {}
    for name in obs.columns:
        column = obs[name]
        if types.is_bool_dtype(column.dtype) and not isinstance(column.dtype, np.dtype):
            # True, False and nothing: as they are where nothing is missing, else as text.
            column = column.astype("string") if column.isna().any() else column.astype(bool)
        if types.is_numeric_dtype(column.dtype):
            plain = isinstance(column.dtype, np.dtype)
            extra[str(name)] = column.to_numpy() if plain else column.to_numpy(float, na_value=np.nan)
        elif isinstance(column.dtype, types.CategoricalDtype) or types.is_string_dtype(column.dtype):
            missing = column.isna()
            text[str(name)] = ["" if gone else str(value) for value, gone in zip(column, missing)]
    return text, extra
