"""Reading .parquet with pyarrow, which is an optional package (the extra "tables")."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.budget import left, spend
from partwise.io.cells import Reading, Rows
from partwise.io.choice import may_name_rows, names_rows, tells_rows_apart
from partwise.io.decimals import with_comma
from partwise.io.delimited import table_of_cells
from partwise.io.errors import DataError
from partwise.io.layout import holds_text, number
from partwise.io.table import Table, numeric_matrix
from partwise.io.words import free_name, only_text, set_aside, shorten, text_column

#: Numbers in a table that is too large for a survey.
_LARGE = 1_000_000


def read_parquet(path: Path, source: str, reading: Reading | None = None) -> Table:
    """Return the numbers of a .parquet file; a stored index, ids or a first text column name the rows."""
    from pyarrow import parquet

    try:
        # ParquetFile, not read_table: the latter would add columns for folders named like "year=2020".
        with parquet.ParquetFile(path) as file:
            words = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # Text as numbers of words: a file may say the same long text of every row.
        with parquet.ParquetFile(path, read_dictionary=words) as file:
            table = _read(file)
        named = any(names_rows(field.name) or may_name_rows(field.name) for field in table.schema)
        # Cells are looked at one by one only where they may be answers.
        large = table.num_rows * table.num_columns > _LARGE
        plain = reading is None or (reading.guesses and large and not words and not named)
        if reading is not None and reading.acts and not plain:
            return table_of_cells(_rows(table, reading.decimal == ","), source, True, None, reading)
        return _from_arrow(table, source, () if reading is None else reading.aside)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # pyarrow raises its own kinds, OSError and, on damaged pages, others
        raise DataError(
            f"{source} is not a readable .parquet file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; write it again."
        ) from error


def _read(file: Any) -> Any:
    """The table, read in batches so that what comes out of its pages is counted as it comes."""
    import pyarrow as pa

    width = max(1, len(file.schema_arrow))
    spend(8 * file.metadata.num_rows)
    batches = []
    for batch in file.iter_batches(batch_size=max(1, min(1 << 16, left() // (64 * width)))):
        spend(batch.nbytes)
        batches.append(batch)
    return pa.Table.from_batches(batches, file.schema_arrow)


def _from_arrow(table: Any, source: str, aside: Container[str]) -> Table:
    names = list(table.column_names)
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    data = [place for place in range(len(names)) if place not in index]
    told: tuple[str, ...] = ()
    if not index and len(data) > 1:
        index, told = _find_id(table, names, source, aside)
        data = [place for place in data if place not in index]
    if not index and len(data) > 1 and _is_text(table.column(data[0]).type):
        index = [data.pop(0)]
    if not data or table.num_rows == 0:
        raise DataError(
            f"{source} is empty: {table.num_rows} rows and {len(data)} columns of data. "
            "Give a table with numbers in it."
        )
    text, noted = _take_text(table, names, data, source, aside)
    # Once as columns, once as the matrix.
    spend(16 * table.num_rows * len(data))
    columns = [_numbers(table.column(place), names[place], source) for place in data]
    matrix = np.empty((table.num_rows, len(columns)), dtype=np.result_type(*columns))
    for place, column in enumerate(columns):
        matrix[:, place] = column
    corner = names[index[0]] if len(index) == 1 else ""
    return Table(
        numeric_matrix(matrix, source),
        [" / ".join(row) for row in zip(*(_strings(table.column(place)) for place in index))]
        if index
        else None,
        [str(names[place]) for place in data],
        source,
        text=text,
        # pandas makes up such a name for an index that has none.
        corner="" if corner.startswith("__index_level_") else corner,
        notes=(*told, *noted),
    )


def _find_id(
    table: Any, names: list[str], source: str, aside: Container[str]
) -> tuple[list[int], tuple[str, ...]]:
    """The place of the column that tells rows apart, as one of a text table would; and the note on it."""
    for place, name in enumerate(names):
        if (names_rows(name) or may_name_rows(name)) and name not in aside:
            why = tells_rows_apart(name, _strings(table.column(place)), place == 0)
            if why is not None:
                return [place], (f"{source}: column '{name}' names the rows{why}.",)
    return [], ()


def _rows(table: Any, commas: bool) -> Rows:
    """The table as rows of cells, its stored index first, under a header; numbers with a comma where asked for."""
    names = list(table.column_names)
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in stored if isinstance(name, str) and name in names]
    order = [*index, *(name for name in names if name not in index)]
    header = ["" if name.startswith("__index_level_") else name for name in order]
    columns = [_strings(table.column(name)) for name in order]
    for place, name in enumerate(order):
        if commas and not _is_text(table.column(name).type):
            columns[place] = list(map(with_comma, columns[place]))
    return lambda: enumerate([header, *map(list, zip(*columns))], start=1)


def _take_text(
    table: Any, names: list[str], data: list[int], source: str, aside: Container[str]
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Take the columns of text out of ``data``, the list of places; return them, and the note on them.

    A column of strings that are mostly numbers, but not all, is one of numbers with a typing error, unless its name
    is ``aside``.
    """
    text: dict[str, list[str]] = {}
    places = [place for place in data if _is_text(table.column(place).type)]
    for place in places:
        cells = _strings(table.column(place))
        words = [row for row, cell in enumerate(cells) if number(cell) is None]
        if words and names[place] not in aside and not holds_text(cells):
            raise DataError(text_column(source, names[place], place, cells[words[0]], words[0] + 1))
        if len(places) == len(data):
            row = words[0] if words else 0
            raise DataError(only_text(source, names[place], place, cells[row], row + 1))
        text[free_name(names[place], place, text)] = cells
    data[:] = [place for place in data if place not in places]
    return text, set_aside(source, list(text))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _numbers(column: Any, name: str, source: str) -> np.ndarray[Any, Any]:
    """One arrow column as numbers, nulls as NaN; raises DataError when it holds something else."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(
            f"{source}: column '{name}' holds values of type {kind}, which are not numbers. "
            "Remove the column or replace it with numbers."
        )
    array: np.ndarray[Any, Any] = column.to_numpy()
    return array


def _strings(column: Any) -> list[str]:
    """The cells as text; those that share a word of a dictionary share the string."""
    import pyarrow as pa

    spend(64 * len(column))
    if not pa.types.is_dictionary(column.type):
        spend(column.nbytes)
        return ["" if value is None else str(value) for value in column.to_pylist()]
    cells: list[str] = []
    for chunk in column.chunks:
        words = ["" if word is None else str(word) for word in chunk.dictionary.to_pylist()]
        cells += ["" if place is None else words[place] for place in chunk.indices.to_pylist()]
    return cells
