"""The table of Lee, Seung & Saul: mixtures on NMF and PCA features of handwritten digits.

What is left open there has a switch each (`partwise.reproduce.digits_reading`, and those of the features), listed in
docs/classify.md. The covariance of the Gaussians of EM is not stated either, and `--paper` shows several: one for all
components (spherical, diagonal, full ("tied"), and spherical after the features were scaled to one spread ("even")),
and one for each class ("class-spherical", "class-diagonal", "class-tied").
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import MixtureClassifier
from partwise.plot import draw_curve, draw_parts, figure, save_figure
from partwise.reproduce.bars import with_progress
from partwise.reproduce.cells import Cells
from partwise.reproduce.digits_classwise import ClasswiseGaussians
from partwise.reproduce.digits_features import FEATURE_TOL, prepare, zeros
from partwise.reproduce.digits_reading import (
    GRID,
    PUBLISHED,
    SIZES,
    Reading,
    chosen_steps,
    met_training_error,
    training_curve,
)
from partwise.reproduce.digits_rivals import compare

#: What `--choose-steps` finds with the other switches left alone.
PAPER_STEPS = 1000
COVARIANCES = ("spherical", "diagonal", "tied", "even", "class-spherical", "class-diagonal", "class-tied")


def reproduce_digits(
    folder: Path,
    quick: Annotated[bool, typer.Option("--quick", help="10,000 training images, K up to 8.")] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="K up to 64, which the published table leaves empty at 32 and 64, and EM."
        ),
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The published updates, and EM with every covariance.")
    ] = False,
    choose_steps: Annotated[
        bool,
        typer.Option(
            "--choose-steps",
            help="Instead: the number of steps at which the training errors are nearest to the published ones.",
        ),
    ] = False,
    most_steps: Annotated[
        int, typer.Option(min=GRID[0], help="With --choose-steps: the largest number that is tried.")
    ] = 1000,
    largest: Annotated[
        int, typer.Option(min=1, help="With --choose-steps: the largest K whose training error counts.")
    ] = 16,
    steps: Annotated[int, typer.Option(min=1, help="With --paper: steps of the updates.")] = PAPER_STEPS,
    scale: Annotated[
        str, typer.Option(help="With --paper: features of one spread ('spread'), or as they are ('none').")
    ] = "spread",
    init: Annotated[
        str, typer.Option(help="With --paper: begin at clusters ('kmeans') or at samples ('random').")
    ] = "kmeans",
    init_width: Annotated[
        str,
        typer.Option(help="With --paper: variance of the start over that within clusters, or 'auto'."),
    ] = "auto",
    at_once: Annotated[
        bool, typer.Option("--at-once", help="With --paper: updates (4) and (5) from the same sums.")
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="With --paper: all digits count the same.")
    ] = False,
    covariance: Annotated[
        str, typer.Option(help=f"With --paper: one of {', '.join(COVARIANCES)}; or all.")
    ] = "all",
    center: Annotated[
        str, typer.Option(help="Centre the window on the ink's 'mass' or on the 'box' around it.")
    ] = "mass",
    feature_tol: Annotated[float, typer.Option(help="Where the NMF of the features stops.")] = FEATURE_TOL,
    rivals: Annotated[
        bool, typer.Option("--rivals", help="Also other classifiers on the same features.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Mixtures on NMF features of handwritten digits: the table of Lee, Seung and Saul, and their figure 2.

    MNIST where PARTWISE_DATA has it, else the bundled digits. Features are kept in the folder for the next run.
    """
    width = init_width if init_width == "auto" else float(init_width)
    reading = Reading(scale, init, width, at_once, balanced, seed)
    if covariance not in ("all", *COVARIANCES):
        raise ValueError(f"--covariance must be all or one of {', '.join(COVARIANCES)}; got '{covariance}'.")
    data = prepare(folder, quick, seed, center, feature_tol)
    if choose_steps:
        return steps_chosen(folder, data, reading, min(largest, 8) if quick else largest, most_steps)
    sizes = [K for K in SIZES if (64 if full else 8 if quick else 16) >= K]
    rows = []
    jobs = [("CL-NMF80", K, "") for K in sizes]
    if paper or full:
        kinds = ("tied",) if not paper else COVARIANCES if covariance == "all" else (covariance,)
        jobs += [(name, K, kind) for name in ("EM-PCA40", "EM-NMF80") for kind in kinds for K in sizes]
    for i in with_progress(len(jobs), "mixtures"):
        rows.append(one_cell(data, *jobs[i], reading=reading if paper else None, steps=steps, seed=seed))
    summary: dict[str, Any] = {
        "data": data["name"],
        "settings": "paper" if paper else "default",
        "n_train": len(data["y_train"]),
        "n_test": len(data["y_test"]),
        "feature_seconds": float(data["seconds"]),
        "sparseness": zeros(data["nmf_train"]),
        "table": rows,
        "tables": {"errors": error_table(rows)},
        "rivals": compare(data, seed) if rivals else [],
    }
    summary["lines"] = lines(summary)
    with uninterrupted():
        draw(folder / "digits.png", data, rows)
        write_json(folder / "digits.json", summary)
    return summary


def steps_chosen(
    folder: Path, data: dict[str, Any], reading: Reading, largest: int, most_steps: int
) -> dict[str, Any]:
    """Training curves for every K of the published table, and the number of steps by their training errors.

    Each curve is kept as soon as it is found; the same command goes on from there.
    """
    sizes = [K for K in PUBLISHED["CL-NMF80"] if largest >= K]
    cells = Cells(folder / "digits-curves.json")
    grid = [steps for steps in GRID if steps <= most_steps]
    curves = {}
    for i in with_progress(len(sizes), "curves"):
        K = sizes[i]
        name = f"{data['made']}; {reading}; K={K}; {grid[-1]} steps"
        curves[K] = cells.get(name, partial(training_curve, data, K, reading, grid))
    best = chosen_steps(curves)
    table = curve_table(curves, int(best["steps"]))
    summary: dict[str, Any] = {
        "data": data["name"],
        "reading": asdict(reading),
        "chosen": best,
        "curves": {str(K): rows for K, rows in curves.items()},
        "tables": {"steps": table},
        "lines": [
            f"{data['name']}: training errors are nearest to the published ones after {best['steps']:.0f} steps "
            f"({best['train']:.2f} away on average); the test errors there are {best['test']:.2f} away",
            *("  ".join(f"{cell:>14s}" for cell in row) for row in (table["columns"], *table["rows"])),
        ],
    }
    with uninterrupted():
        write_json(folder / "digits-steps.json", summary)
    return summary


def curve_table(curves: dict[int, list[dict[str, float]]], steps: int) -> dict[str, Any]:
    """Errors at the chosen steps, and where each K meets its own published training error."""
    rows = []
    for K, curve in curves.items():
        train, test = PUBLISHED["CL-NMF80"][K]
        at = next(row for row in curve if row["steps"] == steps)
        met = met_training_error(curve, train)
        least = min(curve, key=lambda row: row["test_error"])
        rows.append(
            [
                str(K),
                f"{at['train_error']:.2f} ({train})",
                f"{at['test_error']:.2f} ({test})",
                f"{met['steps']:.0f}" if met["train_error"] <= train else f"more than {met['steps']:.0f}",
                f"{met['test_error']:.2f}",
                f"{least['test_error']:.2f} ({least['steps']:.0f})",
            ]
        )
    return {
        "columns": [
            "K",
            f"training % after {steps} (published)",
            f"test % after {steps} (published)",
            "steps to the published training %",
            "test % there",
            "least test % (steps)",
        ],
        "rows": rows,
    }


def error_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Training and test errors, with the published ones in brackets: a column for each model, a row for each K."""
    kinds = list(dict.fromkeys((row["model"], row["covariance"]) for row in rows))
    cells = {(row["K"], row["model"], row["covariance"]): row for row in rows}

    def shown(K: int, kind: tuple[str, str]) -> str:
        row = cells[K, *kind]
        said = " ({} / {})".format(*row["published"]) if row["published"] else ""
        return f"{row['train_error']:.2f} / {row['test_error']:.2f}{said}"

    sizes = sorted({row["K"] for row in rows})
    return {
        "columns": ["K", *(" ".join(kind).strip() for kind in kinds)],
        "rows": [[str(K), *(shown(K, kind) for kind in kinds)] for K in sizes],
    }


def one_cell(
    data: dict[str, Any],
    model: str,
    K: int,
    covariance: str,
    *,
    reading: Reading | None,
    steps: int,
    seed: int,
) -> dict[str, Any]:
    """Train and test error of one mixture; with a reading by the published updates."""
    kind = "pca" if "PCA" in model else "nmf"
    X, X_test = data[f"{kind}_train"], data[f"{kind}_test"]
    weight = None if reading is None else reading.weights(data["y_train"])
    mixture: Any
    if covariance.startswith("class-"):
        mixture = ClasswiseGaussians(K, covariance.removeprefix("class-"), random_state=seed)
    elif model.startswith("EM"):
        kind = "spherical" if covariance == "even" else covariance
        if covariance == "even":
            spread = X.std(axis=0)
            X, X_test = X / spread, X_test / spread
        mixture = MixtureClassifier(K, training="em", covariance=kind, max_iter=100, random_state=seed)
    elif reading is not None:
        mixture = reading.classifier(K, steps)
    else:
        mixture = MixtureClassifier(K, random_state=seed)
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(X, data["y_train"], sample_weight=weight)
    seconds = perf_counter() - begin
    return {
        "model": model,
        "K": K,
        "covariance": covariance,
        "train_error": 100.0 * (1.0 - mixture.score(X, data["y_train"])),
        "test_error": 100.0 * (1.0 - mixture.score(X_test, data["y_test"])),
        "published": PUBLISHED[model].get(K) if data["name"] == "MNIST" else None,
        "parameters": mixture.n_parameters_,
        "penalty": mixture.penalty_,
        "steps": mixture.n_iter_,
        "seconds": seconds,
    }


def lines(summary: dict[str, Any]) -> list[str]:
    """The summary as lines of text."""
    out = [
        f"{summary['data']}, {summary['settings']} settings: {summary['n_train']} to train on, {summary['n_test']} "
        f"to test; upright images and NMF features in {summary['feature_seconds']:.0f} s",
        f"of the activations of the training images {100 * summary['sparseness']['zero']:.0f} % are zero, "
        f"{100 * summary['sparseness']['negligible']:.0f} % below a hundredth of the largest of their image",
        "model      K  covariance  train %  test %   (published)   parameters  seconds",
    ]
    for row in summary["table"]:
        said = "({:4.1f} {:4.1f})".format(*row["published"]) if row["published"] else " " * 11
        out.append(
            f"{row['model']:8s} {row['K']:3d}  {row['covariance']:10s} {row['train_error']:7.2f} "
            f"{row['test_error']:7.2f}   {said}   {row['parameters']:9d}  {row['seconds']:7.1f}"
        )
    for model, covariance in sorted({(row["model"], row["covariance"]) for row in summary["table"]}):
        away = distance(summary["table"], model, covariance)
        if summary["settings"] == "paper" and away is not None:
            out.append(f"{model} {covariance:10s} test errors at most {away:.2f} from the published")
    for row in summary["rivals"]:
        out.append(
            f"{row['model']:22s} {row['test_error']:6.2f} % wrong, {row['parameters']:9d} numbers, "
            f"fit {row['fit_seconds']:6.1f} s, predict {row['predict_seconds']:5.2f} s"
        )
    return out


def distance(rows: list[dict[str, Any]], model: str, covariance: str) -> float | None:
    """Largest difference from a published test error; None if none was published."""
    mine = [row for row in rows if (row["model"], row["covariance"]) == (model, covariance)]
    return max(
        (abs(row["test_error"] - row["published"][1]) for row in mine if row["published"]), default=None
    )


def draw(path: Path, data: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Figure 2 of Lee, Seung & Saul: the basis, and the sparse code of a digit; and the errors."""
    side = round(np.sqrt(data["basis"].shape[1]))
    two = int(np.flatnonzero(data["y_test"][: len(data["some"])] == 2)[0])
    code = data["nmf_test"][two]
    drawing, axes = figure([["basis", "digit"], ["basis", "code"], ["error", "error"]], size=(9.0, 9.0))
    draw_parts(axes["basis"], data["basis"], (side, side), f"{len(data['basis'])} basis images (figure 2)")
    both = np.vstack([data["some"][two], code @ data["basis"]])
    draw_parts(axes["digit"], both, (side, side), "a 2, and how the parts rebuild it", columns=2)
    axes["code"].bar(np.arange(len(code)), code, color="#1f6f8b")
    axes["code"].set_title(f"its code: {(code > 0.01 * code.max()).sum()} of {len(code)} parts", loc="left")
    series = sorted({(row["model"], row["covariance"]) for row in rows})
    for colour, (model, covariance) in enumerate(series):
        mine = [row for row in rows if (row["model"], row["covariance"]) == (model, covariance)]
        draw_curve(
            axes["error"],
            [row["K"] for row in mine],
            [row["test_error"] for row in mine],
            label=f"{model} {covariance}".strip(),
            colour=colour,
            marker="o",
            title="test error, %",
            xlabel="components for each class",
            logx=True,
        )
    sizes = sorted({row["K"] for row in rows})
    axes["error"].set_xticks(sizes, [str(K) for K in sizes])
    axes["error"].minorticks_off()
    save_figure(drawing, path)
