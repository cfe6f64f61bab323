"""partwise transform: a saved model applied to new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.common import emit
from partwise.cli.options import Json, ModelFile, reads_data


@reads_data
def transform(
    model: ModelFile,
    data: Annotated[Path, typer.Argument(help="New rows, with the columns of the fit.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file for W; stdout if not given.")
    ] = None,
    as_json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Write W, how much of each part is in each row of DATA; for a classifier, how probable each class is."""
    from partwise import load
    from partwise.cli.pipeline import Samples, about, outputs
    from partwise.io import write_csv

    if as_json and output is None:
        raise ValueError("--json prints the summary on stdout, so W needs a file: add -o W.csv.")
    fitted = load(model)
    samples = Samples.read(data, fitted, reading)
    with about(str(data)):
        match_columns(fitted, samples.columns)
        made, names = outputs(fitted, samples.X)
    if output is None:
        print_csv(made, samples.rows, names)
        return
    write_csv(output, made, samples.rows, names, corner="row")
    what = "W" if hasattr(fitted, "transform") else "The class probabilities"
    summary = {"model": str(model), "data": str(data), "n_samples": len(made), "output": str(output)}
    verb = "is" if what == "W" else "are"
    emit(summary, as_json, [f"{what} ({made.shape[0]} × {made.shape[1]}) {verb} in {output}"])


def match_columns(model: Any, names: list[str] | None) -> None:
    """Where both sides name their columns, the names must agree; the model then forgets them.

    (scikit-learn would warn that an array has no names, though they were compared here.)
    """
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return
    if names is not None and list(known) != names:
        wrong = next(
            (
                f"column {i + 1} is '{b}', expected '{a}'"
                for i, (a, b) in enumerate(zip(known, names))
                if a != b
            ),
            f"{len(names)} columns, expected {len(known)}",
        )
        raise ValueError(f"the columns are not those of the fit: {wrong}.")
    first = model.steps[0][1] if hasattr(model, "steps") else model
    del first.feature_names_in_


def print_csv(made: Any, rows: list[str], names: list[str]) -> None:
    """The table on stdout."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["row", *names])
    for name, w in zip(rows, (made.astype(int) if made.dtype == bool else made).tolist()):
        writer.writerow([name, *map(repr, w)])
