"""Title lines above the header of a table: "Survey 2024" in the first cell, and the names of columns below it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from partwise.io.errors import DataError
from partwise.io.interpret import Rows
from partwise.io.layout import number
from partwise.io.words import shorten

#: Most rows above the header that are taken for a title.
MOST = 5


def without_title(rows: Rows, source: str, skip: int = 0) -> tuple[Rows, tuple[str, ...]]:
    """The rows from the header on, and the note on what was left out above it.

    A title is a row with text in one cell alone, above a row of names: at least two texts, no two of them the same,
    and more cells than the title. Where ``skip`` is given, so many rows of the file are left out instead.
    """
    if skip:
        return _later(rows, source, skip), ()
    titles: list[tuple[int, str]] = []
    for number_, cells in islice(rows(), MOST + 1):
        filled = [cell.strip() for cell in cells if cell.strip()]
        if len(filled) > 1:
            is_header = (
                len(set(filled)) == len(filled) and len(filled) > 1 and all(number(c) is None for c in filled)
            )
            wide = len(cells) > 2 or len(filled) == len(cells)
            if not titles or not is_header or not wide or not _above(rows, len(cells)):
                return rows, ()
            note = (
                f"{source}: row {titles[0][0]}, '{shorten(titles[0][1])}', is taken for a title above the names of "
                f"columns, which are in row {number_}. If they are elsewhere, say how many rows to skip: --skip."
            )
            return _later(rows, source, number_ - 1), (note,)
        if filled:
            if number(filled[0]) is not None or len(filled[0]) < 3:
                return rows, ()
            titles.append((number_, filled[0]))
    return rows, ()


def _above(rows: Rows, width: int) -> bool:
    """Whether the first row is no header itself: it is full of empty cells, or much shorter than the others."""
    first = next(iter(rows()))[1]
    # A header of R's write.table is one cell shorter than the rows below it.
    return len(first) == width or len(first) < width - 1


def _later(rows: Rows, source: str, skip: int) -> Rows:
    """The rows of the file after the first ``skip``."""

    def later() -> Iterator[tuple[int, list[str]]]:
        found = False
        for number_, cells in rows():
            if number_ > skip:
                found = True
                yield number_, cells
        if not found:
            raise DataError(f"{source} has no more than {skip} rows, and --skip leaves all of them out.")

    return later
