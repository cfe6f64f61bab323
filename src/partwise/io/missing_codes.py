"""Numbers such as 9 and 99 beside answers from 1 to 5, which questionnaires use for "no answer": they are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.io.table import Table
from partwise.io.words import listing

#: Numbers that are hardly those of a scale of answers; and others that are, unless the scale ends well below them.
_FAR = (66, 77, 88, 95, 96, 97, 98, 99, 999, 9999, -7, -8, -9, -66, -77, -88, -97, -98, -99, -999, -9999)
_NEAR = (7, 8, 9)
#: The largest number of a scale.
_TOP = 10
#: Tables with more entries, or more columns, are no questionnaires.
_MOST, _MOST_COLUMNS = 20_000_000, 2000
#: Cells that a code must have in all.
_FEWEST = 3


@dataclass(frozen=True)
class _Scale:
    """A column of few whole numbers: those of its scale, and how often each code occurs beside them."""

    name: str
    answers: frozenset[int]
    codes: dict[int, int]


def told_missing_codes(table: Table) -> tuple[str, ...]:
    """The note on numbers that may mark missing answers, and were read as numbers.

    It is given where most columns hold whole numbers from 0 to 10 and several of them such a code besides, with a gap
    before it. 9 beside 0 to 3 may be a count: for a scale from 0 no column may then hold a number between them.

    Parameters
    ----------
    table : Table
        As it was read; without names of columns nothing is said of it.

    Returns
    -------
    tuple of str
        One sentence, or none.
    """
    names, data = table.column_names, table.data
    if names is None or hasattr(data, "tocsr") or data.size > _MOST or data.shape[1] > _MOST_COLUMNS:
        return ()
    scales: list[_Scale] = []
    varied = 0
    for name, column in zip(names, data.T):
        held = _whole(column)
        varied += held is None or len(held) > 1
        if held is not None:
            scales += _scale(name, held)
    if 2 * len(scales) < varied:
        return ()
    found = {code: coded for code in (*_NEAR, *_FAR) if (coded := _with_code(scales, code))}
    if not found:
        return ()
    said = []
    for code, coded in found.items():
        cells = sum(scale.codes[code] for scale in coded)
        said.append(f"{code} in {len(coded)} columns ({cells} cells), as in {listing([coded[0].name])}")
    every: set[int] = set().union(*(scale.answers for coded in found.values() for scale in coded))
    options = " ".join(f"--missing {code}" for code in found)
    are, numbers, mark = ("are", "numbers", "they mark") if len(found) > 1 else ("is", "a number", "it marks")
    return (
        f"{table.source}: beside answers from {min(every)} to {max(every)} there {are} {', '.join(said)}, read as "
        f"{numbers}. If {mark} missing answers, add {options} (in Python: missing=), which holds for all columns.",
    )


def _whole(column: np.ndarray[Any, Any]) -> dict[int, int] | None:
    """How often each number occurs; None unless all are whole, small or a code, and there are few."""
    if not _may_be(column[:200]) or not _may_be(column):
        return None
    numbers = np.asarray(column, dtype=float)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    return {int(value): int(count) for value, count in zip(values, counts)}


def _may_be(column: np.ndarray[Any, Any]) -> bool:
    numbers = np.asarray(column, dtype=float)
    numbers = numbers[~np.isnan(numbers)]
    small = (numbers >= 0) & (numbers <= _TOP) & (numbers == np.floor(numbers))
    return bool((small | np.isin(numbers, _FAR)).all())


def _scale(name: str, held: dict[int, int]) -> list[_Scale]:
    """The column as a scale, if it is one: with two different answers at least."""
    codes = {value for value in held if value in _FAR}
    rest = set(held) - codes
    near = {value for value in rest if value in _NEAR}
    for first in sorted(near):
        # They are codes from the first one on that has no number next to it.
        low = {value for value in rest if value < first}
        if low and max(low) < first - 1 and 10 not in rest:
            codes, rest = codes | {value for value in near if value >= first}, low
            break
    return [_Scale(name, frozenset(rest), {code: held[code] for code in codes})] if len(rest) > 1 else []


def _with_code(scales: list[_Scale], code: int) -> list[_Scale]:
    """The columns that hold a code, if it is one in several of them."""
    coded = [scale for scale in scales if code in scale.codes]
    if len(coded) < 2 or sum(scale.codes[code] for scale in coded) < _FEWEST:
        return []
    if code not in _NEAR:
        return coded
    every = frozenset().union(*(scale.answers for scale in coded))
    longer = any(max(every) < value < code for scale in scales for value in scale.answers)
    # Beside longer scales, which may have gaps by chance, a shorter one is known by having none.
    whole = all(map(_is_whole, [scale.answers for scale in coded] if longer else [every]))
    from_zero = 0 in every and every != {0, 1}
    if max(every) > code - 2 or not whole or (from_zero and (longer or len(coded) < 3)):
        return []
    return coded


def _is_whole(answers: frozenset[int]) -> bool:
    """Whether a scale begins at 0 or 1 and has no gap."""
    return min(answers) < 2 and len(answers) == max(answers) - min(answers) + 1
