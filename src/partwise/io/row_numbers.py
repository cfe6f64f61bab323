"""Columns that were read as data and may only number the rows: they are named, and stay what they are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from partwise.io.choice import may_name_rows, names_rows
from partwise.io.table import Table
from partwise.io.words import argument, shorten

#: A first column of another name is asked about from so many rows on; one with a name that may be that of an id,
#: from so many.
_FEWEST, _FEWEST_NAMED = 10, 5
#: Rows with which the numbers of a first column are compared.
_SAMPLE = 100
#: Names of what goes by one from row to row and is data: times.
_TIMES = re.compile(
    r".*(time|date|year|month|week|day|hour|minute|second|zeit|datum|jahr|monat|woche|stunde|sekunde)s?([ _.-].*)?|"
    r"(.*[ _.-])?(tag|ann[eé]e|mois|semaine|jour|heure|a[nñ]o|mes|d[ií]a|hora|period|quarter|wave|epoch|age|alter|"
    r"min|sec|[thsx])([ _.-].*)?",
    re.IGNORECASE,
)


def told_row_numbers(table: Table) -> tuple[str, ...]:
    """The notes on columns that may number the rows.

    Such are a first column of 0, 1, 2, … or 1, 2, 3, …, or of different whole numbers that are larger than all others
    of the table, unless its name is that of a time; and any column of ever larger whole numbers whose name may be
    that of an id.

    Parameters
    ----------
    table : Table
        As it was read; without names of columns nothing is said of it.

    Returns
    -------
    tuple of str
        One sentence for each such column.
    """
    names, data = table.column_names, table.data
    if names is None or hasattr(data, "tocsr") or data.shape[1] < 2 or data.shape[0] < _FEWEST_NAMED:
        return ()
    notes = []
    for place, name in enumerate(names):
        id_like = names_rows(name) or may_name_rows(name)
        first = place == 0 and table.row_names is None and not _TIMES.fullmatch(name.strip())
        if not id_like and not first:
            continue
        steps = _steps(data[:, place])
        by_one = steps is not None and data[0, place] in (0, 1) and bool((steps == 1).all())
        rising = (first and by_one and len(data) >= _FEWEST) or (
            id_like and steps is not None and bool((steps > 0).all())
        )
        beyond = first and not rising and steps is not None and _are_beyond(data)
        if rising or beyond:
            how = "a larger number in every row"
            if beyond:
                how = "a different number in every row, larger than all of the other columns"
            held = f"{data[0, place]:g}, {data[1, place]:g}, {data[2, place]:g}, …"
            word = shorten(name)
            notes.append(
                f"{table.source}: column '{word}' holds {held}, {how}, and is taken for data. "
                f"If it only tells rows apart, add --id {argument(name)}, or leave it out: --drop "
                f"{argument(name)} (in Python: id= or drop=)."
            )
    return tuple(notes)


def _are_beyond(data: np.ndarray[Any, Any]) -> bool:
    """Whether no two numbers of the first column are the same, and each is larger than all others of some rows."""
    column = np.asarray(data[:, 0], dtype=float)
    others = np.abs(np.asarray(data[:_SAMPLE, 1:], dtype=float))
    known = others[np.isfinite(others)]
    return known.size > 0 and len(np.unique(column)) == len(column) and bool(column.min() > known.max())


def _steps(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """By how much each number is larger than that before it; None unless all are whole."""
    numbers = np.asarray(column, dtype=float)
    if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
        return None
    return np.asarray(np.diff(numbers))
