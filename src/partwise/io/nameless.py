"""Columns with neither a name nor a cell, as spreadsheets leave them between and behind the others: ``a,b,,``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from partwise.io.answer_cells import tally
from partwise.io.interpret import Rows, is_data_row


def without_nameless(
    rows: Rows, head: Sequence[str], source: str, header: bool | None, begin: int
) -> tuple[Rows, list[int], tuple[str, ...]]:
    """The rows without such columns: beside crosses, where an empty cell is no, all would have answered no there.

    Parameters
    ----------
    rows : callable
        Goes through the rows.
    head : sequence of str
        The first row.
    source : str
        Begins the note.
    header : bool or None
        Whether the first row holds names; where that is not known, it is judged by the rows below it.
    begin : int
        The first place that may be left out.

    Returns
    -------
    rows : callable
        Changed where there is such a column.
    order : list of int
        The places of the columns that are left.
    notes : tuple of str
        One sentence, or none.
    """
    everything = list(range(len(head)))
    bare = _bare_places(rows, head, begin) if header is not False else set()
    order = [place for place in everything if place not in bare]
    if not bare or not order or (header is None and _is_data(rows, head)):
        return rows, everything, ()
    which = "1 column has" if len(bare) == 1 else f"{len(bare)} columns have"
    note = (
        f"{source}: {which} neither a name nor any cell, and {'was' if len(bare) == 1 else 'were'} left out."
    )

    def some() -> Iterator[tuple[int, list[str]]]:
        for number, cells in _filled(rows):
            yield number, [cells[place] for place in order]

    return some, order, (note,)


def _filled(rows: Rows) -> Iterator[tuple[int, list[str]]]:
    """The rows without blank lines, which no reader counts."""
    return ((number, cells) for number, cells in rows() if len(cells) > 1 or cells[0].strip())


def _bare_places(rows: Rows, head: Sequence[str], begin: int) -> set[int]:
    """The places of columns without any cell; none where there are no rows of data, or some have another width."""
    bare = {place for place, cell in enumerate(head) if place >= begin and not cell.strip()}
    if not bare:
        return bare
    count = 0
    for _, cells in islice(_filled(rows), 1, None):
        if len(cells) != len(head):
            return set()
        bare -= {place for place in bare if cells[place].strip()}
        count += 1
        if not bare:
            break
    return bare if count else set()


def _is_data(rows: Rows, head: Sequence[str]) -> bool:
    below: Sequence[Mapping[str, int]] = tally(
        (cells for _, cells in islice(_filled(rows), 1, None)), len(head), {}
    )
    return is_data_row(list(head), below, None, 0)
