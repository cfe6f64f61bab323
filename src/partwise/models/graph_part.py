"""The graph of a model: made or checked, weighed, and added to the problem of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.core import Problem, run
from partwise.graphs import checked_graph, neighbour_graph, similarity_graph
from partwise.io.contents import Either, ListOf, Matrix, Number
from partwise.matrix import InMemory
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.graph_weight import chosen_weight
from partwise.models.inputs import Given
from partwise.models.parameters import choice, real, whole
from partwise.priors import Graph, ScaledGraph
from partwise.solvers.base import AlternatingSolver

_ADJACENCY = Matrix("f", (None, None), low=0)
#: What the file of a model with a graph holds.
GRAPH_CONTENTS: dict[str, Any] = {
    **NMF_CONTENTS,
    "graph_weight_": Either((Number(low=0), ListOf(Number(low=0)))),
    "graph_": Either((_ADJACENCY, ListOf(_ADJACENCY))),
}
#: What the nodes of each graph are.
SIDES = {"samples": ("samples",), "features": ("features",), "both": ("samples", "features")}


def check_graph_parameters(model: Any) -> None:
    """Every parameter of a model with a graph that can be judged without data."""
    choice("graph_on", model.graph_on, tuple(SIDES))
    choice("component_size", model.component_size, ("auto", "sum", "norm"))
    choice("edge_weights", model.edge_weights, ("binary", "heat", "cosine"))
    whole("n_neighbors", model.n_neighbors)
    if not isinstance(model.graph_weight, str):
        real("graph_weight", model.graph_weight)
    else:
        choice("graph_weight", model.graph_weight, ("auto",))
    if isinstance(model.graph, str):
        choice("graph", model.graph, ("knn", "similarity"))


def graphs_of(model: Any, data: Given) -> tuple[sp.csr_matrix, ...]:
    """The adjacency matrices that the model's parameters ask for, one for each of its sides."""
    sides = SIDES[model.graph_on]
    named = model.graph
    if not isinstance(named, tuple | list):
        named = (named,) * len(sides) if isinstance(named, str) else (named,)
    if len(named) != len(sides):
        raise ValueError(
            f"graph_on={model.graph_on!r} needs {len(sides)} graph{'s' * (len(sides) > 1)}; got {len(named)}. "
            "With graph_on='both' give a pair: the graph of the samples and that of the features."
        )
    found = []
    for graph, side in zip(named, sides):
        n = data.X.shape[0 if side == "samples" else 1]
        if not isinstance(graph, str):
            found.append(checked_graph(graph, n, side))
            continue
        if data.array is None:
            raise ValueError(f"graph={graph!r} needs X as an array or a sparse matrix; give a graph instead.")
        X = data.array if side == "samples" else data.array.T
        if choice("graph", graph, ("knn", "similarity")) == "knn":
            found.append(
                neighbour_graph(X, model.n_neighbors, weights=model.edge_weights, metric=model.metric)
            )
        else:
            found.append(similarity_graph(X))
    return tuple(found)


def component_size(model: Any, problem: Problem) -> str:
    """What the size of a component is: as the loss measures it, unless the model says otherwise."""
    if model.component_size != "auto":
        return str(model.component_size)
    return "norm" if problem.loss.gram else "sum"


def with_graphs(
    model: Any, problem: Problem, graphs: tuple[sp.csr_matrix, ...], weights: tuple[float, ...]
) -> Problem:
    """The problem with its graph penalties; those of weight 0 are left out."""
    size = component_size(model, problem)
    pairings = tuple(
        ScaledGraph(Graph(graph, weight), size, of_H=side == "features")
        for graph, weight, side in zip(graphs, weights, SIDES[model.graph_on])
        if weight > 0
    )
    return replace(problem, pairings=pairings)


def weighed(
    model: Any,
    problem: Problem,
    graphs: tuple[sp.csr_matrix, ...],
    solver: AlternatingSolver,
    start: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[tuple[float, ...], tuple[np.ndarray, np.ndarray]]:
    """The weights that `graph_weight="auto"` chooses, and where the run without a graph ended that they come from."""
    if not isinstance(problem.X, InMemory):
        raise ValueError("graph_weight='auto' reads the columns of X, so X must be in memory; give a number.")
    result = run(
        problem,
        solver,
        solver.init(problem, *start),
        stopping=solver.stopping(model.tol),
        max_iter=model.max_iter,
        rng=rng,
        name="plain",
    )
    W, Ht = result.state.W, result.state.Ht
    size = component_size(model, problem)
    weights = []
    for graph, side in zip(graphs, SIDES[model.graph_on]):
        seen = (problem, W, Ht) if side == "samples" else (problem.T, Ht, W)
        weights.append(chosen_weight(*seen, Graph(graph), size, rng))
    return tuple(weights), (W, Ht)
