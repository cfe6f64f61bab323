"""How much a graph should count, chosen without labels: by how well it predicts entries that were not seen.

With the components held, the rows of W are found from half of the columns, once for each weight of the graph penalty,
and judged by the loss on the other half; then the halves change places, and where rows are few others are drawn.
Neighbours help where a row's own entries say too little of it (few words, weak signals). Where they say enough
(hundreds of pixels for a few dozen parts), any smoothing makes the prediction worse, and the chosen weight is 0. A
penalty on W also shrinks it, which helps to predict noise whatever the graph; so the graph must do better than itself
with its nodes in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from partwise.core import Problem, run
from partwise.matrix import InMemory
from partwise.priors import NO_PRIOR, Graph, ScaledGraph
from partwise.solvers import pick_solver

#: Weights that are tried, in units of loss / penalty where the run without a graph ended.
TRIED = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Gains below this share of the loss are none, nor those over a shuffled graph by fewer standard errors than this.
LEAST, SURE = 0.01, 3.0
#: Where rows are too few to be sure by, orders of the nodes that are tried, and by how many standard deviations of
#: their losses the graph must beat them.
ORDERS, BEYOND = 8, 4.0
#: Rows of all halves together: few rows are judged on several pairs of halves, at most so many.
ROWS, SPLITS = 2000, 8
#: Steps of W for each weight, and after how many weights that are all worse no stronger one is tried.
STEPS, RISES = 30, 3


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
    if X.shape[1] < 2:
        return 0.0
    halves = []
    for _ in range(max(1, min(SPLITS, ROWS // X.shape[0]))):
        columns = rng.permutation(X.shape[1])
        halves.append((np.sort(columns[::2]), np.sort(columns[1::2])))
    Ht = np.asarray(Ht, dtype=float)
    sizes = np.sqrt((Ht * Ht).sum(axis=0)) if size == "norm" else Ht.sum(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    W, Ht = (W * sizes).astype(X.dtype), (Ht / sizes).astype(X.dtype)
    penalty = ScaledGraph(graph, size).value(W, Ht)
    unit = problem.data_loss(W, Ht) / penalty if penalty > 0 else 0.0
    if not 0 < unit < np.inf:
        return 0.0
    r = np.ones(X.shape[0]) if X.row_weight is None else X.row_weight
    tried = _Tried(problem, W, Ht, graph, unit, halves)
    best = tried.best_of(TRIED)
    base, found = tried.losses[0.0], tried.losses[best]
    if found @ r > (1.0 - LEAST) * (base @ r):
        return 0.0

    def shuffled() -> np.ndarray:
        """Losses of rows by the same graph with its nodes in another order."""
        order = rng.permutation(X.shape[0])
        chance = _Tried(problem, W, Ht, Graph(graph.adjacency[order][:, order]), unit, halves)
        chance.W = tried.untied
        return r * chance.loss(best)

    # Row by row, for what the order of the nodes adds or takes is small beside what rows differ by.
    better = [shuffled() - r * found]
    sure = better[0].sum() > SURE * np.sqrt(len(found)) * better[0].std()
    if not sure and better[0].sum() > 0:
        # Few rows differ too much for that: how much do orders?
        better += [shuffled() - r * found for _ in range(ORDERS - 1)]
        totals = np.array([one.sum() for one in better])
        sure = totals.mean() > BEYOND * totals.std(ddof=1)
    return float(unit * best) if sure else 0.0


class _Tried:
    """Losses of rows on unseen columns by weight of the graph; W goes on from where the last weight left it."""

    def __init__(
        self,
        problem: Problem,
        W: np.ndarray,
        Ht: np.ndarray,
        graph: Graph,
        unit: float,
        halves: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        self.problem, self.graph, self.unit = problem, graph, unit
        self.losses: dict[float, np.ndarray] = {}
        self.halves = [
            (
                _of_columns(problem, seen),
                np.ascontiguousarray(Ht[seen]),
                _of_columns(problem, unseen).X,
                Ht[unseen],
            )
            for pair in halves
            for seen, unseen in (pair, pair[::-1])
        ]
        self.W = [W] * len(self.halves)
        #: W at weight 0.
        self.untied = self.W

    def loss(self, weight: float) -> np.ndarray:
        """The loss of each row at a weight."""
        total = np.zeros(len(self.W[0]))
        for i, (held, Ht, unseen, B) in enumerate(self.halves):
            # At this scale of the components the penalty is that of W alone; its factor is 1/2.
            tied = replace(held, prior_W=Graph(self.graph.adjacency, 0.5 * weight * self.unit))
            solver = pick_solver("auto", tied)
            start = solver.init(tied, self.W[i], Ht)
            self.W[i] = run(tied, solver, start, max_iter=STEPS, stopping=solver.stopping(1e-5)).state.W
            total += unseen.row_divergence(
                self.W[i], np.ascontiguousarray(B), self.problem.loss, self.problem.shift
            )
        self.losses[weight] = total
        return total

    def best_of(self, weights: Sequence[float]) -> float:
        """The least weight that is not surely, by a standard error, worse than the best.

        Weights are tried in rising order, after 0, until the loss has only risen for a while. 0 itself is not among
        those to choose from.
        """
        r = 1.0 if self.problem.X.row_weight is None else self.problem.X.row_weight
        totals: list[float] = []
        for weight in (0.0, *weights):
            totals.append(float((r * self.loss(weight)).sum()))
            self.untied = list(self.W) if weight == 0 else self.untied
            if len(totals) - 1 - int(np.argmin(totals)) >= RISES:
                break
        best = float(weights[int(np.argmin(totals[1:]))])
        for weight in weights:
            worse = r * (self.losses[weight] - self.losses[best])
            if worse.sum() <= np.sqrt(len(worse)) * worse.std():
                return float(weight)
        return best


def _of_columns(problem: Problem, columns: np.ndarray) -> Problem:
    """The problem of some of the columns, for W alone."""
    X = problem.X.T.rows(columns).T  # type: ignore[attr-defined]
    return replace(problem, X=X, prior_W=NO_PRIOR, prior_H=NO_PRIOR, free_H=None, update_H=False, pairings=())
