"""Texts as samples, for every verb whose model reads them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.common import say

if TYPE_CHECKING:
    from partwise.cli.pipeline import Samples


def text_samples(
    data: Path,
    reading: dict[str, Any],
    *,
    column: str | None = None,
    labels: str | None = None,
    strict: bool = False,
    quiet: bool = True,
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
    """
    from partwise.cli.pipeline import Samples
    from partwise.core import watched
    from partwise.domains import read_documents
    from partwise.io import read_labels

    given = {name: value for name, value in reading.items() if value and value != "."}
    further = sorted(given.keys() - {"id", "encoding", "columns"})
    if further:
        raise ValueError(f"--{further[0]} does not apply to texts; --columns, --id and --encoding do.")
    columns = [*([] if column is None else [column]), *given.get("columns", [])]
    if len(columns) > 1:
        raise ValueError(f"Texts are one column; got {', '.join(columns)}.")
    in_file = labels is not None and Path(labels).is_file()
    found = read_documents(
        data,
        columns[0] if columns else None,
        id=given.get("id"),
        labels=None if in_file else labels,
        encoding=given.get("encoding"),
        strict=strict,
        watch=iter if quiet else partial(watched, description="reading files"),
    )
    for note in found.notes:
        say(f"Note: {note}")
    y: Any = found.labels
    if in_file:
        y = read_labels(str(labels)).tolist()
        if len(y) != len(found.texts):
            raise ValueError(f"{labels} has {len(y)} labels, and {data} has {len(found.texts)} documents.")
    return Samples(found.texts, found.names, None, found.source, y)
