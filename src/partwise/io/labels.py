"""Labels of the rows: a column of a table, or a file with one label for each row."""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.budget import Lines, limited, spend
from partwise.io.errors import DataError
from partwise.io.label_cells import sheet_cells, two_columns
from partwise.io.npz import load_npy
from partwise.io.reading import require_file
from partwise.io.table import Table
from partwise.io.text import broken_gzip, not_utf8, open_text
from partwise.io.words import MISSING, set_aside, shorten

#: Bytes that a line takes beside its characters.
_TEXT = 128
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_EXACT = 2.0**53  # whole numbers up to here are distinct in float64


def label_names(table: Table) -> list[str]:
    """The names that :func:`take_labels` finds in a table.

    Parameters
    ----------
    table : Table
        As ``read`` returns it.

    Returns
    -------
    list of str
        Names of its columns and of what it keeps beside the matrix.
    """
    corner = [table.corner] if table.corner and table.row_names is not None else []
    return list(dict.fromkeys([*table.text, *table.extra, *(table.column_names or []), *corner]))


def take_labels(table: Table, name: str, *, unknown: bool = False) -> tuple[Table, np.ndarray[Any, Any]]:
    """Take the column of labels out of a table.

    Parameters
    ----------
    table : Table
        As ``read`` returns it.
    name : str
        A column of text or of numbers in a text table or .parquet file, also the one that named the rows; an array
        of a .npz; a column of ``obs`` in an .h5ad.
    unknown : bool
        Whether rows may have no label: cells that are empty, or read NA and the like.

    Returns
    -------
    table : Table
        The table without that column.
    labels : ndarray of shape (n_rows,)
        Integers where all labels are whole numbers, bool where they are of that type, else strings; None for rows
        without a label.

    Raises
    ------
    DataError
        If there is no such column, if a row has no label, or if no other column is left.
    """
    if name in table.text:
        text = {key: cells for key, cells in table.text.items() if key != name}
        # The note on text that was set aside no longer speaks of this column.
        before = set_aside(table.source, list(table.text))
        notes = tuple(note for note in table.notes if note not in before)
        if before and before[0] in table.notes:
            notes = (*set_aside(table.source, list(text)), *notes)
        return dataclasses.replace(table, text=text, notes=notes), _labels(
            table.text[name], table, name, unknown
        )
    if name in table.extra:
        extra = {key: values for key, values in table.extra.items() if key != name}
        return dataclasses.replace(table, extra=extra), _labels(table.extra[name], table, name, unknown)
    columns = table.column_names or []
    if name in columns:
        return _take_column(table, columns.index(name), name, unknown)
    if name == table.corner and name and table.row_names is not None:
        return dataclasses.replace(table, row_names=None, corner=""), _labels(
            table.row_names, table, name, unknown
        )
    raise DataError(_unknown(table, name))


def read_labels(
    path: str | os.PathLike[str], *, unknown: bool = False, rows: int | None = None
) -> np.ndarray[Any, Any]:
    """Return the labels in a file: a .npy array, or text with one label a line.

    Parameters
    ----------
    path : str or path-like
        A .npy file holds numbers or strings, one for each row. Any other is UTF-8 text, gz-compressed if its name
        ends in .gz; quotes around a label, and commas or semicolons behind it, are dropped. Two columns are refused:
        see `row_labels`.
    unknown : bool
        Whether rows may have no label: lines that are empty, or read NA and the like.
    rows : int, optional
        How many rows there are: empty lines at the end are labels up to there. If it is not given, there are none.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        Integers where all labels are whole numbers, bool where they are of that type, else strings; None for rows
        without a label.

    Raises
    ------
    DataError
        With a sentence to act on, for a file that holds no such labels.
    """
    source = os.fspath(path)
    file = Path(source)
    require_file(file, source)
    with limited(source):
        try:
            if file.name.lower().endswith(".npy"):
                labels, what = _vector(load_npy(file, source), source), "label"
            else:
                labels, what = _array(_label_lines(file, source, rows or 0)), "line"
        except OSError as error:
            raise DataError(f"{source} cannot be read: {error.strerror or error}.") from error
        missing = _missing(labels)
        if not missing.any():
            return _plain(labels)
        if unknown and not missing.all():
            return _with_none(labels, missing)
        raise DataError(_no_label(labels, missing, source, what))


def text_lines(file: Path, source: str) -> list[str]:
    """The lines of a text file, counted against the limit."""
    lines = []
    try:
        with open_text(file, source) as stream:
            text = Lines(stream)
            for line in text:
                text.pending = 0
                spend(_TEXT + len(line))
                lines.append(line)
    except UnicodeDecodeError as error:
        raise not_utf8(source, error) from error
    except (EOFError, zlib.error) as error:
        raise broken_gzip(source, error) from error
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror or error}.") from error
    return lines


def as_labels(values: list[str], source: str, places: Sequence[str], unknown: bool) -> np.ndarray[Any, Any]:
    """Texts as labels, None for those that are missing; DataError with its place for one that may not be."""
    labels = _array(values)
    missing = _missing(labels)
    if not missing.any():
        return _plain(labels)
    if unknown and not missing.all():
        return _with_none(labels, missing)
    first = int(np.argmax(missing))
    raise DataError(f"{source}: {places[first]} is missing{_read_as(values[first])}. Fill it in.")


def _label_lines(file: Path, source: str, rows: int) -> list[str]:
    """The labels of a text file; empty lines at its end only where there are ``rows`` for them."""
    lines = text_lines(file, source)
    cells = sheet_cells(lines, file.name)
    if cells is not None:
        raise DataError(two_columns(source, len(cells[0])))
    labels = [line.strip().strip(",;").strip().strip('"') for line in lines]
    if not any(labels):
        raise DataError(f"{source} is empty. Give one label a line.")
    while len(labels) > rows and not labels[-1]:
        labels.pop()
    return labels


def _take_column(table: Table, place: int, name: str, unknown: bool) -> tuple[Table, np.ndarray[Any, Any]]:
    names = list(table.column_names or [])
    if len(names) == 1:
        raise DataError(f"{table.source} has no other column of numbers than '{shorten(name)}'.")
    values = table.data[:, [place]]
    values = values.toarray() if hasattr(values, "toarray") else values
    keep = [column for column in range(len(names)) if column != place]
    names.pop(place)
    coding = None if table.coding is None else table.coding.without(place)
    without = dataclasses.replace(table, data=table.data[:, keep], column_names=names, coding=coding)
    return without, _labels(values.reshape(-1), table, name, unknown)


def _labels(values: Any, table: Table, name: str, unknown: bool) -> np.ndarray[Any, Any]:
    """The values as labels; where one is missing, None if it may be `unknown`, else DataError."""
    with limited(table.source):
        array = _array(values)
    missing = _missing(array)
    if not missing.any():
        return _plain(array)
    if unknown and not missing.all():
        return _with_none(array, missing)
    count, first = int(missing.sum()), int(np.argmax(missing))
    rows = "1 row has" if count == 1 else f"{count} rows have"
    place = f"row {first + 1}" if table.row_names is None else f"'{shorten(table.row_names[first])}'"
    place += f" of the data{_read_as(array[first])}"
    raise DataError(
        f"{table.source}: {rows} no label in '{shorten(name)}'; the first is {place}. "
        "Fill them in, or remove these rows, or the column."
    )


def _missing(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where labels are missing: NaN, and text that is empty or reads NA and the like."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind == "U":
        return np.array([label.strip() in MISSING for label in array.tolist()], dtype=bool)
    return np.zeros(array.shape, dtype=bool)


def _with_none(array: np.ndarray[Any, Any], missing: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = np.full(len(array), None, dtype=object)
    found[~missing] = _plain(array[~missing])
    return found


def _read_as(label: Any) -> str:
    """What text reads that is taken as no label, and what to do if it is a class; nothing for an empty one."""
    text = label.strip() if isinstance(label, str) else ""
    return f", which reads '{text}' (if that is a class, give it another name)" if text else ""


def _no_label(labels: np.ndarray[Any, Any], missing: np.ndarray[Any, Any], source: str, what: str) -> str:
    """The sentence on the first label of a file that is missing; ``what`` is a line or a label."""
    first = int(np.argmax(missing))
    if labels.dtype.kind == "f":
        return f"{source}: {what} {first + 1} is NaN. Fill it in."
    text = str(labels[first]).strip()
    if not text:
        return f"{source}: {what} {first + 1} is empty. Give one label a line."
    return (
        f"{source}: {what} {first + 1} reads '{text}', which is no label. Fill it in; if it is a class, give it "
        "another name."
    )


def _array(values: Any) -> np.ndarray[Any, Any]:
    """The values as an array, in which every string takes as much as the longest."""
    if isinstance(values, list):
        spend(4 * len(values) * max(map(len, values), default=0))
    return _decoded(np.asarray(values))


def _decoded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bytes as text; other arrays as they are."""
    if array.dtype.kind != "S":
        return array
    return np.array([value.decode("utf-8", "replace") for value in array.tolist()])


def _vector(array: np.ndarray[Any, Any], source: str) -> np.ndarray[Any, Any]:
    if max(array.shape, default=0) != array.size or not array.size:
        raise DataError(f"{source} has shape {array.shape}, but labels are one value for each row.")
    if array.dtype.kind not in "biufUS":
        raise DataError(f"{source} holds values of type {array.dtype}. Save labels as numbers or strings.")
    return _decoded(array.reshape(-1))


def _plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Integers where all labels are whole numbers, bool where they are of that type, else strings."""
    kind = array.dtype.kind
    if kind == "b":
        return array
    if kind == "U":
        whole = all(_WHOLE.fullmatch(label) for label in array.tolist())
        return np.array([int(label) for label in array.tolist()]) if whole else array
    if kind == "f":
        array = array.astype(np.float64)
        whole = bool((np.isfinite(array) & (np.abs(array) <= _EXACT) & (array == np.round(array))).all())
        return array.astype(np.int64) if whole else np.array([str(value) for value in array.tolist()])
    return array.astype(np.int64)


def _unknown(table: Table, name: str) -> str:
    names = label_names(table)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f"Did you mean '{shorten(near[0])}'?"
    else:
        shown = ", ".join(f"'{shorten(known)}'" for known in names[:8]) + ", …" * (len(names) > 8)
        hint = f"It has {shown or 'none'}."
    if table.source.lower().endswith(".npz"):
        return f"{table.source} has no array '{shorten(name)}' with one number or string for each row. {hint}"
    return f"{table.source} has no column '{shorten(name)}'. {hint}"
