"""What Lee, Seung & Saul say about their classifier, put to the test on handwritten digits.

Sparse features learn faster
    "The rate of convergence is governed by the exponent 1/η, which measures the sparseness of the features." The same
    features are made dense in ways that leave the classifier free to be the same: h M + c with M invertible has the
    scores θ·h of θ' = M⁻¹θ and log W' = log W − c·θ'. All runs begin at the same classifier and look for the same
    optimum; what differs is η and the sparseness.

Overtraining
    The published test error rises from 3.2 to 3.4 % between K = 8 and 16. Test errors of both after the updates, from
    several starts, and at the end of unpenalised training; the standard error of their difference comes from the test
    images that only one of the two gets right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from partwise.core import Info, Stopping, run
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive, Labelled
from partwise.mixture.multiplicative import Multiplicative
from partwise.mixture.start import class_counts, start_from_clusters
from partwise.models import MixtureClassifier
from partwise.parallel import own_threads
from partwise.plot import draw_curve, figure, save_figure
from partwise.reproduce.bars import with_progress
from partwise.reproduce.cells import Cells
from partwise.reproduce.digits_features import prepare
from partwise.reproduce.digits_reading import Reading, scaled

#: Components for each class, images and steps of the comparison of features; the objective to reach is that of the
#: features as they are after REACHED steps.
SPEED_MIXTURES, SPEED_IMAGES, SPEED_STEPS, REACHED = 4, 5_000, 1000, 100


def reproduce_digits_claims(
    folder: Path,
    quick: Annotated[bool, typer.Option("--quick", help="10,000 training images.")] = False,
    only: Annotated[str, typer.Option(help="speed, overtraining, or both.")] = "both",
    images: Annotated[
        int, typer.Option(min=200, help="Training images of the mixtures that may be overtrained.")
    ] = 5000,
    steps: Annotated[int, typer.Option(min=1, help="Steps of their updates.")] = 400,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Claims of Lee, Seung and Saul about their classifier: sparse features learn faster; overtraining.

    MNIST where PARTWISE_DATA has it, else the bundled digits. Features are kept in the folder for the next run, and
    those of `reproduce digits` serve.
    """
    if only not in ("speed", "overtraining", "both"):
        raise ValueError(f"--only must be speed, overtraining or both; got '{only}'.")
    data = prepare(folder, quick, seed)
    summary: dict[str, Any] = {"data": data["name"], "n_train": len(data["y_train"]), "tables": {}}
    if only != "overtraining":
        summary["speed"] = learning_speed(data, seed)
        summary["tables"]["speed"] = speed_table(summary["speed"])
    if only != "speed":
        summary["overtraining"] = overtraining(folder, data, images, steps, seed)
        summary["images"] = images
        summary["tables"]["overtraining"] = overtraining_table(summary["overtraining"])
    summary["lines"] = [f"{data['name']}, {summary['n_train']} images to train on"]
    for table in summary["tables"].values():
        widths = [max(map(len, column)) for column in zip(table["columns"], *table["rows"], strict=True)]
        for row in (table["columns"], *table["rows"]):
            summary["lines"].append(
                "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            )
    with uninterrupted():
        if "speed" in summary:
            draw(folder / "digits-claims.png", summary["speed"])
        write_json(folder / "digits-claims.json", summary)
    return summary


# ----------------------------------------------------------------------- speed


@dataclass(frozen=True)
class Dressing:
    """Features h M + c, and the classifier that gives them the scores it gave h.

    Attributes
    ----------
    name : str
    mixing : array of shape (d, d), optional
        M; None is the identity.
    offset : array of shape (d,) or float
        c.
    """

    name: str
    mixing: np.ndarray | None = None
    offset: Any = 0.0

    def features(self, X: np.ndarray) -> np.ndarray:
        """Features that are nonnegative where M and c make them so."""
        mixed = X if self.mixing is None else X @ self.mixing
        return np.ascontiguousarray(mixed + self.offset)

    def components(self, start: Components) -> Components:
        """θ' = M⁻¹ θ and log W' = log W − c · θ'."""
        theta = start.exponents
        if self.mixing is not None:
            theta = np.linalg.solve(self.mixing, theta.T).T
        offset = np.broadcast_to(np.asarray(self.offset, float), theta.shape[1])
        return Components(theta, start.log_weight - theta @ offset, start.starts)


def dressings(X: np.ndarray) -> list[Dressing]:
    """The features as they are, with a constant added, mixed with their mean, and in their principal axes.

    Mixing keeps every row's sum and so η: sparse and dense features of one η.
    """
    d = X.shape[1]
    mean = float(X.mean())
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2].T
    mixed = [(a, (1.0 - a) * np.eye(d) + a / d) for a in (0.25, 0.5, 0.75)]
    return [
        Dressing("NMF"),
        *(Dressing(f"NMF + {c:g} × mean", offset=c * mean) for c in (0.5, 1.0, 2.0, 4.0)),
        *(Dressing(f"NMF, {a:.0%} of each the row's mean", mixing) for a, mixing in mixed),
        Dressing("principal axes, least value 0", axes, -(X @ axes).min(axis=0)),
    ]


def learning_speed(data: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Steps to one objective, for each dressing of the same features."""
    rows = slice(0, SPEED_IMAGES)
    # In double precision: a mixing takes digits away.
    labelled, _ = scaled(data["nmf_train"][rows].astype(float), data["y_train"][rows], Reading())
    counts = class_counts(labelled, int(labelled.y.max()) + 1, SPEED_MIXTURES)
    out: list[dict[str, Any]] = []
    with own_threads():
        start = start_from_clusters(labelled, counts, "kmeans", np.random.default_rng(seed))
        ways = dressings(labelled.X)
        for i in with_progress(len(ways), "features"):
            out.append(one_speed(labelled, start, ways[i], out[0]["target"] if out else None))
    return out


class Reached(Stopping):
    """Ends a run when the objective is at least `tol`."""

    def done(self, info: Info) -> bool:
        """Whether it is."""
        return bool(info.objective >= self.tol)


def one_speed(labelled: Labelled, start: Components, way: Dressing, target: float | None) -> dict[str, Any]:
    """Objective after every step of one run that ends when the target is reached; the first run sets it."""
    data = Labelled(way.features(labelled.X), labelled.y, labelled.weight)
    problem, method = Contrastive(data, start.starts), Multiplicative()
    limit, rule = (REACHED, None) if target is None else (SPEED_STEPS, Reached(target))
    state = method.init(problem, way.components(start))
    trace = run(problem, method, state, max_iter=limit, stopping=rule).history.objective
    target = trace[-1] if target is None else target
    reached = np.flatnonzero(np.array(trace) >= target)
    sums = data.X.sum(axis=1)
    return {
        "features": way.name,
        "zeros": float(np.mean(data.X == 0)),
        "eta": problem.eta,
        "row_sum": float(sums.mean()),
        "steps": int(reached[0]) if len(reached) else None,
        "target": target,
        "objective": list(trace),
    }


def speed_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Steps beside η, both over those of the features as they are."""
    first = rows[0]
    return {
        "columns": ["features", "zeros", "η", "η, ratio", "steps", "steps, ratio"],
        "rows": [
            [
                row["features"],
                f"{row['zeros']:.0%}",
                f"{row['eta']:.0f}",
                f"{row['eta'] / first['eta']:.1f}",
                str(row["steps"]) if row["steps"] else f"more than {SPEED_STEPS}",
                f"{row['steps'] / first['steps']:.1f}"
                if row["steps"]
                else f"more than {SPEED_STEPS / first['steps']:.0f}",
            ]
            for row in rows
        ],
    }


def draw(path: Path, rows: list[dict[str, Any]]) -> None:
    """The objective along the steps."""
    drawing, axes = figure([["objective"]], size=(8.0, 5.0))
    for colour, row in enumerate(rows):
        draw_curve(
            axes["objective"],
            np.arange(1, len(row["objective"]) + 1),
            row["objective"],
            label=row["features"],
            colour=colour,
            title="mean log-posterior of the labels",
            xlabel="steps",
            logx=True,
        )
    save_figure(drawing, path)


# ---------------------------------------------------------------- overtraining


def overtraining(
    folder: Path, data: dict[str, Any], images: int, steps: int, seed: int
) -> list[dict[str, Any]]:
    """K = 8 and 16: the published updates from several starts, and L-BFGS to the end.

    Each is kept as soon as it is found; the same command goes on from there.
    """
    plain = Reading(seed=seed)
    ways: dict[str, Callable[[int], MixtureClassifier]] = {
        f"updates, {steps} steps": partial(plain.classifier, steps=steps),
        "L-BFGS to the end, no penalty": partial(
            MixtureClassifier, penalty=0.0, max_iter=2000, random_state=seed
        ),
        "L-BFGS, penalty chosen": partial(MixtureClassifier, random_state=seed),
        "updates, from random samples": partial(replace(plain, init="random").classifier, steps=steps),
        "updates, from a narrow start": partial(replace(plain, init_width=1.0).classifier, steps=steps),
        "updates, features as they are": partial(replace(plain, scale="none").classifier, steps=steps),
        "updates, another seed": partial(replace(plain, seed=seed + 1).classifier, steps=steps),
    }
    cells = Cells(folder / "digits-claims-cells.json")
    out = []
    names = list(ways)
    for i in with_progress(len(names), "trainings"):
        name = f"{data['made']}; {images} images; {steps} steps; {names[i]}"
        out.append({"training": names[i], **cells.get(name, partial(one_pair, data, images, ways[names[i]]))})
    return out


def one_pair(data: dict[str, Any], images: int, make: Callable[[int], MixtureClassifier]) -> dict[str, Any]:
    """K = 8 and 16 trained in one way on the first images, and tested on all test images."""
    X, y = data["nmf_train"][:images], data["y_train"][:images]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pair = [make(K).fit(X, y) for K in (8, 16)]
    right = [model.predict(data["nmf_test"]) == data["y_test"] for model in pair]
    return {
        "train_error": [100.0 * (1.0 - model.score(X, y)) for model in pair],
        "test_error": [100.0 * float(np.mean(~one)) for one in right],
        "n_test": len(data["y_test"]),
        "only_8": int(np.sum(right[0] & ~right[1])),
        "only_16": int(np.sum(right[1] & ~right[0])),
        "steps": [int(model.n_iter_) for model in pair],
    }


def overtraining_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Errors of K = 8 and 16, and the difference with its standard error (images that one of them gets right)."""
    return {
        "columns": ["training", "steps", "training %, K = 8", "K = 16", "test %, K = 8", "K = 16", "change"],
        "rows": [
            [
                row["training"],
                ", ".join(dict.fromkeys(map(str, row["steps"]))),
                *(f"{value:.2f}" for value in row["train_error"]),
                *(f"{value:.2f}" for value in row["test_error"]),
                change(row),
            ]
            for row in rows
        ],
    }


def change(row: dict[str, Any]) -> str:
    """The change of the test error: with b images that only K = 8 gets right and c that only K = 16 does, b − c.

    Its standard error is √(b + c), as in McNemar's test.
    """
    difference = row["test_error"][1] - row["test_error"][0]
    return f"{difference:+.2f} ± {100.0 * np.sqrt(row['only_8'] + row['only_16']) / row['n_test']:.2f}"
