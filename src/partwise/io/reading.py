"""read: a data file of any known format, chosen by its extension, as a Table."""

from __future__ import annotations

import dataclasses
import difflib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from partwise.io.answer_cells import Answers
from partwise.io.budget import limited, spend
from partwise.io.cells import Reading
from partwise.io.choice import separate_names
from partwise.io.coding import Coding
from partwise.io.errors import DataError
from partwise.io.missing_codes import told_missing_codes
from partwise.io.numeric import applied, chosen_columns, transposed
from partwise.io.readers import Reader, find_reader, known_suffixes, listed
from partwise.io.row_numbers import told_row_numbers
from partwise.io.table import Table
from partwise.io.text import MAGIC


def read(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    header: bool | None = None,
    row_names: bool | None = None,
    stack: bool = False,
    yes_no: bool | Literal["words", "answers"] = False,
    yes: str | float | Sequence[str | float] = (),
    no: str | float | Sequence[str | float] = (),
    missing: str | float | Sequence[str | float] = (),
    id: str | None = None,
    drop: str | Sequence[str] = (),
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    transpose: bool = False,
    skip: int = 0,
    numbers: bool = False,
    aside: str | Sequence[str] = (),
    coding: Coding | None = None,
) -> Table:
    """Return the matrix in a data file, with the names of its rows and columns where it has them.

    The extension says the format: .csv, .tsv, .txt (each also with .gz), .npy, .npz, .mtx, .mtx.gz, .parquet,
    .h5ad, .xlsx, .sav, and those that were added with :func:`register_reader`. Sparse formats come back as CSR, text
    tables as float64 with NaN for missing cells. Columns of text are set aside: see :class:`Table`.

    Parameters
    ----------
    path : str or path-like
        The file; "-" is standard input, text unless ``format`` says otherwise.
    key : str, optional
        The array of a .npz, the layer of an .h5ad (or "raw"), or the sheet of an .xlsx.
    header, row_names : bool, optional
        Whether the first row and the first column of a text table hold names; None finds out. A row of numbers
        is found to do so where they are ids, far larger than all below, or count 0, 1, 2, …; a note says so.
    stack : bool, default=False
        Whether arrays of more than two dimensions are taken, as a stack of items along the first: each item
        becomes one row and ``meta["shape"]`` keeps its shape. Only .npy and .npz hold such arrays.
    yes_no : bool or "words", default=False
        Whether the table is one of yes and no: words for them in many languages, + and −, x and nothing, 1 and 2
        become 1 and 0, and a note says what was read as what. With "words", numbers stay what they are. With
        "answers", 1 and 2 are read so in a table with names of columns that has no other numbers; what is no answer
        stays a number or text.
    yes, no, missing : str, number or sequence of them, default=()
        Further cells that mean this, "" for empty cells; case and accents do not count.
    id : str, optional
        The column that names the rows. If it is not given, a column with a name such as "id" or "respondent" and with
        unique values is taken.
    drop, columns : str or sequence of str, optional
        Columns to leave out, and columns to read: names, or names with commas between them. With ``coding``, one
        to leave out need not be there.
    format : str, optional
        An extension, as "csv", that is used instead of that of the file.
    encoding : str, optional
        Of a text table, as "latin-1"; UTF-8 or, with a byte order mark, UTF-16, if it is not given.
    decimal : {".", ","}, optional
        What stands before the decimals of a number in text; a point if it is not given. With a comma, points stand
        between thousands: 1.234 is 1234, and 12.5 is an error.
    transpose : bool, default=False
        Whether samples are the columns of the file and features its rows. ``id`` then names the column of the file
        that names the features; ``columns`` and ``drop`` name features;
        ``drop`` also takes columns of the file that are none of them.
    skip : int, default=0
        Rows to leave out above the table. A title (text in one cell alone, above the names of columns) is found
        without it.
    numbers : bool, default=False
        Whether, with ``yes_no="answers"``, 1 and 2 stay numbers.
    aside : str or sequence of str, default=()
        Columns, such as labels, whose cells are not read as yes and no, and which may have words beside numbers.
    coding : Coding, optional
        ``table.coding`` of another file, to be read like it: only its columns are looked at, where they have names,
        and their cells mean the same. Cells that it does not know are an error. Options given here go before it.

    Returns
    -------
    Table
        The matrix, its names, and what the file has beside it.

    Raises
    ------
    DataError
        With a sentence to act on, for any file that cannot be read so.
    """
    source = os.fspath(path)
    name = source if format is None else f".{format.lstrip('.').lower()}"
    said: dict[str, Any] = {
        "key": key,
        "encoding": encoding,
        "decimal": decimal,
        "transpose": transpose or None,
        "header": header,
    }
    used = {option: value for option, value in said.items() if value is not None}
    if coding is not None:
        used = {**applicable(coding.options, name), **used}
    if used.get("decimal", ".") not in (".", ","):
        raise DataError(f"decimal must be '.' or ','; got '{used['decimal']}'.")
    if skip < 0:
        raise DataError(f"skip must be a number of rows; got {skip}.")
    codes = yes_no == "answers" and not numbers
    answers = Answers(_several(yes), _several(no), _several(missing), bool(yes_no), yes_no is True, codes)
    chosen = None if columns is None else _several(columns)
    turned = bool(used.get("transpose"))
    reading = Reading(
        answers,
        id,
        () if turned else _several(drop),
        None if turned else chosen,
        used.get("decimal", "."),
        _several(aside),
        skip,
        _several(drop) if turned else (),
        dataclasses.replace(coding, columns=None) if coding is not None and turned else coding,
        turned,
    )
    given: dict[str, Any] = {
        "key": used.get("key"),
        "header": used.get("header"),
        # Rows of such a file are features, and the first column is their names rather than one of numbers.
        "row_names": row_names,
        "stack": stack,
        "encoding": used.get("encoding"),
        "reading": reading,
    }
    table = _open(source, format, given)
    if yes_no == "answers" and coding is None and not turned:
        table = _doubted(table, asked=chosen is not None)
    kept = {option: value for option, value in used.items() if value not in (None, ".")}
    if table.corner or id is not None:
        kept["id"] = table.corner or id
    before = () if coding is None else coding.options.get("drop", ())
    if before or drop:
        kept["drop"] = list(dict.fromkeys([*before, *_several(drop)]))
    if turned:
        table = _turned(table, _several(drop), chosen, coding)
    return dataclasses.replace(table, coding=dataclasses.replace(table.coding or Coding(), options=kept))


def _turned(
    table: Table, drop: tuple[str, ...], columns: tuple[str, ...] | None, coding: Coding | None
) -> Table:
    """The transposed table with the chosen columns; what was left out of the file need not be dropped again."""
    gone = table.meta.get("left_out", ())
    meta = {name: value for name, value in table.meta.items() if name != "left_out"}
    table = transposed(dataclasses.replace(table, meta=meta))
    left = separate_names(drop, {*gone, *(table.column_names or ())})
    left = [name for name in left if name not in gone]
    return chosen_columns(table, Reading(drop=tuple(left), columns=columns, coding=coding))


def _doubted(table: Table, asked: bool) -> Table:
    """The table with notes on what its numbers may be instead; where columns were ``asked`` for, they are data."""
    notes = () if asked else told_row_numbers(table)
    if not any("marks missing answers" in note for note in table.notes):
        notes += told_missing_codes(table)
    return dataclasses.replace(table, notes=(*table.notes, *notes))


def applicable(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The options of a coding that a file of this name has.

    A table of text has no layers, and an .h5ad is observations × variables, however the file of the coding stood.

    Parameters
    ----------
    options : mapping
        Of a `Coding`.
    name : str
        Of the file, or its extension.

    Returns
    -------
    dict
        Some of the options.
    """
    found = find_reader(name)
    takes = (*found[1].options, "decimal", "transpose") if found else ()
    if found and found[0] == ".h5ad":
        takes = found[1].options
    return {option: value for option, value in options.items() if option in takes and option != "id"}


def _open(source: str, format: str | None, given: dict[str, Any]) -> Table:
    """Read a file, or standard input."""
    if source == "-":
        suffix = f".{(format or 'txt').lstrip('.').lower()}"
        with standard_input(suffix, format is None) as file:
            return _read(file, "stdin", suffix, given)
    file = Path(source)
    require_file(file, source)
    return _read(file, source, file.name if format is None else f".{format.lstrip('.').lower()}", given)


def _read(file: Path, source: str, name: str, given: dict[str, Any]) -> Table:
    """Read a file as one of this name is read."""
    suffix, reader = _reader(Path(name), source)
    _require_options(reader, source, given)
    try:
        with limited(source):
            table = reader.load()(file, source, **{option: given[option] for option in reader.options})
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror or error}.") from error
    except ImportError as error:
        if reader.package is None:
            raise
        install = reader.package if reader.extra is None else f'"partwise[{reader.extra}]"'
        raise DataError(f"Reading {suffix} needs {reader.package}: pip install {install}") from error
    if not isinstance(table, Table):
        raise TypeError(f"The reader of {suffix} files returned a {type(table).__name__}, not a Table.")
    return table if "reading" in reader.options else applied(table, given["reading"])


def _several(given: Any) -> tuple[str, ...]:
    """What was given as texts; a single text or number is a list of one, and 9.0 is the cell 9."""
    words = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    return tuple(map(_cell_of, words))


def _cell_of(value: Any) -> str:
    """A number as a cell holds it, whole ones without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def open_standard_input() -> IO[bytes]:
    """Standard input as bytes; a `DataError` where the program was started without one."""
    if sys.stdin is None:
        raise DataError(
            "stdin is closed, so there is nothing to read from '-'. Give a file, or pipe data in."
        )
    return sys.stdin.buffer


@contextmanager
def standard_input(suffix: str, is_text: bool) -> Iterator[Path]:
    """Standard input as a file that can be read more than once, deleted afterwards."""
    source = open_standard_input()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"stdin{suffix}"
        with limited("stdin"), file.open("wb") as copy:
            while block := source.read(1 << 20):
                spend(len(block))
                copy.write(block)
        with file.open("rb") as copy:
            if is_text and copy.read(8).startswith(tuple(MAGIC)):
                raise DataError(
                    "stdin is not a text table. Say what it is, as --format npz or --format xlsx."
                )
        yield file


def require_file(file: Path, source: str) -> None:
    """Raise DataError, with a sentence, unless ``file`` is a file on disk."""
    if file.is_dir():
        raise DataError(f"{source} is a folder. Give the path of one data file in it.")
    if file.is_file():
        return
    if file.exists():
        # Opening a pipe waits for a writer that may never come, and a device may have no end.
        raise DataError(f"{source} is a pipe or a device, not a file. Write its content into a file first.")
    folder = file.parent
    if not folder.is_dir():
        raise DataError(f"{source}: no such file; the folder {folder} does not exist either.")
    try:
        there = os.listdir(folder)
    except OSError:
        there = []
    near = difflib.get_close_matches(file.name, there, n=3)
    near += [name for name in sorted(there) if name.split(".")[0] == file.name.split(".")[0]]
    hint = f" Did you mean {' or '.join(list(dict.fromkeys(near))[:3])}?" if near else " Check the path."
    raise DataError(f"{source}: no such file.{hint}")


def _reader(file: Path, source: str) -> tuple[str, Reader]:
    found = find_reader(file.name)
    if found is None:
        given = f"the extension {file.suffix}" if file.suffix else "no extension"
        raise DataError(
            f"{source} has {given}, which partwise does not read. It reads {', '.join(known_suffixes())}."
        )
    return found


def _require_options(reader: Reader, source: str, given: dict[str, Any]) -> None:
    """Raise DataError for an option that was given but that the reader does not take."""
    key = given["key"]
    if key is not None and "key" not in reader.options:
        files = listed(known_suffixes("key"), "and")
        raise DataError(
            f"{source}: --key {key} (in Python: key='{key}') only applies to {files} files. Leave it out."
        )
    for name in ("header", "row_names", "encoding"):
        if given[name] is not None and name not in reader.options:
            files = listed(known_suffixes(name), "and")
            raise DataError(f"{source}: {name} only applies to tables of text ({files}). Leave it out.")
