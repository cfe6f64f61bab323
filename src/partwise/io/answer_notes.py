"""The sentences on what was read as yes and no."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from partwise.io.answer_cells import Column, Meaning
from partwise.io.words import shorten


def told(
    columns: Sequence[Column], found: Sequence[Meaning | None], source: str, more: str
) -> tuple[str, ...]:
    """The sentence on the columns that were read as yes and no, with counts and words."""
    counts: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {"1": Counter(), "0": Counter()}
    number = 0
    for column, meaning in zip(columns, found):
        if meaning is None:
            continue
        number += 1
        for key, count in column.cells.items():
            counts[meaning.get(key, "")] += count
            if meaning.get(key):
                words[meaning[key]][column.spelling[key]] += count
    if not number:
        return ()
    sides = [f"{counts['1']} yes{_shown(words['1'])}", f"{counts['0']} no{_shown(words['0'])}"]
    which = "1 column was" if number == 1 else f"{number} columns were"
    return (f"{source}: {which} read as yes and no: {sides[0]}, {sides[1]}, {counts['']} missing.{more}",)


def _shown(words: Counter[str]) -> str:
    names = ["empty" if not word else f"'{shorten(word)}'" for word, _ in words.most_common(4)]
    return f" ({', '.join(names)}{', …' if len(words) > 4 else ''})" if names else ""
