"""Reading .sav with pyreadstat, which is an optional package (the extra "surveys")."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from partwise.io.answer_words import PAIRS, folded
from partwise.io.budget import spend
from partwise.io.cells import Reading
from partwise.io.decimals import with_comma
from partwise.io.delimited import table_of_cells
from partwise.io.errors import DataError
from partwise.io.table import Table
from partwise.io.words import shorten


def read_spss(path: Path, source: str, reading: Reading) -> Table:
    """Return the variables of an SPSS file; values that SPSS takes for missing are missing.

    Where yes and no are asked for, variables whose labels say so are read by their labels, others by their numbers.
    Words that the caller named are looked for among labels and codes.
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
    cells, others = [], {}
    asked = reading.answers.guess or (reading.coding is not None and reading.coding.answers)
    known = reading.coding.by_column() if reading.coding is not None else {}
    for name in names:
        labels = {value: str(label) for value, label in meta.variable_value_labels.get(name, {}).items()}
        meant = {word: side for word, side in (known.get(name) or {}).items() if word} | reading.answers.given
        said = {folded(label) for label in labels.values()}
        answers = any(said & yes and said & no for yes, no in PAIRS) or _all_say_no(columns[name], labels)
        # Codes whose meaning was named go before labels.
        coded = any(meant.get(folded(_plain(value))) for value in labels)
        spoken = (asked and answers and not coded) or any(meant.get(word) for word in said)
        gone = {word for word, side in meant.items() if side == ""}
        cells.append([_cell(value, labels, spoken, gone) for value in columns[name]])
        if reading.decimal == ",":
            # Numbers are read as text is, in which decimals then stand behind a comma.
            are_text = [isinstance(value, str) for value in columns[name]]
            cells[-1] = [cell if text else with_comma(cell) for cell, text in zip(cells[-1], are_text)]
        codes = {_plain(value): label for value, label in labels.items()}
        if not spoken and _say_otherwise(codes):
            others[str(name)] = codes
    reading = replace(reading, answers=replace(reading.answers, labels=others))
    # Damaged files may have variables without a name.
    rows = [["" if name is None else str(name) for name in names], *map(list, zip(*cells))]
    return table_of_cells(lambda: enumerate(rows, start=1), source, True, None, reading)


def _all_say_no(values: Any, labels: dict[Any, str]) -> bool:
    """Whether every value has a label, and all labels say no: the code alone, such as 1, could be read as yes."""
    given = {value for value in values if value is not None and value == value}
    yes, no = (frozenset(word for pair in PAIRS for word in pair[side] if len(word) > 1) for side in (0, 1))
    return bool(given) and given <= set(labels) and {folded(label) for label in labels.values()} <= no - yes


def _say_otherwise(codes: dict[str, str]) -> bool:
    """Whether labels of 0 and 1, or of 1 and 2, say that these are something else than no and yes, or yes and no.

    Of 0 and 1, one label is enough that says what the code says, as "no" beside the name of what was mentioned.
    """
    if "0" not in codes:
        return {"1", "2"} <= set(codes)
    if "1" not in codes:
        return False
    zero, one = folded(codes["0"]), folded(codes["1"])
    yes, no = (frozenset(word for pair in PAIRS for word in pair[side] if len(word) > 1) for side in (0, 1))
    says_so = (zero in no - yes and one not in no - yes) or (one in yes - no and zero not in yes - no)
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
