"""Cells of a table read as yes, no and missing: which row is the first of data, what is replaced by what."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from partwise.io.answer_cells import MOST, Answers, Column, Meaning, tally
from partwise.io.answer_words import CODES, PAIRS, folded, is_number
from partwise.io.answers import find_meanings
from partwise.io.coding import is_answer, vocabulary
from partwise.io.decimals import written
from partwise.io.words import MISSING

#: A function that goes through the rows from the beginning: the number of each in the file, and its cells.
Rows = Callable[[], Iterator[tuple[int, list[str]]]]
#: Rows by which it is judged which columns may hold words.
_SAMPLE = 100


def worth_reading(rows: Rows, width: int) -> list[int]:
    """The places of the columns that may hold words for yes and no, by the first rows; all if numbers are 1 and 2."""
    some = [cells for _, cells in islice(rows(), _SAMPLE) if len(cells) == width][1:]
    numbers: set[str] = set()
    wordy = []
    for place, column in enumerate(zip(*some)):
        held = {cell.strip() for cell in column} - set(MISSING)
        if held and all(map(is_number, held)):
            # Numbers of persons in front of the answers are none.
            numbers |= set() if place == 0 and len(held) == len(some) > 2 else held
        else:
            wordy.append(place)
    if not some or (numbers and {folded(cell) for cell in numbers} <= {"1", "2", *CODES}):
        return list(range(width))
    return wordy


def interpreted(
    rows: Rows,
    source: str,
    header: bool | None,
    row_names: bool | None,
    answers: Answers,
    aside: Container[str],
    places: Sequence[int],
    width: int,
) -> tuple[Rows, tuple[str, ...], list[Meaning | None]]:
    """The rows with 1, 0 and empty cells for yes, no and missing; the notes on it; and what the cells meant.

    Only columns at ``places`` are looked at, and none whose name is ``aside``.
    """
    given = answers.given
    begin = 1 if row_names else 0
    body = (cells for _, cells in rows() if len(cells) == width)
    first = next(body, [])
    looked_at = [place for place in places if place >= begin]
    raw: list[Mapping[str, int]] = [{} for _ in range(width)]
    counts = tally(([cells[place] for place in looked_at] for cells in body), len(looked_at), given)
    for place, count in zip(looked_at, counts):
        raw[place] = count
    if is_data_row(first, raw, header, begin):
        for place, count in zip(looked_at, counts):
            count[first[place]] += 1
        names, is_data = [f"column {place + 1}" for place in range(width)], True
    else:
        names, is_data = [written(cell).strip() or f"column {i + 1}" for i, cell in enumerate(first)], False
    judged = [place for place in looked_at if is_data or names[place] not in aside]
    if is_data and answers.codes:
        # A matrix without names is one of numbers.
        answers = dataclasses.replace(answers, codes=False)
    columns = [Column.of(names[place], raw[place], given) for place in judged]

    def locate(column: int, key: str) -> int:
        return first_row(rows, judged[column], key, 0 if is_data else 1)

    found, notes = find_meanings(columns, answers, source, locate)
    meanings: list[Meaning | None] = [None] * width
    kept: list[Meaning | None] = [None] * width
    sides = {word: side for word, side in given.items() if side}
    for place, meaning, column in zip(judged, found, columns):
        meanings[place] = meaning
        if is_answer(meaning):
            kept[place] = vocabulary(meaning or {}, sides)
        elif answers.numbers and column.words and column.words <= {"0", "1", *given}:
            kept[place] = {"1": "1", "0": "0"} | (meaning or {})
        else:
            kept[place] = meaning
    _fill_empty(kept, judged, columns, answers)
    if not any(meanings):
        return rows, notes, kept
    return replaced(rows, meanings, width, is_data), notes, kept


def _fill_empty(
    kept: list[Meaning | None], judged: Sequence[int], columns: Sequence[Column], answers: Answers
) -> None:
    """A column without any answer may have those of the others in another table, where all others are answers."""
    empty = [
        place for place, column in zip(judged, columns) if not column.words and not is_answer(kept[place])
    ]
    others = [kept[place] for place in judged if place not in empty]
    if answers.guess and others and all(map(is_answer, others)):
        every: Meaning = {}
        for meaning in others:
            for word, side in (meaning or {}).items():
                every.setdefault(word, side)
        for place in empty:
            kept[place] = every | (kept[place] or {})


def first_row(rows: Rows, place: int, key: str, begin: int) -> int:
    """The number of the first row, from that of number ``begin`` among all, with a folded cell at this place."""
    for number, cells in islice(rows(), begin, None):
        if len(cells) > place and folded(cells[place]) == key:
            return number
    return 0


def replaced(rows: Rows, meanings: Sequence[Meaning | None], width: int, is_data: bool) -> Rows:
    """The rows with 1, 0 and empty cells for those that mean yes, no and missing; others stay.

    The first row of this width is a header unless ``is_data``.
    """
    known: list[dict[str, str | None]] = [{} for _ in range(width)]  # cells as they stand → what they mean

    def meant(cells: list[str]) -> list[str]:
        out = list(cells)
        for place, meaning in enumerate(meanings):
            if meaning is not None:
                cell, seen = cells[place], known[place]
                if cell not in seen:
                    # Columns of many different numbers are not remembered.
                    if len(seen) > MOST:
                        seen.clear()
                    seen[cell] = meaning.get(folded(cell))
                side = seen[cell]
                out[place] = cell if side is None else side
        return out

    def changed() -> Iterator[tuple[int, list[str]]]:
        begun = is_data
        for number, cells in rows():
            yield number, meant(cells) if begun and len(cells) == width else cells
            begun = begun or len(cells) == width

    return changed


def is_data_row(first: list[str], raw: Sequence[Any], header: bool | None, begin: int) -> bool:
    """Whether the first row is one of data: each cell a number, or one that goes with those below it."""
    if header is not None or not first:
        return not header
    alike = []
    for cell, count in zip(first[begin:], raw[begin:]):
        below = {folded(other) for other in count if other.strip() not in MISSING}
        if cell.strip():
            key = folded(cell)
            alike.append(
                is_number(key) or key in below or any(below | {key} <= yes | no for yes, no in PAIRS)
            )
    # A first column of names is alike in neither case.
    return bool(alike) and all(alike[1:] if begin == 0 and len(alike) > 1 else alike)
