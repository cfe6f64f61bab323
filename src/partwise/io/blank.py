"""Rows of a text table that have no cell at all, as spreadsheets leave them between and below the others."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice

from partwise.io.answer_words import TICKS, folded
from partwise.io.cells import Reading
from partwise.io.interpret import Rows
from partwise.io.words import MISSING

#: Rows by which it is judged whether a table is one of ticks.
_SAMPLE = 100


def without_blank(rows: Rows, header: bool, reading: Reading) -> tuple[Rows, array[int]]:
    """The rows that have some cell; and the numbers of the others, filled in whenever the rows are gone through.

    Where an empty cell means no, as beside crosses, such a row is an answer to all questions, and stays. So does a
    ``header``. Rows of one cell are left to the reader: in a table of one column they are missing numbers.
    """
    blank = array("q")
    if _empty_tells(rows, reading):
        return rows, blank

    def some() -> Iterator[tuple[int, list[str]]]:
        del blank[:]
        awaits = header
        for number, cells in rows():
            if len(cells) < 2 or awaits or any(cell.strip() for cell in cells):
                awaits = awaits and number <= reading.skip
                yield number, cells
            else:
                blank.append(number)

    return some, blank


def _empty_tells(rows: Rows, reading: Reading) -> bool:
    """Whether an empty cell is yes or no: because that was said, or because a column holds nothing but ticks."""
    known = () if reading.coding is None else reading.coding.meanings
    if reading.answers.given.get("") or any((meaning or {}).get("") for meaning in known):
        return True
    if not reading.answers.guess or reading.coding is not None:
        return False
    some = [cells for _, cells in islice(rows(), _SAMPLE)][1:]
    width = max(map(len, some), default=0)
    return any(_is_ticked(cells[place] for cells in some if len(cells) > place) for place in range(width))


def _is_ticked(column: Iterable[str]) -> bool:
    """Whether the cells that are not missing are ticks, and there are some."""
    found = False
    for cell in column:
        if cell.strip() not in MISSING:
            if folded(cell) not in TICKS:
                return False
            found = True
    return found
