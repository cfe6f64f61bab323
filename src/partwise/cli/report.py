"""partwise report: one HTML page about a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli.common import emit
from partwise.cli.options import Json, named


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that partwise fit -o wrote.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The page; report.html in DIR if not given.",
            show_default=False,
            callback=named,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.", show_default=False)] = None,
    shape: Annotated[
        str | None, typer.Option(help="Rows are pictures of this size, as 28x28: draws them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write one HTML page about the results in DIR: what was done, the parts, who uses them, and their tree.

    The page is a single file that loads nothing, so it can be mailed or kept.
    """
    from partwise.cli.classify import picture_size
    from partwise.reporting import report as make

    made = make(folder, shape=picture_size(shape, False), title=title)
    path = folder / "report.html" if output is None else output
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of the page with -o, as report.html.")
    if not path.parent.is_dir():
        raise ValueError(f"the folder {path.parent} does not exist; give another name with -o.")
    made.save(path)
    shown = made.content
    summary = {
        "report": str(path),
        "bytes": path.stat().st_size,
        "title": shown["title"],
        "sections": [section["id"] for section in shown["sections"]],
    }
    size = f"{summary['bytes'] / 1e6:.1f} MB"
    emit(summary, as_json, [f"{shown['title']}: the report is in {path} ({size}, one file)"])
