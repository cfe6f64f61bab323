"""What is asked of the cells of a table of answers, and what its columns hold: how often each cell occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from partwise.io.answer_words import folded
from partwise.io.errors import DataError
from partwise.io.words import MISSING

#: A column with more different cells than this is none of yes and no.
MOST = 40
#: Stands for all words that mean "missing" in any table.
NA = "\0"


@dataclass(frozen=True)
class Answers:
    """What the caller says of cells.

    Parameters
    ----------
    yes, no, missing : tuple of str
        Cells that mean this; "" is an empty cell.
    guess : bool
        Whether words of ``PAIRS`` and ticks are read, too.
    numbers : bool
        Whether, with ``guess``, the table must hold nothing but yes and no, so that 1 and 2 are read as well.
    codes : bool
        Whether, with ``guess``, 1 and 2 are read as well if the table has no other numbers; others are then no error.
    labels : mapping
        Column → code → what the file itself says 1 and 2, or 0 and 1, are, where that is not yes and no: they are not
        read so.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    guess: bool = False
    numbers: bool = False
    codes: bool = False
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    @property
    def given(self) -> dict[str, str]:
        """Folded cell → "1", "0" or "" for missing, as named by the caller."""
        sides = ((self.yes, "1"), (self.no, "0"), (self.missing, ""))
        found: dict[str, str] = {}
        for words, meaning in sides:
            for word in words:
                if found.setdefault(folded(word), meaning) != meaning:
                    raise DataError(f"'{word}' cannot have two meanings of yes, no and missing.")
        return found


@dataclass
class Column:
    """How often each cell occurs in a column.

    Parameters
    ----------
    name : str
    cells : Counter
        Folded cells; ``NA`` stands for all words that mean "missing" in any table.
    spelling : dict
        Folded cell → a cell of the file.
    many : bool
        Whether there are more than ``MOST`` different cells, of which only the first are counted.
    """

    name: str
    cells: Counter[str] = field(default_factory=Counter)
    spelling: dict[str, str] = field(default_factory=dict)
    many: bool = False

    @classmethod
    def of(cls, name: str, raw: Mapping[str, int], given: Container[str]) -> Column:
        """From cells as they stand in the file; ``given`` are folded cells whose meaning the caller named."""
        column = cls(name, many=len(raw) > MOST)
        for cell, count in raw.items():
            text, key = cell.strip(), folded(cell)
            if text and text in MISSING and key not in given:
                key = NA
            column.cells[key] += count
            column.spelling.setdefault(key, text)
        return column

    @property
    def words(self) -> set[str]:
        """The cells that are not empty and not missing."""
        return set(self.cells) - {"", NA}


#: Folded cell → "1", "0", or "" for missing.
Meaning = dict[str, str]
#: The number of the row in which a column, by its place, first has a folded cell.
Locate = Callable[[int, str], int]


def tally(rows: Iterable[Sequence[str]], width: int, given: Mapping[str, str]) -> list[Counter[str]]:
    """How often each cell occurs in each column; once there are more than ``MOST`` different, only given ones."""
    counts: list[Counter[str]] = [Counter() for _ in range(width)]
    for row in rows:
        for count, cell in zip(counts, row):
            if len(count) <= MOST or cell in count or (given and folded(cell) in given):
                count[cell] += 1
    return counts
