"""Texts as samples, for every verb whose model reads them."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.common import say

if TYPE_CHECKING:
    from partwise.cli.pipeline import Samples
    from partwise.io import Coding


def text_samples(
    data: Path,
    reading: dict[str, Any],
    *,
    column: str | None = None,
    labels: str | None = None,
    strict: bool = False,
    quiet: bool = True,
    coding: Any = None,
) -> Samples:
    """The documents of a folder or file; what was skipped or guessed is said.

    Parameters
    ----------
    data : Path
        A folder or a file; see `partwise.domains.read_documents`.
    reading : dict
        Options of reading data, of which texts have "id", "encoding" and one of "columns".
    column : str, optional
        The column of the texts, where it is not in `reading`.
    labels : str, optional
        A column of labels, "folder", or a file with one label a line.
    strict : bool
        Whether files that are no text are an error.
    quiet : bool
        No progress bar.
    coding : Coding, optional
        How the texts of a fit were read; options that are given go before it.
    """
    from partwise.cli.pipeline import Samples
    from partwise.core import watched
    from partwise.domains.text_files import documents_of, stdin_table
    from partwise.io import Coding, row_labels
    from partwise.io.words import shorten

    given = {name: value for name, value in reading.items() if value and value != "."}
    further = sorted(given.keys() - {"id", "encoding", "columns"})
    if reading.get("header") is not None:
        further = ["header"]
    if further:
        raise ValueError(f"--{further[0]} does not apply to texts; --columns, --id and --encoding do.")
    in_file = labels is not None and Path(labels).is_file()
    in_table = None if in_file else labels
    piped = str(data) == "-" and bool(
        column
        or in_table
        or given.get("columns")
        or given.get("id")
        or (coding and coding.options.get("column"))
    )
    with stdin_table() if piped else nullcontext(Path(data)) as file:
        source = "stdin" if piped else str(data)
        if coding is not None and file.suffix and not file.is_dir():
            given = as_before(file, source, given, coding)
        columns = [*([] if column is None else [column]), *given.get("columns", [])]
        if len(columns) > 1:
            raise ValueError(f"Texts are one column; got {', '.join(columns)}.")
        watch = iter if quiet else partial(watched, description="reading files")
        chosen = columns[0] if columns else None
        found = documents_of(
            file, source, chosen, given.get("id"), in_table, given.get("encoding"), strict, watch
        )
    before = None if coding is None else coding.options.get("column")
    if before and found.column and not columns and found.column != before:
        used = f"the texts are those of the column '{shorten(found.column)}'"
        found.notes.append(f"{found.source}: {used}; those of the fit were in '{shorten(before)}'.")
    for note in found.notes:
        say(f"Note: {note}")
    kept = {"column": found.column, "id": found.id, "encoding": given.get("encoding")}
    options = {name: value for name, value in kept.items() if value}
    y: Any = found.labels
    if in_file:
        matched, told = row_labels(str(labels), found.names, unknown=True)
        for note in told:
            say(f"Note: {note}")
        y = matched.tolist()
        if len(y) != len(found.texts):
            raise ValueError(miscounted(str(labels), len(y), str(data), len(found.texts), found.blank))
    return Samples(found.texts, found.names, None, found.source, y, coding=Coding(options=options))


def miscounted(labels: str, count: int, data: str, documents: int, blank: int) -> str:
    """The sentence on a file that has not one label for each document; blank lines may be why."""
    said = f"{labels} has {count} labels, and {data} has {documents} documents."
    if not blank:
        return said + (" Perhaps its first line is a header: remove it." if count == documents + 1 else "")
    lines = (
        "1 blank line, which is no document" if blank == 1 else f"{blank} blank lines, which are no documents"
    )
    return f"{said} Beside them it has {lines}: leave out the labels of such lines, too."


def as_before(data: Path, source: str, given: dict[str, Any], coding: Coding) -> dict[str, Any]:
    """The options with those of the fit where they were not given and the file has such a column; said."""
    from partwise.domains.text_rows import columns_of

    kept = dict(coding.options)
    there = columns_of(Path(data), given.get("encoding") or kept.get("encoding"))
    used = {"encoding": kept["encoding"]} if "encoding" in kept and "encoding" not in given else {}
    if "columns" not in given and kept.get("column") in there:
        used["columns"] = [kept["column"]]
    elif "columns" not in given and source == "stdin" and kept.get("column"):
        # Its first line would be taken for the names of columns, and be lost.
        raise ValueError(
            f"stdin has no column '{kept['column']}', in which the model's texts were. Name another with --columns, "
            "or give lines of text as a .txt file."
        )
    if "id" not in given and kept.get("id") in there:
        used["id"] = kept["id"]
    if used:
        said = [f"--{name} {value[0] if name == 'columns' else value}" for name, value in used.items()]
        say(f"Note: {source}: read as the texts of the fit were: {' '.join(said)}.")
    return given | used
