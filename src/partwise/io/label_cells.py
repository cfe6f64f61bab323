"""Whether a file of labels holds one a line, or a table of several columns."""

from __future__ import annotations

import csv
from collections.abc import Sequence


def sheet_cells(lines: Sequence[str], name: str) -> list[list[str]] | None:
    """The cells of lines that are all cut into equally many, two or more; None where each holds one label.

    Parameters
    ----------
    lines : sequence of str
        Of the file.
    name : str
        Of the file: in a .csv commas and semicolons cut, elsewhere tabs, for a label may have commas, and blanks
        where every line begins with a quotation mark, as R writes tables.

    Returns
    -------
    list of list of str or None
        Without blank lines; a first line that lacks the cell above the names gets an empty one.
    """
    filled = [line for line in lines if line.strip()]
    plain = name.lower().removesuffix(".gz")
    quoted = all(line.startswith('"') for line in filled)
    for mark in ",;\t" if plain.endswith(".csv") else "\t " if quoted else "\t":
        try:
            cells = [
                list(map(str.strip, row)) for row in csv.reader(filled, delimiter=mark, skipinitialspace=True)
            ]
        except csv.Error:
            continue
        if len(cells) > 1 and len(cells[0]) + 1 == len(cells[1]):
            cells[0] = ["", *cells[0]]
        widths = set(map(len, cells))
        # Marks behind every label are dropped with other marks at the end.
        if len(widths) == 1 and min(widths) > 1 and any(any(row[1:]) for row in cells):
            return cells
    return None


def two_columns(source: str, count: int) -> str:
    """The sentence on a file of several columns that are not matched with rows."""
    return (
        f"{source} has {count} columns, and labels are one a line, or two columns: the names of the rows of the data "
        "and their labels."
    )
