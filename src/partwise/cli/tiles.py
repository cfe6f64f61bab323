"""partwise tiles: overlapping blocks in a yes/no table."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from partwise.cli.common import emit, make_folder, names_or_numbers, say


def tiles(
    data: Annotated[
        Path, typer.Argument(help="A table of 0 and 1, empty cells for missing entries.", show_default=False)
    ],
    components: Annotated[str, typer.Option("-k", "--components", help="Number of tiles, or auto.")] = "auto",
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-tiles"
    ),
    method: Annotated[str, typer.Option(help="auto, panpal, primp or trustpal.")] = "auto",
    objective: Annotated[str, typer.Option(help="auto, error or likelihood.")] = "auto",
    max_time: Annotated[
        float | None, typer.Option(help="Most seconds of search; 9 to 27 by size, if not given.")
    ] = None,
    trust: Annotated[
        int, typer.Option(help="Search so often again, and on so many resamples, to see which tiles return.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    key: Annotated[str | None, typer.Option(help="Which array of an .npz, or layer of an .h5ad.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> int:
    """Find tiles in DATA. Writes usage.csv, tiles.csv, tiles.png, model.partwise and summary.json into a folder."""
    from partwise import BooleanMF, save
    from partwise.core import Interrupted
    from partwise.io import read, write_csv, write_json

    if components != "auto" and not components.isdigit():
        raise ValueError(f"-k must be a number or auto; got '{components}'.")
    table = read(data, key=key)
    folder = make_folder(output)
    model = BooleanMF(
        "auto" if components == "auto" else int(components),
        method=method,
        objective=objective,
        max_time="auto" if max_time is None else max_time,
        random_state=seed,
        verbose=0 if quiet or as_json else 1,
    )
    begin = perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            usage = model.fit_transform(table.data)
        for message in said:
            say(f"Note: {message.message}")
        interrupted = any(issubclass(message.category, Interrupted) for message in said)
        again = 0 if interrupted else trust
        trusted = model.trust(table.data, n_restarts=again, n_resamples=again) if again else {}
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from error
    rows = names_or_numbers(table.row_names, table.shape[0], "row")
    columns = names_or_numbers(table.column_names, table.shape[1], "column")
    parts = [f"tile{t}" for t in range(model.n_components_)]
    write_csv(folder / "usage.csv", usage.astype(int), rows, parts, corner="row")
    write_csv(folder / "tiles.csv", model.components_.astype(int), parts, columns, corner="tile")
    save(model, folder / "model.partwise")
    listed = [
        {
            "tile": parts[t],
            **{name: values[t].item() for name, values in model.tiles_.items()},
            **trust_entry(trusted, t, columns),
            "column_names": [columns[j] for j in model.components_[t].nonzero()[0]],
            "row_names": [rows[i] for i in usage[:, t].nonzero()[0]],
        }
        for t in range(model.n_components_)
    ]
    summary: dict[str, Any] = {
        "data": str(table.source),
        "n_samples": table.shape[0],
        "n_features": table.shape[1],
        "n_components": model.n_components_,
        "wrong": model.reconstruction_err_,
        "description_length": model.description_length_,
        "objective": model.criterion_,
        "ranks": model.ranks_,
        "seconds": perf_counter() - begin,
        "interrupted": interrupted,
        "tiles": listed,
    }
    write_json(folder / "summary.json", summary)
    draw(folder / "tiles.png", table.data, usage, model)
    emit(summary, as_json, describe(summary, folder))
    return 130 if interrupted else 0


def trust_entry(trusted: dict[str, Any], t: int, columns: list[str]) -> dict[str, Any]:
    """What is known of how far tile t can be trusted, with names."""
    if not trusted:
        return {}
    found = {name: values[t].item() for name, values in trusted.items() if name != "alternatives"}
    found["alternatives"] = [
        {
            "column_names": [columns[j] for j in one["columns"].nonzero()[0]],
            "rows": one["rows"],
            "change": one["change"],
        }
        for one in trusted["alternatives"][t]
    ]
    return found


def describe(summary: dict[str, Any], folder: Path) -> list[str]:
    """The summary for a person."""
    lines = [
        f"{summary['data']}: {summary['n_samples']} × {summary['n_features']}, {summary['n_components']} tiles, "
        f"{summary['wrong']} entries wrong, {summary['description_length']:.0f} bits"
    ]
    for tile in summary["tiles"][:20]:
        names = ", ".join(tile["column_names"][:6]) + (", …" if len(tile["column_names"]) > 6 else "")
        lines.append(
            f"  {tile['tile']}: {tile['rows']} rows × {tile['columns']} columns, {100 * tile['density']:.0f} % ones, "
            f"adds {tile['adds']:.0f}: {names}"
        )
        if "restarts" in tile:
            lines.append(
                f"      returns in {100 * tile['restarts']:.0f} % of restarts and {100 * tile['resamples']:.0f} % of "
                f"resamples; {len(tile['alternatives'])} others would do as well"
            )
    if len(summary["tiles"]) > 20:
        lines.append(f"  … and {len(summary['tiles']) - 20} more in summary.json")
    return [*lines, f"Results in {folder}/: usage.csv, tiles.csv, tiles.png, model.partwise, summary.json"]


def draw(path: Path, data: Any, usage: Any, model: Any) -> None:
    """The table as it came and with rows and columns in the order of their tiles; error and bits by rank."""
    import numpy as np

    from partwise.plot import draw_curve, figure, save_figure

    X = np.asarray(data.toarray() if hasattr(data, "tocsr") else data, dtype=float)
    if X.size > 4_000_000:
        # More than the picture has pixels for: every so many rows.
        keep = np.linspace(0, len(X) - 1, max(1, 4_000_000 // X.shape[1])).astype(int)
        X, usage = X[keep], usage[keep]
    by_row = np.lexsort([~column for column in usage.T[::-1]]) if usage.shape[1] else np.arange(len(X))
    by_column = (
        np.lexsort([~tile for tile in model.components_[::-1]]) if usage.shape[1] else np.arange(X.shape[1])
    )
    drawing, axes = figure([["given", "ordered", "wrong"], ["given", "ordered", "bits"]], size=(12.6, 4.8))
    for name, shown, title in (
        ("given", X, "as given"),
        ("ordered", X[by_row][:, by_column], "rows and columns in the order of their tiles"),
    ):
        axes[name].imshow(np.ma.masked_invalid(shown), cmap="gray_r", aspect="auto", interpolation="nearest")
        axes[name].set_title(title, loc="left", fontsize=10)
        axes[name].set_axis_off()
    for name, title, xlabel in (
        ("wrong", "entries wrong", ""),
        ("bits", "bits to describe the table", "tiles"),
    ):
        draw_curve(
            axes[name],
            model.ranks_["tiles"],
            model.ranks_[name],
            marker="o" if len(model.ranks_["tiles"]) <= 40 else "",
            title=title,
            xlabel=xlabel,
        )
    save_figure(drawing, path)
