"""Reading .csv, .tsv and .txt into numbers, plain or gz-compressed."""

from __future__ import annotations

from array import array
from itertools import islice
from pathlib import Path

import numpy as np

from partwise.io.errors import DataError
from partwise.io.layout import Layout, find_layout, number
from partwise.io.table import Table
from partwise.io.text import find_delimiter, open_text, records
from partwise.io.words import text_column

_SAMPLE = 100


def read_delimited(
    path: Path, source: str, header: bool | None = None, row_names: bool | None = None
) -> Table:
    """Return the numbers of a text table as float64, missing cells as NaN, with the names it has."""
    delimiter = find_delimiter(path, source)
    with open_text(path, source) as stream:
        sample = [cells for _, cells in islice(records(stream, delimiter, source), _SAMPLE)]
    if any(len(cells) > 1 for cells in sample):
        sample = [cells for cells in sample if not _is_blank(cells)]
    if all(_is_blank(cells) for cells in sample):
        raise DataError(f"{source} is empty. Give a table with numbers in it.")
    layout = find_layout(sample, source, header, row_names)
    values, names = _read_body(path, delimiter, source, layout)
    if not values:
        raise DataError(f"{source} has a header but no rows of data. Give at least one row of numbers.")
    matrix = np.frombuffer(values, dtype=np.float64).reshape(-1, layout.width - layout.row_names)
    return Table(matrix, names if layout.row_names else None, layout.column_names, source)


def _is_blank(cells: list[str]) -> bool:
    return len(cells) == 1 and not cells[0].strip()


def _read_body(path: Path, delimiter: str, source: str, layout: Layout) -> tuple[array[float], list[str]]:
    """Return all numbers, row after row, and the first cells where those are names."""
    values: array[float] = array("d")
    names: list[str] = []
    width, named, awaits_header = layout.width, layout.row_names, layout.header is not None
    with open_text(path, source) as stream:
        for row, cells in records(stream, delimiter, source):
            if len(cells) != width or awaits_header:
                if width > 1 and _is_blank(cells):
                    continue
                if awaits_header:
                    awaits_header = False
                    continue
                raise DataError(_ragged(source, row, len(cells), layout))
            if named:
                names.append(cells.pop(0).strip())
            filled = len(values)
            try:
                values.extend(map(float, cells))
            except ValueError:
                del values[filled:]
                values.extend(_careful(cells, row, source, layout))
            else:
                # Python's float also takes 1_000, which in a table is a label.
                if "_" in "".join(cells):
                    _careful(cells, row, source, layout)
    return values, names


def _careful(cells: list[str], row: int, source: str, layout: Layout) -> list[float]:
    """The numbers of a row that has missing cells; raises DataError where it has text."""
    found = [number(cell) for cell in cells]
    values = [value for value in found if value is not None]
    if len(values) == len(found):
        return values
    places = [place for place, value in enumerate(found) if value is None]
    names = layout.column_names
    labels = [f"column {place + layout.row_names + 1}" if names is None else names[place] for place in places]
    raise DataError(
        text_column(
            source,
            None if names is None else names[places[0]],
            places[0] + layout.row_names,
            cells[places[0]],
            row,
            labels[1:],
        )
    )


def _ragged(source: str, row: int, cells: int, layout: Layout) -> str:
    count = f"{cells} cell" + "s" * (cells != 1)
    if layout.header is None:
        against = f"the first row has {layout.width}"
    else:
        against = f"the header has {layout.width}"
    return (
        f"{source}: row {row} has {count} where {against}. Give every row the same number of cells; "
        "quote cells that contain the delimiter."
    )
