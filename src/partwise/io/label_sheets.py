"""Labels of the rows of a table from a file beside it: one a line, or by the names of the rows in two columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.budget import limited
from partwise.io.errors import DataError
from partwise.io.label_cells import sheet_cells, two_columns
from partwise.io.labels import as_labels, read_labels, text_lines
from partwise.io.reading import require_file
from partwise.io.words import shorten


def row_labels(
    path: str | os.PathLike[str], names: Sequence[str], *, named: bool = True, unknown: bool = False
) -> tuple[np.ndarray[Any, Any], tuple[str, ...]]:
    """Return the labels in a file for rows of these names.

    Parameters
    ----------
    path : str or path-like
        As for `read_labels`; or two columns, the names of rows and their labels, in any order, with or without a
        header.
    names : sequence of str
        Of the rows.
    named : bool
        Whether the table has these names. Otherwise the first of two columns may also number the rows.
    unknown : bool
        Whether rows may have no label.

    Returns
    -------
    labels : ndarray
        As `read_labels` returns them; where names were matched, one for each row.
    notes : tuple of str
        Sentences: names that are no rows, and a first label that may be a header.

    Raises
    ------
    DataError
        With a sentence to act on, for a file that holds no such labels.
    """
    source = os.fspath(path)
    file = Path(source)
    require_file(file, source)
    if file.name.lower().endswith(".npy"):
        return read_labels(path, unknown=unknown, rows=len(names)), ()
    with limited(source):
        cells = sheet_cells(text_lines(file, source), file.name)
        if cells is not None:
            return _matched(cells, source, list(names), named, unknown)
    labels = read_labels(path, unknown=unknown, rows=len(names))
    return labels, _perhaps_header(labels, source, len(names))


def _matched(
    cells: list[list[str]], source: str, names: list[str], named: bool, unknown: bool
) -> tuple[np.ndarray[Any, Any], tuple[str, ...]]:
    """The labels in the order of the rows, by the names in the first of two columns."""
    if len(cells[0]) > 2:
        raise DataError(two_columns(source, len(cells[0])))
    known = set(names)
    if known.isdisjoint(row[0] for row in cells):
        numbers = None if named else _numbered(cells, len(names))
        if numbers is None:
            raise DataError(
                f"{source} has two columns, but the first, as '{shorten(cells[-1][0])}', holds no name of a row, as "
                f"'{shorten(names[0])}'. Give the names of the rows and their labels, or one label a line."
            )
        cells, known = [[names[i], row[1]] for i, row in enumerate(numbers)], set(names)
    body = cells if cells[0][0] in known else cells[1:]
    label_of: dict[str, str] = {}
    for name, label in body:
        if label_of.setdefault(name, label) != label:
            raise DataError(
                f"{source}: '{shorten(name)}' has two labels, '{shorten(label_of[name])}' and '{shorten(label)}'. "
                "Leave one out."
            )
    lacking = [name for name in names if name not in label_of]
    if lacking and not unknown:
        raise DataError(
            f"{source} has no label for {len(lacking)} of the {len(names)} rows; the first is "
            f"'{shorten(lacking[0])}'. Add it, or remove such rows from the data."
        )
    others = [name for name in label_of if name not in known]
    notes = []
    if others:
        which = "1 name is no row" if len(others) == 1 else f"{len(others)} names are no rows"
        notes.append(f"{source}: {which} of the data, as '{shorten(others[0])}', and ignored.")
    if lacking:
        which = "row has" if len(lacking) == 1 else "rows have"
        notes.append(f"{source}: {len(lacking)} {which} no label there, as '{shorten(lacking[0])}'.")
    labels = [label_of.get(name, "") for name in names]
    return as_labels(labels, source, [f"the label of '{shorten(name)}'" for name in names], unknown), tuple(
        notes
    )


def _numbered(cells: list[list[str]], count: int) -> list[list[str]] | None:
    """The lines below a header, if there is one, where their first cells count all rows from 0 or from 1."""
    for body in (cells, cells[1:]):
        begins = [row[0] for row in body]
        if any(begins == [str(i + start) for i in range(count)] for start in (0, 1)):
            return body
    return None


def _perhaps_header(labels: np.ndarray[Any, Any], source: str, rows: int) -> tuple[str, ...]:
    """The note on a first label that is the only one of its kind, where no other is."""
    if len(labels) != rows or rows < 3 or labels[0] is None:
        return ()
    counts = Counter(label for label in labels.tolist() if label is not None)
    first = labels.tolist()[0]
    if counts.pop(first) > 1 or not counts or min(counts.values()) < 2:
        return ()
    return (
        f"{source}: the first label, '{shorten(str(first))}', occurs once: if it is a header, one label is missing "
        "below it.",
    )


def miscounted(labels: str, count: int, data: str, rows: int, word: str = "rows") -> str:
    """The sentence on a file that has not one label for each row.

    Parameters
    ----------
    labels : str
        The file of labels.
    count : int
        How many there are.
    data : str
        The file of data.
    rows : int
        How many rows it has.
    word : str
        What they are called.

    Returns
    -------
    str
        With a question where there is one label too many.
    """
    said = f"{data} has {rows} {word}, but there are {count} labels in {labels}."
    return said + (" Is its first line a header? Remove it." if count == rows + 1 else "")
