"""Rows of a table of texts, as dicts by column: .csv, .tsv, JSON, .parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from partwise.domains.json_rows import Rows, json_rows
from partwise.io.errors import DataError
from partwise.io.text import find_delimiter, open_text, records
from partwise.io.words import shorten

JSON_FILES = (".jsonl", ".ndjson", ".json")


def rows_of(file: Path, source: str, encoding: str | None, wanted: list[str]) -> Rows | None:
    """The rows of a table; None where the name of the file is not one of a table.

    Parameters
    ----------
    file : Path
        The file.
    source : str
        Its name in errors.
    encoding : str, optional
        Of its text.
    wanted : list of str
        Columns that are asked for, where the format can leave others unread.

    Returns
    -------
    iterator or None
        The number of each row and its cells by column.
    """
    name = file.name.lower().removesuffix(".gz")
    if is_text_table(file):
        return _table_rows(file, source, encoding)
    if name.endswith(JSON_FILES):
        return json_rows(file, source, encoding)
    if name.endswith(".parquet"):
        return _parquet_rows(file, source, wanted)
    return None


def is_text_table(file: Path) -> bool:
    """Whether a file is a table whose first line names its columns, by its ending.

    Parameters
    ----------
    file : Path
        The file.

    Returns
    -------
    bool
        True for .csv and .tsv, also compressed.
    """
    return file.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def columns_of(file: Path, encoding: str | None = None) -> list[str]:
    """The names of the columns of a table of texts, by its first row; none for other files and damaged ones.

    Parameters
    ----------
    file : Path
        The file.
    encoding : str, optional
        Of its text.

    Returns
    -------
    list of str
        Names.
    """
    from partwise.io.budget import limited

    try:
        with limited(str(file)):
            rows = rows_of(file, str(file), encoding, [])
            first = next(rows, (0, {})) if rows is not None else (0, {})
    except (DataError, UnicodeDecodeError, OSError):
        return []
    return [str(name) for name in first[1]]


def _table_rows(file: Path, source: str, encoding: str | None) -> Rows:
    """The rows of a text table by the names in its first."""
    header: list[str] | None = None
    with _long_cells(), open_text(file, source, encoding) as stream:
        for number, cells in records(stream, find_delimiter(file, source, encoding), source):
            if header is None:
                header = [cell.strip() for cell in cells]
                continue
            if len(cells) == 1 and not cells[0].strip() and len(header) > 1:
                continue
            if len(cells) != len(header):
                raise DataError(
                    f"{source}: row {number} has {len(cells)} cells, and the first row names {len(header)} columns. "
                    "Texts with commas or line ends in them must stand in quotes."
                )
            yield number - 1, dict(zip(header, cells))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells of a table be as long as documents are; by default Python refuses those above 128 KiB."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _parquet_rows(file: Path, source: str, wanted: list[str]) -> Rows:
    """The rows of a .parquet file, read in batches; only the columns that are asked for, if any are."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise DataError('Reading .parquet needs pyarrow: pip install "partwise[tables]"') from error
    try:
        with parquet.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            some = wanted if wanted and set(wanted) <= set(names) else None
            number = 0
            for batch in opened.iter_batches(batch_size=1024, columns=some):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (DataError, MemoryError, GeneratorExit):
        raise
    except Exception as error:  # pyarrow raises its own kinds, OSError and, on damaged pages, others
        raise DataError(f"{source} is not a readable .parquet file: {shorten(str(error), 120)}.") from error
