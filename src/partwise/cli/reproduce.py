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
    iterations: Annotated[int, typer.Option(help="Iterations of the log-posterior trace.")] = 200,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """MAP estimation with Gamma priors: trace of the log-posterior, prior strength, the parts.

    ORL faces where PARTWISE_DATA has them, else the bundled digits.
    """
    from partwise.reproduce.map import reproduce_map

    summary = reproduce_map(make_folder(output), components, iterations, seed)
    emit(summary, as_json, summary["lines"])


@app.command("ratings")
def ratings(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-ratings-results"
    ),
    components: Annotated[int, typer.Option("-k", "--components", help="Number of parts.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Missing data: MovieLens 100k, 10 % of the ratings held out, penalty chosen on validation ratings."""
    from partwise.reproduce.ratings import reproduce_ratings

    summary = reproduce_ratings(make_folder(output), components, seed)
    emit(summary, as_json, summary["lines"])
