"""partwise reproduce: published experiments, one verb each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli.common import emit, make_folder

app = typer.Typer(help="Run a published experiment and print its figures.", no_args_is_help=True)


@app.command("map")
def map_(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-map-results"
    ),
    components: Annotated[int, typer.Option("-k", "--components", help="Number of parts.")] = 25,
    iterations: Annotated[int, typer.Option(help="Most iterations of each run.")] = 100,
    hidden: Annotated[float, typer.Option(help="Share of the pixels held out.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """MAP estimation with Gamma priors: trace of the log-posterior, prior strength, the parts.

    ORL faces where PARTWISE_DATA has them, else the bundled digits.
    """
    from partwise.reproduce.map import reproduce_map

    summary = reproduce_map(make_folder(output), components, iterations, seed, hidden)
    emit(summary, as_json, summary["lines"])


@app.command("missing")
def missing(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-missing-results"
    ),
    components: Annotated[
        int, typer.Option("-k", "--components", help="Number of parts of the ratings.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Missing data: planted matrices, and MovieLens 100k with a tenth of the ratings held out."""
    from partwise.reproduce.missing import reproduce_missing

    summary = reproduce_missing(make_folder(output), components, seed)
    emit(summary, as_json, summary["lines"])


@app.command("stopping")
def stopping(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-stopping-results"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """What the default tolerance is worth: a default fit against ten times its iterations."""
    from partwise.reproduce.stopping import reproduce_stopping

    summary = reproduce_stopping(make_folder(output))
    emit(summary, as_json, summary["lines"])


@app.command("cost")
def cost(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-cost-results"
    ),
    repeats: Annotated[int, typer.Option(min=1, help="Times each task is timed.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """What an iteration costs: against its matrix products, and how it grows with data and threads."""
    from partwise.reproduce.cost import reproduce_cost

    summary = reproduce_cost(make_folder(output), repeats)
    emit(summary, as_json, summary["lines"])
