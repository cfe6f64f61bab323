"""What verbs share that apply a saved model to new rows: reading both, and a table as the result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.columns import match_model
from partwise.cli.common import emit, printing, say
from partwise.cli.options import STREAM

if TYPE_CHECKING:
    from partwise.cli.pipeline import Csv, Samples

NewRows = Annotated[
    Path,
    typer.Argument(
        help="New rows, with the columns of the fit: by name where both have names, else in its order.",
        show_default=False,
    ),
]
CsvFile = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="CSV file for the result; stdout if not given, or -.",
        callback=lambda path: None if path == STREAM else path,
    ),
]


def read_both(model: Path, data: Path, reading: dict[str, Any]) -> tuple[Any, Samples]:
    """The model of a file, and the rows of another with the columns that the model was fitted to."""
    from partwise import load
    from partwise.cli.pipeline import Samples

    fitted = load(model)
    samples = match_model(Samples.read(data, fitted, reading), fitted)
    say_unknown(fitted, samples.X)
    return fitted, samples


def say_unknown(model: Any, X: Any) -> None:
    """Say which texts have no word that the vectorizer of a pipeline knows; a `TopicModel` says so itself."""
    from partwise.cli.pipeline import reads_text

    if not hasattr(model, "steps") or not reads_text(model):
        return
    import numpy as np
    import scipy.sparse as sp

    from partwise.models import TopicModel

    first = model
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    if isinstance(first, TopicModel):
        return
    counts = sp.csr_array(first.transform(X))
    empty = np.flatnonzero(abs(counts).sum(axis=1) == 0)
    if len(empty):
        which = ", ".join(map(str, empty[:5])) + ", …" * (len(empty) > 5)
        whom = "it says nothing about it" if len(empty) == 1 else "them says nothing about them"
        say(
            f"Note: Documents without a word that the model knows: {len(empty)} of {counts.shape[0]}, number {which} "
            f"(counted from 0); what is given for {whom}."
        )


def deliver(table: Csv, output: Path | None, as_json: bool, summary: dict[str, Any]) -> None:
    """Print the table, or write it to a file and say so."""
    from partwise.io import write_csv

    if output is None:
        print_csv(table)
        return
    write_csv(output, table.array, table.rows, table.columns, corner=table.corner)
    n, m = table.array.shape
    emit(
        {**summary, "n_samples": n, "output": str(output)},
        as_json,
        [f"{table.name} ({n} × {m}) is in {output}"],
    )


#: Endings of formats that a table of text must not pretend to be.
OTHER_FORMATS = (".h5ad", ".npz", ".npy", ".parquet", ".xlsx", ".sav", ".mtx", ".partwise", ".json")


def check_output(output: Path | None, as_json: bool) -> None:
    """Refuse --json without -o: both the table and the summary would go to stdout."""
    if as_json and output is None:
        raise ValueError("--json prints the summary on stdout, so the table needs a file: add -o table.csv.")
    if output is not None and output.suffix.lower() in OTHER_FORMATS:
        raise ValueError(
            f"{output}: the table is written as text; let the name end in .csv or .tsv (or .csv.gz)."
        )


def print_csv(table: Csv) -> None:
    """The table on stdout."""
    import csv

    if sys.stdout is None:
        raise ValueError(
            "the result cannot be written to standard output: it is closed. Let the output go elsewhere, or give a "
            "file with -o."
        )
    array = table.array.astype(int) if table.array.dtype == bool else table.array
    with printing():
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([table.corner, *table.columns])
        for name, cells in zip(table.rows, array.tolist()):
            writer.writerow([name, *(cell if isinstance(cell, str) else repr(cell) for cell in cells)])
