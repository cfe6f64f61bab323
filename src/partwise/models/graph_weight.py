"""How much a graph should count, chosen without labels: by how well it predicts entries that were not seen.

With the components held, the rows of W are found from half of the columns, once for each weight of the graph penalty,
and judged by the loss on the other half; then the halves change places. Neighbours help where a row's own entries say
too little of it (few words, weak signals). Where they say enough (hundreds of pixels for a few dozen parts), any
smoothing makes the prediction worse, and the chosen weight is 0. A penalty on W also shrinks it, which helps to
predict noise whatever the graph; so the graph must do better than itself with its nodes in another order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.core import Problem, run
from partwise.matrix import InMemory
from partwise.priors import NO_PRIOR, Graph, ScaledGraph
from partwise.solvers import pick_solver

#: Weights that are tried, in units of loss / penalty where the run without a graph ended.
TRIED = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Gains below this share of the loss are none, nor those over a shuffled graph by fewer standard errors than this.
LEAST, SURE = 0.005, 3.0
#: Steps of W for each weight.
STEPS = 30


def chosen_weight(
    problem: Problem, W: np.ndarray, Ht: np.ndarray, graph: Graph, size: str, rng: np.random.Generator
) -> float:
    """The weight of a graph over the rows of W.

    Parameters
    ----------
    problem : Problem
        The data and their loss, in memory.
    W : array of shape (n_samples, n_components)
        Where a run without the graph ended.
    Ht : array of shape (n_features, n_components)
        The same of the other factor.
    graph : Graph
        The graph, at weight 1.
    size : {"norm", "sum"}
        As in `ScaledGraph`.
    rng : Generator
        Draws the halves.

    Returns
    -------
    float
        The weight; 0 where the graph does not help.
    """
    X = problem.X
    assert isinstance(X, InMemory)
    columns = rng.permutation(X.shape[1])
    halves = np.sort(columns[::2]), np.sort(columns[1::2])
    if not len(halves[1]):
        return 0.0
    Ht = np.asarray(Ht, dtype=float)
    sizes = np.sqrt((Ht * Ht).sum(axis=0)) if size == "norm" else Ht.sum(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    W, Ht = (W * sizes).astype(X.dtype), (Ht / sizes).astype(X.dtype)
    penalty = ScaledGraph(graph, size).value(W, Ht)
    unit = problem.data_loss(W, Ht) / penalty if penalty > 0 else 0.0
    if not 0 < unit < np.inf:
        return 0.0
    order = rng.permutation(X.shape[0])
    shuffled = Graph(graph.adjacency[order][:, order])
    r = np.ones(X.shape[0]) if X.row_weight is None else X.row_weight
    losses, by_chance = (_losses(problem, W, Ht, one, unit, halves) for one in (graph, shuffled))
    total = losses @ r
    best = int(total[1:].argmin()) + 1
    # Row by row, for what the order of the nodes adds or takes is small beside what rows differ by.
    better = r * (by_chance[best] - losses[best])
    sure = better.sum() > SURE * np.sqrt(len(better)) * better.std()
    if not sure or total[best] > (1.0 - LEAST) * total[0]:
        return 0.0
    return float(unit * TRIED[best - 1])


def _losses(
    problem: Problem, W: np.ndarray, Ht: np.ndarray, graph: Graph, unit: float, halves: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The loss of each row on unseen columns, without a graph and for each of the weights."""
    losses = np.zeros((1 + len(TRIED), len(W)))
    for seen, unseen in (halves, halves[::-1]):
        held = _of_columns(problem, seen), _of_columns(problem, unseen).X
        B = np.ascontiguousarray(Ht[unseen])
        A = W
        for i, weight in enumerate((0.0, *TRIED)):
            # At this scale of the components the penalty is that of W alone; its factor is 1/2.
            tied = replace(held[0], prior_W=Graph(graph.adjacency, 0.5 * weight * unit))
            solver = pick_solver("auto", tied)
            start = solver.init(tied, A, np.ascontiguousarray(Ht[seen]))
            A = run(tied, solver, start, max_iter=STEPS, stopping=solver.stopping(1e-5)).state.W
            losses[i] += held[1].row_divergence(A, B, problem.loss, problem.shift)
    return losses


def _of_columns(problem: Problem, columns: np.ndarray) -> Problem:
    """The problem of some of the columns, for W alone."""
    X = problem.X.T.rows(columns).T  # type: ignore[attr-defined]
    return replace(problem, X=X, prior_W=NO_PRIOR, prior_H=NO_PRIOR, free_H=None, update_H=False, pairings=())
