"""Where a text table keeps its names: is the first row a header, is the first column row names?"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from partwise.io.decimals import written
from partwise.io.errors import DataError
from partwise.io.words import DECIMAL_COMMA, MISSING

NAN = float("nan")
_WORDS = dict.fromkeys(MISSING, NAN) | {
    "True": 1.0,
    "TRUE": 1.0,
    "true": 1.0,
    "False": 0.0,
    "FALSE": 0.0,
    "false": 0.0,
}
#: What stands above a column of row names that has no name of its own.
UNNAMED = ("", "Unnamed: 0")
# First cells that name a column of row names rather than a row.
_CORNERS = {"id", "index", "name", "key", "label", "row", "sample", "gene", "feature"}
_CORNERS |= {f"{word}s" for word in _CORNERS}


@dataclass(frozen=True)
class Layout:
    """How to cut the rows: cells per row, the header if any, and whether the first cell is a name.

    ``unsure`` are the places of the columns, counted from 0, in which the first rows have mostly text, or nothing, or
    which hold labels: whether they are numbers is known when all rows were seen.
    """

    width: int
    header: list[str] | None
    row_names: bool
    unsure: tuple[int, ...] = ()

    def name(self, place: int) -> str | None:
        """The header cell of a column, None without a header."""
        return None if self.header is None else self.header[place]


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
    rows: Sequence[list[str]],
    source: str,
    header: bool | None,
    row_names: bool | None,
    aside: Container[str] = (),
) -> Layout:
    """Decide the layout from the first rows; ``header`` and ``row_names`` overrule what would be guessed.

    Columns whose names are ``aside`` hold labels, and may have words below numbers.
    """
    first, rest = rows[0], rows[1:]
    if lacks_corner(first, rest) and header is not False and row_names is not False:
        cornered = ["", *(written(cell).strip() for cell in first)]
        return Layout(len(cornered), cornered, True, _unsure(rest, len(cornered), True, cornered, aside))
    is_header = has_header(first, rest) if header is None else header
    names = [written(cell).strip() for cell in first] if is_header else None
    if is_header and not rest:
        raise DataError(f"{source} has a header but no rows of data. Give at least one row of numbers.")
    body = rest if is_header else rows
    if row_names is None:
        unnamed = names is not None and names[0] in UNNAMED
        row_names = len(first) > 1 and (unnamed or holds_text(_column(body, 0)))
    if row_names and len(first) == 1:
        raise DataError(f"{source} has one column, which is taken for row names; there are no numbers left.")
    return Layout(len(first), names, row_names, _unsure(body, len(first), row_names, names, aside))


def holds_text(cells: Iterable[str]) -> bool:
    """Whether a column is one of text: most of its cells that are not missing are no numbers.

    One stray word in a column of numbers is a typing error, not text; so is a decimal comma, however often.
    """
    return _mostly_text(["0" if DECIMAL_COMMA.fullmatch(cell.strip()) else cell for cell in cells])


def _unsure(
    rows: Sequence[list[str]], width: int, row_names: bool, names: list[str] | None, aside: Container[str]
) -> tuple[int, ...]:
    found = []
    for place in range(int(row_names), width):
        cells = _column(rows, place)
        labels = names is not None and names[place] in aside
        if labels or holds_text(cells) or all(cell.strip() in MISSING for cell in cells):
            found.append(place)
    return tuple(found)


def _column(rows: Sequence[list[str]], place: int) -> list[str]:
    return [row[place] for row in rows if len(row) > place]


def has_header(first: list[str], rest: Sequence[list[str]]) -> bool:
    """Whether the first row holds names, by what the others hold."""
    text = [number(cell) is None for cell in first]
    wordy = [place for place in range(1, len(first)) if text[place] and holds_text(_column(rest, place))]
    if any(text[place] for place in range(1, len(first)) if place not in wordy):
        return True
    if wordy:
        # A word above words may be a name or one more of them: the other columns decide.
        kept = [place for place in range(len(first)) if place not in wordy]
        first, text = [first[place] for place in kept], [text[place] for place in kept]
        rest = [[row[place] for place in kept if place < len(row)] for row in rest]
        if len(first) == 1 and not first[0].strip():
            return True
    named = len(first) > 1 and _mostly_text(_column(rest, 0))
    if text[0]:
        # "a,1,2" above rows that also begin with text is a named row, unless it is plainly a header:
        # a usual corner word, or columns numbered as no other row is.
        if not named:
            return bool(rest) or len(first) == 1
        counted = counts(first[1:], 3) and not any(counts(row[1:], 3) for row in rest)
        return first[0].strip().lower() in _CORNERS or counted
    # An empty corner, as pandas writes it above an index, over columns that are only numbered.
    empty = first[0].strip() == "" and len(first) > 1 and bool(rest)
    return empty and (named or counts(first[1:], 3) or _counts_from_zero(first[1:]))


def lacks_corner(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the header is one cell short because it has no corner, as R's write.table leaves it.

    Rows then begin with names: text, or different whole numbers below a header that has text.
    """
    if not rest or any(len(row) != len(first) + 1 for row in rest):
        return False
    begins = [row[0].strip() for row in rest]
    ids = len(set(begins)) == len(begins) and all(begin.isascii() and begin.isdigit() for begin in begins)
    return _mostly_text(begins) or (ids and any(number(cell) is None for cell in first))


def _mostly_text(cells: Iterable[str]) -> bool:
    """Whether most cells that are not missing are text: one stray word is an error, not names."""
    values = [number(cell) for cell in cells]
    return 2 * sum(value is None for value in values) > sum(
        value is None or value == value for value in values
    )


def counts(cells: Sequence[str], least: int) -> bool:
    """Whether the cells are whole numbers rising by one, at least ``least`` of them."""
    texts = [cell.strip() for cell in cells]
    if len(texts) < least or not all(text.isascii() and text.isdigit() and len(text) < 19 for text in texts):
        return False
    return all(int(later) - int(sooner) == 1 for sooner, later in pairwise(texts))


def _counts_from_zero(cells: Sequence[str]) -> bool:
    return counts(cells, 1) and int(cells[0]) == 0
