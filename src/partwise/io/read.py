"""read: a data file of any known format, chosen by its extension, as a Table."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from partwise.io.delimited import read_delimited
from partwise.io.errors import DataError
from partwise.io.frames import read_h5ad, read_parquet
from partwise.io.market import read_market
from partwise.io.npz import read_npy_file, read_npz_file
from partwise.io.table import Table

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_MARKET = (".mtx", ".mtx.gz")
KNOWN = (*_TEXT, ".npy", ".npz", *_MARKET, ".parquet", ".h5ad")


def read(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    header: bool | None = None,
    row_names: bool | None = None,
) -> Table:
    """Return the matrix in a data file, with the names of its rows and columns where it has them.

    The extension says the format: .csv, .tsv, .txt (each also with .gz), .npy, .npz, .mtx, .mtx.gz,
    .parquet, .h5ad. Sparse formats come back as CSR, text tables as float64 with NaN for missing cells.
    ``key`` names the array of a .npz or the layer of an .h5ad. In text tables ``header`` and
    ``row_names`` say whether the first row and the first column hold names; None finds out.
    Raises DataError, with a sentence to act on, for any file that cannot be read so.
    """
    source = os.fspath(path)
    file = Path(source)
    _require_file(file, source)
    suffix = _suffix(file, source)
    if key is not None and suffix not in (".npz", ".h5ad"):
        raise DataError(f"{source}: key='{key}' only applies to .npz and .h5ad files. Leave key out.")
    if (header is not None or row_names is not None) and suffix not in _TEXT:
        raise DataError(f"{source}: header and row_names only apply to text tables. Leave them out.")
    try:
        if suffix in _TEXT:
            return read_delimited(file, source, header, row_names)
        if suffix == ".npy":
            return read_npy_file(file, source)
        if suffix == ".npz":
            return read_npz_file(file, source, key)
        if suffix in _MARKET:
            return read_market(file, source)
        if suffix == ".parquet":
            return read_parquet(file, source)
        return read_h5ad(file, source, key)
    except OSError as error:
        raise DataError(f"{source} cannot be read: {error.strerror or error}.") from error


def _require_file(file: Path, source: str) -> None:
    if file.is_dir():
        raise DataError(f"{source} is a folder. Give the path of one data file in it.")
    if file.exists():
        return
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


def _suffix(file: Path, source: str) -> str:
    name = file.name.lower()
    for known in KNOWN:
        if name.endswith(known):
            return known
    given = f"the extension {file.suffix}" if file.suffix else "no extension"
    raise DataError(f"{source} has {given}, which partwise does not read. It reads {', '.join(KNOWN)}.")
