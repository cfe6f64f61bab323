"""The formats of data files: one entry for each reader, chosen by how the file's name ends.

To add a format, write a file with its reader and add an entry to ``_readers`` below; another package calls
``register_reader`` instead. ``read``, its errors and the help of the command line follow from these entries.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwise.plugins import load_plugins

if TYPE_CHECKING:
    from partwise.io.table import Table

OPTIONS = ("key", "header", "row_names", "stack", "encoding", "reading")
_SUFFIX = re.compile(r"(\.[a-z0-9_-]+)+")


@dataclass(frozen=True)
class Reader:
    """How files of one format are read.

    Parameters
    ----------
    suffixes : tuple of str
        The endings of file names, in lower case and with their dot: ``(".csv", ".csv.gz")``.
    function : callable or str
        Called as ``function(path, source, **options)`` with the ``pathlib.Path`` of the file, the path as the user
        wrote it (for error sentences) and the options named below; returns a :class:`Table` or raises
        :class:`DataError`. A string "module:name" is imported when the first such file is read.
    options : tuple of str, default=()
        Which options of ``read`` the function takes, of "key", "header", "row_names", "stack" and "encoding";
        "reading" if it sees to the columns and the meaning of cells by itself, as
        ``partwise.io.delimited.table_of_cells`` does. For others ``read`` does it, on numbers alone.
    package : str, optional
        The package that the function imports and that may not be installed. An ImportError becomes a sentence
        that names it.
    extra : str, optional
        The extra of partwise that installs ``package``; without it the sentence says ``pip install package``.
    """

    suffixes: tuple[str, ...]
    function: Callable[..., Table] | str
    options: tuple[str, ...] = ()
    package: str | None = None
    extra: str | None = None

    def load(self) -> Callable[..., Table]:
        """The function, imported if it was given by name.

        Returns
        -------
        callable
            The function.
        """
        if not isinstance(self.function, str):
            return self.function
        module, _, name = self.function.partition(":")
        function: Callable[..., Table] = getattr(importlib.import_module(module), name)
        return function


# Functions are named rather than imported: the help of the command line lists the formats without loading numpy.
_readers: list[Reader] = [
    Reader(
        (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"),
        "partwise.io.delimited:read_delimited",
        ("header", "row_names", "encoding", "reading"),
    ),
    Reader((".npy",), "partwise.io.npz:read_npy_file", ("stack",)),
    Reader((".npz",), "partwise.io.npz:read_npz_file", ("key", "stack")),
    Reader((".mtx", ".mtx.gz"), "partwise.io.market:read_market"),
    Reader((".parquet",), "partwise.io.parquet:read_parquet", ("reading",), "pyarrow", "tables"),
    Reader((".h5ad",), "partwise.io.h5ad:read_h5ad", ("key",), "anndata", "tables"),
    Reader(
        (".xlsx",),
        "partwise.io.excel:read_excel",
        ("key", "header", "row_names", "reading"),
        "openpyxl",
        "surveys",
    ),
    Reader((".sav",), "partwise.io.spss:read_spss", ("reading",), "pyreadstat", "surveys"),
]


def register_reader(reader: Reader) -> Reader:
    """Let ``read`` and the command line read one more format.

    Parameters
    ----------
    reader : Reader
        The entry of the format. Where all its suffixes are those of an entry whose function has the same module
        and name, it replaces that entry, so that a module may be imported again.

    Returns
    -------
    reader : Reader
        The entry that was given.

    Raises
    ------
    ValueError
        If a suffix has no leading dot or is not in lower case, if it belongs to another reader, or if an option
        is not one of those that ``read`` has.
    """
    if isinstance(reader.suffixes, str) or not reader.suffixes:
        raise ValueError(f"suffixes must be a tuple such as ('.xyz',); got {reader.suffixes!r}.")
    for suffix in reader.suffixes:
        if not _SUFFIX.fullmatch(suffix):
            raise ValueError(
                f"A suffix is a dot and lower-case letters or digits, as '.xyz'; got {suffix!r}."
            )
    unknown = [option for option in reader.options if option not in OPTIONS]
    if unknown:
        raise ValueError(f"Readers take the options {', '.join(OPTIONS)}; got {unknown[0]!r}.")
    for held in list(_readers):
        taken = set(held.suffixes) & set(reader.suffixes)
        if taken and (_home(held) != _home(reader) or held.suffixes != reader.suffixes):
            raise ValueError(f"{min(taken)} files are already read by {_home(held)}; choose another suffix.")
        if taken:
            _readers.remove(held)
    _readers.append(reader)
    return reader


def find_reader(name: str) -> tuple[str, Reader] | None:
    """Return the longest known suffix that the file name ends in and its reader, or None."""
    # Always, not only where nothing is found: a longer suffix of an installed package goes first.
    load_plugins()
    lower = name.lower()
    found = [(suffix, reader) for reader in _readers for suffix in reader.suffixes if lower.endswith(suffix)]
    return max(found, key=lambda pair: len(pair[0]), default=None)


def known_suffixes(option: str | None = None) -> list[str]:
    """Return the suffixes of all readers, or of those that take ``option``."""
    return [
        suffix
        for reader in _readers
        for suffix in reader.suffixes
        if option is None or option in reader.options
    ]


def listed(suffixes: list[str], word: str = "or") -> str:
    """Return the suffixes for a sentence, ".csv, .tsv or .npy", without the compressed form of others."""
    plain = [suffix for suffix in suffixes if suffix.removesuffix(".gz") not in set(suffixes) - {suffix}]
    return f" {word} ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else "".join(plain)


def _home(reader: Reader) -> str:
    if isinstance(reader.function, str):
        return reader.function
    return f"{reader.function.__module__}:{reader.function.__qualname__}"
