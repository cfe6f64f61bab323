"""GraphNMF: samples (or features) that are neighbours in a graph get similar parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.core import Callback
from partwise.io.registry import register_model
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.graph_part import GRAPH_CONTENTS, WithGraph


@register_model
class GraphNMF(WithGraph):
    r"""Nonnegative matrix factorization in which neighbours in a graph have similar parts.

    Minimises, over W ≥ 0 and H ≥ 0,

    .. math::

        D(X | WH) + \frac{\lambda}{2} \sum_k s_k^2\, w_k^\top L\, w_k

    where L is the Laplacian of a graph over the samples and :math:`s_k` the size of component k. This is equation
    6.2 of Epstein (2017), after Cai, He, Han & Huang (2011), with W taken at the scale where components have size
    one: as printed, the penalty vanishes when W shrinks and H grows, which changes nothing else. Under the
    Kullback-Leibler loss the penalty is the same (Cai et al. use a divergence between rows there). A graph over the
    features does the same for the columns of H, at the scale where the columns of W have size one.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components.
    graph : {"knn", "similarity"}, array, sparse matrix, or a pair of these, default="knn"
        "knn" connects nearest neighbours in X, "similarity" the pairs of rows with the one percent largest dot
        products. Or edge weights of shape (n, n), symmetric and nonnegative. With ``graph_on="both"``, a pair gives
        the graph of the samples and that of the features.
    n_neighbors : int, default=5
        For "knn".
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        For "knn"; see `partwise.graphs.neighbour_graph`.
    metric : str, default="cosine"
        For "knn": the distance by which neighbours are found.
    graph_weight : float or "auto", default="auto"
        λ. "auto" takes the one that best predicts half of the columns from the other half, and 0 where the graph does
        not help; it sees no labels.
    graph_on : {"samples", "features", "both"}, default="samples"
        Whose neighbours are alike.
    component_size : {"auto", "sum", "norm"}, default="auto"
        :math:`s_k`: the sum of a component, or its Euclidean norm. "auto" is the norm for the Frobenius loss and the
        sum otherwise.
    beta_loss : float, str or Loss, default="frobenius"
        As in `NMF`.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        As in `NMF`.
    solver : str, default="auto"
        As in `NMF`.
    tol : float, default=1e-4
        As in `NMF`.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry.
    n_init : int, default=1
        Number of starts; the best one is kept.
    max_time : float, optional
        Seconds that the fit may take.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.
    scale : {"samples", "components"} or None, default="samples"
        As in `NMF`: how W and H share a part's size. The penalty does not depend on it.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H, at the scale that `scale` names.
    graph_weight_ : float, or tuple of two
        λ used, for the samples and the features with ``graph_on="both"``.
    graph_ : csr_matrix, or tuple of two
        The graph used.
    embedding_ : array of shape (n_samples, n_components), or None
        W of the samples of the fit, where the graph is over samples: new samples may be their neighbours. It is kept
        in the model file, as the graph is.
    reconstruction_err_, objective_, history_, n_iter_, converged_, ended_by_, restarts_, solver_
        As in `NMF`; the objective includes the penalty.

    Notes
    -----
    `fit_transform` returns W with the graph's pull. `transform` knows new samples by their data alone, unless it is
    given their edges, so for the samples of the fit the two differ.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import GraphNMF
    >>> X = np.random.default_rng(0).poisson(2.0, (30, 12)).astype(float)
    >>> model = GraphNMF(3, n_neighbors=4, graph_weight=1.0).fit(X)
    >>> model.components_.shape, model.graph_.shape
    ((3, 12), (30, 30))
    """

    kind = "graph"
    file_contents = NMF_CONTENTS | GRAPH_CONTENTS

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        graph: Any = "knn",
        n_neighbors: int = 5,
        edge_weights: str = "binary",
        metric: str = "cosine",
        graph_weight: float | str = "auto",
        graph_on: str = "samples",
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
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.edge_weights = edge_weights
        self.metric = metric
        self.graph_weight = graph_weight
        self.graph_on = graph_on
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
