"""What the caller says of columns and cells, carried out on a table whose reader knows numbers only."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.io.answer_cells import Answers
from partwise.io.answer_words import is_number
from partwise.io.cells import Reading
from partwise.io.choice import chosen_places, separate_names
from partwise.io.coding import Coding, is_answer, spread
from partwise.io.errors import DataError
from partwise.io.table import Table
from partwise.io.words import listing, shorten


def applied(table: Table, reading: Reading) -> Table:
    """The table with the chosen columns, and with 1, 0 and NaN for yes, no and missing."""
    if table.column_names is not None:
        reading = reading.among([*table.column_names, *table.text, *table.extra])
    if reading.spare:
        table = _without_spare(table, reading.spare)
    if reading.chooses:
        table = chosen_columns(table, reading)
    again = reading.told_again(table.source, table.column_names or ())
    table = dataclasses.replace(table, notes=(*table.notes, *again))
    if reading.coding is not None and reading.coding.meanings:
        return _as_coded(table, reading)
    return _numbers_read(table, reading.answers) if reading.interprets else table


def _without_spare(table: Table, spare: Sequence[str]) -> Table:
    """The table without the columns that are spare and no names of rows; its ``meta`` tells which they were."""
    names = table.column_names or []
    known = set(names) - set(table.row_names or ())
    left_out = [name for name in separate_names(spare, known) if name in known]
    if not left_out:
        return table
    table = chosen_columns(table, Reading(drop=tuple(left_out)))
    return dataclasses.replace(table, meta={**table.meta, "left_out": tuple(left_out)})


def transposed(table: Table) -> Table:
    """The table whose rows are the columns of this one. What is said of its rows beside the matrix is left out."""
    if table.meta.get("shape") is not None:
        raise DataError(
            f"{table.source} holds a stack of items, and --transpose is for tables of rows and columns."
        )
    data = table.data.T.tocsr() if hasattr(table.data, "tocsr") else np.ascontiguousarray(table.data.T)
    return dataclasses.replace(
        table,
        data=data,
        row_names=table.column_names,
        column_names=table.row_names,
        text={},
        extra={},
        corner="",
        coding=None if table.coding is None else table.coding.merged(),
        notes=(
            *table.notes,
            _told_samples(table),
        ),
    )


def _told_samples(table: Table) -> str:
    """The note on the columns that become samples, with the first names: lengths of genes stand in front."""
    count = table.shape[1]
    which = (
        "1 column of the file is the sample" if count == 1 else f"{count} columns of the file are the samples"
    )
    names = f": {listing(table.column_names)}" if table.column_names else ""
    return f"{table.source}: transposed: {which}{names}."


def _as_coded(table: Table, reading: Reading) -> Table:
    """Numbers that meant yes, no or missing in another table mean the same here; others are an error."""
    coding = reading.coding or Coding()
    width = table.shape[1]
    names = table.column_names
    known = coding.by_column()
    if known and names is not None:
        meanings = [known.get(name) for name in names]
    elif len(coding.meanings) in (1, width):
        meanings = spread(coding.meanings, width)
    else:
        meanings = [None] * width
    given = reading.answers.given
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, meaning in enumerate(meanings):
        changed = (meaning or {}) | given if is_answer(meaning) else (meaning or {}) | _gone(given)
        if changed:
            groups.setdefault(tuple(changed.items()), []).append(place)
    table = dataclasses.replace(
        table, coding=Coding(None if names is None else tuple(names), tuple(meanings))
    )
    if not groups:
        return table
    sparse = hasattr(table.data, "tocsr")
    old = table.data
    values = old.data if sparse else old
    read = np.array(values, dtype=np.result_type(values.dtype, np.float32))
    for items, places in groups.items():
        meaning = dict(items)
        numbers = {float(word): side for word, side in meaning.items() if word and is_number(word)}
        if sparse and is_answer(meaning) and numbers.get(0.0) != "0":
            raise DataError(
                f"{table.source} is sparse: what it does not store is 0, which the data of the fit had not."
            )
        where = np.isin(old.indices, places) if sparse else (slice(None), places)
        part = np.asarray(values[where], dtype=float)
        if is_answer(meaning):
            strange = ~np.isnan(part) & ~np.isin(part, list(numbers))
            if strange.any():
                raise DataError(_strange(table, places, strange, part, where, meaning))
        changed_part = part.copy()
        for number, side in numbers.items():
            changed_part[part == number] = float(side) if side else np.nan
        read[where] = changed_part
    data = read
    if sparse:
        data = old.astype(read.dtype)
        data.data = read
    return dataclasses.replace(table, data=data)


def _gone(given: dict[str, str]) -> dict[str, str]:
    return {word: side for word, side in given.items() if side == ""}


def _strange(
    table: Table, places: list[int], strange: Any, part: Any, where: Any, meaning: dict[str, str]
) -> str:
    """The sentence on the first number that the coding does not know."""
    if strange.ndim == 2:
        row, inner = (int(i) for i in np.argwhere(strange)[0])
        column, value = places[inner], part[row, inner]
    else:
        entry = int(np.flatnonzero(where)[np.flatnonzero(strange)[0]])
        row = int(np.searchsorted(table.data.indptr, entry, side="right") - 1)
        column, value = int(table.data.indices[entry]), part[np.flatnonzero(strange)[0]]
    name = (
        f"column {column + 1}"
        if table.column_names is None
        else f"column '{shorten(table.column_names[column])}'"
    )
    known = [word for word in meaning if meaning[word] and is_number(word)]
    return (
        f"{table.source}: {name} holds {value:g} in row {row + 1}, which the data of the fit had not: there yes and "
        f"no are {listing(known)}. Correct it, or say what it means: --yes, --no or --missing {value:g} (in Python: "
        "yes=, no= or missing=)."
    )


def chosen_columns(table: Table, reading: Reading) -> Table:
    """The table with the columns that were named."""
    if not reading.chooses:
        return table
    names = table.column_names
    like_fit = reading.coding is not None
    if names is None and like_fit and reading.id is None and reading.columns is None:
        # Columns without names are taken in the order of the fit, which had left out what is to be left out.
        return table
    if names is None:
        raise DataError(f"{table.source} has no names of columns, so that none can be named.")
    beside = {**table.text, **{name: [f"{v:g}" for v in values] for name, values in table.extra.items()}}
    place, places = chosen_places(
        [*names, *beside],
        table.source,
        reading.id,
        reading.drop,
        names if reading.columns is None else reading.columns,
        like_fit=like_fit,
    )
    places = [i for i in places if i < len(names)]
    changes: dict[str, Any] = {"data": table.data[:, places], "column_names": [names[i] for i in places]}
    if place is not None and place >= len(names):
        changes |= {"row_names": beside[str(reading.id)], "corner": reading.id}
    elif place is not None:
        column = table.data[:, [place]]
        column = column.toarray() if hasattr(column, "toarray") else column
        changes |= {"row_names": [f"{value:g}" for value in column.reshape(-1)], "corner": reading.id}
    if table.coding is not None and len(table.coding.meanings) == 1:
        changes["coding"] = dataclasses.replace(table.coding, columns=tuple(changes["column_names"]))
    return dataclasses.replace(table, **changes)


def _numbers_read(table: Table, answers: Answers) -> Table:
    """Numbers that mean yes, no or missing; words cannot occur."""
    data = table.data
    values = data.data if hasattr(data, "tocsr") else data
    meaning = {float(key): side for key, side in answers.given.items() if is_number(key)}
    note = ""
    if answers.numbers and not (set(meaning.values()) - {""}) and values.dtype.kind != "b":
        seen = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        seen = seen[~np.isin(seen, list(meaning))] if meaning else seen
        stored = not hasattr(data, "tocsr") or data.nnz == data.shape[0] * data.shape[1]
        if stored and seen.size and (seen == 2).any() and ((seen == 1) | (seen == 2)).all():
            meaning |= {1.0: "1", 2.0: "0"}
            note = " 1 is taken for yes and 2 for no; if it is the other way round, add --yes 2 --no 1."
    if not meaning:
        if answers.numbers:
            names = None if table.column_names is None else tuple(table.column_names)
            return dataclasses.replace(table, coding=Coding(names, ({"1": "1", "0": "0"},)))
        return table
    if hasattr(data, "tocsr") and meaning.get(0.0, "0") != "0":
        raise DataError(f"{table.source} is sparse: what it does not store is 0, which can only be no.")
    read = np.array(values, dtype=np.result_type(values.dtype, np.float32))
    for number, side in meaning.items():
        read[values == number] = float(side) if side else np.nan
    if hasattr(data, "tocsr"):
        data = data.astype(read.dtype)
        data.data = read
    else:
        data = read
    yes, gone = int((read == 1).sum()), int(np.isnan(read).sum())
    no = data.shape[0] * data.shape[1] - yes - gone
    notes = table.notes
    if set(meaning.values()) - {""}:
        notes = (*notes, f"{table.source}: read as yes and no: {yes} yes, {no} no, {gone} missing.{note}")
    names = None if table.column_names is None else tuple(table.column_names)
    words = {f"{number:.15g}": side for number, side in meaning.items()}
    return dataclasses.replace(table, data=data, notes=notes, coding=Coding(names, (words,)))
