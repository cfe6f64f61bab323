"""A table read as another one was: only its columns are judged, and their cells mean what they meant there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from partwise.io.answer_cells import Column, Meaning, tally
from partwise.io.answer_notes import told
from partwise.io.answer_words import folded, is_number
from partwise.io.cells import Prepared, Reading, picked
from partwise.io.choice import names_rows, told_lacking
from partwise.io.coding import Coding, is_answer, is_plain, spread
from partwise.io.errors import DataError
from partwise.io.interpret import Rows, first_row, interpreted, replaced
from partwise.io.layout import UNNAMED, holds_text
from partwise.io.words import MISSING, argument, listing, shorten

_SAMPLE = 100


def as_coded(
    rows: Rows, source: str, header: bool | None, row_names: bool | None, reading: Reading, head: list[str]
) -> Prepared | None:
    """Rows with the columns of the coding, and with 1, 0 and empty cells for yes, no and missing.

    None where the coding says nothing of this table: it has neither meanings nor one of its columns.

    Parameters
    ----------
    rows : callable
        Goes through the rows.
    source : str
        Begins the sentences of errors.
    header, row_names : bool or None
        Whether the first row and the first column are names, if the caller said so.
    reading : Reading
        With the coding; cells that its answers name go before those of the coding.
    head : list of str
        The first row.
    """
    coding = reading.coding or Coding()
    names = [cell.strip() for cell in head]
    known = coding.by_column()
    if known and header is not False and any(name in known for name in names):
        if any(name not in names for name in known):
            raise DataError(told_lacking(source, names, list(known)) + _turned(rows, known))
        places = [place for place, name in enumerate(names) if name in known]
        first = 0 if row_names else _names_place(rows, names, known, coding)
        order = places if first is None or first in places else [first, *places]
        spare = [
            names[place]
            for place in range(len(names))
            if place not in order and names[place] not in reading.aside
        ]
        order += [place for place, name in enumerate(names) if name in reading.aside and place not in order]
        if order != list(range(len(names))):
            rows = picked(rows, order, len(names), source)
        meanings = [known.get(names[place]) for place in order]
        begin = len(order) > len(places) and order[0] == first
        notes = _left_out(source, spare)
        if not coding.meanings:
            width = len(order)
            rows, more, found = interpreted(
                rows, source, True, begin, reading.answers, reading.aside, range(width), width
            )
            return Prepared(rows, True, begin, (*notes, *more), found)
        return _read(rows, source, True, begin, reading, meanings, [names[place] for place in order], notes)
    if known and header is not False and (header or _is_header(names, coding.meanings)):
        raise DataError(told_lacking(source, names, list(known)) + _turned(rows, known))
    if not coding.meanings:
        return None
    width = len(names)
    count = len(coding.columns) if coding.columns is not None else len(coding.meanings)
    if len(coding.meanings) == 1 and not known:
        # One meaning for all, however many they are.
        begin = row_names is True or (row_names is None and (names[0] == "" or _is_text(rows, 0)))
        count = width - begin
    begin = width == count + 1
    if width - begin != count:
        raise DataError(f"{source} has {width} columns, but the fit had {count}.{_turned(rows, known)}")
    meanings = [*([None] * begin), *spread(coding.meanings, count)]
    is_data = header is False or (header is None and _fits(names, meanings))
    labels = [f"column {place + 1}" for place in range(width)] if is_data else names
    return _read(rows, source, not is_data, begin, reading, meanings, labels, ())


def _names_place(
    rows: Rows, names: Sequence[str], known: dict[str, Meaning | None], coding: Coding
) -> int | None:
    """The place of the column that names the rows: as in the coding, by its name, or a first column of text."""
    free = [place for place, name in enumerate(names) if name not in known]
    same = [place for place in free if names[place] and names[place] == coding.options.get("id")]
    usual = [place for place in free if names_rows(names[place])]
    first = [0] if 0 in free and (names[0] in UNNAMED or _is_text(rows, 0)) else []
    return next(iter([*same, *usual, *first]), None)


def _is_text(rows: Rows, place: int) -> bool:
    cells = []
    for _, row in rows():
        cells.append(row[place] if len(row) > place else "")
        if len(cells) > _SAMPLE:
            break
    return holds_text(cells[1:])


def _left_out(source: str, names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    which = "1 column" if len(names) == 1 else f"{len(names)} columns"
    return (f"{source}: {which} unknown to the model left out: {listing(names)}.",)


def _fits(cells: Sequence[str], meanings: Sequence[Meaning | None]) -> bool:
    """Whether a row is one of data: each cell is a number, missing, or one that its column knows."""
    return all(
        cell in MISSING or folded(cell) in (meaning or {}) or is_number(cell)
        for cell, meaning in list(zip(cells, meanings))[1:] or zip(cells, meanings)
    )


def _turned(rows: Rows, wanted: Collection[str]) -> str:
    """The sentence on a file whose rows have the names of the columns that are wanted; "" where they have not."""
    begins = {cells[0].strip() for _, cells in rows() if cells} if wanted else set()
    return " Its rows have these names: add --transpose." if wanted and set(wanted) <= begins else ""


def _is_header(names: Sequence[str], meanings: Sequence[Meaning | None]) -> bool:
    """Whether a first row is one of names: it has text that is neither missing nor an answer of any column."""
    words = {word for meaning in meanings for word in meaning or ()}
    return any(
        cell not in MISSING and not is_number(cell) and folded(cell) not in words
        for cell in names[1:] or names
    )


def _read(
    rows: Rows,
    source: str,
    header: bool,
    begin: bool,
    reading: Reading,
    meanings: Sequence[Meaning | None],
    names: Sequence[str],
    notes: tuple[str, ...],
) -> Prepared:
    """Replace the cells; those that the coding does not know are an error with column, value and row."""
    given = reading.answers.given
    width = len(names)
    meant = [
        None if place < begin or names[place] in reading.aside else _with(meaning, given)
        for place, meaning in enumerate(meanings)
    ]
    row_names = True if begin else False if header else None
    if not any(meant):
        return Prepared(rows, header, row_names, notes, meanings)
    body = (cells for _, cells in rows() if len(cells) == width)
    if header:
        next(body, None)
    columns = [Column.of(name, count, given) for name, count in zip(names, tally(body, width, given))]
    for place, (column, meaning) in enumerate(zip(columns, meant)):
        strange = column.words - set(meaning or ())
        if meaning is not None and is_answer(meaning) and strange:
            word = max(sorted(strange), key=lambda key: column.cells[key])
            row = first_row(rows, place, word, int(header))
            raise DataError(_unknown(source, column, word, meaning, row))
    found = [meaning if is_answer(meaning) and not is_plain(meaning) else None for meaning in meant]
    notes = (*notes, *told(columns, found, source, ""))
    return Prepared(replaced(rows, meant, width, not header), header, row_names, notes, meanings)


def _with(meaning: Meaning | None, given: dict[str, str]) -> Meaning | None:
    """The meaning, changed by what the caller says now."""
    if is_answer(meaning):
        return (meaning or {}) | given
    gone = {word: side for word, side in given.items() if side == ""}
    return (meaning or {}) | gone or None


def _unknown(source: str, column: Column, word: str, meaning: Meaning, row: int) -> str:
    yes = next((key for key in meaning if meaning[key] == "1"), "1")
    no = next((key for key in meaning if meaning[key] == "0"), "0")
    shown = shorten(column.spelling[word])
    return (
        f"{source}: column '{shorten(column.name)}' holds '{shown}' in row {row}, which the data of the fit had "
        f"not: there {_quoted(yes)} is yes and {_quoted(no)} is no. Correct it, or say what it means: --yes, --no or "
        f"--missing {argument(column.spelling[word])} (in Python: yes=, no= or missing=)."
    )


def _quoted(word: str) -> str:
    return f"'{word}'" if word else "an empty cell"
