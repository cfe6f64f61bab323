"""Documents from files: a folder of texts, a column of a table, JSON lines, or the lines of a text."""

from __future__ import annotations

import codecs
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partwise.domains.letters import composed
from partwise.domains.text_rows import is_text_table, rows_of
from partwise.io.budget import limited, spend
from partwise.io.choice import names_rows
from partwise.io.errors import DataError
from partwise.io.reading import open_standard_input, standard_input
from partwise.io.text import broken_gzip, not_utf8, open_bytes, open_text
from partwise.io.words import MISSING, shorten

__all__ = ["Documents", "read_documents"]

#: Files of a folder that are documents.
TEXT_FILES = (".txt", ".text", ".md", ".txt.gz")
#: Columns that are taken for the documents of a table where none is named.
_USUAL = ("text", "document", "content", "body", "abstract", "message", "review", "comment")
#: Bytes that no text has, whatever its encoding: control characters but tab, line ends, form feed and escape.
_CONTROL = bytes(set(range(32)) - {9, 10, 12, 13, 27})


@dataclass
class Documents:
    """Texts, their names, and what was met while reading them.

    Parameters
    ----------
    texts : list of str
        One string for each document.
    names : list of str
        A path below the folder, an entry of the column of names, or "line6" and "row6", counted from 0 as everywhere.
    labels : list of str or None
        Labels, where a column or folders give them.
    source : str
        The file or folder.
    notes : list of str
        Sentences: what was skipped, what was guessed.
    column, id : str, optional
        The columns of a table that held the texts and the names.
    single : bool
        Whether the table has one column.
    blank : int
        Lines between documents that hold nothing, and were left out.
    """

    texts: list[str]
    names: list[str]
    source: str
    labels: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    column: str | None = None
    id: str | None = None
    single: bool = False
    blank: int = 0

    def add(self, text: str, name: str, label: str | None = None) -> None:
        """Add a document.

        Parameters
        ----------
        text : str
            What it says; is kept in composed form (NFC).
        name : str
            Its name.
        label : str, optional
            Its label.
        """
        spend(4 * len(text) + 200)
        self.texts.append(composed(text))
        self.names.append(name)
        if self.labels is not None:
            self.labels.append(label or "")


def read_documents(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    id: str | None = None,
    labels: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    watch: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Documents:
    """Read documents from a folder or a file.

    Parameters
    ----------
    path : str or path-like
        A folder, of which every .txt, .text, .md and .txt.gz file is a document, those of folders in it too; a .txt
        file, of which every line that is not blank is one; a .csv, .tsv, .jsonl, .json or .parquet file, of which
        every row is one. All but .parquet may be gz-compressed. "-" is standard input: a document a line or, where a
        column is named, a table (CSV or JSON lines).
    column : str, optional
        The column (or key) of the texts; needed where there are several columns and none has a usual name.
    id : str, optional
        The column that names the documents. If it is not given, a column called "id" or the like is taken if no two
        of its cells are the same.
    labels : str, optional
        The column of labels; for a folder, "folder": the folder that a text is in.
    encoding : str, optional
        Of the texts; UTF-8 (or, with a byte order mark, UTF-16) if it is not given. Files of a folder that are not
        UTF-8 are then read as Windows-1252, and a note says so.
    strict : bool, default=False
        Whether files that are no text are an error. Otherwise they are skipped, and a note lists them.
    watch : callable
        Passes files or rows on, for a progress bar.

    Returns
    -------
    Documents
        Texts, names, labels and notes.

    Raises
    ------
    DataError
        With a sentence to act on.
    """
    source = os.fspath(path)
    if source == "-" and not column is id is labels is None:
        with stdin_table() as file:
            return documents_of(file, "stdin", column, id, labels, encoding, strict, watch)
    return documents_of(Path(source), source, column, id, labels, encoding, strict, watch)


def documents_of(
    file: Path,
    source: str,
    column: str | None,
    id: str | None,
    labels: str | None,
    encoding: str | None,
    strict: bool,
    watch: Callable[[Iterable[Any]], Iterable[Any]],
) -> Documents:
    """As `read_documents`, for a file that has another name in notes and errors; "-" is the lines of stdin."""
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise DataError(f"There is no encoding '{encoding}'; try utf-8, latin-1 or cp1252.") from None
    found = Documents([], [], source, None if labels is None else [])
    with limited(source):
        try:
            if source == "-":
                _read_lines(_stdin_lines(encoding), found)
            elif file.is_dir():
                _read_folder(file, found, labels, encoding, strict, watch)
            else:
                _read_file(file, found, column, id, labels, encoding, watch)
        except UnicodeDecodeError as error:
            raise not_utf8(source, error) from error
        except (EOFError, zlib.error) as error:
            raise broken_gzip(source, error) from error
        except OSError as error:
            raise DataError(f"{source} cannot be read: {error.strerror or error}.") from error
    if not found.texts:
        raise DataError(f"{source} holds no documents: it is empty.")
    return found


def _read_file(
    file: Path,
    found: Documents,
    column: str | None,
    id: str | None,
    labels: str | None,
    encoding: str | None,
    watch: Callable[[Iterable[Any]], Iterable[Any]],
) -> None:
    if not file.exists():
        raise DataError(f"{found.source}: no such file or folder. Check the path.")
    # Without --id the other columns are looked at too: one of them may name the documents.
    wanted = [each for each in (column, id, labels) if each] if id else []
    rows = rows_of(file, found.source, encoding, wanted)
    if rows is None:
        if not file.name.lower().endswith(TEXT_FILES):
            raise DataError(
                f"{found.source}: texts are read from a folder of {', '.join(TEXT_FILES)} files, from a .txt file "
                "with a document on each line, and from .csv, .tsv, .jsonl, .json and .parquet files."
            )
        if column is not None or id is not None or labels is not None:
            raise DataError(
                f"{found.source} has a document on each line and no columns; leave out --column, --id and --labels."
            )
        with open_text(file, found.source, encoding) as stream:
            _read_lines(watch(stream), found)
        return
    _read_rows(watch(rows), found, column, id, labels)
    if column is id is labels is None and is_text_table(file):
        _question_header(found)


def _read_lines(lines: Iterable[str], found: Documents) -> None:
    """Every line that is not blank is a document; blank ones before the last are counted in a note."""
    first, blank = 0, 0
    for number, line in enumerate(lines):
        if line.strip():
            found.add(line.strip(), f"line{number}")
            found.blank = blank
        else:
            first, blank = first or number + 1, blank + 1
    if found.blank:
        which = f"line {first} is blank and was"
        if found.blank > 1:
            which = f"{found.blank} lines, the first of them line {first}, are blank and were"
        found.notes.append(f"{found.source}: {which} left out.")


@contextmanager
def stdin_table() -> Iterator[Path]:
    """Standard input as a file of a table, named by what it holds: .jsonl if it begins with a brace, else .csv."""
    with standard_input(".csv", is_text=True) as file:
        with file.open("rb") as stream:
            head = stream.read(1 << 10).removeprefix(codecs.BOM_UTF8).lstrip()
        yield file.rename(file.with_suffix(".jsonl")) if head.startswith((b"{", b"[{")) else file


def _stdin_lines(encoding: str | None) -> Iterator[str]:
    for line in open_standard_input():
        yield line.decode(encoding or "utf-8")


def _read_folder(
    folder: Path,
    found: Documents,
    labels: str | None,
    encoding: str | None,
    strict: bool,
    watch: Callable[[Iterable[Any]], Iterable[Any]],
) -> None:
    """Every text file is a document; what is no text is skipped and noted, or refused."""
    if labels not in (None, "folder"):
        raise DataError(
            f"Texts of a folder have no column '{labels}'; --labels folder takes the folder each is in."
        )
    files, others = _files_below(folder)
    if not files:
        besides = f"; it has {others} other files" if others else ""
        raise DataError(
            f"{found.source} has no texts: no file below it ends in {', '.join(TEXT_FILES)}{besides}. "
            "Name the texts .txt, or give a table with a column of texts."
        )
    if len(files) == 1:
        raise DataError(
            f"{found.source} has one text, {files[0].name}, and topics are found by comparing several. "
            f"If each line of it is a document, give the file itself: {files[0]}"
        )
    skipped, guessed = [], []
    for file in watch(files):
        name = file.relative_to(folder).as_posix()
        try:
            text, sure = _decoded(file, encoding)
        except (DataError, UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
            reason = "cannot be decoded" if isinstance(error, UnicodeDecodeError) else _reason(error)
            if strict:
                raise DataError(
                    f"{file} is not readable text: it {reason}. "
                    "Remove it, say --encoding, or leave out --strict to skip it."
                ) from error
            skipped.append(f"{name} ({reason})")
            continue
        if not sure:
            if strict:
                raise DataError(f"{file} is not UTF-8 text. Say how it is encoded, as --encoding cp1252.")
            guessed.append(name)
        found.add(text, name, file.parent.relative_to(folder).as_posix())
    if others:
        found.notes.append(
            f"{found.source}: files that do not end in {', '.join(TEXT_FILES)} were left alone; there are {others}."
        )
    if skipped:
        found.notes.append(f"{found.source}: skipped as no text, {len(skipped)} in all: {_listed(skipped)}.")
    if guessed:
        found.notes.append(
            f"{found.source}: not UTF-8, and read as Windows-1252 (--encoding names another), {len(guessed)} in all: "
            f"{_listed(guessed)}."
        )


def _files_below(folder: Path) -> tuple[list[Path], int]:
    """The texts below a folder, sorted, and the number of other files; hidden files and folders do not count."""
    texts, others = [], 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            if name.lower().endswith(TEXT_FILES):
                texts.append(Path(place) / name)
            else:
                others += 1
    return texts, others


def _decoded(file: Path, encoding: str | None) -> tuple[str, bool]:
    """A text, and whether its encoding is known rather than guessed; DataError for what is no text."""
    with open_bytes(file) as stream:
        raw = stream.read()
    spend(len(raw))
    if encoding is not None:
        return raw.decode(encoding), True
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16"), True
    head = raw[: 1 << 16]
    if b"\0" in head:
        raise DataError("holds binary data")
    try:
        return raw.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        # Hardly any text has control characters, and hardly any other data have none.
        if len(head.translate(None, _CONTROL)) < 0.99 * len(head):
            raise DataError("holds binary data") from None
        return raw.decode("cp1252", "replace"), False


def _reason(error: BaseException) -> str:
    if isinstance(error, DataError):
        return str(error)
    return (
        "is damaged"
        if isinstance(error, EOFError | zlib.error)
        else f"cannot be read: {getattr(error, 'strerror', None) or error}"
    )


def _read_rows(
    rows: Iterable[tuple[int, dict[str, Any]]],
    found: Documents,
    column: str | None,
    id: str | None,
    labels: str | None,
) -> None:
    """One document from each row; cells that are missing, as in any table, are documents without words."""
    chosen: str | None = None
    empty = 0
    usual: str | None = None
    names: list[str] = []
    for number, row in rows:
        if chosen is None:
            chosen = _column_of(row, column, found)
            found.column, found.id, found.single = chosen or None, id, len(row) == 1
            others = [name for name in row if name not in (chosen, labels)]
            usual = None if id is not None else next((name for name in others if names_rows(str(name))), None)
            for wanted, option in ((id, "--id"), (labels, "--labels")):
                if wanted is not None and wanted not in row:
                    raise DataError(
                        f"{found.source} has no column '{shorten(wanted)}' for {option}. It has {_columns(row)}."
                    )
        if chosen and "" in row and len(row) == 1:
            raise DataError(
                f"{found.source}: row {number} is a bare string, where the first row has named values."
            )
        text = row.get(chosen or "")
        missing = text is None or text != text or str(text).strip() in MISSING
        empty += missing
        name = row.get(id) if id is not None else None
        label = row.get(labels) if labels is not None else None
        if usual is not None:
            names.append("" if row.get(usual) is None else str(row[usual]).strip())
        found.add(
            "" if missing else str(text),
            f"row{number - 1}" if name is None else str(name),
            "" if label is None else str(label),
        )
    if usual is not None and "" not in names and len(set(names)) == len(names):
        found.names, found.id = names, usual
        found.notes.append(f"{found.source}: column '{shorten(usual)}' names the documents.")
    if empty:
        rows_have = "1 row has" if empty == 1 else f"{empty} rows have"
        found.notes.append(
            f"{found.source}: {rows_have} no text (empty, NA, None or the like); such documents have no words."
        )


def _question_header(found: Documents) -> None:
    """Say that the first line of a table with one column names it; where it occurs again it is a document."""
    header = found.column
    if header is None or not found.single or header.lower() in _USUAL:
        return
    first = composed(header)
    if first in (text.strip() for text in found.texts):
        found.texts.insert(0, first)
        found.names = [f"row{number}" for number in range(len(found.texts))]
        found.column = None
        found.notes.append(
            f"{found.source}: the first line, '{shorten(header)}', occurs again below, so it is a text and no name "
            "of the column (--column, in `transform` --columns, says that it is one)."
        )
        return
    found.notes.append(
        f"{found.source}: the texts are those of the column '{shorten(header)}', its first line. If that is a text "
        "too, put a line with a name, as text, before it, or let the file's name end in .txt."
    )


def _column_of(row: dict[str, Any], column: str | None, found: Documents) -> str | None:
    """The key of the texts: the one named, the only one, or one of a usual name (which is noted)."""
    if column is not None:
        if column not in row:
            raise DataError(f"{found.source} has no column '{shorten(column)}'. It has {_columns(row)}.")
        return column
    if len(row) == 1:
        return next(iter(row))
    usual = [name for name in row if str(name).strip().lower() in _USUAL]
    if len(usual) != 1:
        raise DataError(
            f"Which column of {found.source} are the texts? Name it (--column in `topics`, --columns in "
            f"`transform`); it has {_columns(row)}."
        )
    found.notes.append(
        f"{found.source}: the texts are those of the column '{usual[0]}' (--column, in `transform` --columns, "
        "names another)."
    )
    return usual[0]


def _columns(row: dict[str, Any]) -> str:
    names = [f"'{shorten(str(name))}'" for name in row if name]
    return ", ".join(names[:12]) + ", …" * (len(names) > 12) if names else "no named columns"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
