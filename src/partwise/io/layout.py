"""Where a text table keeps its names: is the first row a header, is the first column row names?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from partwise.io.errors import DataError

NAN = float("nan")
_MISSING = ("", "NA", "NaN", "nan", "null", "?", "N/A", "n/a", "#N/A", "NULL", "Null", "None", "<NA>")
_WORDS = dict.fromkeys(_MISSING, NAN) | {
    "True": 1.0,
    "TRUE": 1.0,
    "true": 1.0,
    "False": 0.0,
    "FALSE": 0.0,
    "false": 0.0,
}
# First cells that name a column of row names rather than a row.
_CORNERS = {"id", "index", "name", "key", "label", "row", "sample", "gene", "feature"}
_CORNERS |= {f"{word}s" for word in _CORNERS}


@dataclass(frozen=True)
class Layout:
    """How to cut the rows: cells per row, the header if any, and whether the first cell is a name."""

    width: int
    header: list[str] | None
    row_names: bool

    @property
    def column_names(self) -> list[str] | None:
        """The names of the data columns, without the corner above the row names."""
        return None if self.header is None else self.header[int(self.row_names) :]


def number(cell: str) -> float | None:
    """Return the number in a cell, NaN for a missing one, None for text."""
    text = cell.strip()
    known = _WORDS.get(text)
    if known is not None:
        return known
    # Python's float also takes 1_000, which in a table is a label.
    if "_" not in text:
        try:
            return float(text)
        except ValueError:
            pass
    return None


def find_layout(
    rows: Sequence[list[str]], source: str, header: bool | None, row_names: bool | None
) -> Layout:
    """Decide the layout from the first rows; ``header`` and ``row_names`` overrule what would be guessed."""
    first, rest = rows[0], rows[1:]
    if _lacks_corner(first, rest) and header is not False and row_names is not False:
        return Layout(len(rest[0]), [""] + [cell.strip() for cell in first], True)
    has_header = _has_header(first, rest) if header is None else header
    names = [cell.strip() for cell in first] if has_header else None
    if has_header and not rest:
        raise DataError(f"{source} has a header but no rows of data. Give at least one row of numbers.")
    if row_names is None:
        body = rest if has_header else rows
        unnamed = names is not None and names[0] in ("", "Unnamed: 0")
        row_names = len(first) > 1 and (unnamed or _mostly_text(body))
    if row_names and len(first) == 1:
        raise DataError(f"{source} has one column, which is taken for row names; there are no numbers left.")
    return Layout(len(first), names, row_names)


def _has_header(first: list[str], rest: Sequence[list[str]]) -> bool:
    text = [number(cell) is None for cell in first]
    if any(text[1:]):
        return True
    named = len(first) > 1 and _mostly_text(rest)
    if text[0]:
        # "a,1,2" above rows that also begin with text is a named row, unless it is plainly a header:
        # a usual corner word, or columns numbered as no other row is.
        if not named:
            return bool(rest) or len(first) == 1
        counts = _counts(first[1:], 3) and not any(_counts(row[1:], 3) for row in rest)
        return first[0].strip().lower() in _CORNERS or counts
    # An empty corner, as pandas writes it above an index, over columns that are only numbered.
    empty = first[0].strip() == "" and len(first) > 1 and bool(rest)
    return empty and (named or _counts(first[1:], 3) or _counts_from_zero(first[1:]))


def _lacks_corner(first: list[str], rest: Sequence[list[str]]) -> bool:
    """Whether the header is one cell short because it has no corner, as R's write.table leaves it."""
    if not rest or any(len(row) != len(first) + 1 for row in rest):
        return False
    begins = [row[0].strip() for row in rest]
    numbered = begins == [str(place) for place in range(1, len(begins) + 1)]
    return all(number(cell) is None for cell in first) and (numbered or _mostly_text(rest))


def _mostly_text(rows: Sequence[list[str]]) -> bool:
    """Whether most first cells are text: one stray word in a column of numbers is an error, not names."""
    values = [number(row[0]) for row in rows if row]
    return 2 * sum(value is None for value in values) > sum(
        value is None or value == value for value in values
    )


def _counts(cells: Sequence[str], least: int) -> bool:
    """Whether the cells are whole numbers rising by one, at least ``least`` of them."""
    texts = [cell.strip() for cell in cells]
    if len(texts) < least or not all(text.isascii() and text.isdigit() and len(text) < 19 for text in texts):
        return False
    return all(int(later) - int(sooner) == 1 for sooner, later in pairwise(texts))


def _counts_from_zero(cells: Sequence[str]) -> bool:
    return _counts(cells, 1) and int(cells[0]) == 0
