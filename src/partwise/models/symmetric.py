"""SymmetricNMF: communities of a graph, as parts that its nodes share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partwise.core import Callback, Problem, Result, Session, digest, run
from partwise.core.stopping import RelativeProgress
from partwise.initial.spectral import random_root, spectral_root, turned
from partwise.io.contents import Array, Maybe, Number
from partwise.io.registry import register_model
from partwise.matrix import Sparse
from partwise.matrix.span import span_of
from partwise.models.base import FactorModel, as_generator, fit_session
from partwise.models.community_count import count_communities, description_length, joined_count
from partwise.models.file_contents import FIT_CONTENTS, history_contents, restarts_contents
from partwise.models.inputs import place_of, row_names, validated
from partwise.models.membership import labels_from, shares, voted
from partwise.models.parameters import choice, real, whole
from partwise.models.summary import ending, summarise
from partwise.models.units import divided, exponent_of, inside, outside
from partwise.node_names import column_order
from partwise.priors.scaled import times_power
from partwise.solvers import pick_solver
from partwise.solvers.symmetric import NodeDescent, NodeProblem, NodeState

#: With normalize="regularized", each degree is raised by this many mean degrees.
MEAN_DEGREES = 5.0
#: With n_components="auto", numbers of communities tried in a row that do not shorten the description.
PATIENCE = 2

SYMMETRIC_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": Array("f", ("n_components", "n_features"), low=0),
    "n_components_": Number("i", 1, size="n_components"),
    "membership_": Array("f", ("n_features", "n_components"), low=0, high=1.0 + 1e-6),
    "labels_": Array("i", ("n_features",), low=-1, below="n_components"),
    "node_weight_": Array("f", ("n_features",), low=0),
    "links_": Maybe(Array("f", ("n_components", "n_components"), low=0), unless="directed"),
    "objective_": Number(low=0, nan=True),
    "restarts_": restarts_contents("objective"),
    "history_": history_contents("objective", "seconds"),
}


@dataclass(frozen=True)
class _Edges:
    """Edge weights divided by 2^exponent, the type they came in, and the names of the rows if they had any.

    `order` is where the column of each row's node stands, None where nodes are in one order.
    """

    A: sp.csr_matrix
    exponent: int
    dtype: Any
    row_names: Any
    order: np.ndarray | None = None

    @property
    def by_row(self) -> sp.csr_matrix:
        """Edge weights with nodes in the order of the rows, along both sides."""
        return self.A if self.order is None else self.A[:, self.order]

    def by_column(self, nodes: np.ndarray) -> np.ndarray:
        """What was found of nodes, along the last axis, in the order of the columns."""
        return nodes if self.order is None else np.ascontiguousarray(nodes[..., np.argsort(self.order)])


@dataclass(frozen=True)
class _Outcome:
    W: np.ndarray
    S: np.ndarray
    objective: float
    result: Result[NodeState]


@register_model
class SymmetricNMF(ClusterMixin, FactorModel):
    r"""Communities of a graph: symmetric nonnegative matrix factorization of its adjacency matrix.

    Minimises, over W ≥ 0,

    .. math::

        \tfrac12 \sum_{ij} \omega_i \omega_j \big(a_{ij} - (W W^\top)_{ij}\big)^2

    (Epstein 2017, section 4.3; Kuang, Yun & Park 2015). The weights :math:`\omega` make up for uneven degrees: with
    :math:`\omega_i = \bar d/d_i` this is the plain factorization of :math:`D^{-1/2} A D^{-1/2}`. A is sparse or
    dense, weighted or not, and is never made dense. Each entry of W in turn takes its best value (Vandaele, Gillis,
    Lei, Zhong & Dhillon 2016), so the objective never rises.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of communities. "auto" begins with as many as the graph's spectrum shows beyond chance (Saade, Krzakala
        & Zdeborová 2014) and takes more while they shorten the description of the graph (Zhang & Peixoto 2020); where
        that splits groups that belong together, as in graphs of nearest neighbours, they are joined again.
    directed : bool, default=False
        Whether :math:`a_{ij}` and :math:`a_{ji}` are different things. True factors A ≈ W S Wᵀ, where S says how
        much each community links to each; False replaces both by their mean, with a warning where they differ.
    normalize : {"regularized", "degree"} or None, default="regularized"
        Weights of the nodes: the mean degree over the degree plus five mean degrees, the mean degree over the degree,
        or 1. Weighted fully by degree, small parts of a sparse graph that hang by one edge lead; without weights,
        nodes of high degree.
    init : {"spectral", "random"}, default="spectral"
        Where W starts: eigenvectors turned by a random rotation until they are nearly nonnegative (Huang,
        Sidiropoulos & Swami 2014), or at random.
    tol : float, default=1e-6
        Stop when the objective falls, per sweep, by less than this share of itself.
    max_iter : int, default=300
        Sweeps, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    n_init : int, default=1
        Number of starts; the one with the least objective is kept.
    max_time : float, optional
        Seconds that the fit may take.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every sweep.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        The community of each node, the largest share of `membership_`; −1 for nodes that no community reaches, such
        as those without edges.
    membership_ : array of shape (n, n_components)
        Shares of each node; rows sum to one, evenly for nodes that no community reaches. They are in proportion to
        the weight of the node's edges into each community beyond chance, where neighbours belong to communities by
        their shares of W: W alone listens to nodes of high degree. Where the graph is directed, they are in
        proportion to the edges that W S Wᵀ gives the node by each community.
    components_ : array of shape (n_components, n)
        Wᵀ, or S Wᵀ where the graph is directed: A ≈ W · components_. `fit_transform` returns W. Nodes are in the
        order of the columns of X here and in `node_weight_`, in that of its rows everywhere else.
    links_ : array of shape (n_components, n_components), or None
        S, where the graph is directed: the weight of edges from community to community; columns of W then sum to one.
    node_weight_ : array of shape (n,)
        :math:`\omega`.
    objective_, history_, n_iter_, converged_, ended_by_, restarts_
        As in `NMF`.

    Notes
    -----
    The diagonal counts: A has zeros there where nodes have no loops, W Wᵀ has not. Without the diagonal there may be
    no least value (a star is approached ever better by a centre that grows while its leaves shrink), and communities
    are not found better.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import SymmetricNMF
    >>> A = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    >>> A[3, 4] = A[4, 3] = 1
    >>> SymmetricNMF(2).fit_predict(A).tolist() in ([0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0])
    True
    """

    kind = "symmetric"
    part_word = "group"
    chooses_count = True
    file_contents = SYMMETRIC_CONTENTS

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        directed: bool = False,
        normalize: str | None = "regularized",
        init: str = "spectral",
        tol: float = 1e-6,
        max_iter: int = 300,
        random_state: Any = None,
        verbose: int = 0,
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.directed = directed
        self.normalize = normalize
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, checkpoint: Any = None) -> SymmetricNMF:
        """Find the communities of a graph.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n, n)
            Nonnegative edge weights or similarities. Where index and columns of a DataFrame name the same nodes in
            another order, they are matched by name; where they name others, that is an error.
        y : None
            Ignored.
        checkpoint : path, optional
            Folder in which the fit saves its state every ten seconds, to go on from in a later call.

        Returns
        -------
        SymmetricNMF
            Itself. Ctrl-C ends the fit early, keeps the best found so far and issues the warning `Interrupted`.
        """
        self._fit(X, checkpoint)
        return self

    def fit_transform(self, X: Any, y: Any = None, checkpoint: Any = None) -> np.ndarray:
        """Find the communities of a graph, and return W.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n, n)
            Nonnegative edge weights or similarities.
        y : None
            Ignored.
        checkpoint : path, optional
            As in `fit`.

        Returns
        -------
        array of shape (n, n_components)
            W, at the scale of A ≈ W Wᵀ (or W S Wᵀ, with columns that sum to one).
        """
        W, names = self._fit(X, checkpoint)
        return self._named(W, names)

    def transform(self, X: Any) -> np.ndarray:
        """W of new nodes, by their edges to those of the fit.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_new, n)
            Weights of their edges, from the new nodes to those of the fit.

        Returns
        -------
        array of shape (n_new, n_components)
            W. For the nodes of a fit that converged it is their W, unless the graph is directed, where W knows the
            edges to a node as well.
        """
        check_is_fitted(self)
        edges = self._edges(X, reset=False)
        root = np.sqrt(self.node_weight_)
        Ht = np.ascontiguousarray((self.components_.astype(float) * root).T)
        power = exponent_of(float(Ht.max()))
        problem = Problem(Sparse.of(sp.csr_matrix(edges.A @ sp.diags(root))), update_H=False)
        W = pick_solver("auto", problem).solve_rows(problem, inside(Ht, power), self.max_iter, self.tol)
        return self._named(outside(W, edges.exponent - power).astype(edges.dtype), edges.row_names)

    def predict(self, X: Any) -> np.ndarray:
        """The community of new nodes, by their edges to those of the fit.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_new, n)
            Weights of their edges, from the new nodes to those of the fit.

        Returns
        -------
        array of int of shape (n_new,)
            The largest entry of each row of `transform`; −1 where all are 0.
        """
        return labels_from(np.asarray(self.transform(X)))

    # ----------------------------------------------------------------- fitting

    def _fit(self, X: Any, checkpoint: Any) -> tuple[np.ndarray, Any]:
        self._validate_params()
        data = self._edges(X, reset=True)
        A = self._adjacency(data)
        omega = self._weights(A)
        scale = sp.diags(np.sqrt(omega))
        problem = NodeProblem(sp.csr_matrix(scale @ A @ scale), self.directed)
        with fit_session(
            self,
            total=self.max_iter,
            max_time=self.max_time,
            checkpoint=checkpoint,
            data=lambda: {"shape": A.shape, "contents": digest(A), "exponent": data.exponent},
        ) as session:
            outcomes = self._chosen(session, problem, A, omega)
            best = min(outcomes, key=lambda one: one.objective)
            W, S = session.completed(lambda: self._conventional(best, omega))
            session.keep(lambda: self._keep(data, A, omega, W, S, outcomes, best))
            self._warn_unconverged()
        return self._outside(W, data), data.row_names

    def _edges(self, X: Any, reset: bool) -> _Edges:
        """Edge weights, checked."""
        array = validated(
            self,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_min_features=1,
        )
        values = array.data if sp.issparse(array) else array
        if values.size and values.min() < 0:
            raise ValueError(
                f"Negative values in data passed to SymmetricNMF: {place_of(array, lambda v: v < 0)}. "
                "Edge weights must be nonnegative; shift, clip or drop the negative ones."
            )
        # A copy, for what follows may change it.
        A = sp.csr_matrix(array, dtype=float, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        largest = span_of(A).largest
        exponent = exponent_of(largest)
        order = _order_of(X) if reset and A.shape[0] == A.shape[1] else None
        return _Edges(divided(A, exponent, largest), exponent, array.dtype, row_names(X), order)

    def _adjacency(self, data: _Edges) -> sp.csr_matrix:
        """The graph as it is factored: nodes in the order of the rows; symmetric, unless it is directed."""
        A = data.by_row
        if A.shape[0] != A.shape[1]:
            raise ValueError(
                "SymmetricNMF takes a graph, a square matrix with a row and a column for each node; got shape "
                f"{A.shape}. For a table of features give partwise.graphs.neighbour_graph(X)."
            )
        if not A.nnz:
            raise ValueError("The graph has no edges: there are no communities to find.")
        if self.n_components != "auto" and int(self.n_components) > A.shape[0]:
            raise ValueError(
                f"n_components={self.n_components} exceeds the number of nodes, {A.shape[0]}; choose fewer."
            )
        if not self.directed and abs(A - A.T).max() > 1e-6 * A.data.max():
            warnings.warn(
                "The graph is not symmetric; each edge gets the mean weight of its two directions. "
                "With directed=True the directions are kept apart.",
                stacklevel=4,
            )
        if not self.directed:
            # Also where they differ by rounding alone.
            A = sp.csr_matrix((A + A.T) * 0.5)
        A.sort_indices()
        return A

    def _weights(self, A: sp.csr_matrix) -> np.ndarray:
        """ω of the nodes."""
        if self.normalize is None:
            return np.ones(A.shape[0])
        degree = 0.5 * np.asarray(A.sum(axis=0) + A.sum(axis=1).T, dtype=float).ravel()
        # Against their mean, so that weights have no unit.
        degree /= degree.mean()
        if self.normalize == "regularized":
            degree += MEAN_DEGREES
        return np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)

    def _chosen(
        self, session: Session, problem: NodeProblem, A: sp.csr_matrix, omega: np.ndarray
    ) -> list[_Outcome]:
        """The runs with the number of communities asked for, or with the one of shortest description."""
        rng = as_generator(self.random_state)
        if self.n_components != "auto":
            return self._runs(session, problem, int(self.n_components), rng, "")
        graph = sp.csr_matrix((A + A.T) * 0.5) if self.directed else A
        k = count_communities(graph, rng)

        def tried() -> Iterator[list[_Outcome]]:
            """Runs with ever more communities, whenever the description is shorter than all before."""
            least, worse, kept = np.inf, 0, np.zeros(0, int)
            for more in range(A.shape[0] - k + 1):
                found = self._runs(session, problem, k + more, rng, f"k{k + more}_")
                W, S = self._conventional(min(found, key=lambda one: one.objective), omega)
                labels = labels_from(self._votes(A, W, S))
                length = description_length(graph, labels)
                least, worse = (length, 0) if length < least else (least, worse + 1)
                if not worse:
                    kept = labels
                    yield found
                if session.stopped:
                    return
                if worse == PATIENCE:
                    break
            fewer = joined_count(graph, kept)
            if fewer < len(np.unique(kept)):
                yield self._runs(session, problem, fewer, rng, f"joined{fewer}_")

        return session.latest(tried())

    def _votes(self, A: sp.csr_matrix, W: np.ndarray, S: np.ndarray) -> np.ndarray:
        """What each node has of each community; if the graph is directed, of its edges that W S Wᵀ accounts for."""
        return W * (S.sum(axis=0) + S.sum(axis=1)) if self.directed else voted(A, W)

    def _runs(
        self, session: Session, problem: NodeProblem, k: int, rng: np.random.Generator, prefix: str
    ) -> list[_Outcome]:
        generators = rng.spawn(self.n_init)
        root = None
        if self.init == "spectral":
            with session.interruptible():
                root = spectral_root(problem.A, k, rng, self.directed)

        def attempt(i: int) -> _Outcome:
            W = random_root(problem.A, k, generators[i]) if root is None else turned(root, generators[i])
            result = run(
                problem,
                NodeDescent(),
                NodeState(W=W, S=np.eye(k)),
                stopping=RelativeProgress(self.tol),
                max_iter=self.max_iter,
                callbacks=list(self.callbacks or ()),
                rng=generators[i],
                name=f"{prefix}run{i}",
            )
            state = result.state
            objective = session.completed(lambda: problem.objective(state.W, state.S))
            return _Outcome(state.W, state.S, objective, result)

        return session.restarts(self.n_init, attempt)

    def _conventional(self, best: _Outcome, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W and S in the units of A inside the fit, the community with most of the reconstruction first."""
        root = np.sqrt(omega)[:, None]
        W = np.divide(best.W, root, out=np.zeros_like(best.W), where=root > 0)
        total = W.sum(axis=0)
        S = total[:, None] * best.S * total
        order = np.argsort(-(S.sum(axis=0) + S.sum(axis=1)), kind="stable")
        if self.directed:
            W = np.divide(W, total, out=np.zeros_like(W), where=total > 0)
        return np.ascontiguousarray(W[:, order]), np.ascontiguousarray(S[np.ix_(order, order)])

    def _outside(self, W: np.ndarray, data: _Edges) -> np.ndarray:
        """W for the user: in the units of the data, of which W Wᵀ has one, and in their type."""
        if not self.directed:
            W = outside(W * 2.0 ** (0.5 * (data.exponent % 2)), data.exponent // 2)
        return np.asarray(W.astype(data.dtype, copy=False))

    def _keep(
        self,
        data: _Edges,
        A: sp.csr_matrix,
        omega: np.ndarray,
        W: np.ndarray,
        S: np.ndarray,
        outcomes: list[_Outcome],
        best: _Outcome,
    ) -> None:
        power = 2.0 * data.exponent
        self.restarts_ = [
            {
                "objective": float(times_power(one.objective, power)),
                "n_iter": one.result.state.iteration,
                "ended_by": one.result.reason,
            }
            for one in outcomes
        ]
        dtype = data.dtype
        self.links_ = outside(S, data.exponent).astype(dtype) if self.directed else None
        H = self._outside(W, data).T if self.links_ is None else self.links_ @ W.T
        # Columns as in X: A ≈ W · components_, and `transform` reads columns in that order.
        self.components_ = np.ascontiguousarray(data.by_column(H), dtype=dtype)
        self.n_components_ = len(self.components_)
        share = self._votes(A, W, S)
        self.labels_ = labels_from(share)
        self.membership_ = shares(share).astype(dtype)
        self.node_weight_ = data.by_column(omega)
        self.n_samples_fit_ = A.shape[0]
        self.n_iter_ = best.result.state.iteration
        self.objective_ = float(times_power(best.objective, power))
        self.converged_ = best.result.converged
        self.ended_by_ = best.result.reason
        self.history_ = {
            "objective": times_power(np.array(best.result.history.objective), power),
            "seconds": np.array(best.result.history.seconds),
        }

    def _warn_unconverged(self) -> None:
        if self.ended_by_ == "max_iter" and self.tol > 0:
            warnings.warn(
                f"The objective was still falling after {self.max_iter} sweeps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Names of the nodes; by default those of the fit, else column0, column1, …

        Returns
        -------
        dict
            Dicts, lists, text and numbers; `partwise.models.summary.summarise` lists the entries.
        """
        check_is_fitted(self)
        sizes = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_components_)
        return summarise(
            self,
            feature_names,
            sentence=f"coordinate descent {ending(self, 'sweeps')}, objective {self.objective_:.6g}",
            chosen={"n_components": str(self.n_components_)} if self.n_components == "auto" else {},
            figures={"objective": self.objective_, "nodes_without_community": int((self.labels_ < 0).sum())},
            part_details=[{"nodes": size, "sentence": f"{size} nodes"} for size in sizes.tolist()],
        )

    def _validate_params(self) -> None:
        if self.n_components != "auto":
            whole("n_components", self.n_components)
        choice("normalize", self.normalize, ("regularized", "degree", None))
        choice("init", self.init, ("spectral", "random"))
        choice("directed", self.directed, (False, True))
        real("tol", self.tol)
        whole("max_iter", self.max_iter)
        whole("n_init", self.n_init)
        if self.max_time is not None:
            real("max_time", self.max_time)

    def __sklearn_tags__(self) -> Any:
        """X is square: similarities of its rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def _order_of(X: Any) -> np.ndarray | None:
    """Where the column of each row's node stands in a DataFrame or AnnData; None where they are in one order."""
    if row_names(X) is not None:
        return column_order(list(X.obs_names), list(X.var_names), "The graph")
    if hasattr(X, "index") and hasattr(X, "columns"):
        # (Numbers that pandas gave to one side are names where the other has the same ones, as after a shuffle.)
        return column_order([str(one) for one in X.index], [str(one) for one in X.columns], "The graph")
    return None
