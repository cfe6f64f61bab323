"""Clusters and classes of real data by models that know a graph, labels, or layers, beside plain ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import normalize

from partwise.graphs import neighbour_graph
from partwise.io import write_json
from partwise.messages import inform
from partwise.models import NMF, DeepNMF, GraphNMF, ManifoldNMF, SemiSupervisedNMF, SymmetricNMF
from partwise.reproduce.cells import Cells
from partwise.reproduce.structured_data import Samples, all_samples

#: What few labels are learned by; the first two need no graph.
CLASSIFIERS = ("logistic regression on NMF", "SemiSupervisedNMF", "ManifoldNMF")


def reproduce_structured(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Starts, and draws of labels.")] = 10,
    only: Annotated[str, typer.Option(help="Data sets, separated by commas; all if not given.")] = "",
    clusters: Annotated[bool, typer.Option(help="Compare clusters with the classes.")] = True,
    labels: Annotated[bool, typer.Option(help="Also classify with few labels.")] = True,
    shares: Annotated[str, typer.Option(help="Percents of the labels that are known.")] = "1,5,10,20",
    models: Annotated[str, typer.Option(help="Models, separated by commas; all if not given.")] = "",
) -> dict[str, Any]:
    """Clusters and classes with a graph, labels or layers, beside k-means and NMF.

    Every figure is kept in cells.json as soon as it is found: the same command goes on where it was stopped, and the
    table can be made in parts, by data sets, shares and models, in one folder.
    """
    wanted = [name.strip() for name in models.split(",") if name.strip()]
    cells = Cells(folder / "cells.json")
    summary: dict[str, Any] = {"clusters": [], "classes": []}
    lines: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in all_samples(only, lines):
            if clusters:
                found = clustered(data, seeds, cells, wanted)
                summary["clusters"].append(found)
                lines += described(found)
            for share in percents(shares) if labels else ():
                found = classified(data, share, seeds, cells, wanted)
                summary["classes"].append(found)
                lines += described(found)
    summary["lines"] = lines
    write_json(folder / "structured.json", summary)
    return summary


def percents(text: str) -> list[float]:
    """Numbers above 0 and below 100 from text such as "1,5"."""
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = [np.nan]
    if not all(0 < one < 100 for one in found):
        raise ValueError(f"--shares takes percents between 0 and 100, such as 1,5,10; got {text!r}.")
    return found


def clustered(data: Samples, seeds: int, cells: Cells, wanted: Sequence[str] = ()) -> dict[str, Any]:
    """NMI and accuracy of k-means on the features of each model (rows at unit length) with the classes."""
    k = len(np.unique(data.y))
    graph = neighbour_graph(data.X, 5) if data.graph is None else data.graph

    def by_k_means(F: Any, seed: int) -> dict[str, float]:
        return agreement(data.y, KMeans(k, n_init=1, random_state=seed).fit_predict(normalize(F)))

    def by_features(model: Any, seed: int) -> dict[str, float]:
        W = np.asarray(model.fit_transform(data.X))
        # At the scale where components have length one, so that a part counts as it does in the reconstruction.
        found = by_k_means(W * np.linalg.norm(model.components_, axis=1), seed)
        if isinstance(model, GraphNMF):
            found["graph_weight"] = float(np.max(model.graph_weight_))
        return found

    methods: dict[str, Callable[[int], dict[str, float]]] = {
        "k-means": lambda seed: by_k_means(data.X, seed),
        "NMF": lambda seed: by_features(NMF(k, init="random", random_state=seed), seed),
        "GraphNMF": lambda seed: by_features(
            GraphNMF(k, graph=graph, init="random", random_state=seed), seed
        ),
    }
    if min(data.X.shape) > 2 * k:
        layers = (min(4 * k, min(data.X.shape) - 1), k)
        methods["DeepNMF"] = lambda seed: by_features(DeepNMF(layers, random_state=seed), seed)
    if data.graph is not None:
        methods["SymmetricNMF (graph alone)"] = lambda seed: agreement(
            data.y, SymmetricNMF(k, random_state=seed).fit(data.graph).labels_
        )
    methods = {name: method for name, method in methods.items() if not wanted or name in wanted}
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
    for seed in range(seeds):
        for name, method in methods.items():
            cell = f"{data.name} | clusters | {name} | seed {seed}"
            scores[name].append(cells.get(cell, partial(method, seed)))
    return {
        "data": data.name,
        "what": "NMI (and accuracy) of clusters",
        "scores": {name: spread([one["nmi"] for one in found]) for name, found in scores.items()},
        "accuracy": {name: spread([one["accuracy"] for one in found]) for name, found in scores.items()},
        "graph_weight": [one["graph_weight"] for one in scores.get("GraphNMF", ())],
    }


class Task:
    """Classification with few labels: the data, what is learned once for all draws, and what is tested."""

    def __init__(self, data: Samples) -> None:
        self.data = data
        self.train = np.ones(len(data.y), dtype=bool) if data.training is None else data.training
        self.X, self.y = data.X[self.train], data.y[self.train]
        #: Parts: two for each class.
        self.k = min(2 * len(np.unique(data.y)), min(data.X.shape) - 1)

    @cached_property
    def graph(self) -> Any:
        """The graph of the data, or ten nearest neighbours."""
        return neighbour_graph(self.X, 10) if self.data.graph is None else self.data.graph

    @cached_property
    def plain(self) -> tuple[NMF, np.ndarray]:
        """NMF, which knows no labels, and its features."""
        model = NMF(self.k).fit(self.X)
        return model, np.asarray(model.transform(self.X))

    def accuracy(self, name: str, known: np.ndarray) -> float:
        """On the test samples, or on all samples without a label where there are none for testing."""
        rows = np.flatnonzero(known >= 0)
        if self.data.training is None:
            new, truth = self.X[known < 0], self.y[known < 0]
        else:
            new, truth = self.data.X[~self.train], self.data.y[~self.train]
        if name == "SemiSupervisedNMF":
            found = SemiSupervisedNMF(self.k).fit(self.X, known).predict(new)
        elif name == "ManifoldNMF":
            found = ManifoldNMF(self.k, graph=self.graph).fit(self.X, known).predict(new)
        else:
            model, features = self.plain
            regression = LogisticRegression(max_iter=1000).fit(features[rows], self.y[rows])
            found = regression.predict(np.asarray(model.transform(new)))
        return float((found == truth).mean())


def classified(
    data: Samples, percent: float, seeds: int, cells: Cells, wanted: Sequence[str] = ()
) -> dict[str, Any]:
    """Accuracy of each classifier with a share of the labels, by the same draws."""
    task = Task(data)
    scores: dict[str, list[float]] = {name: [] for name in CLASSIFIERS if not wanted or name in wanted}
    for seed in range(seeds):
        for name in scores:

            def compute(name: str = name, seed: int = seed) -> float:
                known = drawn(task.y, percent / 100, np.random.default_rng(seed))
                found = task.accuracy(name, known)
                inform(f"{data.name}, {percent:g} %, draw {seed + 1}: {name} {found:.3f}")
                return found

            cell = f"{data.name} | {percent:g} % of labels | {name} | draw {seed}"
            scores[name].append(cells.get(cell, compute))
    pairs = ((after, before) for before, after in pairwise(CLASSIFIERS) if {after, before} <= set(scores))
    return {
        "data": data.name,
        "what": f"accuracy with {percent:g} % of the labels, {task.k} parts",
        "scores": {name: spread(found) for name, found in scores.items()},
        "paired": {
            f"{after} − {before}": spread(np.subtract(scores[after], scores[before]))
            for after, before in pairs
        },
        "n_components": task.k,
    }


def drawn(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The labels of a share of each class, at least one; −1 for the others."""
    known = np.full(len(y), -1)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        rows = rng.choice(members, max(1, round(share * len(members))), replace=False)
        known[rows] = label
    return known


def agreement(given: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Normalised mutual information, and accuracy under the best matching of clusters and classes."""
    table = contingency_matrix(given, found)
    right = table[linear_sum_assignment(table, maximize=True)].sum()
    return {"nmi": float(normalized_mutual_info_score(given, found)), "accuracy": float(right / len(given))}


def spread(found: Any) -> dict[str, float]:
    """Mean and standard deviation."""
    return {"mean": float(np.mean(found)), "sd": float(np.std(found))}


def described(found: dict[str, Any]) -> list[str]:
    """A few lines for a person."""
    lines = [f"{found['data']}, {found['what']}"]
    for name, s in found["scores"].items():
        also = f"   ({found['accuracy'][name]['mean']:.3f})" if "accuracy" in found else ""
        lines.append(f"  {name:46s} {s['mean']:.3f} ± {s['sd']:.3f}{also}")
    lines += [f"  {name:46s} {s['mean']:+.3f} ± {s['sd']:.3f}" for name, s in found.get("paired", {}).items()]
    if found.get("graph_weight"):
        lines.append(f"  weight of the graph, mean {np.mean(found['graph_weight']):.4g}")
    return lines
