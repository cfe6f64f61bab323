"""Numbers in text whose decimals stand behind a comma, and whose points can only stand between thousands."""

from __future__ import annotations

import re

from partwise.io.answer_words import is_number
from partwise.io.words import label, shorten

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
