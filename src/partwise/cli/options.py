"""Options that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.io.readers import known_suffixes, listed

DataFile = Annotated[
    Path,
    typer.Argument(
        help=f"Rows are samples, columns are features: {listed(known_suffixes())}.",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")]
Key = Annotated[str | None, typer.Option(help="Which array of an .npz, or layer of an .h5ad.")]
Seed = Annotated[int | None, typer.Option(help="Random seed; 0 if not given.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q",
        "--quiet",
        help="No progress bar (PARTWISE_QUIET=1: no notes either).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="A file with one label for each row; or a column of the table, or an array of an .npz.",
        show_default=False,
    ),
]
