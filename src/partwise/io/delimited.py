"""Reading .csv, .tsv and .txt into numbers, plain or gz-compressed; and rows of cells from anywhere else."""

from __future__ import annotations

import dataclasses
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.answer_words import beside_answers
from partwise.io.blank import without_blank
from partwise.io.budget import spend
from partwise.io.cells import Prepared, Reading, Rows, prepared
from partwise.io.coding import Coding
from partwise.io.decimals import Number, contradiction, may_be_thousands, perhaps_thousands, written
from partwise.io.errors import DataError
from partwise.io.layout import UNNAMED, Layout, find_layout, holds_text, number
from partwise.io.table import Table
from partwise.io.text import find_delimiter, misread, open_text, records
from partwise.io.title import without_title
from partwise.io.trailing import without_trailing
from partwise.io.words import (
    free_name,
    marked_number,
    no_answer,
    only_text,
    set_aside,
    shorten,
    text_column,
)

_SAMPLE = 100
#: Bytes that a cell of text takes beside its characters: as a string in a list, and while it is read as a number.
_TEXT = 128
_BLOCK = 1 << 12


def read_delimited(
    path: Path,
    source: str,
    header: bool | None = None,
    row_names: bool | None = None,
    encoding: str | None = None,
    reading: Reading | None = None,
) -> Table:
    """Return the numbers of a text table as float64, missing cells as NaN, with its names and text columns."""
    reading = reading or Reading()
    delimiter = find_delimiter(path, source, encoding, reading.decimal, reading.skip)

    def rows() -> Iterator[tuple[int, list[str]]]:
        with open_text(path, source, encoding) as stream:
            yield from records(stream, delimiter, source)

    doubt = misread(rows, encoding)
    some, blank = without_blank(rows, header is True, reading)
    try:
        table = table_of_cells(some, source, header, row_names, reading)
    except DataError as error:
        if not doubt:
            raise
        raise DataError(f"{error} {doubt}") from error
    notes = [*table.notes]
    if blank:
        which = f"row {blank[0]} has no cell and was"
        if len(blank) > 1:
            which = f"{len(blank)} rows, the first of them row {blank[0]}, have no cell and were"
        notes.append(f"{source}: {which} left out.")
    if doubt:
        notes.append(f"{source}: {doubt}")
    if reading.coding is None and (reading.decimal == "," or may_be_thousands(table.data)):
        notes += perhaps_thousands(some(), table.column_names, source, reading.decimal)
    return dataclasses.replace(table, notes=tuple(notes))


def table_of_cells(
    rows: Rows, source: str, header: bool | None, row_names: bool | None, reading: Reading
) -> Table:
    """Return the table whose cells are those of ``rows``, as `read_delimited` does."""
    rows, titled = without_title(rows, source, reading.skip)
    rows, trailing = without_trailing(rows, source, header)
    ready = prepared(rows, source, header, row_names, reading)
    rows = ready.rows
    sample = []
    for _, cells in islice(rows(), _SAMPLE):
        spend(_TEXT * len(cells))
        sample.append(cells)
    if any(len(cells) > 1 for cells in sample):
        sample = [cells for cells in sample if not _is_blank(cells)]
    if all(_is_blank(cells) for cells in sample):
        raise DataError(f"{source} is empty. Give a table with numbers in it.")
    layout = find_layout(sample, source, ready.header, ready.row_names, reading.aside)
    body = _read_body(rows, source, layout, reading.decimal == ",")
    if not body.rows:
        raise DataError(f"{source} has a header but no rows of data. Give at least one row of numbers.")
    table = _table(body, source, layout, ready, reading)
    meta = {"left_out": ready.left_out} if ready.left_out else {}
    return dataclasses.replace(table, meta=meta, notes=(*titled, *trailing, *ready.notes, *table.notes))


def _is_blank(cells: list[str]) -> bool:
    return len(cells) == 1 and not cells[0].strip()


@dataclass
class _Body:
    """The rows of data: all numbers row after row, row names, the cells of unsure columns, row numbers.

    Of numbers with decimal commas also, by column, the first with a point that is no mark of thousands, and the first
    with points and no comma; each with its row.
    """

    values: array[float] = field(default_factory=lambda: array("d"))
    names: list[str] = field(default_factory=list)
    unsure: dict[int, list[str]] = field(default_factory=dict)
    rows: array[int] = field(default_factory=lambda: array("q"))
    doubtful: dict[int, tuple[str, int]] = field(default_factory=dict)
    grouped: dict[int, tuple[str, int]] = field(default_factory=dict)


def _read_body(all_rows: Rows, source: str, layout: Layout, commas: bool) -> _Body:
    body = _Body(unsure={place: [] for place in layout.unsure})
    values, names, rows = body.values, body.names, body.rows
    width, named, awaits_header = layout.width, layout.row_names, layout.header is not None
    numeric = _numeric_places(layout)
    text = [*body.unsure, 0] if named else list(body.unsure)
    counted = 0
    for row, cells in all_rows():
        if len(cells) != width or awaits_header:
            if width > 1 and _is_blank(cells):
                continue
            if awaits_header:
                awaits_header = False
                continue
            raise DataError(_ragged(source, row, len(cells), layout, _rows_above(all_rows)))
        if text:
            spend(sum(_TEXT + len(cells[place]) for place in text))
        rows.append(row)
        if named:
            names.append(written(cells[0]).strip())
        for place, held in body.unsure.items():
            held.append(cells[place])
        if commas:
            _look_at_points(cells, row, body, int(named))
            for place, (cell, _) in body.doubtful.items():
                if place not in body.unsure:
                    raise DataError(contradiction(source, layout.name(place), place, cell, row))
        if len(numeric) < width:
            cells = [cells[place] for place in numeric]
        filled = len(values)
        if filled >= counted:
            # By the block: a call for each row would be felt.
            spend(8 * (_BLOCK + width))
            counted += _BLOCK + width
        try:
            values.extend(map(float, cells))
        except ValueError:
            del values[filled:]
            values.extend(_careful(cells, row, source, layout))
        else:
            # Python's float also takes 1_000, which in a table is a label.
            if "_" in "".join(cells):
                _careful(cells, row, source, layout)
    return body


def _look_at_points(cells: list[str], row: int, body: _Body, begin: int) -> None:
    """Remember the first numbers of each column whose points are in doubt, and those with points and no comma."""
    for place in range(begin, len(cells)):
        cell = cells[place]
        if isinstance(cell, Number):
            if cell.doubtful:
                body.doubtful.setdefault(place, (cell.written, row))
            elif cell.grouped:
                body.grouped.setdefault(place, (cell.written, row))


def _numeric_places(layout: Layout) -> list[int]:
    unsure = set(layout.unsure)
    return [place for place in range(int(layout.row_names), layout.width) if place not in unsure]


def _careful(cells: list[str], row: int, source: str, layout: Layout) -> list[float]:
    """The numbers of a row that has missing cells; raises DataError where it has text."""
    found = [number(cell) for cell in cells]
    values = [value for value in found if value is not None]
    if len(values) == len(found):
        return values
    wrong = [column for column, value in enumerate(found) if value is None]
    numeric = _numeric_places(layout)
    places = [numeric[column] for column in wrong]
    labels = [layout.name(place) or f"column {place + 1}" for place in places]
    raise DataError(text_column(source, layout.name(places[0]), places[0], cells[wrong[0]], row, labels[1:]))


def _table(body: _Body, source: str, layout: Layout, ready: Prepared, reading: Reading) -> Table:
    """Put the columns together, now that it is known which are text."""
    numeric = _numeric_places(layout)
    text: dict[int, list[str]] = {}
    late: dict[int, list[float]] = {}
    for place, cells in body.unsure.items():
        found = [number(cell) for cell in cells]
        values = [value for value in found if value is not None]
        if len(values) == len(found):
            if place in body.doubtful:
                raise DataError(contradiction(source, layout.name(place), place, *body.doubtful[place]))
            late[place] = values
        elif _may_be_text(layout.name(place), cells, reading):
            text[place] = [written(cell).strip() for cell in cells]
        else:
            first = found.index(None)
            raise DataError(text_column(source, layout.name(place), place, cells[first], body.rows[first]))
    places = sorted([*numeric, *late])
    if not places:
        place, cells = next(iter(text.items()))
        first = next(row for row, cell in enumerate(cells) if number(cell) is None)
        strange = next(filter(None, map(beside_answers, text.values())), None)
        if strange is not None:
            place = next(place for place, held in text.items() if strange in held)
            row = body.rows[text[place].index(strange)]
            raise DataError(no_answer(source, layout.name(place), place, strange, row))
        raise DataError(only_text(source, layout.name(place), place, cells[first], body.rows[first]))
    matrix: np.ndarray[Any, Any] = np.frombuffer(body.values, dtype=np.float64)
    matrix = matrix.reshape(len(body.rows), len(numeric))
    if late:
        spend(8 * len(body.rows) * len(places))
        whole = np.empty((len(body.rows), len(places)))
        whole[:, [places.index(place) for place in numeric]] = matrix
        for place, values in late.items():
            whole[:, places.index(place)] = values
        matrix = whole
    names = None if layout.header is None else [layout.header[place] for place in places]
    kept: dict[str, list[str]] = {}
    for place, cells in text.items():
        kept[free_name(layout.name(place), place, (*kept, *(names or ())))] = cells
    return Table(
        matrix,
        body.names if layout.row_names else None,
        names,
        source,
        text=kept,
        corner=(layout.name(0) or "") if layout.row_names else "",
        notes=(
            *_repeated_names(source, layout, body.names, reading),
            *(() if ready.row_names is not None else _names_like_numbers(source, layout, body.names)),
            *_thousands(source, [body.grouped[place] for place in places if place in body.grouped]),
            *set_aside(source, list(kept)),
        ),
        coding=Coding(
            None if names is None else tuple(names),
            tuple(ready.meanings[place] for place in places) if any(ready.meanings) else (None,),
        ),
    )


def _repeated_names(source: str, layout: Layout, names: Sequence[str], reading: Reading) -> tuple[str, ...]:
    """The note on a first column of text that was taken for the names of rows, though cells of it occur again.

    None where the caller named that column, or the data of a fit were read in the same way.
    """
    name = layout.name(0)
    told = reading.id is not None or reading.coding is not None
    if told or not layout.row_names or not name or name in UNNAMED or not names:
        return ()
    word, count = Counter(names).most_common(1)[0]
    if count < 2:
        return ()
    return (
        f"{source}: the first column, '{name}', is text and names the rows, though '{word}' occurs {count} times. "
        "If it holds answers or classes, they are not looked at: put another column first, or name the rows by --id.",
    )


def _names_like_numbers(source: str, layout: Layout, names: Sequence[str]) -> tuple[str, ...]:
    """The note on a first column that was taken for the names of rows, and is of numbers with marks in them."""
    if not layout.row_names or not names or layout.name(0) in UNNAMED:
        return ()
    like = [name for name in names if marked_number(name)]
    if 2 * len(like) <= len(names):
        return ()
    return (
        f"{source}: the first column{_called(layout.name(0))} was taken for the names of rows. Its cells may be "
        f"numbers, as '{shorten(like[0])}': if they are, take the marks out of them first.",
    )


def _called(name: str | None) -> str:
    return f", '{name}'," if name and name not in UNNAMED else ""


def _thousands(source: str, found: list[tuple[str, int]]) -> tuple[str, ...]:
    """The note on points between thousands, where no comma in the number tells so."""
    if not found:
        return ()
    cell, row = min(found, key=lambda one: one[1])
    number_ = cell.strip().replace(".", "")
    return (f"{source}: points stand between thousands: '{cell.strip()}' in row {row} is {number_}.",)


def _may_be_text(name: str | None, cells: list[str], reading: Reading) -> bool:
    """Whether a column with words in it is one of text: of labels, or of words for the most part.

    It is none if it held numbers in the table whose coding is used.
    """
    if name in reading.aside:
        return True
    known = reading.coding is not None and name in (reading.coding.columns or ())
    return holds_text(cells) and not known


def _rows_above(rows: Rows) -> int:
    """How many rows of the file stand above the first that is as wide as the last of a sample."""
    sample = [(row, len(cells)) for row, cells in islice(rows(), _SAMPLE)]
    return next(row for row, width in sample if width == sample[-1][1]) - 1


def _ragged(source: str, row: int, cells: int, layout: Layout, above: int) -> str:
    count = f"{cells} cell" + "s" * (cells != 1)
    if layout.header is None:
        against = f"the first row has {layout.width}"
    else:
        against = f"the header has {layout.width}"
    # A title has fewer cells than the table below it.
    title = layout.width == 1 or row == 2 or (row <= 4 and cells > layout.width)
    return (
        f"{source}: row {row} has {count} where {against}. Give every row the same number of cells; "
        "quote cells that contain the delimiter."
        + (
            f" If the first rows are a title, skip them: --skip {above} (in Python: skip={above})."
            if title and above > 0
            else ""
        )
    )
