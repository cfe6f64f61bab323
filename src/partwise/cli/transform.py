"""partwise transform: a saved model applied to new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from partwise.cli.common import emit, names_or_numbers, say


def transform(
    model: Annotated[
        Path, typer.Argument(help="A model file that `partwise fit` wrote.", show_default=False)
    ],
    data: Annotated[Path, typer.Argument(help="New rows, with the columns of the fit.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file for W; stdout if not given.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Which array of an .npz, or layer of an .h5ad.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON on stdout.")] = False,
) -> None:
    """Write W, how much of each part is in each row of DATA."""
    from partwise import load
    from partwise.io import read, write_csv

    if as_json and output is None:
        raise ValueError("--json prints the summary on stdout, so W needs a file: add -o W.csv.")
    fitted = load(model)
    table = read(data, key=key)
    for note in table.notes:
        say(f"Note: {note}")
    known = getattr(fitted, "feature_names_in_", None)
    if known is not None and table.column_names is not None and list(known) != table.column_names:
        wrong = next(
            (
                f"column {i + 1} is '{b}', expected '{a}'"
                for i, (a, b) in enumerate(zip(known, table.column_names))
                if a != b
            ),
            f"{len(table.column_names)} columns, expected {len(known)}",
        )
        raise ValueError(f"{data}: the columns are not those of the fit: {wrong}.")
    if known is not None:
        # Names were compared above; scikit-learn would warn that an array has none.
        del fitted.feature_names_in_
    try:
        W = fitted.transform(table.data)
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from error
    if W.dtype == bool:
        W = W.astype(int)
    rows = names_or_numbers(table.row_names, table.shape[0], "row")
    parts = [str(name) for name in fitted.get_feature_names_out()]
    if output is None:
        _print_csv(W, rows, parts)
        return
    write_csv(output, W, rows, parts, corner="row")
    summary = {"model": str(model), "data": str(data), "n_samples": len(W), "output": str(output)}
    emit(summary, as_json, [f"W ({W.shape[0]} × {W.shape[1]}) is in {output}"])


def _print_csv(W, rows: list[str], parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["row", *parts])
    for name, w in zip(rows, W.tolist()):
        writer.writerow([name, *map(repr, w)])
