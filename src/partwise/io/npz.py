"""Reading .npy and .npz: one dense array, or the parts of a sparse matrix."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.budget import spend
from partwise.io.errors import DataError
from partwise.io.npy import ZIP_TROUBLE, NpyTrouble, read_header, read_npy
from partwise.io.table import Table, numeric_matrix, unstacked

_PREFERRED = ("X", "data")


def read_npy_file(path: Path, source: str, stack: bool = False) -> Table:
    """Return the array of a .npy file: of 2 dimensions, or with ``stack`` of more."""
    array = load_npy(path, source)
    array, meta = unstacked(array) if stack else (array, {})
    return Table(numeric_matrix(array, source), None, None, source, meta=meta)


def load_npy(path: Path, source: str) -> np.ndarray[Any, Any]:
    """Return the array of a .npy file, whatever its shape and type; raise DataError for a damaged file."""
    with path.open("rb") as stream:
        try:
            return read_npy(stream, path.stat().st_size)
        except NpyTrouble as trouble:
            raise DataError(f"{source} {trouble}. {_remedy(str(trouble))}") from trouble


def read_npz_file(path: Path, source: str, key: str | None, stack: bool = False) -> Table:
    """Return the matrix of a .npz file: the array ``key``, the only array, X, data, or a sparse matrix.

    Other arrays that have one value for each row come along as ``text`` or ``extra``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {
                info.filename.removesuffix(".npy"): info for info in archive.infolist() if not info.is_dir()
            }
            if not entries:
                raise DataError(f"{source} holds no arrays. Save one with np.savez(path, X=a).")
            arrays = _Arrays(archive, entries, source)
            if key is None and _is_sparse(arrays.keys):
                return _sparse(arrays, source)
            return _dense(arrays, source, key, stack)
    except (DataError, MemoryError):
        raise
    except ZIP_TROUBLE as error:
        raise DataError(
            f"{source} is not a readable .npz file: {error or type(error).__name__}. It may have been cut "
            "short, or not be what its name says; save it again with np.savez."
        ) from error


def read_npz_arrays(path: Path, source: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return all arrays of a .npz file by name, whatever their shapes; raise DataError for a damaged file."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {
                info.filename.removesuffix(".npy"): info for info in archive.infolist() if not info.is_dir()
            }
            arrays = _Arrays(archive, entries, source)
            return {name: arrays.read(name) for name in entries}
    except (DataError, MemoryError):
        raise
    except ZIP_TROUBLE as error:
        raise DataError(
            f"{source} is not a readable .npz file: {error or type(error).__name__}. Save it again with np.savez."
        ) from error


class _Arrays:
    """The arrays of an open .npz file, read one at a time when asked for."""

    def __init__(self, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], source: str) -> None:
        self._archive, self._entries, self._source = archive, entries, source
        self.keys = list(entries)

    def read(self, key: str) -> np.ndarray[Any, Any]:
        info = self._entries[key]
        with self._archive.open(info) as stream:
            try:
                return read_npy(stream, info.file_size)
            except NpyTrouble as trouble:
                raise DataError(
                    f"{self._source}: array '{key}' {trouble}. {_remedy(str(trouble))}"
                ) from trouble

    def header(self, key: str) -> tuple[tuple[int, ...], str]:
        """Return the shape of the array and the kind of its dtype, () and "" where it is none."""
        with self._archive.open(self._entries[key]) as stream:
            try:
                shape, _, dtype = read_header(stream)
            except NpyTrouble:
                return (), ""
        return shape, dtype.kind


def _dense(arrays: _Arrays, source: str, key: str | None, stack: bool) -> Table:
    chosen = _choose(arrays, source, key, stack)
    where = source if len(arrays.keys) == 1 else f"{source}: array '{chosen}'"
    array = arrays.read(chosen)
    array, meta = unstacked(array) if stack else (array, {})
    matrix = numeric_matrix(array, where)
    text, extra = _beside(arrays, (chosen,), len(matrix))
    return Table(matrix, None, None, source, text=text, extra=extra, meta=meta)


def _beside(
    arrays: _Arrays, used: Collection[str], rows: int
) -> tuple[dict[str, list[str]], dict[str, np.ndarray[Any, Any]]]:
    """Return the other arrays that have one string, or one number, for each row."""
    text: dict[str, list[str]] = {}
    extra: dict[str, np.ndarray[Any, Any]] = {}
    for key in arrays.keys:
        shape, kind = ((), "") if key in used else arrays.header(key)
        # A single column or row of the right length will do: so other programs save vectors.
        if not max(shape, default=0) == math.prod(shape) == rows:
            continue
        if kind in ("U", "S"):
            text[key] = _words(arrays.read(key))
        elif kind in "biuf":
            extra[key] = arrays.read(key).reshape(-1)
    return text, extra


def _choose(arrays: _Arrays, source: str, key: str | None, stack: bool) -> str:
    keys = arrays.keys
    listed = ", ".join(f"'{name}'" for name in keys)
    if key is not None:
        if key not in keys:
            raise DataError(
                f"{source} has no array '{key}'. It holds {listed}: give one of them as --key (in Python: key=)."
            )
        return key
    if len(keys) == 1:
        return keys[0]
    for name in _PREFERRED:
        if name in keys:
            return name
    headers = {name: arrays.header(name) for name in keys}
    matrices = [
        name
        for name, (shape, kind) in headers.items()
        if (len(shape) == 2 or (stack and len(shape) > 2)) and kind in "biuf"
    ]
    # An array of one column beside the only one of several is a vector with one value for each row.
    wide = [name for name in matrices if headers[name][0][1] > 1]
    for found in (matrices, wide):
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"{source} holds {len(keys)} arrays, {listed}: say which one with --key {(matrices or keys)[0]} (in Python: "
        f"key='{(matrices or keys)[0]}'), or save one of them alone."
    )


def _is_sparse(keys: list[str]) -> bool:
    """Whether the keys are those of scipy.sparse.save_npz, or the plain parts of a CSR matrix."""
    return {"format", "shape", "data"} <= set(keys) or {"data", "indices", "indptr", "shape"} <= set(keys)


def _sparse(arrays: _Arrays, source: str) -> Table:
    from scipy import sparse

    kind = "csr"
    if "format" in arrays.keys:
        stored = arrays.read("format").reshape(-1)
        kind = (
            stored[0].decode("ascii", "replace")
            if stored.dtype.kind == "S" and stored.size
            else str(stored[:1])
        )
    builders: dict[str, tuple[Any, tuple[str, ...]]] = {
        "csr": (sparse.csr_matrix, ("indices", "indptr")),
        "csc": (sparse.csc_matrix, ("indices", "indptr")),
        "bsr": (sparse.bsr_matrix, ("indices", "indptr")),
        "coo": (sparse.coo_matrix, ("row", "col")),
        "dia": (sparse.dia_matrix, ("offsets",)),
    }
    if kind not in builders:
        raise DataError(
            f"{source} holds a sparse matrix of format {kind!r}; partwise reads {', '.join(builders)}. "
            "Save it with scipy.sparse.save_npz(path, a.tocsr())."
        )
    build, parts = builders[kind]
    missing = [name for name in parts if name not in arrays.keys]
    if missing:
        raise DataError(
            f"{source} lacks the array {missing[0]!r} of a sparse {kind} matrix. "
            "Save it again with scipy.sparse.save_npz."
        )
    matrix = _build(build, arrays, parts, source)
    columns = _vocabulary(arrays, int(matrix.shape[1]), source) if "vocab" in arrays.keys else None
    text, extra = _beside(arrays, ("format", "shape", "data", "vocab", *parts), int(matrix.shape[0]))
    return Table(matrix, None, columns, source, text=text, extra=extra)


def _build(build: Callable[..., Any], arrays: _Arrays, parts: tuple[str, ...], source: str) -> Any:
    shape = arrays.read("shape").reshape(-1)
    data = arrays.read("data")
    if len(shape) != 2 or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise DataError(
            f"{source}: array 'shape' must be two integers, rows and columns; it is {shape.tolist()}."
        )
    if data.dtype.kind not in "biuf":
        numeric_matrix(data.reshape(1, -1), f"{source}: array 'data'")
    rest = tuple(arrays.read(name) for name in parts)
    for name, part in zip(parts, rest):
        if part.dtype.kind not in "iu":
            raise DataError(f"{source}: array '{name}' must hold whole numbers; it holds {part.dtype}.")
    if len(rest) == 2 and parts == ("row", "col"):
        rest = (rest,)  # type: ignore[assignment]
    try:
        matrix = build((data, *rest), shape=(int(shape[0]), int(shape[1])))
    except (ValueError, TypeError, IndexError, ArithmeticError) as error:
        raise DataError(
            f"{source} holds a sparse matrix whose parts do not fit together: {error}. "
            "Save it again with scipy.sparse.save_npz."
        ) from error
    return numeric_matrix(matrix, source)


def _vocabulary(arrays: _Arrays, columns: int, source: str) -> list[str]:
    words = arrays.read("vocab").reshape(-1)
    if len(words) != columns:
        raise DataError(f"{source}: 'vocab' names {len(words)} columns, but the matrix has {columns}.")
    return _words(words)


def _words(array: np.ndarray[Any, Any]) -> list[str]:
    spend(array.nbytes + 64 * array.size)
    values = array.reshape(-1).tolist()
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]


def _remedy(trouble: str) -> str:
    if "unpickle" in trouble:
        return "Convert it first: np.save(path, a.astype(float)), or np.array(names, dtype=str) for names."
    return "Save it again with np.save or np.savez."
