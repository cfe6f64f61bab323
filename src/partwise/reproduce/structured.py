"""Clusters and classes of real data by models that know a graph, labels, or layers, beside plain ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import typer
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from partwise import datasets
from partwise.graphs import neighbour_graph
from partwise.io import write_json
from partwise.models import NMF, DeepNMF, GraphNMF, ManifoldNMF, SemiSupervisedNMF, SymmetricNMF

#: Shares of the labels that are known.
SHARES = (0.01, 0.05, 0.1, 0.2)


class Samples(NamedTuple):
    """Data, classes, a graph if the data come with one, and which samples are for training where that is given."""

    name: str
    X: Any
    y: np.ndarray
    graph: Any = None
    training: np.ndarray | None = None


def reproduce_structured(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Starts, and draws of labels.")] = 10,
    only: Annotated[str, typer.Option(help="Data sets, separated by commas; all if not given.")] = "",
    labels: Annotated[bool, typer.Option(help="Also classify with 1 to 20 % of the labels.")] = True,
) -> dict[str, Any]:
    """Clusters and classes with a graph, labels or layers, beside k-means and NMF."""
    summary: dict[str, Any] = {"clusters": [], "classes": []}
    lines: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in all_samples(only, lines):
            found = clustered(data, seeds)
            summary["clusters"].append(found)
            lines += described(found)
            if labels and data.graph is None and data.name != "PIE pose 27":
                found = classified(data, seeds)
                summary["classes"].append(found)
                lines += described(found)
    summary["lines"] = lines
    write_json(folder / "structured.json", summary)
    return summary


def all_samples(only: str, lines: list[str]) -> Iterator[Samples]:
    """The data sets that are to be had; the others are named in a line."""
    wanted = [name.strip().lower() for name in only.split(",") if name.strip()]
    for name, load in LOADERS.items():
        if wanted and name.lower() not in wanted:
            continue
        try:
            yield load(name)
        except OSError as error:
            lines.append(f"{name} left out. {error}")


def _pie(name: str) -> Samples:
    data = datasets.fetch_pie()
    return Samples(name, normalize(data.data), data.target)


def _orl(name: str) -> Samples:
    data = datasets.fetch_orl()
    return Samples(name, data.data / data.data.max(), data.target)


def _text(name: str) -> Samples:
    if name == "20 Newsgroups":
        data = datasets.fetch_20newsgroups()
        X, y = sp.csr_matrix(data.data), data.target
        training = np.asarray(data.is_train, dtype=bool)
    else:
        data = datasets.fetch_reuters()
        X, y = sp.csr_matrix(data.data), data.target
        largest = np.argsort(-np.bincount(y), kind="stable")[:30]
        kept = np.isin(y, largest)
        X, y, training = X[kept], y[kept], None
    X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
    return Samples(name, sp.csr_matrix(TfidfTransformer().fit_transform(X)), y, None, training)


def _cora(name: str) -> Samples:
    data = datasets.fetch_cora()
    return Samples(name, sp.csr_matrix(data.data), data.target, sp.csr_matrix(data.adjacency))


def _football(name: str) -> Samples:
    data = datasets.fetch_football()
    A = sp.csr_matrix(data.adjacency)
    return Samples(name, A, data.target, A)


def _genes(name: str) -> Samples:
    data = datasets.fetch_all_aml()
    return Samples(name, data.data, data.target)


LOADERS: dict[str, Callable[[str], Samples]] = {
    "Cora": _cora,
    "Reuters": _text,
    "20 Newsgroups": _text,
    "PIE pose 27": _pie,
    "ORL": _orl,
    "ALL/AML": _genes,
    "football": _football,
}


def clustered(data: Samples, seeds: int) -> dict[str, Any]:
    """NMI of k-means on the features of each model (rows at unit length) with the classes."""
    k = len(np.unique(data.y))
    graph: Any = "knn" if data.graph is None else data.graph
    if data.graph is None:
        graph = neighbour_graph(data.X, 5)
    models: dict[str, Callable[[int], Any]] = {
        "NMF": lambda seed: NMF(k, init="random", random_state=seed),
        "GraphNMF": lambda seed: GraphNMF(k, graph=graph, init="random", random_state=seed),
    }
    if min(data.X.shape) > 2 * k and not sp.issparse(data.X):
        models["DeepNMF"] = lambda seed: DeepNMF((min(4 * k, min(data.X.shape) - 1), k), random_state=seed)
    if data.graph is not None:
        models["SymmetricNMF (graph alone)"] = lambda seed: SymmetricNMF(k, random_state=seed)
    scores: dict[str, list[float]] = {name: [] for name in ("k-means", *models)}
    weights = []
    for seed in range(seeds):
        scores["k-means"].append(nmi(data.y, grouped(normalize(data.X), k, seed)))
        for name, make in models.items():
            model = make(seed)
            if isinstance(model, SymmetricNMF):
                scores[name].append(nmi(data.y, model.fit(data.graph).labels_))
                continue
            W = np.asarray(model.fit_transform(data.X))
            # At the scale where components have length one, so that a part counts as it does in the reconstruction.
            W = W * np.linalg.norm(model.components_, axis=1)
            scores[name].append(nmi(data.y, grouped(normalize(W), k, seed)))
            if name == "GraphNMF":
                weights.append(float(model.graph_weight_))
    return {"data": data.name, "what": "NMI", "scores": spread(scores), "graph_weight": weights}


def classified(data: Samples, seeds: int) -> dict[str, Any]:
    """Accuracy with few labels: on the test samples, or on all samples without a label."""
    k = 2 * len(np.unique(data.y))
    train = np.ones(len(data.y), dtype=bool) if data.training is None else data.training
    X, y = data.X[train], data.y[train]
    graph = neighbour_graph(X, 10)
    plain = NMF(k).fit(X)
    features = np.asarray(plain.transform(X))
    scores: dict[str, list[float]] = {}
    for share in SHARES:
        for seed in range(seeds):
            known = drawn(y, share, np.random.default_rng(seed))
            rows = np.flatnonzero(known >= 0)
            if data.training is None:
                new, truth = data.X[known < 0], y[known < 0]
            else:
                new, truth = data.X[~train], data.y[~train]
            made = {
                "logistic regression on NMF": LogisticRegression(max_iter=1000).fit(features[rows], y[rows]),
                "SemiSupervisedNMF": SemiSupervisedNMF(k).fit(X, known),
                "ManifoldNMF": ManifoldNMF(k, graph=graph).fit(X, known),
            }
            for name, model in made.items():
                given = plain.transform(new) if name.startswith("logistic") else new
                scores.setdefault(f"{name}, {100 * share:g} % of labels", []).append(
                    float((model.predict(given) == truth).mean())
                )
    return {"data": data.name, "what": "accuracy", "scores": spread(scores), "n_components": k}


def drawn(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The labels of a share of each class, at least one; −1 for the others."""
    known = np.full(len(y), -1)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        rows = rng.choice(members, max(1, round(share * len(members))), replace=False)
        known[rows] = label
    return known


def grouped(F: Any, k: int, seed: int) -> np.ndarray:
    """Clusters of rows."""
    return np.asarray(KMeans(k, n_init=1, random_state=seed).fit_predict(F))


def nmi(given: np.ndarray, found: np.ndarray) -> float:
    """Normalised mutual information."""
    return float(normalized_mutual_info_score(given, found))


def spread(scores: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of each list."""
    return {name: {"mean": float(np.mean(v)), "sd": float(np.std(v))} for name, v in scores.items()}


def described(found: dict[str, Any]) -> list[str]:
    """A few lines for a person."""
    lines = [f"{found['data']}, {found['what']}"]
    lines += [f"  {name:42s} {s['mean']:.3f} ± {s['sd']:.3f}" for name, s in found["scores"].items()]
    if found.get("graph_weight"):
        lines.append(f"  weight of the graph, mean {np.mean(found['graph_weight']):.4g}")
    return lines
