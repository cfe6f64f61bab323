"""Delimiters at the end of rows: none in the header, as in ``q1;q2;q3`` above ``yes;no;yes;``, or behind no name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from partwise.io.interpret import Rows
from partwise.io.layout import number

#: Rows by which it is judged.
_SAMPLE = 100


def without_trailing(rows: Rows, source: str, header: bool | None) -> tuple[Rows, tuple[str, ...]]:
    """The rows without the empty cell behind a delimiter at their end, and the note on it.

    Parameters
    ----------
    rows : callable
        Goes through the rows.
    source : str
        Begins the note.
    header : bool or None
        Whether the first row holds names; None where it is not known.

    Returns
    -------
    rows : callable
        Changed where the first row has text and is one cell shorter than all rows of a sample, whose last cells are
        all empty. A later row whose last cell is not empty stays as it is, with a cell too many.
    notes : tuple of str
        One sentence, or none.
    """
    sample = [cells for _, cells in islice(rows(), _SAMPLE) if len(cells) > 1 or cells[0].strip()]
    if header is False or len(sample) < 2 or all(number(cell) is not None for cell in sample[0]):
        return rows, ()
    width = len(sample[0])
    if any(len(cells) != width + 1 or cells[-1].strip() for cells in sample[1:]):
        return rows, ()

    def cut() -> Iterator[tuple[int, list[str]]]:
        for row, cells in rows():
            yield row, cells[:width] if len(cells) == width + 1 and not cells[-1].strip() else cells

    note = (
        f"{source}: every row but the header ends in an empty cell, which is left out; the first column is "
        f"'{sample[0][0].strip()}'."
    )
    return cut, (note,)


def without_nameless(rows: Rows, source: str, header: bool | None) -> tuple[Rows, tuple[str, ...]]:
    """The rows of a table that will be transposed without columns that have neither a name nor content.

    They would be samples of no data. Where columns are features, what has no data is left out later, for any name.

    Parameters
    ----------
    rows : callable
        Goes through the rows.
    source : str
        Begins the note.
    header : bool or None
        Whether the first row holds names; None where it is not known.

    Returns
    -------
    rows : callable
        Changed where there are such columns behind the first, and rows of one width.
    notes : tuple of str
        One sentence, or none.
    """
    head = next((cells for _, cells in rows() if len(cells) > 1), [])
    width = len(head)
    blank = [] if header is False else [place for place in range(1, width) if not head[place].strip()]
    for _, cells in rows() if blank else ():
        if len(cells) == width:
            blank = [place for place in blank if not cells[place].strip()]
        elif len(cells) > 1 or cells[0].strip():
            return rows, ()
    if not blank:
        return rows, ()
    left = [place for place in range(width) if place not in set(blank)]

    def cut() -> Iterator[tuple[int, list[str]]]:
        for row, cells in rows():
            yield row, [cells[place] for place in left] if len(cells) == width else cells

    which = (
        "1 column has neither a name nor content, and was"
        if len(blank) == 1
        else f"{len(blank)} columns have neither a name nor content, and were"
    )
    return cut, (f"{source}: {which} left out.",)
