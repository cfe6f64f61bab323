"""Communities of graphs: symmetric factorization beside spectral clustering, with and without regularised degrees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import typer
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from partwise.datasets import fetch_cora, fetch_football, load_karate
from partwise.graphs import connectivity, modularity
from partwise.initial.spectral import spectral_root
from partwise.io import write_json
from partwise.models import SymmetricNMF
from partwise.plot import save_figure
from partwise.plot.style import SERIES, figure

#: What is measured of groups, each by the graph, the groups found and those given.
MEASURES: dict[str, Callable[[Any, np.ndarray, np.ndarray], float]] = {
    "nmi": lambda A, found, given: float(normalized_mutual_info_score(given, found)),
    "modularity": lambda A, found, given: modularity(A, found),
    "connectivity": lambda A, found, given: connectivity(A, found),
}


class Communities(NamedTuple):
    """A graph, the groups of its nodes, and its name."""

    name: str
    A: sp.csr_matrix
    groups: np.ndarray


def reproduce_communities(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method on each graph.")] = 10,
) -> dict[str, Any]:
    """Communities of karate, football, Cora and planted graphs: SymmetricNMF beside spectral clustering."""
    summary: dict[str, Any] = {"graphs": []}
    lines: list[str] = []
    for graph in graphs(lines):
        found = measured(graph, seeds)
        summary["graphs"].append(found)
        lines += described(found)
        if graph.name == "football":
            save_figure(drawn(graph), folder / "communities.png")
    summary["lines"] = lines
    write_json(folder / "communities.json", summary)
    return summary


def graphs(lines: list[str]) -> Iterator[Communities]:
    """The karate club; football and Cora's largest component, where they are to be had; planted graphs."""
    club = load_karate()
    yield Communities("karate club", sp.csr_matrix(club.data), club.target)
    for name, fetch in (("football", fetch_football), ("Cora", fetch_cora)):
        try:
            data = fetch()
        except OSError as error:
            lines.append(f"{name} left out. {error}")
            continue
        _, part = connected_components(data.adjacency)
        kept = part == np.bincount(part).argmax()
        yield Communities(
            name if kept.all() else f"{name}, largest component",
            sp.csr_matrix(data.adjacency)[kept][:, kept],
            data.target[kept],
        )
    yield planted("planted, 8 equal groups", [50] * 8, 14, 0.5, even=True)
    yield planted("planted, 6 uneven groups", [200, 100, 60, 40, 30, 20], 14, 0.3, even=True)
    yield planted("planted, 6 groups, uneven degrees", [100] * 6, 12, 0.3, even=False)
    yield planted("planted, 15 groups, uneven degrees", [100] * 3 + [60] * 4 + [30] * 8, 15, 0.4, even=False)
    yield planted("planted, sparse, uneven degrees", [300, 250, 200, 150, 100], 6, 0.2, even=False)


def planted(name: str, sizes: list[int], degree: float, mixing: float, even: bool) -> Communities:
    """A graph with this mean degree, of whose edges the share `mixing` falls anywhere and the rest within groups.

    Uneven degrees follow a power law with exponent 2.5, cut at thirty times the least.
    """
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    n = len(groups)
    pull = np.ones(n) if even else np.minimum(rng.pareto(1.5, n) + 1.0, 30.0)
    # A draw below the pulls of a group, laid end to end, falls on a node in proportion to its pull.
    ends = np.concatenate([[0.0], np.cumsum(pull)])
    first = np.searchsorted(ends, rng.random(round(n * degree / 2)) * ends[-1], side="right") - 1
    bounds = ends[np.concatenate([[0], np.cumsum(sizes)])]
    anywhere = rng.random(len(first)) < mixing
    low = np.where(anywhere, 0.0, bounds[groups[first]])
    high = np.where(anywhere, ends[-1], bounds[groups[first] + 1])
    second = np.searchsorted(ends, low + rng.random(len(first)) * (high - low), side="right") - 1
    A = sp.coo_matrix((np.ones(len(first)), (first, np.minimum(second, n - 1))), (n, n)).tocsr()
    A = sp.csr_matrix(((A + A.T) > 0).astype(float))
    A.setdiag(0)
    A.eliminate_zeros()
    return Communities(name, A, groups)


def measured(graph: Communities, seeds: int) -> dict[str, Any]:
    """Every measure for every method, mean and standard deviation over the seeds; the best start apart."""
    A, given = graph.A, graph.groups
    k = len(np.unique(given))
    fits = [SymmetricNMF(k, random_state=seed).fit(A) for seed in range(seeds)]
    random = [SymmetricNMF(k, random_state=seed, init="random").fit(A) for seed in range(seeds)]
    best = min(fits + random, key=lambda model: model.objective_)
    auto = SymmetricNMF("auto").fit(A)
    labels = {
        "SymmetricNMF": [model.labels_ for model in fits],
        "number by itself": [auto.labels_],
        "random starts": [model.labels_ for model in random],
        "best objective": [best.labels_],
        "spectral": [plain_spectral(A, k, seed) for seed in range(seeds)],
        "spectral, regularised": [regularised_spectral(A, k, seed) for seed in range(seeds)],
        "the groups given": [given],
    }
    methods = {}
    for method, found in labels.items():
        values = {name: [measure(A, one, given) for one in found] for name, measure in MEASURES.items()}
        methods[method] = {
            name: {"mean": float(np.mean(one)), "sd": float(np.std(one))} for name, one in values.items()
        }
    return {
        "graph": graph.name,
        "nodes": A.shape[0],
        "edges": A.nnz // 2,
        "groups": k,
        "groups_by_itself": auto.n_components_,
        "methods": methods,
    }


def plain_spectral(A: sp.csr_matrix, k: int, seed: int) -> np.ndarray:
    """scikit-learn's spectral clustering, as it comes."""
    with warnings.catch_warnings():
        # That the graph is in pieces; the planted ones may be.
        warnings.simplefilter("ignore", UserWarning)
        found = SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(A)
    return np.asarray(found)


def regularised_spectral(A: sp.csr_matrix, k: int, seed: int) -> np.ndarray:
    """Spectral clustering with the mean degree added to each degree (Qin & Rohe 2013): k-means of unit rows."""
    degree = np.asarray(A.sum(axis=1)).ravel()
    scale = sp.diags(1.0 / np.sqrt(degree + degree.mean()))
    B = spectral_root(sp.csr_matrix(scale @ A @ scale), k, np.random.default_rng(seed))
    vectors = normalize(B / np.maximum(np.linalg.norm(B, axis=0), 1e-300))
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(vectors))


def described(found: dict[str, Any]) -> list[str]:
    """A table of one graph."""
    lines = [
        f"{found['graph']}: {found['nodes']} nodes, {found['edges']} edges, {found['groups']} groups, "
        f"{found['groups_by_itself']} found by itself",
        f"  {'':24}{'NMI':>15}{'modularity':>15}{'connectivity':>15}",
    ]
    for method, values in found["methods"].items():
        cells = [f"{one['mean']:.3f} ± {one['sd']:.3f}" for one in values.values()]
        lines.append(f"  {method:24}" + "".join(f"{cell:>15}" for cell in cells))
    return lines


def drawn(graph: Communities) -> Any:
    """The adjacency matrix as it came, and in the order of its communities with their shares beside it."""
    model = SymmetricNMF(len(np.unique(graph.groups))).fit(graph.A)
    order = np.lexsort((-model.membership_.max(axis=1), model.labels_))
    drawing, axes = figure([["given", "ordered", "shares"]], (9.0, 4.2), width_ratios=[1, 1, 0.42])
    for name, A, title in (
        ("given", graph.A, "edges, nodes as they came"),
        ("ordered", graph.A[order][:, order], "the same, by community"),
    ):
        row, column = A.nonzero()
        size = 0.7 * 200 / len(order)
        axes[name].scatter(column, row, s=size, color=SERIES[0], marker="s", linewidths=0)
        axes[name].set(xlim=(-0.5, len(order) - 0.5), ylim=(len(order) - 0.5, -0.5), aspect="equal")
        axes[name].set_title(title, loc="left")
    edges = np.flatnonzero(np.diff(model.labels_[order])) + 0.5
    bounds = np.concatenate([[-0.5], edges, [len(order) - 0.5]])
    for low, high in pairwise(bounds):
        square = np.array([(low, low), (low, high), (high, high), (high, low), (low, low)])
        axes["ordered"].plot(*square.T, color=SERIES[1], linewidth=1)
    axes["shares"].imshow(model.membership_[order], aspect="auto", cmap="Blues", vmin=0, vmax=1)
    axes["shares"].set_title("shares", loc="left")
    axes["shares"].set_xlabel("community")
    for one in axes.values():
        one.grid(False)
        one.set_yticks([])
        if one is not axes["shares"]:
            one.set_xticks([])
    return drawing
