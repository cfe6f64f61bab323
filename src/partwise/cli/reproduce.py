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


@app.command("bars")
def bars(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-bars-results"
    ),
    runs: Annotated[int, typer.Option(min=1, help="Number of seeded runs.")] = 100,
    paper: Annotated[bool, typer.Option("--paper", help="The thesis's settings instead of ours.")] = False,
    inference: Annotated[str, typer.Option(help="exact, truncated, or both.")] = "both",
    size: Annotated[int, typer.Option(min=2, help="Side of the image; there are twice as many bars.")] = 4,
    samples: Annotated[int, typer.Option(min=1, help="Images in each run.")] = 1000,
    activation: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of each bar.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the first run.")] = 0,
    grid: Annotated[bool, typer.Option("--grid", help="Also vary what the thesis does not state.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """The bars test of binary NMF: how often all bars are found, and the figures of the thesis."""
    from partwise.reproduce.bars import reproduce_bars

    if inference not in ("exact", "truncated", "both"):
        raise ValueError(f"--inference must be exact, truncated or both; got '{inference}'.")
    which = ("exact", "truncated") if inference == "both" else (inference,)
    summary = reproduce_bars(make_folder(output), runs, paper, which, size, samples, activation, seed, grid)
    emit(summary, as_json, summary["lines"])


@app.command("digits17")
def digits17(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-digits17-results"
    ),
    components: Annotated[int, typer.Option("-k", "--components", min=1, help="Number of parts.")] = 16,
    samples: Annotated[int, typer.Option(min=2, help="Training images.")] = 6500,
    iterations: Annotated[int, typer.Option(min=1, help="Most EM steps.")] = 60,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Binary parts of handwritten ones and sevens: the picture, and the likelihood of images held out."""
    from partwise.reproduce.digits17 import reproduce_digits17

    summary = reproduce_digits17(make_folder(output), components, samples, iterations, seed)
    emit(summary, as_json, summary["lines"])


@app.command("binary-scale")
def binary_scale(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-binary-scale-results"
    ),
    large: Annotated[bool, typer.Option(help="Also fit 200 components to 10,000 × 2,500 counts.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """What BinaryNMF costs: the exact E-step beside its matrix products, and a fit with many components."""
    from partwise.reproduce.binary_scale import reproduce_binary_scale

    summary = reproduce_binary_scale(make_folder(output), large)
    emit(summary, as_json, summary["lines"])


@app.command("tiling")
def tiling(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-tiling-results"
    ),
    seeds: Annotated[int, typer.Option(min=1, help="Planted tables for each noise level.")] = 3,
    levels: Annotated[int, typer.Option(min=1, help="How many noise levels, from the lowest.")] = 7,
    records: Annotated[bool, typer.Option(help="Also the tables with published errors.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Boolean tiles: recovery against noise and rank, thresholds, tables with published records."""
    from partwise.reproduce.tiling import reproduce_tiling

    summary = reproduce_tiling(make_folder(output), seeds, levels, records)
    emit(summary, as_json, summary["lines"])


@app.command("tiling-scale")
def tiling_scale(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-tiling-scale-results"
    ),
    rows: Annotated[int, typer.Option(min=1000, help="Rows of the table.")] = 100_000,
    columns: Annotated[int, typer.Option(min=100, help="Columns of the table.")] = 1000,
    rank: Annotated[int, typer.Option(min=1, help="Planted tiles.")] = 20,
    auto: Annotated[bool, typer.Option("--auto", help="Their number is to be found, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Boolean tiles in a large sparse table: time, memory, and entries wrong against the noise-free table."""
    from partwise.reproduce.tiling_scale import reproduce_tiling_scale

    summary = reproduce_tiling_scale(make_folder(output), rows, columns, rank, auto)
    emit(summary, as_json, summary["lines"])


@app.command("digits")
def digits(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-digits-results"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="10,000 training images, K up to 8.")] = False,
    full: Annotated[bool, typer.Option("--full", help="K up to 64, and EM.")] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's updates, and EM with every covariance.")
    ] = False,
    rivals: Annotated[
        bool, typer.Option("--rivals", help="Also other classifiers on the same features.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Mixtures on NMF features of handwritten digits: the table of Lee, Seung and Saul, and their figure 2.

    MNIST where PARTWISE_DATA has it, else the bundled digits. Features are kept in the folder for the next run.
    """
    from partwise.reproduce.digits import reproduce_digits

    summary = reproduce_digits(make_folder(output), quick, full, paper, rivals, seed)
    emit(summary, as_json, summary["lines"])


@app.command("faces")
def faces(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-faces-results"
    ),
    components: Annotated[int, typer.Option("-k", "--components", min=2, help="Number of parts.")] = 49,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Faces by NMF, vector quantization and PCA, side by side: figure 1 of Lee, Seung and Saul."""
    from partwise.reproduce.faces import reproduce_faces

    summary = reproduce_faces(make_folder(output), components, seed)
    emit(summary, as_json, summary["lines"])
