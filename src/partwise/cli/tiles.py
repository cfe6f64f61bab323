"""partwise tiles: overlapping blocks in a yes/no table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import Json, Output, Quiet, Seed, reads_data

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted


@reads_data
def tiles(
    data: Annotated[
        Path,
        typer.Argument(help="A table of yes and no in words or numbers; - for stdin.", show_default=False),
    ],
    components: Annotated[str, typer.Option("-k", "--components", help="Number of tiles, or auto.")] = "auto",
    output: Output = Path("partwise-tiles"),
    method: Annotated[str | None, typer.Option(help="auto, panpal, primp or trustpal.")] = None,
    objective: Annotated[str | None, typer.Option(help="auto, error, likelihood or sparse.")] = None,
    fdr: Annotated[
        float | None,
        typer.Option(help="Drop tiles of chance: how likely, at most, any of those left is one."),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Most perturbations of a search, the same on every machine.")
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(help="Most seconds of search; if not given, 9 to 27 for large tables only."),
    ] = None,
    trust: Annotated[
        int,
        typer.Option(
            help="Repeat the search this often, and on as many resamples, to see which tiles return."
        ),
    ] = 0,
    quiet: Quiet = False,
    seed: Seed = None,
    as_json: Json = False,
    *,
    reading: dict[str, Any],
) -> int:
    """Find tiles in DATA. Writes usage.csv, tiles.csv, tiles.png, model.partwise and summary.json into a folder."""
    from partwise.cli.columns import without_blank
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import Samples, run

    given = {
        "-k": components,
        "--method": method,
        "--objective": objective,
        "--fdr": fdr,
        "--max-iter": max_iter,
        "--max-time": max_time,
        "--seed": seed,
    }
    model = build_model("boolean", given, quiet=quiet)
    samples = without_blank(Samples.read(data, model, reading), model)
    return run(model, samples, output, as_json=as_json, after=partial(measured, searches=trust))


def measured(fitted: Fitted, searches: int) -> Extras:
    """Files beside those of every fit: trust in the tiles if asked for, the rows of each, the picture."""
    from partwise.cli.pipeline import Extras
    from partwise.plot import save_figure
    from partwise.plot import tiles as draw

    model, samples = fitted.model, fitted.samples
    if searches and not fitted.interrupted:
        model.trust(samples.X, n_restarts=searches, n_resamples=searches)
    usage, _ = fitted.outputs
    rows = [{"row_names": [samples.rows[i] for i in column.nonzero()[0]]} for column in usage.T]

    def picture(path: Path) -> None:
        save_figure(draw(model, samples.X, usage=usage, row_names=samples.rows), path)

    return Extras(parts=rows, pictures=[("tiles.png", picture)])
