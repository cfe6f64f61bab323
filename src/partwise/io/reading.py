"""read: a data file of any known format, chosen by its extension, as a Table."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from partwise.io.budget import limited
from partwise.io.errors import DataError
from partwise.io.readers import Reader, find_reader, known_suffixes, listed
from partwise.io.table import Table


def read(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    header: bool | None = None,
    row_names: bool | None = None,
    stack: bool = False,
) -> Table:
    """Return the matrix in a data file, with the names of its rows and columns where it has them.

    The extension says the format: .csv, .tsv, .txt (each also with .gz), .npy, .npz, .mtx, .mtx.gz, .parquet,
    .h5ad, and those that were added with :func:`register_reader`. Sparse formats come back as CSR, text tables as
    float64 with NaN for missing cells. Columns of text are set aside: see :class:`Table`.

    Parameters
    ----------
    path : str or path-like
        The file.
    key : str, optional
        The array of a .npz, or the layer of an .h5ad.
    header, row_names : bool, optional
        Whether the first row and the first column of a text table hold names; None finds out.
    stack : bool, default=False
        Whether arrays of more than two dimensions are taken, as a stack of items along the first: each item
        becomes one row and ``meta["shape"]`` keeps its shape. Only .npy and .npz hold such arrays.

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
    file = Path(source)
    require_file(file, source)
    suffix, reader = _reader(file, source)
    _require_options(reader, source, key, header, row_names)
    given: dict[str, Any] = {"key": key, "header": header, "row_names": row_names, "stack": stack}
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
    return table


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


def _require_options(
    reader: Reader, source: str, key: str | None, header: bool | None, row_names: bool | None
) -> None:
    """Raise DataError for an option that was given but that the reader does not take."""
    if key is not None and "key" not in reader.options:
        files = listed(known_suffixes("key"), "and")
        raise DataError(f"{source}: key='{key}' only applies to {files} files. Leave key out.")
    for name, value in (("header", header), ("row_names", row_names)):
        if value is not None and name not in reader.options:
            files = listed(known_suffixes(name), "and")
            raise DataError(
                f"{source}: header and row_names only apply to text tables ({files}). Leave them out."
            )
