"""The graph of a model: made or checked, weighed, and added to the problem of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from partwise.core import Problem, Session, run
from partwise.graphs import checked_graph, neighbour_graph, similarity_graph
from partwise.io.contents import Array, Either, ListOf, Matrix, Number, OrNone
from partwise.matrix import InMemory, Joined
from partwise.models.base import as_generator
from partwise.models.graph_weight import chosen_weight
from partwise.models.inputs import Given
from partwise.models.new_neighbours import NewEdges
from partwise.models.parameters import check_nmf, choice, real, whole
from partwise.models.units import Units, inside, outside
from partwise.models.variant import NMFVariant
from partwise.priors import Graph, ScaledGraph
from partwise.priors.scaled import times_power
from partwise.solvers.base import AlternatingSolver

_ADJACENCY = Matrix("f", (None, None), low=0)
#: What a model file holds of the graph.
GRAPH_CONTENTS: dict[str, Any] = {
    "graph_weight_": Either((Number(low=0), ListOf(Number(low=0)))),
    "graph_": Either((_ADJACENCY, ListOf(_ADJACENCY))),
    "n_samples_fit_": Number("i", 0, size="n_samples_fit"),
    "embedding_": OrNone(Array("f", ("n_samples_fit", "n_components"), low=0)),
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
    if isinstance(problem.X, Joined) and model.graph_on != "samples":
        raise ValueError("A model with labels takes a graph over the samples; use graph_on='samples'.")
    # A component's size is that of its features, not of its labels.
    counted = problem.X.X.shape[1] if isinstance(problem.X, Joined) else None
    pairings = tuple(
        ScaledGraph(Graph(graph, weight), size, counted, of_H=side == "features")
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
    data, Hd = problem, Ht
    if isinstance(problem.X, Joined):
        # Labels have no say in how much the graph counts.
        data, Hd = replace(problem, X=problem.X.X), np.ascontiguousarray(Ht[: problem.X.X.shape[1]])
    weights = []
    for graph, side in zip(graphs, SIDES[model.graph_on]):
        seen = (data, W, Hd) if side == "samples" else (data.T, Hd, W)
        weights.append(chosen_weight(*seen, Graph(graph), size, rng))
    return tuple(weights), (W, Ht)


class WithGraph(NMFVariant):
    """What a graph adds to the fit of an `NMF`; to be named first among the base classes."""

    graph_weight: float | str

    def transform(self, X: Any, weights: Any = None, graph: Any = None, neighbors: Any = None) -> Any:
        """The best W for new rows, with the components held.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data with the columns of the fit.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts; 0 is the same as missing.
        graph : array or sparse matrix of shape (n_samples, n_samples), optional
            Edges among the new rows. Without edges a row is known by its data alone.
        neighbors : array or sparse matrix of shape (n_samples, n_samples of the fit), optional
            Edges from the new rows to those of the fit, whose W (`embedding_`) is held.

        Returns
        -------
        array of shape (n_samples, n_components)
            W, how much of each component is in each sample. With edges it minimises the objective of the fit for the
            new rows, at the weight `graph_weight_`.
        """
        if graph is None and neighbors is None:
            return super().transform(X, weights)
        check_is_fitted(self)
        check_nmf(self)
        data, problem, units, Ht = self._held(X, weights)
        if self.embedding_ is None:
            raise ValueError(
                "The graph of this model is over the features; edges of new samples need one over the samples "
                "(graph_on='samples' or 'both')."
            )
        weight = float(np.atleast_1d(self.graph_weight_)[0]) * self._penalty_unit(units)
        edges = NewEdges(graph, neighbors, weight, component_size(self, problem))
        fitted = inside(self.embedding_.astype(problem.X.dtype), units.W)
        W = edges.solved(problem, Ht, fitted, self.solver, self.max_iter, self.tol)
        return self._named(outside(W, units.W), data.row_names)

    @staticmethod
    def _penalty_unit(units: Units) -> float:
        """What a weight is multiplied by inside: the penalty is a square in the units of X, the loss a power."""
        return float(times_power(1.0, (2.0 - units.degree) * units.data))

    def _fit_problem(self, data: Given, units: Units, free: np.ndarray | None) -> Problem:
        problem = super()._fit_problem(data, units, free)
        self._unit = self._penalty_unit(units)
        self._graphs = graphs_of(self, data)
        if self.graph_weight == "auto":
            return problem
        self._weights = (float(self.graph_weight) * self._unit,) * len(self._graphs)
        return with_graphs(self, problem, self._graphs, self._weights)

    def _settled(
        self,
        session: Session,
        problem: Problem,
        solver: AlternatingSolver,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
    ) -> tuple[Problem, tuple[np.ndarray, np.ndarray] | None]:
        problem, start = super()._settled(session, problem, solver, k, start, fixed)
        if self.graph_weight == "auto":
            rng = as_generator(self.random_state)
            first = self._start(problem, k, start, fixed, 0, rng)
            self._weights, there = weighed(self, problem, self._graphs, solver, first, rng)
            problem = with_graphs(self, problem, self._graphs, self._weights)
            # Where no graph helps, the fit is that of NMF.
            start = there if any(self._weights) else start
        return problem, start

    def _keep(self, problem: Problem, units: Units, outcomes: Any, best: Any, solver: Any) -> None:
        super()._keep(problem, units, outcomes, best, solver)
        self.embedding_ = outside(best.W, units.W) if "samples" in SIDES[self.graph_on] else None
        weights = tuple(weight / self._unit for weight in self._weights)
        self.graph_weight_ = weights[0] if len(weights) == 1 else weights
        self.graph_ = self._graphs[0] if len(weights) == 1 else self._graphs
        del self._weights, self._graphs, self._unit

    def _validate_params(self) -> None:
        super()._validate_params()
        check_graph_parameters(self)

    def _chosen(self) -> dict[str, str]:
        weights = np.atleast_1d(self.graph_weight_)
        return {**super()._chosen(), "graph_weight": ", ".join(f"{weight:.4g}" for weight in weights)}
