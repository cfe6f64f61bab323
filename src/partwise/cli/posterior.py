"""partwise posterior: how sure one can be of the parts of a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import DataFile, Json, Output, Quiet, Seed, reads_data

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted

Option = typer.Option

#: What --model may be, and the model that it is.
KINDS = {"nmf": "bayesian-nmf", "boolean": "bayesian-boolean"}
#: Entries of a table up to which a number for each of them is written.
LARGEST = 1_000_000


@reads_data
def posterior(
    data: DataFile,
    components: Annotated[str | None, Option("-k", "--components", help="Number of parts.")] = None,
    output: Output = Path("partwise-posterior"),
    kind: Annotated[
        str, Option("--model", help="nmf (nonnegative numbers or counts) or boolean (yes and no).")
    ] = "nmf",
    likelihood: Annotated[str | None, Option(help="For nmf: gaussian or poisson.")] = None,
    sampler: Annotated[
        str | None,
        Option(help="For boolean: gibbs, relaxed-gibbs, iasg, langevin, mala, metropolis or rejection."),
    ] = None,
    prior: Annotated[
        str | None,
        Option(help="For boolean with a relaxed sampler: normal, uniform, laplace, beta or binary."),
    ] = None,
    init: Annotated[
        str | None, Option(help="Where chains begin: nmf or random; for boolean, random or optimum.")
    ] = None,
    n_chains: Annotated[int | None, Option(help="Number of chains; 4 if not given.")] = None,
    n_draws: Annotated[int | None, Option(help="Draws of each chain; 1000 if not given.")] = None,
    n_warmup: Annotated[int | None, Option(help="Steps of each chain before its first draw.")] = None,
    thin: Annotated[int | None, Option(help="Steps from one draw to the next.")] = None,
    max_time: Annotated[float | None, Option(help="Most seconds; the draws so far are kept.")] = None,
    level: Annotated[float, Option(help="Probability of the intervals that are written.")] = 0.9,
    entry: Annotated[
        str | None,
        Option(
            metavar="PART,COLUMN",
            help="Entry of H whose draws are shown, as 0,bread; the least certain if not given.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        Option(
            metavar="WORD",
            help="What is unobserved: a cell, as 99 (repeatable); 'nan', 'zero' or 'none' (NaN is an error).",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any other parameter; repeatable.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Option(help="Folder where the run is kept, to go on from after an interruption.")
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> int:
    """Draw from the posterior of a factorization of DATA, and say how sure each part and entry is.

    Writes report.html, means and standard deviations of both factors, intervals (boolean: probabilities) of every
    entry, posterior.png, model.partwise and summary.json into a folder.

    Ctrl-C stops early: what the draws so far say is written.
    """
    from partwise.cli.columns import without_blank
    from partwise.cli.fit import missing_entries
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import Samples, run

    if not 0.0 < level < 1.0:
        raise ValueError(f"--level must lie between 0 and 1, as 0.9; got {level:g}.")
    given = {
        "-k": components,
        "--likelihood": likelihood,
        "--sampler": sampler,
        "--prior": prior,
        "--init": init,
        "--n-chains": n_chains,
        "--n-draws": n_draws,
        "--n-warmup": n_warmup,
        "--thin": thin,
        "--max-time": max_time,
        "--missing": missing_entries(missing or [], reading),
        "--seed": seed,
    }
    model = build_model(kind_of(kind), given, settings or (), quiet=quiet)
    samples = without_blank(Samples.read(data, model, reading), model)
    chosen = None if entry is None else entry_from(entry, model.n_components, samples)
    return run(
        model,
        samples,
        output,
        as_json=as_json,
        checkpoint=checkpoint,
        after=partial(described, level=level, entry=chosen),
    )


def kind_of(word: str) -> str:
    """The kind of model that --model names; its own name is understood too."""
    if word in KINDS.values():
        return word
    if word not in KINDS:
        raise ValueError(
            f"--model must be one of {', '.join(KINDS)}; got '{word}'. Other models give one answer without its "
            "uncertainty: partwise fit."
        )
    return KINDS[word]


def entry_from(text: str, n_components: Any, samples: Any) -> tuple[int, int]:
    """A part and a column, by number or, for the column, by name."""
    part, mark, column = text.partition(",")
    part, column = part.strip(), column.strip()
    columns = getattr(samples.X, "shape", (0, 0))[1]
    names = samples.columns or []
    if not mark or not part.isdigit():
        raise ValueError(
            f"--entry takes the number of a part and a column, as 0,3 or 0,{next(iter(names), 'bread')}; "
            f"got '{text}'."
        )
    if column in names:
        place = names.index(column)
    elif column.isdigit():
        place = int(column)
    else:
        raise ValueError(
            f"--entry {text}: no column is called '{column}'; the first are {', '.join(names[:6]) or '0, 1, 2'}."
        )
    if isinstance(n_components, int) and not int(part) < n_components:
        raise ValueError(f"--entry {text}: there are {n_components} parts, numbered from 0.")
    if not place < columns:
        raise ValueError(f"--entry {text}: there are {columns} columns, numbered from 0.")
    return int(part), place


def described(fitted: Fitted, level: float, entry: tuple[int, int] | None) -> Extras:
    """Tables of means, standard deviations and intervals; the picture; what is to be said of the chains."""
    from partwise.cli.pipeline import Csv, Extras
    from partwise.models.summary import feature_names_of, part_names
    from partwise.plot import posterior as draw
    from partwise.plot import save_figure

    model, samples = fitted.model, fitted.samples
    # What `transform` says of these rows is given the tiles named; the posterior's own mean is the answer here.
    fitted.given = model.W_mean_
    names, columns = part_names(model), feature_names_of(model, samples.columns)
    by_row, by_part = getattr(model, "result_files", ("W.csv", "H.csv"))
    word = getattr(model, "part_word", "part")
    tables = [
        Csv(by_row, model.W_mean_, samples.rows, names),
        Csv(with_std(by_row), model.W_std_, samples.rows, names),
        Csv(by_part, model.components_, names, columns, corner=word),
        Csv(with_std(by_part), model.components_std_, names, columns, corner=word),
        *entry_tables(fitted, columns, level),
    ]

    def picture(path: Path) -> None:
        save_figure(draw(model, entry=entry, row_names=samples.rows, feature_names=columns), path)

    summary = {"level": level, "uncertainty": doubts(model)}
    return Extras(summary, tables=tables, pictures=[("posterior.png", picture)], lines=lines_of_chains(model))


def with_std(name: str) -> str:
    """W.csv to W_std.csv."""
    return name.replace(".csv", "_std.csv")


def entry_tables(fitted: Fitted, columns: list[str], level: float) -> list[Any]:
    """A number for every entry of the table, where it is small enough: probabilities, or ends of intervals."""
    from partwise.cli.common import say
    from partwise.cli.pipeline import Csv

    model, samples = fitted.model, fitted.samples
    n, m = len(samples.rows), len(columns)
    if n * m > LARGEST:
        say(
            f"Note: no table of intervals, for {n:,} × {m:,} entries are more than {LARGEST:,}; "
            "partwise.load and predict_interval give those of chosen rows."
        )
        return []
    cells = getattr(model, "probability_", {}).get("cells")
    if cells is not None and model.sampler == "gibbs":
        named = model.usage_ @ model.tiles_
        return [
            Csv("probability.csv", cells, samples.rows, columns),
            Csv("named.csv", named.astype(int), samples.rows, columns),
        ]
    low, high = model.predict_interval(level=level)
    return [Csv("low.csv", low, samples.rows, columns), Csv("high.csv", high, samples.rows, columns)]


def doubts(model: Any) -> list[dict[str, Any]]:
    """R-hat and effective sample size of each quantity, as rows of a table; None where there are too few draws."""
    from math import isfinite

    def known(value: Any) -> Any:
        return value if value is not None and isfinite(value) else None

    return [
        {
            "quantity": name.replace("_", " "),
            "R-hat": known(value),
            "effective draws": known(model.ess_.get(name)),
        }
        for name, value in model.rhat_.items()
    ]


def lines_of_chains(model: Any) -> list[str]:
    """What the chains say of themselves."""
    rows = [row for row in doubts(model) if None not in row.values()]
    found = "; ".join(f"{row['quantity']} {row['R-hat']:.3f} ({row['effective draws']:.0f})" for row in rows)
    said = [f"R-hat, in brackets the effective number of draws: {found}"] if rows else []
    if not model.converged_:
        said.append("The chains have not converged: take means and intervals as a first impression.")
    return said
