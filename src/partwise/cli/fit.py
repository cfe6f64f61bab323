"""partwise fit: factor a data file, write the factors, the model and a summary."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from partwise.cli.common import (
    emit,
    loss_from,
    make_folder,
    names_or_numbers,
    outcome_words,
    say,
    top_features,
    what_was_found,
)
from partwise.io.readers import known_suffixes, listed


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            help=f"Rows are samples, columns are features: {listed(known_suffixes())}.",
            show_default=False,
        ),
    ],
    components: Annotated[
        int, typer.Option("-k", "--components", help="Number of parts.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-fit"
    ),
    kind: Annotated[
        str, typer.Option("--model", help="nmf, or binary: counts as sums of parts that are on or off.")
    ] = "nmf",
    inference: Annotated[
        str, typer.Option(help="For binary: auto, exact or truncated.", rich_help_panel="Binary parts")
    ] = "auto",
    loss: Annotated[str, typer.Option(help="frobenius, kl, is, or a number β.")] = "frobenius",
    missing: Annotated[
        str,
        typer.Option(help="What is unobserved: 'nan' cells, 'zero' entries, or 'none' (NaN is an error)."),
    ] = "nan",
    solver: Annotated[str, typer.Option(help="auto, hals, scd, emu, randomized, mu or cd.")] = "auto",
    init: Annotated[
        str | None,
        typer.Option(help="random, nndsvd, nndsvda or nndsvdar; for binary: nmf, random or data."),
    ] = None,
    alpha_w: Annotated[float, typer.Option(help="Penalty on W.")] = 0.0,
    alpha_h: Annotated[float | None, typer.Option(help="Penalty on H; the same as W's if not given.")] = None,
    l1_ratio: Annotated[float, typer.Option(help="Linear share of the penalty, 0 to 1.")] = 0.0,
    tol: Annotated[
        float | None,
        typer.Option(
            help="Stop when the objective changes by less than this share; 1e-4, or 1e-6 for binary."
        ),
    ] = None,
    max_iter: Annotated[int, typer.Option(help="Most iterations.")] = 200,
    max_time: Annotated[float | None, typer.Option(help="Most seconds.")] = None,
    n_init: Annotated[int, typer.Option(help="Number of starts; the best is kept.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    key: Annotated[str | None, typer.Option(help="Which array of an .npz, or layer of an .h5ad.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")] = False,
) -> int:
    """Factor DATA ≈ W H. Writes W.csv, H.csv, model.partwise and summary.json into a folder.

    With --model binary W.csv holds how probably each part is on.

    Ctrl-C stops early: the best factors so far are written.
    """
    from partwise import NMF, BinaryNMF
    from partwise.core import Interrupted
    from partwise.io import read

    kinds = {"nan": float("nan"), "zero": 0.0, "none": None}
    if missing not in kinds:
        raise ValueError(f"--missing must be nan, zero or none; got '{missing}'.")
    if kind not in ("nmf", "binary"):
        raise ValueError(f"--model must be nmf or binary; got '{kind}'.")
    table = read(data, key=key)
    for note in table.notes:
        say(f"Note: {note}")
    folder = make_folder(output)
    shared: dict[str, Any] = {
        "missing_values": kinds[missing],
        "max_iter": max_iter,
        "n_init": n_init,
        "random_state": seed,
        "verbose": 0 if quiet else 1,
    }
    model: Any
    if kind == "binary":
        tolerance = 1e-6 if tol is None else tol
        model = BinaryNMF(components, inference=inference, init=init or "nmf", tol=tolerance, **shared)
    else:
        model = NMF(
            components,
            beta_loss=loss_from(loss),
            solver=solver,
            init=init,
            alpha_W=alpha_w,
            alpha_H="same" if alpha_h is None else alpha_h,
            l1_ratio=l1_ratio,
            tol=1e-4 if tol is None else tol,
            max_time=max_time,
            **shared,
        )
    begin = perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            W = model.fit_transform(table.data)
    except ValueError as error:
        # The estimator speaks of X; a person at the terminal gave a file.
        raise ValueError(f"{data}: {error}") from error
    interrupted = any(issubclass(w.category, Interrupted) for w in said)
    for w in said:
        say(f"Note: {w.message}")
    model.set_params(verbose=0)
    outcome = {"seconds": perf_counter() - begin, "interrupted": interrupted}
    summary = write_results(folder, table, model, W, outcome)
    emit(summary, as_json, describe(summary))
    return 130 if interrupted else 0


def write_results(folder: Path, table: Any, model: Any, W: Any, outcome: dict[str, Any]) -> dict[str, Any]:
    """Write the four files; what `summary.json` says is returned."""
    from partwise import save
    from partwise.io import write_csv, write_json

    rows = names_or_numbers(table.row_names, table.shape[0], "row")
    columns = names_or_numbers(table.column_names, table.shape[1], "column")
    parts = [str(name) for name in model.get_feature_names_out()]
    files = {name: str(folder / name) for name in ("W.csv", "H.csv", "model.partwise", "summary.json")}
    if table.column_names is not None:
        import numpy as np

        # A table read from a file reaches the model as an array; the file's names are the model's names.
        model.feature_names_in_ = np.array(columns, dtype=object)
    write_csv(files["W.csv"], W, rows, parts, corner="row")
    write_csv(files["H.csv"], model.components_, parts, columns, corner="part")
    save(model, files["model.partwise"])
    summary = {
        "data": str(table.source),
        "n_samples": table.shape[0],
        "n_features": table.shape[1],
        "n_components": model.n_components_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        **what_was_found(model),
        "top_features": top_features(model, columns),
        "history": model.history_,
        **outcome,
        "files": files,
    }
    write_json(files["summary.json"], summary)
    return summary


def describe(summary: dict[str, Any]) -> list[str]:
    """The summary for a person."""
    state = "converged" if summary["converged"] else "did not converge"
    lines = [
        f"{summary['data']}: {summary['n_samples']} × {summary['n_features']} ≈ W · H with "
        f"{summary['n_components']} parts",
        f"{summary['solver']} {state} after {summary['n_iter']} iterations "
        f"({summary['seconds']:.1f} s); {outcome_words(summary)}",
    ]
    for i, names in enumerate(summary["top_features"][:12]):
        lines.append(f"  part {i}: {', '.join(names)}")
    if len(summary["top_features"]) > 12:
        lines.append(f"  … and {len(summary['top_features']) - 12} more in summary.json")
    return [*lines, f"Results in {Path(summary['files']['W.csv']).parent}/: {', '.join(summary['files'])}"]
