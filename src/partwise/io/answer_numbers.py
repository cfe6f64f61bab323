"""1 and 2, or 0 and 1, as yes and no; other numbers, and codes that mark missing answers, are told or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from partwise.io.answer_cells import MOST, Column, Locate, Meaning
from partwise.io.answer_words import CODES, is_number
from partwise.io.choice import names_rows
from partwise.io.errors import DataError
from partwise.io.words import argument, listing, shorten


def guess_numbers(
    columns: Sequence[Column],
    found: list[Meaning | None],
    gone: set[str],
    source: str,
    locate: Locate | None,
    labels: Mapping[str, Mapping[str, str]],
) -> str:
    """Fill in the meanings of 1 and 2 where the table has no other numbers; the sentence that says so, or "".

    Other numbers, and 1 and 2 with other ``labels`` than yes and no, are an error where ``locate`` is given.
    """
    numeric = [
        place
        for place, column in enumerate(columns)
        if found[place] is None and all(map(is_number, column.words - gone))
    ]
    other = [
        place
        for place in numeric
        if columns[place].name in labels
        and set() < columns[place].words - gone <= set(_labelled(labels[columns[place].name]))
    ]
    if other and locate is not None:
        _refuse_labels(columns[other[0]], labels[columns[other[0]].name], source)
    numeric = [place for place in numeric if place not in other]
    seen: set[str] = set().union(*(columns[place].words - gone for place in numeric))
    if seen <= {"0", "1"}:
        return ""
    both = seen == {"1", "2"} and len(numeric) > 1
    if seen <= {"1", "2"} and (both or locate is not None):
        kept = "" if locate is not None else ", and if they are numbers, --numbers"
        which = ""
        if any(map(_by_words, columns, found)):
            # Beside answers in words, a lone 1 and 2 may be anything, so the user is told where it is.
            named = listing([columns[place].name for place in numeric if columns[place].words - gone])
            which = f" in {named}, beside answers in words (leave out what is none with --drop)"
        for place in numeric:
            found[place] = {"1": "1", "2": "0"}
        return f" 1 is taken for yes and 2 for no{which}; if it is the other way round, add --yes 2 --no 1{kept}."
    if locate is not None:
        _refuse_numbers(columns, numeric, gone, source, locate)
    codes = seen - {"1", "2"}
    if {"1", "2"} <= seen and codes <= CODES and len(numeric) > 1:
        marks = sorted(codes, key=float)
        words = " ".join(f"--missing {word}" for word in marks)
        return f" Its numbers are 1, 2 and {', '.join(marks)}: if this marks missing answers, add {words}."
    return ""


def _by_words(column: Column, meaning: Meaning | None) -> bool:
    """Whether a word that is no number means yes or no in a column."""
    return any(side and word and not is_number(word) for word, side in (meaning or {}).items())


def _refuse_labels(column: Column, labels: Mapping[str, str], source: str) -> None:
    """Raise DataError for a column of two codes that are, by the file, something else than yes and no."""
    codes = _labelled(labels)
    first, second = (shorten(labels[code]) for code in codes)
    yes, no = (second, first) if codes[0] == "0" else (first, second)
    name = shorten(column.name)
    raise DataError(
        f"{source}: column '{name}' holds {codes[0]} ('{first}') and {codes[1]} ('{second}'), and these labels do "
        f"not say yes and no. Say which is which, as --yes '{yes}' --no '{no}', or leave the column out: --drop "
        f"'{name}' (in Python: yes= and no=, or drop=)."
    )


def _labelled(labels: Mapping[str, str]) -> tuple[str, str]:
    """The two codes of a column that might be yes and no."""
    return ("0", "1") if "0" in labels else ("1", "2")


def _refuse_numbers(
    columns: Sequence[Column], numeric: Sequence[int], gone: set[str], source: str, locate: Locate
) -> None:
    """Raise DataError for the first column that holds other numbers than most columns have for yes and no."""
    held = {place: columns[place].words - gone for place in numeric}
    seen: set[str] = set().union(*held.values())
    codes = seen - {"0", "1", "2"}
    coded = bool(codes) and codes <= CODES and not {"0", "2"} <= seen
    by_two = sum("2" in words and words - codes <= {"1", "2"} for words in held.values())
    by_zero = sum("0" in words and words - codes <= {"0", "1"} for words in held.values())
    usual = {"1", "2"} if by_two > by_zero or (coded and "2" in seen) else {"0", "1"}
    for place, found in held.items():
        words = sorted(found, key=float)
        odd = [word for word in words if word not in usual]
        if odd:
            _refuse_column(
                columns[place], words, odd, sorted(usual), codes if coded else set(), source, place, locate
            )


def _refuse_column(
    column: Column,
    words: list[str],
    odd: list[str],
    usual: list[str],
    codes: set[str],
    source: str,
    place: int,
    locate: Locate,
) -> None:
    name = shorten(column.name)
    held = f"more than {MOST} different numbers" if column.many else listing(words)
    where = "" if column.many else f" ({odd[0]} in row {locate(place, odd[0])})"
    if codes:
        raise DataError(
            f"{source}: column '{name}' holds {held}{where}. If {odd[0]} marks missing answers, add "
            + " ".join(f"--missing {word}" for word in sorted(codes, key=float))
            + " (in Python: missing=)."
        )
    if column.many or len(odd) > 2:
        who = (
            f"If it tells rows apart, add --id {argument(column.name)}; else leave"
            if column.many or names_rows(column.name)
            else "Leave"
        )
        raise DataError(
            f"{source}: column '{name}' holds {held}, which are not yes and no. {who} it out, --drop "
            f"{argument(column.name)}, or name the columns to read, --columns A,B,C (in Python: id=, drop= or "
            "columns=)."
        )
    both = "1 and 0" if usual[0] == "0" else "1 and 2 in the other columns"
    raise DataError(
        f"{source}: column '{name}' holds {held}{where}; yes and no are {both}. Say what {odd[0]} means, as --yes "
        f"{odd[0]}, --no {odd[0]} or --missing {odd[0]}, or leave the column out: --drop {argument(column.name)} "
        "(in Python: yes=, no=, missing= or drop=)."
    )
