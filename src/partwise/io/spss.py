"""Reading .sav with pyreadstat, which is an optional package (the extra "surveys")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from partwise.io.answer_cells import Meaning
from partwise.io.answer_words import PAIRS, folded
from partwise.io.budget import spend
from partwise.io.cells import Reading
from partwise.io.coding import Coding, is_answer
from partwise.io.decimals import with_comma
from partwise.io.delimited import table_of_cells
from partwise.io.errors import DataError
from partwise.io.label_conflict import ONLY_NO, ONLY_YES, Conflict, conflict, refuse, sides_of_labels
from partwise.io.table import Table
from partwise.io.words import shorten


def read_spss(path: Path, source: str, reading: Reading) -> Table:
    """Return the variables of an SPSS file; values that SPSS takes for missing are missing.

    Where yes and no are asked for, variables whose labels say so are read by their labels, others by their numbers.
    Words that the caller named are looked for among labels and codes. Codes of a fit are used where the labels do not
    contradict them; else it is asked which is right.
    """
    import pyreadstat

    try:
        _, announced = pyreadstat.read_sav(str(path), metadataonly=True)
        widths = announced.variable_storage_width.values()
        spend((announced.number_rows or 0) * sum(64 + int(width) for width in widths))
        columns, meta = pyreadstat.read_sav(str(path), output_format="dict")
    except (DataError, MemoryError):
        raise
    except Exception as error:  # pyreadstat raises its own kinds and, on damaged files, others
        raise DataError(
            f"{source} is not a readable .sav file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; save it again."
        ) from error
    names = list(meta.column_names)
    if not names or not len(columns[names[0]]):
        raise DataError(f"{source} is empty. Give a table with numbers in it.")
    cells, others, conflicts = [], {}, []
    known = _known(reading)
    for place, name in enumerate(names):
        labels = {value: str(label) for value, label in meta.variable_value_labels.get(name, {}).items()}
        codes = {_plain(value): label for value, label in labels.items()}
        spoken, found = _judged(place, str(name), columns[name], labels, known, reading)
        conflicts += [] if found is None else [found]
        if name in known and not is_answer(known[name]):
            # What was a number in the fit is one here, if the caller says what its labels mean.
            given = reading.answers.given
            labels = {value: given.get(folded(label)) or label for value, label in labels.items()}
        meant = {word: side for word, side in (known.get(name) or {}).items() if word} | reading.answers.given
        gone = {word for word, side in meant.items() if side == ""}
        cells.append([_cell(value, labels, spoken, gone) for value in columns[name]])
        if reading.decimal == ",":
            # Numbers are read as text is, in which decimals then stand behind a comma.
            are_text = [isinstance(value, str) for value in columns[name]]
            cells[-1] = [cell if text else with_comma(cell) for cell, text in zip(cells[-1], are_text)]
        if not spoken and _say_otherwise(codes):
            others[str(name)] = codes
    refuse(conflicts, source)
    reading = replace(reading, answers=replace(reading.answers, labels=others))
    # Damaged files may have variables without a name.
    rows = [["" if name is None else str(name) for name in names], *map(list, zip(*cells))]
    return table_of_cells(lambda: enumerate(rows, start=1), source, True, None, reading)


def _known(reading: Reading) -> dict[str, Meaning | None]:
    """What the columns of a fit held, by their names; nothing where that is not known."""
    coding = reading.coding or Coding()
    return coding.by_column() if coding.meanings else {}


def _judged(
    place: int,
    name: str,
    values: Any,
    labels: dict[Any, str],
    known: Mapping[str, Meaning | None],
    reading: Reading,
) -> tuple[bool, Conflict | None]:
    """Whether a variable is read by its labels; and their conflict with codes of the fit, if there is one."""
    given = reading.answers.given
    asked = reading.answers.guess or (reading.coding is not None and reading.coding.answers)
    codes = {_plain(value): label for value, label in labels.items()}
    said = {folded(label) for label in labels.values()}
    if any(given.get(word) for word in said):
        return True, None
    # Codes whose meaning was named now go before labels.
    if any(given.get(folded(code)) for code in codes):
        return False, None
    kept = known.get(name) or {}
    numbers = name in known and not is_answer(kept)
    found = conflict(name, place, codes, _as_answers(codes) if numbers else kept) if asked else None
    if any(kept.get(word) for word in said):
        return True, found
    answers = any(said & yes and said & no for yes, no in PAIRS) or _all_say_no(values, labels)
    as_then = numbers or any(kept.get(folded(code)) for code in codes)
    return asked and answers and not as_then, found


def _all_say_no(values: Any, labels: dict[Any, str]) -> bool:
    """Whether every value has a label, and all labels say no: the code alone, such as 1, could be read as yes."""
    given = {value for value in values if value is not None and value == value}
    return bool(given) and given <= set(labels) and {folded(label) for label in labels.values()} <= ONLY_NO


def _as_answers(codes: Mapping[str, str]) -> Meaning:
    """What codes with labels mean where they are numbers: 1 is yes and 0 is no, unless other codes are answers."""
    return {"1": "1", "0": "0"} if set(sides_of_labels(codes)) <= {"0", "1"} else {}


def _say_otherwise(codes: dict[str, str]) -> bool:
    """Whether labels of 0 and 1, or of 1 and 2, say that these are something else than no and yes, or yes and no.

    Of 0 and 1, one label is enough that says what the code says, as "no" beside the name of what was mentioned.
    """
    if "0" not in codes:
        return {"1", "2"} <= set(codes)
    if "1" not in codes:
        return False
    zero, one = folded(codes["0"]), folded(codes["1"])
    says_so = (zero in ONLY_NO and one not in ONLY_NO) or (one in ONLY_YES and zero not in ONLY_YES)
    return not says_so and (zero, one) != ("0", "1")


def _cell(value: Any, labels: dict[Any, str], spoken: bool, gone: set[str]) -> str:
    """A value as text: its label where labels are ``spoken``, but its code where that, or the label, is ``gone``."""
    if value is None or value != value:
        return ""
    label = labels.get(value)
    if label is not None and folded(label) in gone:
        return label
    code = _plain(value)
    return code if label is None or not spoken or folded(code) in gone else label


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
