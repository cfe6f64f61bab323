"""Rows of a JSON file: one on each line, or all in one value in the ways that programs write tables."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partwise.io.budget import spend
from partwise.io.errors import DataError
from partwise.io.text import open_text
from partwise.io.words import shorten

#: A row of a table: its number, counted from 1, and its cells by column. A bare string has the column "".
Rows = Iterator[tuple[int, dict[str, Any]]]


def json_rows(file: Path, source: str, encoding: str | None) -> Rows:
    """Objects or strings: one a line, or one list of them; or one object that holds a table.

    Tables in one object are those that pandas writes: columns as objects or lists, {"columns", "index", "data"}, and
    rows in a list beside others, as in {"schema", "data"}.

    Parameters
    ----------
    file : Path
        The file.
    source : str
        Its name in errors.
    encoding : str, optional
        Of its text.

    Yields
    ------
    tuple
        The number of a row, and its cells by column.
    """
    with open_text(file, source, encoding) as stream:
        begin = stream.read(1)
        while begin and begin.isspace():
            begin = stream.read(1)
        stream.seek(0)
        if begin != "[":
            first, second = itertools.islice(itertools.chain(filter(str.strip, stream), ("", "")), 2)
            stream.seek(0)
            if second and _is_json(first):
                yield from _lines(stream, source)
                return
        text = stream.read()
        spend(8 * len(text))
        try:
            whole = json.loads(text)
        except ValueError as error:
            if begin == "[":
                raise DataError(f"{source} is not valid JSON: {error}.") from error
            stream.seek(0)
            yield from _lines(stream, source)
            return
    rows = whole if isinstance(whole, list) else _table(whole)
    if rows is None:
        yield 1, _row(whole, source, "line 1")
        return
    yield from ((number, _row(one, source, f"entry {number}")) for number, one in enumerate(rows, 1))


def _lines(stream: Any, source: str) -> Rows:
    """One value on each line."""
    for number, line in enumerate(stream, 1):
        if line.strip():
            try:
                one = json.loads(line)
            except ValueError as error:
                raise DataError(
                    f"{source}: line {number} is not valid JSON: {error}. Give an object on each line, or one "
                    "list of objects."
                ) from error
            yield number, _row(one, source, f"line {number}")


def _is_json(text: str) -> bool:
    """Whether the text is valid JSON by itself."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _table(whole: Any) -> list[Any] | None:
    """The rows of a table that is one object; None where the object is a row itself."""
    if not isinstance(whole, dict) or not whole:
        return None
    names, data = whole.get("columns"), whole.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, names), row)) for row in data]
    lists = [value for value in whole.values() if isinstance(value, list)]
    of_objects = [value for value in lists if value and all(isinstance(one, dict) for one in value)]
    if len(of_objects) == 1:
        return of_objects[0]
    columns = list(whole.values())
    if all(isinstance(column, dict) for column in columns):
        keys = list(dict.fromkeys(key for column in columns for key in column))
        return [{name: column.get(key) for name, column in whole.items()} for key in keys]
    if len(lists) == len(columns) and len({len(column) for column in lists}) == 1:
        return [dict(zip(whole, row)) for row in zip(*columns)]
    return None


def _row(one: Any, source: str, where: str) -> dict[str, Any]:
    if isinstance(one, dict):
        return one
    if isinstance(one, str):
        return {"": one}
    raise DataError(f"{source}: {where} is {shorten(json.dumps(one))}, neither an object nor a string.")
