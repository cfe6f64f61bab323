"""The sentences on what was read as yes and no."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from partwise.io.answer_cells import Column, Meaning
from partwise.io.answer_words import TICKS
from partwise.io.choice import NUMBERED
from partwise.io.words import listing, shorten


def told(
    columns: Sequence[Column], found: Sequence[Meaning | None], source: str, more: str
) -> tuple[str, ...]:
    """The sentence on the columns that were read as yes and no, with counts and words."""
    counts: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {"1": Counter(), "0": Counter()}
    names = []
    for column, meaning in zip(columns, found):
        if meaning is None:
            continue
        names.append(column.name)
        for key, count in column.cells.items():
            counts[meaning.get(key, "")] += count
            if meaning.get(key):
                words[meaning[key]][column.spelling[key]] += count
    if not names:
        return ()
    sides = [f"{counts['1']} yes{_shown(words['1'])}", f"{counts['0']} no{_shown(words['0'])}"]
    was = "was" if len(names) == 1 else "were"
    return (
        f"{source}: {_columns(names)} {was} read as yes and no: {sides[0]}, {sides[1]}, {counts['']} missing.{more}",
    )


def _columns(names: Sequence[str]) -> str:
    """Columns for a sentence: one by its name; of several their number, and the first names."""
    if len(names) == 1:
        return f"column {listing(names)}" if not NUMBERED.fullmatch(names[0]) else names[0]
    return f"{len(names)} columns, {listing(names, 4)},"


def _shown(words: Counter[str]) -> str:
    names = ["empty" if not word else f"'{shorten(word)}'" for word, _ in words.most_common(4)]
    return f" ({', '.join(names)}{', …' if len(words) > 4 else ''})" if names else ""


def with_numbers(
    columns: Sequence[Column], found: Sequence[Meaning | None], gone: set[str]
) -> list[Meaning | None]:
    """The meanings with those of columns of 0 and 1, whose cells stay as they are but are answers, too."""
    plain: Meaning = {"1": "1", "0": "0"}
    return [
        plain if meaning is None and column.words - gone <= set(plain) else meaning
        for column, meaning in zip(columns, found)
    ]


def only_yes(
    columns: Sequence[Column], found: Sequence[Meaning | None], gone: set[str], source: str
) -> tuple[str, ...]:
    """The sentence on columns that hold yes and empty cells alone, as the options of a list that were ticked.

    Empty cells are missing there, though whoever ticked nothing may have meant no. Ticks are no such columns: what is
    empty beside them was decided, and told.

    Parameters
    ----------
    columns : sequence of Column
    found : sequence
        What the cells of each column mean; where that is None, 1 is yes.
    gone : set of str
        Folded cells that the caller named as missing.
    source : str
        Begins the sentence.
    """
    if "" in gone:
        return ()
    names, empty, spelt = [], 0, Counter[str]()
    for column, meaning in zip(columns, found):
        words = column.words - gone
        sides = {"1": "1"} if meaning is None else meaning
        asked = column.cells[""] and "" not in sides and not column.many
        if asked and words and not words <= TICKS and all(sides.get(word) == "1" for word in words):
            names.append(column.name)
            empty += column.cells[""]
            spelt.update({column.spelling[word]: column.cells[word] for word in words})
    if not names:
        return ()
    everywhere = len(names) == len(columns)
    which = (
        f"column {listing(names)} holds"
        if len(names) == 1
        else f"{len(names)} columns, {listing(names)}, hold"
    )
    cells = "1 empty cell, which is" if empty == 1 else f"{empty} empty cells, which are"
    also = "" if everywhere else " (empty cells of the other columns of answers are no then, too)"
    return (
        f"{source}: {which} nothing but yes{_shown(spelt)} and {cells} missing. If it means no, add --no ''{also}.",
    )
