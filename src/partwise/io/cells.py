"""What the caller says of a table: which columns, what their cells mean; carried out on rows of cells."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.io.answer_words import PAIRS, folded, is_number
from partwise.io.answers import MOST, Answers, Column, Meaning, find_meanings, tally
from partwise.io.choice import NUMBERED, are_unique, chosen_places, names_rows
from partwise.io.errors import DataError
from partwise.io.layout import MISSING
from partwise.io.table import Table

#: A function that goes through the rows from the beginning: the number of each in the file, and its cells.
Rows = Callable[[], Iterator[tuple[int, list[str]]]]
_GROUPED = re.compile(r"[-+]?\d{1,3}(\.\d{3})+,\d+")


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read; the parameters are those of `partwise.io.read`."""

    answers: Answers = field(default_factory=Answers)
    id: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    decimal: str = "."

    @property
    def chooses(self) -> bool:
        """Whether columns are named."""
        return self.id is not None or bool(self.drop) or self.columns is not None

    @property
    def interprets(self) -> bool:
        """Whether cells may mean something else than the number they hold."""
        return self.answers != Answers()

    @property
    def acts(self) -> bool:
        """Whether the table may come back other than the file has it."""
        return self.chooses or self.interprets or self.decimal != "."


def prepared(
    rows: Rows, source: str, header: bool | None, row_names: bool | None, reading: Reading
) -> tuple[Rows, bool | None, bool | None, tuple[str, ...]]:
    """Rows with the chosen columns and with yes, no and missing as 1, 0 and empty cells.

    Returns
    -------
    rows : callable
        Goes through these rows.
    header, row_names : bool or None
        As given, or True where it is known now.
    notes : tuple of str
        Sentences on what was read as what.
    """
    head = [cells for _, cells in _first(rows, 2)]
    if not head:
        return rows, header, row_names, ()
    if reading.decimal == ",":
        rows = _mapped(rows, _with_points)
    if len(head) > 1 and len(head[1]) == len(head[0]) + 1 and header is not False and reading.acts:
        # R leaves the corner out.
        rows, head[0] = _cornered(rows), ["", *head[0]]
    notes: list[str] = []
    if reading.chooses:
        place, places = chosen_places(
            [cell.strip() for cell in head[0]], source, reading.id, reading.drop, reading.columns
        )
        if not all(
            map(NUMBERED.fullmatch, [*reading.drop, *(reading.columns or ()), reading.id or "column 1"])
        ):
            header = True
        order = places if place is None else [place, *places]
        rows, head[0] = _picked(rows, order, len(head[0]), source), [head[0][i] for i in order]
        row_names = True if place is not None else row_names
    if reading.interprets or (row_names is None and header is not False and any(map(names_rows, head[0]))):
        found = _find_id(rows, head[0], header, row_names, reading)
        if found is not None:
            order = [found, *(place for place in range(len(head[0])) if place != found)]
            if found:
                rows, head[0] = _picked(rows, order, len(head[0]), source), [head[0][i] for i in order]
            row_names = True
            if names_rows(head[0][0]):
                header = True
            notes.append(f"{source}: column '{head[0][0].strip()}' names the rows.")
    if reading.interprets:
        rows, more = _interpreted(rows, source, header, row_names, reading.answers, len(head[0]))
        notes += more
    return rows, header, row_names, tuple(notes)


def _first(rows: Rows, count: int) -> list[tuple[int, list[str]]]:
    found = []
    for row in rows():
        if len(row[1]) > 1 or row[1][0].strip():
            found.append(row)
        if len(found) == count:
            break
    return found


def _mapped(rows: Rows, change: Callable[[list[str]], list[str]]) -> Rows:
    return lambda: ((number, change(cells)) for number, cells in rows())


def _with_points(cells: list[str]) -> list[str]:
    """Numbers with a decimal comma, written with a point."""
    return [
        cell.replace(".", "").replace(",", ".")
        if _GROUPED.fullmatch(cell.strip())
        else cell.replace(",", ".")
        if "," in cell and "." not in cell and is_number(cell.replace(",", "."))
        else cell
        for cell in cells
    ]


def _cornered(rows: Rows) -> Rows:
    def cornered() -> Iterator[tuple[int, list[str]]]:
        all_rows = rows()
        number, cells = next(all_rows)
        yield number, ["", *cells]
        yield from all_rows

    return cornered


def _picked(rows: Rows, order: Sequence[int], width: int, source: str) -> Rows:
    def picked() -> Iterator[tuple[int, list[str]]]:
        for number, cells in rows():
            if len(cells) == width:
                yield number, [cells[place] for place in order]
            elif len(cells) > 1 or cells[0].strip():
                raise DataError(
                    f"{source}: row {number} has {len(cells)} cells where the header has {width}. Give every row the "
                    "same number of cells; quote cells that contain the delimiter."
                )

    return picked


def _find_id(
    rows: Rows, head: list[str], header: bool | None, row_names: bool | None, reading: Reading
) -> int | None:
    """The place of the column that tells rows apart: by its name and unique values.

    Where all data are yes and no, also a first column of whole numbers of which no two are the same.
    """
    if row_names is not None or reading.columns is not None or len(head) < 2:
        return None
    named = [place for place, name in enumerate(head) if names_rows(name)] if header is not False else []
    candidates = dict.fromkeys([*named, *([0] if reading.answers.numbers else [])])
    cells: dict[int, list[str]] = {place: [] for place in candidates}
    for _, row in rows():
        if len(row) == len(head):
            for place, column in cells.items():
                column.append(row[place])
    for place, column in cells.items():
        if place in named and len(column) > 1 and are_unique(column[1:]):
            return place
        body = column if column and is_number(folded(column[0])) else column[1:]
        if place not in named and len(body) > 2 and are_unique(body):
            return place
    return None


def _interpreted(
    rows: Rows, source: str, header: bool | None, row_names: bool | None, answers: Answers, width: int
) -> tuple[Rows, tuple[str, ...]]:
    """The rows with 1, 0 and empty cells for yes, no and missing, and the notes on it."""
    given = answers.given
    begin = 1 if row_names else 0
    body = (cells for _, cells in rows() if len(cells) == width)
    first = next(body, [])
    raw = tally(body, width, given)
    if _is_data(first, raw, header, begin):
        for count, cell in zip(raw, first):
            count[cell] += 1
        names, is_data = [f"column {place + 1}" for place in range(width)], True
    else:
        names, is_data = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(first)], False
    columns = [Column.of(name, count, given) for name, count in zip(names, raw)][begin:]
    found, notes = find_meanings(columns, answers, source)
    meanings = [*([None] * begin), *found]
    known: list[Meaning] = [{} for _ in range(width)]  # cells as they stand → what they mean

    def meant(cells: list[str]) -> list[str]:
        out = list(cells)
        for place, meaning in enumerate(meanings):
            if meaning is not None:
                cell, seen = cells[place], known[place]
                if cell not in seen:
                    # Columns of many different numbers are not remembered.
                    if len(seen) > MOST:
                        seen.clear()
                    seen[cell] = meaning.get(folded(cell), cell)
                out[place] = seen[cell]
        return out

    def interpreted() -> Iterator[tuple[int, list[str]]]:
        begun = is_data
        for number, cells in rows():
            yield number, meant(cells) if begun and len(cells) == width else cells
            begun = begun or len(cells) == width

    return interpreted, notes


def _is_data(first: list[str], raw: Sequence[Any], header: bool | None, begin: int) -> bool:
    """Whether the first row is one of data: each cell a number, or one that goes with those below it."""
    if header is not None or not first:
        return not header
    alike = []
    for cell, count in zip(first[begin:], raw[begin:]):
        below = {folded(other) for other in count if other.strip() not in MISSING}
        if cell.strip():
            key = folded(cell)
            alike.append(
                is_number(key) or key in below or any(below | {key} <= yes | no for yes, no in PAIRS)
            )
    # A first column of names is alike in neither case.
    return bool(alike) and all(alike[1:] if begin == 0 and len(alike) > 1 else alike)


def applied(table: Table, reading: Reading) -> Table:
    """The same for a table whose reader knows numbers only."""
    if reading.chooses:
        table = _chosen(table, reading)
    if reading.interprets:
        table = _numbers_read(table, reading.answers)
    return table


def _chosen(table: Table, reading: Reading) -> Table:
    names = table.column_names
    if names is None:
        raise DataError(f"{table.source} has no names of columns, so that none can be named.")
    beside = {**table.text, **{name: [f"{v:g}" for v in values] for name, values in table.extra.items()}}
    place, places = chosen_places(
        [*names, *beside],
        table.source,
        reading.id,
        reading.drop,
        names if reading.columns is None else reading.columns,
    )
    places = [i for i in places if i < len(names)]
    changes: dict[str, Any] = {"data": table.data[:, places], "column_names": [names[i] for i in places]}
    if place is not None and place >= len(names):
        changes |= {"row_names": beside[str(reading.id)], "corner": reading.id}
    elif place is not None:
        column = table.data[:, [place]]
        column = column.toarray() if hasattr(column, "toarray") else column
        changes |= {"row_names": [f"{value:g}" for value in column.reshape(-1)], "corner": reading.id}
    return dataclasses.replace(table, **changes)


def _numbers_read(table: Table, answers: Answers) -> Table:
    """Numbers that mean yes, no or missing; words cannot occur."""
    data = table.data
    values = data.data if hasattr(data, "tocsr") else data
    meaning = {float(key): side for key, side in answers.given.items() if is_number(key)}
    note = ""
    if answers.numbers and not (set(meaning.values()) - {""}) and values.dtype.kind != "b":
        seen = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        seen = seen[~np.isin(seen, list(meaning))] if meaning else seen
        stored = not hasattr(data, "tocsr") or data.nnz == data.shape[0] * data.shape[1]
        if stored and seen.size and (seen == 2).any() and ((seen == 1) | (seen == 2)).all():
            meaning |= {1.0: "1", 2.0: "0"}
            note = " 1 is taken for yes and 2 for no; if it is the other way round, add --yes 2 --no 1."
    if not meaning:
        return table
    if hasattr(data, "tocsr") and meaning.get(0.0, "0") != "0":
        raise DataError(f"{table.source} is sparse: what it does not store is 0, which can only be no.")
    read = np.array(values, dtype=np.result_type(values.dtype, np.float32))
    for number, side in meaning.items():
        read[values == number] = float(side) if side else np.nan
    if hasattr(data, "tocsr"):
        data = data.astype(read.dtype)
        data.data = read
    else:
        data = read
    yes, gone = int((read == 1).sum()), int(np.isnan(read).sum())
    no = data.shape[0] * data.shape[1] - yes - gone
    notes = table.notes
    if set(meaning.values()) - {""}:
        notes = (*notes, f"{table.source}: read as yes and no: {yes} yes, {no} no, {gone} missing.{note}")
    return dataclasses.replace(table, data=data, notes=notes)
