"""Writing tables as CSV and results as JSON, each file whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from partwise.io.atomic import atomic_file, write_bytes_atomic
from partwise.io.errors import DataError

__all__ = ["write_bytes_atomic", "write_csv", "write_json"]

_BLOCK = 1 << 18


def write_csv(
    path: str | os.PathLike[str],
    array: Any,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    corner: str = "",
) -> None:
    """Write a 2-d array (or scipy sparse matrix) as a text table that ``read`` gives back exactly.

    Floats are written with as many digits as distinguish them, NaN as an empty cell, or as NaN where a row would
    otherwise have no cell at all.

    Parameters
    ----------
    path : str or path-like
        The file. A name ending in .tsv separates cells by tabs, one ending in .gz is compressed.
    array : array or sparse matrix of shape (n_rows, n_columns)
        Numbers, bools or strings.
    row_names, column_names : sequence of str, optional
        Written as the first column and the first row.
    corner : str
        The header cell above the row names.
    """
    if not hasattr(array, "tocsr"):
        array = np.asarray(array)
    _check(path, array, row_names, column_names)
    name = os.fspath(path).lower()
    mark = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    with atomic_file(path) as raw, _compressed(raw, name) as stream:
        if column_names is not None:
            cells = [_quote(str(cell), mark) for cell in column_names]
            if row_names is not None:
                cells.insert(0, _quote(corner, mark))
            stream.write(f"{_join(cells, mark)}\n".encode())
        step = max(1, _BLOCK // max(1, array.shape[1]))
        for start in range(0, array.shape[0], step):
            rows = _texts(array[start : start + step], mark)
            if row_names is not None:
                for row, label in zip(rows, row_names[start : start + step]):
                    row.insert(0, _quote(str(label), mark))
            for row in rows:
                if (
                    array.dtype.kind == "f"
                    and len(row) > 1
                    and not any(cell.strip('"').strip() for cell in row)
                ):
                    # Readers take a row without any cell for none.
                    row[-1] = "NaN"
            stream.write("".join(_join(row, mark) + "\n" for row in rows).encode())


def write_json(path: str | os.PathLike[str], obj: Any) -> None:
    """Write ``obj`` as indented JSON; numpy values become plain ones, NaN and infinities become null.

    Parameters
    ----------
    path : str or path-like
        The file.
    obj : object
        Dicts, lists, text, numbers and numpy values, nested as needed.
    """
    write_bytes_atomic(path, json_text(obj, indent=2).encode("utf-8", "backslashreplace") + b"\n")


def json_text(obj: Any, indent: int | None = None) -> str:
    """``obj`` as JSON text; numpy values become plain ones, NaN and infinities become null."""
    return json.dumps(_plain(obj, "the value"), indent=indent, ensure_ascii=False, allow_nan=False)


def _check(
    path: str | os.PathLike[str], array: Any, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> None:
    if array.ndim != 2:
        raise DataError(f"{path}: a table has 2 dimensions, but the array has shape {array.shape}.")
    if array.dtype.kind not in "biufU":
        raise DataError(f"{path}: an array of type {array.dtype} cannot be written as a table of numbers.")
    for names, length, what in ((rows, array.shape[0], "row"), (columns, array.shape[1], "column")):
        if names is not None and len(names) != length:
            raise DataError(f"{path}: {len(names)} {what} names were given for {length} {what}s.")


@contextlib.contextmanager
def _compressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if not name.endswith(".gz"):
        yield raw
        return
    # No time stamp and no file name inside: the same table gives the same bytes.
    with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as stream:
        yield stream  # type: ignore[misc]


def _texts(block: Any, mark: str) -> list[list[str]]:
    """The cells of a block of rows as text."""
    if hasattr(block, "toarray"):
        block = block.toarray()
    kind = block.dtype.kind
    if kind == "U":
        return [[_quote(cell, mark) for cell in row] for row in block.tolist()]
    if kind == "b":
        block = block.astype(np.uint8)
    if kind != "f":
        return [list(map(repr, row)) for row in block.tolist()]
    if block.dtype.itemsize == 8:
        rows = [list(map(repr, row)) for row in block.tolist()]
    else:
        # numpy's own text has only the digits that a float32 has; as Python floats they would show 17.
        rows = block.astype(str).tolist()
    for row, column in zip(*np.nonzero(np.isnan(block))):
        rows[row][column] = ""
    return rows


def _quote(text: str, mark: str) -> str:
    """The text as one cell, in quotes where it would otherwise be cut or trimmed."""
    special = any(character in text for character in (mark, *'";\t\r\n')) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if special else text


def _join(cells: list[str], mark: str) -> str:
    # A row of one empty cell would be a blank line, which readers skip.
    return mark.join(cells) if cells != [""] else '""'


def _plain(value: Any, where: str) -> Any:
    """The value in terms of JSON's own types."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist(), where)
    if isinstance(value, Mapping):
        return {
            str(key.item() if isinstance(key, np.generic) else key): _plain(inner, f"{where}['{key}']")
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{where}[{place}]") for place, inner in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise DataError(
        f"{where} is a {type(value).__name__}, which JSON cannot hold. Convert it to numbers or text."
    )
