"""Labels of a file beside the codes of a fit: whether they say the same of yes and no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from partwise.io.answer_cells import Meaning
from partwise.io.answer_words import PAIRS, folded, is_number
from partwise.io.errors import DataError
from partwise.io.words import argument, label, listing, shorten

_YES, _NO = (frozenset(word for pair in PAIRS for word in pair[side] if len(word) > 1) for side in (0, 1))
#: Words of more than one letter that say yes, and those that say no, whatever stands beside them.
ONLY_YES, ONLY_NO = _YES - _NO, _NO - _YES

SIDES = {"1": "yes", "0": "no", "": "missing"}


@dataclass(frozen=True)
class Conflict:
    """A column whose labels say the contrary of what its codes meant in the data of a fit.

    Attributes
    ----------
    column, place
        Its name, and its place counted from 0.
    code, label, was : str
        The first code of which this is so, its label, and what it was.
    labelled, kept : dict
        Side, "1" or "0" → the labels that say it, and the codes that meant it.
    """

    column: str
    place: int
    code: str
    label: str
    was: str
    labelled: Mapping[str, list[str]]
    kept: Mapping[str, list[str]]


def sides_of_labels(codes: Mapping[str, str]) -> Meaning:
    """What the labels of a column say of its codes.

    Parameters
    ----------
    codes : mapping
        Code → label.

    Returns
    -------
    dict
        Code → "1" for yes, "0" for no. Words of a pair count where both of its sides occur, others where they are
        plain.
    """
    words = {code: folded(text) for code, text in codes.items()}
    said = set(words.values())
    pairs = [(yes, no) for yes, no in PAIRS if said & yes and said & no]
    for yes, no in [*pairs[:1], (ONLY_YES, ONLY_NO)]:
        found = {code: "1" if word in yes else "0" for code, word in words.items() if word in yes | no}
        if found:
            return found
    return {}


def conflict(name: str, place: int, codes: Mapping[str, str], kept: Meaning) -> Conflict | None:
    """What is to be said of a column whose labels contradict the codes of a fit; None where they do not.

    Parameters
    ----------
    name : str
        Of the column.
    place : int
        Counted from 0.
    codes : mapping
        Code → label, in the file that is read.
    kept : dict
        Code → "1", "0" or "" in the data of the fit.
    """
    said = sides_of_labels(codes)
    wrong = [code for code, side in said.items() if kept.get(code, side) != side]
    if not wrong:
        return None
    labelled = {side: [codes[code] for code in said if said[code] == side] for side in ("1", "0")}
    meant = {side: [code for code in codes if kept.get(code) == side] for side in ("1", "0")}
    return Conflict(name, place, wrong[0], codes[wrong[0]], SIDES[kept[wrong[0]]], labelled, meant)


def refuse(found: list[Conflict], source: str) -> None:
    """Raise DataError if there are any.

    Either side may be wrong, as the data of the fit may have been coded as this file is, and read the wrong way
    round: no rule tells, so the caller is asked.
    """
    if not found:
        return
    first = found[0]
    others = [one.column for one in found[1:]]
    also = f" (as are codes of {listing(others)})" if others else ""
    by_codes = _options({side: first.kept[side] for side in "10"})
    whole = all(one.labelled["1"] and one.labelled["0"] for one in found)
    words = {side: list(dict.fromkeys(text for one in found for text in one.labelled[side])) for side in "10"}
    by_labels = f"add {_options(words)}" if whole else "give yes and no their labels in the file"
    raise DataError(
        f"{source}: in {label(first.column, first.place)} {first.code} is labelled '{shorten(first.label)}', but was "
        f"{first.was} in the data of the fit{also}. If the labels are right, {by_labels}; if the codes mean what "
        f"they meant there, add {by_codes} (in Python: yes= and no=)."
    )


def _options(words: Mapping[str, list[str]]) -> str:
    """The options that name words or codes for yes and no."""
    return " ".join(
        f"--{SIDES[side]} {word if is_number(word) else argument(word)}"
        for side in "10"
        for word in words[side]
    )
