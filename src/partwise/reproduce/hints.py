"""What a graph and a few labels add: documents of a few words whose authors are friends, and digits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.linear_model import LogisticRegression

from partwise.datasets import load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF, GraphNMF, ManifoldNMF, SemiSupervisedNMF
from partwise.plot import draw_parts, save_figure
from partwise.plot.style import SERIES, figure

#: Labels of each digit that are known.
COUNTS = (1, 2, 5, 10, 20)
N_PARTS = 20


def reproduce_hints(
    folder: Path,
    draws: Annotated[int, typer.Option(min=1, help="Draws of the labels that are known.")] = 5,
    samples: Annotated[int, typer.Option(min=300, help="Digits that are used.")] = 900,
) -> dict[str, Any]:
    """What a graph and a few labels add to NMF, on made documents and on the bundled digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usage, groups = documents()
        digits = load_digits()
        X, y = np.asarray(digits.data[:samples], float), digits.target[:samples]
        found = accuracies(X, y, draws)
        model = SemiSupervisedNMF(N_PARTS).fit(X, known_labels(y, COUNTS[-1], np.random.default_rng(0)))
    right = {name: largest_part_is_right(W, groups) for name, W in usage.items()}
    lines = ["documents whose largest part is that of their group"]
    lines += [f"  {name:28s} {share:.3f}" for name, share in right.items()]
    lines.append(f"accuracy on the other digits, mean ± sd of {draws} draws, by labels of each digit")
    lines.append(f"  {'':28s}" + "".join(f"{count:>16d}" for count in COUNTS))
    for name, values in found.items():
        cells = "".join(f"{np.mean(v):.3f} ± {np.std(v):.3f}".rjust(16) for v in values)
        lines.append(f"  {name:28s}{cells}")
    summary = {"documents": right, "counts": COUNTS, "digits": found, "lines": lines}
    with uninterrupted():
        save_figure(drawn(usage, groups, found, model), folder / "hints.png")
        write_json(folder / "hints.json", summary)
    return summary


def documents() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """W of documents of about six words in three groups, without and with a graph of friends."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 80)
    rates = np.full((3, 60), 0.05) + 0.15 * np.repeat(np.eye(3), 20, axis=1)
    X = rng.poisson(rates[groups]).astype(float)
    friends = np.triu(rng.random((240, 240)) < np.where(groups[:, None] == groups, 0.15, 0.01), 1)
    graph = (friends + friends.T).astype(float)
    models = {"NMF": NMF(3, beta_loss="kl"), "GraphNMF": GraphNMF(3, graph=graph, beta_loss="kl")}
    usage = {}
    for name, model in models.items():
        W = np.asarray(model.fit_transform(X)) * model.components_.sum(axis=1)
        shares = W / np.maximum(W.sum(axis=1, keepdims=True), 1e-12)
        # Parts in the order of the groups that use them most.
        order = np.argsort([(shares * groups[:, None])[:, k].sum() / shares[:, k].sum() for k in range(3)])
        usage[name] = shares[:, order]
    return usage, groups


def largest_part_is_right(shares: np.ndarray, groups: np.ndarray) -> float:
    """How many rows use the part of their group most."""
    return float((shares.argmax(axis=1) == groups).mean())


def known_labels(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The labels of so many samples of each class; −1 for the others."""
    known = np.full(len(y), -1)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), count, replace=False)] = label
    return known


def accuracies(X: np.ndarray, y: np.ndarray, draws: int) -> dict[str, list[list[float]]]:
    """Accuracy on the samples without a label, for each number of labels and each draw."""
    plain = np.asarray(NMF(N_PARTS).fit_transform(X))
    found: dict[str, list[list[float]]] = {
        "logistic regression on NMF": [],
        "SemiSupervisedNMF": [],
        "ManifoldNMF": [],
    }
    for count in COUNTS:
        for values in found.values():
            values.append([])
        for draw in range(draws):
            known = known_labels(y, count, np.random.default_rng(draw))
            rows, others = np.flatnonzero(known >= 0), known < 0
            regression = LogisticRegression(max_iter=1000).fit(plain[rows], y[rows])
            made = {
                "logistic regression on NMF": regression.predict(plain[others]),
                "SemiSupervisedNMF": SemiSupervisedNMF(N_PARTS).fit(X, known).predict(X[others]),
                "ManifoldNMF": ManifoldNMF(N_PARTS).fit(X, known).predict(X[others]),
            }
            for name, predicted in made.items():
                found[name][-1].append(float((predicted == y[others]).mean()))
    return found


def drawn(
    usage: dict[str, np.ndarray],
    groups: np.ndarray,
    found: dict[str, list[list[float]]],
    model: SemiSupervisedNMF,
) -> Any:
    """Shares of documents without and with a graph; accuracy by labels; parts with their classes."""
    drawing, axes = figure(
        [["NMF", "GraphNMF", "curve", "parts"]], (11.0, 4.0), width_ratios=[0.35, 0.35, 1.0, 1.25]
    )
    for name, shares in usage.items():
        one = axes[name]
        one.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=1)
        one.set_title(name, loc="left")
        one.set_xlabel("part")
        one.set_xticks([0, 1, 2], ["1", "2", "3"])
        one.set_yticks(
            [float(np.flatnonzero(groups == group).mean()) for group in range(3)],
            ["A", "B", "C"] if name == "NMF" else ["", "", ""],
        )
        for edge in np.flatnonzero(np.diff(groups)) + 0.5:
            one.axhline(edge, color=SERIES[1], linewidth=1)
        one.grid(False)
    axes["NMF"].set_ylabel("documents of three groups")
    one = axes["curve"]
    for colour, (name, values) in zip(SERIES, found.items()):
        mean, sd = np.mean(values, axis=1), np.std(values, axis=1)
        one.plot(COUNTS, mean, "o-", color=colour, label=name)
        one.fill_between(COUNTS, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
    one.set_xscale("log")
    one.set_xticks(COUNTS, [str(count) for count in COUNTS])
    one.set_xticks([], minor=True)
    one.set_xlabel("labels of each digit")
    one.set_title("accuracy on the other digits", loc="left")
    one.legend(loc="lower right")
    order = np.argsort(-model.class_information_)
    # Some parts go with no class.
    names = [str(model.classes_[row.argmax()]) if row.any() else "" for row in model.label_components_[order]]
    title = "parts and their classes, most telling first"
    draw_parts(axes["parts"], model.components_[order], (8, 8), title, columns=5, labels=names)
    return drawing
