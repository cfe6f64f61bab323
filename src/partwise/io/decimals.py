"""Numbers in text whose decimals stand behind a comma, and whose points can only stand between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from partwise.io.answer_words import is_number
from partwise.io.words import THOUSANDS_COMMA, label, listing, shorten

_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?")


class Number(str):
    """A number as Python writes it.

    Attributes
    ----------
    written : str
        The cell of the file.
    doubtful : bool
        Whether it has a point that cannot stand between thousands, as 12.5, so that it is no number here.
    """

    __slots__ = ("doubtful", "written")

    written: str
    doubtful: bool

    @classmethod
    def of(cls, text: str, written: str, doubtful: bool = False) -> Number:
        """The number ``text`` that the file has as ``written``."""
        found = cls(text)
        found.written, found.doubtful = written, doubtful
        return found

    @property
    def grouped(self) -> bool:
        """Whether it has points between thousands, and no comma that would tell so."""
        return not self.doubtful and "." in self.written and "," not in self.written


def with_point(cell: str) -> str:
    """A number with a decimal comma as a `Number`; other text as it is."""
    if "," not in cell and "." not in cell:
        return cell
    if _GROUPED.fullmatch(cell.strip()):
        return Number.of(cell.replace(".", "").replace(",", "."), cell)
    if "." in cell:
        return Number.of(cell, cell, doubtful=True) if is_number(cell) else cell
    text = cell.replace(",", ".")
    return Number.of(text, cell) if is_number(text) else cell


def with_comma(cell: str) -> str:
    """A number of a format that knows numbers, as text in which decimals stand behind a comma."""
    return cell.replace(".", ",") if "." in cell and is_number(cell) else cell


def written(cell: str) -> str:
    """A cell as the file has it."""
    return cell.written if isinstance(cell, Number) else cell


def contradiction(source: str, name: str | None, place: int, cell: str, row: int) -> str:
    """The sentence for a number with a point before its decimals; ``place`` counts from 0."""
    return f"{source}: {label(name, place)} holds {told_point(cell)} (row {row}). {REMEDY}"


#: What to do about it.
REMEDY = (
    "Write it with a comma; or, if decimals have points in this file, add --decimal . instead "
    "(in Python: decimal='.')."
)


def told_point(cell: str) -> str:
    """What is wrong with a doubtful number."""
    return f"'{shorten(cell)}', whose point cannot stand between thousands, though decimals have commas"


#: What a number without a point is where points stand between thousands.
_BELOW = re.compile(r"[-+]?\d{1,3}")


def perhaps_thousands(
    rows: Iterable[tuple[int, list[str]]], columns: Sequence[str] | None, source: str, decimal: str = "."
) -> tuple[str, ...]:
    """The note on columns whose points (or commas), read as decimal points, may stand between thousands.

    That is so where in all of the table exactly three digits follow a point, and in the same column numbers between
    100 and 1000 have none: 950 and 1.250. Measurements have other decimals somewhere, or all have three. (100 alone
    may be all of one hundred percent.)

    Parameters
    ----------
    rows : iterable
        The number and the cells of each row, a header included.
    columns : sequence of str or None
        The names of the columns that were read as numbers.
    source : str
        Begins the note.
    decimal : "." or ","
        What was read as the decimal point.
    """
    shape = _GROUPED if decimal == "." else THOUSANDS_COMMA
    header: list[str] = []
    grouped: dict[int, tuple[str, int]] = {}
    hundreds: dict[int, str] = {}
    above: set[int] = set()
    for row, cells in rows:
        names = [cell.strip() for cell in cells]
        if not header and not set(names).isdisjoint(columns or names):
            header = names
        elif len(header) == len(cells) - 1:
            # R leaves the corner out.
            header = ["", *header]
        for place, cell in enumerate(cells):
            text = cell.strip()
            if decimal == "," and "." in text and _GROUPED.fullmatch(text):
                # Points stand there, and so commas do not.
                return ()
            if decimal in text and is_number(text.replace(decimal, ".")):
                if not shape.fullmatch(text):
                    return ()
                grouped.setdefault(place, (text, row))
            elif text.lstrip("+-").isdecimal():
                if not _BELOW.fullmatch(text):
                    above.add(place)
                elif abs(int(text)) > 100:
                    hundreds.setdefault(place, text)
    found = [place for place in grouped if place in hundreds and place not in above]
    if columns is not None:
        found = [place for place in found if place < len(header) and header[place] in columns]
    if not found:
        return ()
    text, row = grouped[found[0]]
    named = [header[place] if columns is not None else f"column {place + 1}" for place in found]
    which = f"column {listing(named)}" if len(named) == 1 else f"columns {listing(named)}"
    mark, way = ("point", "add --decimal , (in Python: decimal=',')")
    if decimal == ",":
        mark, way = ("comma", "take the commas out of the file, and leave --decimal , away")
    read = float(text.replace(decimal, "."))
    return (
        f"{source}: the {mark}s of {which} were read as decimal points: '{text}' in row {row} is {read:g}. But "
        f"three digits follow every {mark} of the table, and numbers such as {hundreds[found[0]]} beside them have "
        f"none: if '{text}' is {text.replace(decimal, '')}, {way}.",
    )


def may_be_thousands(matrix: np.ndarray[Any, Any]) -> bool:
    """Whether a column has numbers between 100 and 1000, and others with one to three decimals: a quick look."""
    for column in matrix.T:
        held = np.abs(column[np.isfinite(column)])
        whole = held == np.floor(held)
        if (
            not whole.all()
            and ((held > 100) & (held < 1000) & whole).any()
            and (held[~whole] < 1000).all()
            and np.allclose(held[~whole] * 1000, np.rint(held[~whole] * 1000), rtol=0, atol=1e-6)
        ):
            return True
    return False
