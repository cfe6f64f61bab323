"""ManifoldNMF: parts that explain known labels and are alike for neighbours in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from partwise.core import Callback
from partwise.io.registry import register_model
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.graph_part import GRAPH_CONTENTS, WithGraph
from partwise.models.label_part import LABEL_CONTENTS
from partwise.models.label_readout import Teaching, best_reach, joins_alike, labels_alone, labels_along
from partwise.models.semisupervised import WithLabels


@register_model
class ManifoldNMF(WithGraph, WithLabels):
    r"""Nonnegative matrix factorization with known labels and a graph over the samples.

    Minimises equation 6.4 of Epstein (2017),

    .. math::

        D(X | WH) + \lambda_1\, D(L \circ Y | L \circ (WB))
        + \frac{\lambda_2}{2} \sum_k s_k^2\, w_k^\top \mathcal{L}\, w_k

    where L is the mask of known labels and :math:`\mathcal L` the Laplacian of the graph (one letter stands for both
    there, and no updates are printed). The first two terms are those of `SemiSupervisedNMF`, the third is that of
    `GraphNMF`; with a weight of 0 it is the other model. Each half-step is theirs: the labels are further columns of
    X, and the graph is majorised row by row.

    `predict` learns from labels that were spread along the graph (Zhou et al. 2004), each as sure as its share of
    what arrives at a sample: a few labels go a long way. It learns from labels alone, as `SemiSupervisedNMF` does,
    where these are surely better at labels left out, a fifth of them in turn; and, unless the others are, where
    neighbours have no more parts in common than any two samples.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components.
    label_weight : float or "auto", default="auto"
        λ₁, as in `SemiSupervisedNMF`.
    label_size : {"rows", "unit"}, default="rows"
        As in `SemiSupervisedNMF`.
    graph : {"knn", "similarity"}, array or sparse matrix, default="knn"
        As in `GraphNMF`.
    n_neighbors : int, default=10
        For "knn".
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        For "knn"; see `partwise.graphs.neighbour_graph`.
    metric : str, default="cosine"
        For "knn": the distance by which neighbours are found.
    graph_weight : float or "auto", default="auto"
        λ₂, as in `GraphNMF`; "auto" sees no labels.
    component_size : {"auto", "sum", "norm"}, default="auto"
        As in `GraphNMF`.
    beta_loss : float, str or Loss, default="frobenius"
        As in `NMF`, for data and labels.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        As in `NMF`.
    solver : str, default="auto"
        As in `SemiSupervisedNMF`.
    tol : float, default=1e-4
        As in `NMF`.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry of X.
    n_init : int, default=1
        Number of starts; the best one is kept.
    max_time : float, optional
        Seconds that the fit may take.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.
    scale : {"samples", "components"} or None, default="samples"
        As in `NMF`.

    Attributes
    ----------
    components_, label_components_, classes_, class_importance_, class_information_, readout_coef_, readout_intercept_
    labels_spread_
        As in `SemiSupervisedNMF`.
    graph_, graph_weight_, label_weight_
        What was used.
    embedding_ : array of shape (n_samples, n_components)
        As in `GraphNMF`: W of the samples of the fit.
    reconstruction_err_, objective_, history_, n_iter_, converged_, ended_by_, restarts_, solver_
        As in `NMF`.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import ManifoldNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(np.repeat([[4, 4, 1, 1], [1, 1, 4, 4]], 20, axis=0)).astype(float)
    >>> y = np.repeat([0, 1], 20)
    >>> known = np.where(np.arange(40) % 20 == 0, y, -1)  # two labels, -1 for the others
    >>> model = ManifoldNMF(2, beta_loss="kl").fit(X, known)
    >>> float((model.predict(X) == y).mean()) > 0.9
    True
    """

    kind = "manifold"
    file_contents = NMF_CONTENTS | LABEL_CONTENTS | GRAPH_CONTENTS
    graph_on = "samples"

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        label_weight: float | str = "auto",
        label_size: str = "rows",
        graph: Any = "knn",
        n_neighbors: int = 10,
        edge_weights: str = "binary",
        metric: str = "cosine",
        graph_weight: float | str = "auto",
        component_size: str = "auto",
        beta_loss: float | str = "frobenius",
        init: str | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
        missing_values: float | None = np.nan,
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
        scale: str | None = "samples",
    ) -> None:
        self.n_components = n_components
        self.label_weight = label_weight
        self.label_size = label_size
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.edge_weights = edge_weights
        self.metric = metric
        self.graph_weight = graph_weight
        self.component_size = component_size
        self.beta_loss = beta_loss
        self.init = init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks
        self.scale = scale

    def _spreads(self) -> bool:
        # (A graph whose best weight in the factorization is 0 still tells who is whose neighbour.)
        return not self._labels.multilabel and self.graph_weight != 0

    def _teachings(self, features: np.ndarray, weights: np.ndarray) -> list[Teaching]:
        if not self._spreads():
            return super()._teachings(features, weights)
        graph = self._graphs[0]
        along = partial(labels_along, graph, best_reach(graph, self._labels, weights))
        return [along, labels_alone] if joins_alike(graph, features) else [labels_alone, along]
