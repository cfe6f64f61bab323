"""Graphs over samples or features: how they are made from data and checked, and how well groups fit them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.well_formed import require_well_formed

__all__ = [
    "checked_graph",
    "conductance",
    "connectivity",
    "modularity",
    "neighbour_graph",
    "similarity_graph",
    "spread_labels",
]

#: Rows from which a percentile of all dot products is found.
_SAMPLED_ROWS = 2000


def neighbour_graph(
    X: Any, n_neighbors: int = 5, *, weights: str = "binary", metric: str = "cosine"
) -> sp.csr_matrix:
    """Connect each row to its nearest neighbours (Cai, He, Han & Huang 2011, section 3).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The rows to connect; NaN counts as the mean of its column.
    n_neighbors : int
        Neighbours of each row. Two rows are connected when either is a neighbour of the other.
    weights : {"binary", "heat", "cosine"}
        Weight of an edge: 1; exp(−d² / 2σ²) with σ² the mean squared distance of neighbours; or the rows' cosine.
    metric : str
        Distance by which neighbours are found, as scikit-learn names it.

    Returns
    -------
    csr_matrix of shape (n_rows, n_rows)
        Symmetric, with zeros on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.graphs import neighbour_graph
    >>> neighbour_graph(np.array([[1.0, 0], [2, 0.1], [0, 1], [0.1, 3]]), 1).toarray().astype(int).tolist()
    [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    """
    from sklearn.neighbors import NearestNeighbors

    if weights not in ("binary", "heat", "cosine"):
        raise ValueError(f"weights must be 'binary', 'heat' or 'cosine'; got {weights!r}.")
    X = _without_gaps(X)
    n = X.shape[0]
    if not n_neighbors >= 1:
        raise ValueError(f"n_neighbors must be at least 1; got {n_neighbors}.")
    found = NearestNeighbors(n_neighbors=min(n_neighbors, n - 1), metric=metric).fit(X) if n > 1 else None
    if found is None:
        return sp.csr_matrix((n, n))
    graph = found.kneighbors_graph(mode="distance" if weights == "heat" else "connectivity").tocoo()
    if weights == "heat":
        squared = graph.data.astype(float) ** 2
        graph.data = np.exp(-squared / (2.0 * max(float(squared.mean()), 1e-300)))
    elif weights == "cosine":
        graph.data = np.maximum(_cosines(X, graph.row, graph.col), 0.0)
    graph = graph.tocsr().astype(float)
    return sp.csr_matrix(graph.maximum(graph.T))


def similarity_graph(X: Any, percentile: float = 99.0) -> sp.csr_matrix:
    """Connect the rows whose dot product is above a percentile of all dot products (Epstein 2017, appendix).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The rows to connect; NaN counts as the mean of its column.
    percentile : float
        Of all pairs of rows, 0 to 100. For more than 2,000 rows it is found from the dot products of 2,000 of them
        with all others.

    Returns
    -------
    csr_matrix of shape (n_rows, n_rows)
        Ones, symmetric, with zeros on the diagonal.
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile must lie between 0 and 100; got {percentile}.")
    X = _without_gaps(X)
    X = sp.csr_matrix(X) if sp.issparse(X) else X
    n = X.shape[0]
    some = X[np.sort(np.random.default_rng(0).permutation(n)[:_SAMPLED_ROWS])]
    threshold = np.percentile(_dense(some @ X.T), percentile)
    blocks = []
    for start in range(0, n, 1000):
        row, column = np.nonzero(_dense(X[start : start + 1000] @ X.T) > threshold)
        blocks.append(sp.coo_matrix((np.ones(len(row)), (row, column)), (min(1000, n - start), n)))
    return _loopless(sp.vstack(blocks))


def checked_graph(graph: Any, n_rows: int, what: str) -> sp.csr_matrix:
    """A graph that a user gave, as a symmetric adjacency matrix without loops.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n_rows, n_rows)
        Nonnegative edge weights. Where it is not symmetric, both directions get their mean, with a warning.
    n_rows : int
        Nodes that it must have.
    what : str
        What they are, for the message: "samples" or "features".

    Returns
    -------
    csr_matrix of shape (n_rows, n_rows)
        The graph.
    """
    if not (sp.issparse(graph) or isinstance(graph, np.ndarray)):
        raise ValueError(f"The graph must be an array or a sparse matrix; got {type(graph).__name__}.")
    require_well_formed(graph, "graph")
    S = sp.csr_matrix(graph, dtype=float)
    if S.shape != (n_rows, n_rows):
        raise ValueError(
            f"The graph must be square, with a row for each of the {n_rows} {what}; got shape {S.shape}."
        )
    if S.nnz and not (np.isfinite(S.data).all() and S.data.min() >= 0):
        raise ValueError("The graph must have finite, nonnegative edge weights; drop or shift the others.")
    if S.nnz and abs(S - S.T).max() > 1e-10 * S.data.max():
        warnings.warn(
            "The graph is not symmetric; each edge gets the mean weight of its two directions.", stacklevel=2
        )
        S = (S + S.T) / 2
    return _loopless(S)


def connectivity(graph: Any, labels: Any) -> float:
    """How well groups agree with the edges of a graph (Epstein 2017, section 4.3).

    The share of ordered pairs of nodes that are joined by an edge and in one group, or neither. A node and itself are
    such a pair, as printed there: they are in one group, and joined only if the graph has a loop. For edge weights A
    other than 0 and 1 it is 1 − ‖A − M Mᵀ‖² / n², which is the same number where they are 0 and 1.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Edge weights.
    labels : array of shape (n,)
        The group of each node.

    Returns
    -------
    float
        1 for groups that are the connected, complete parts of a graph with loops.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.graphs import connectivity
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> round(connectivity(path, [0, 0, 1]), 3)  # wrong: three loops that are not there, and (1, 2), (2, 1)
    0.444
    """
    A, group, _ = _grouped(graph, labels)
    same = group[A.row] == group[A.col]
    # ‖A − M Mᵀ‖² = Σ a² − 2 Σ_{one group} a + Σ_r n_r²
    wrong = float(A.data @ A.data) - 2.0 * float(A.data[same].sum())
    wrong += float((np.bincount(group).astype(float) ** 2).sum())
    return 1.0 - wrong / A.shape[0] ** 2


def conductance(graph: Any, labels: Any) -> dict[str, np.ndarray]:
    """How well each group is cut off from the rest of a graph (Shi & Malik 2000; Leskovec, Lang & Mahoney 2010).

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Edge weights, symmetric.
    labels : array of int of shape (n,)
        The group of each node, numbered from 0; nodes with negative numbers are in none.

    Returns
    -------
    dict of arrays, an entry for each group
        "nodes"; "edges" and "weight" inside the group; "edges_out" to other nodes; "density", the share of pairs in
        the group that are joined; "conductance", the weight of edges out over all weight at nodes of the group, or
        of the others if that is less: 0 for a group of its own, NaN for one without edges.
    """
    A, _, _ = _grouped(graph, labels)
    label = np.asarray(labels)
    count = int(max(label.max(initial=-1) + 1, 0))
    first, second = label[A.row], label[A.col]
    off = A.row != A.col
    inside = (first == second) & (first >= 0) & off
    out = (first != second) & (first >= 0)
    size = np.bincount(label[label >= 0], minlength=count)
    edges = np.bincount(first[inside], minlength=count) / 2
    cut = np.bincount(first[out], A.data[out], count)
    volume = np.bincount(first[first >= 0], A.data[first >= 0], count)
    smaller = np.minimum(volume, float(A.data.sum()) - volume)
    # A group that is the whole graph has no others; it is cut off from nothing.
    smaller = np.where(cut == 0, volume, smaller)
    pairs = size * (size - 1.0) / 2
    return {
        "nodes": size,
        "edges": edges.astype(int),
        "weight": np.bincount(first[inside], A.data[inside], count) / 2,
        "edges_out": np.bincount(first[out], minlength=count),
        "density": np.divide(edges, pairs, out=np.zeros(count), where=pairs > 0),
        "conductance": np.divide(cut, smaller, out=np.full(count, np.nan), where=smaller > 0),
    }


def modularity(graph: Any, labels: Any, resolution: float = 1.0) -> float:
    """Share of the edges inside groups, less what chance would put there (Newman & Girvan 2004).

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        Edge weights, symmetric.
    labels : array of shape (n,)
        The group of each node.
    resolution : float
        How much chance counts.

    Returns
    -------
    float
        At most 1; 0 where groups are as by chance.
    """
    A, group, n_groups = _grouped(graph, labels)
    total = float(A.data.sum())
    if total == 0:
        return 0.0
    inside = float(A.data[group[A.row] == group[A.col]].sum())
    degrees = np.bincount(group[A.row], A.data, n_groups)
    return inside / total - resolution * float(degrees @ degrees) / total**2


def spread_labels(graph: Any, Y: np.ndarray, reach: float = 0.95, steps: int = 60) -> np.ndarray:
    """Labels of some nodes spread along the edges to the others (Zhou, Bousquet, Lal, Weston & Schölkopf 2004).

    Repeats F ← reach · D^(−½) A D^(−½) F + (1 − reach) · Y.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Edge weights A, symmetric.
    Y : array of shape (n, n_classes)
        1 for the class of a labelled node; rows of zeros for the others.
    reach : float
        How far labels are carried, below 1.
    steps : int
        How often; labels get no further than so many edges.

    Returns
    -------
    array of shape (n, n_classes)
        F, nonnegative. Rows of zeros belong to nodes that no label reaches.
    """
    A = sp.csr_matrix(graph, dtype=float)
    degrees = np.asarray(A.sum(axis=1)).ravel()
    root = sp.diags(1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)))
    A = reach * (root @ A @ root)
    F = np.asarray(Y, dtype=float)
    first = (1.0 - reach) * F
    for _ in range(steps):
        F = np.asarray(A @ F) + first
    return F


def _grouped(graph: Any, labels: Any) -> tuple[Any, np.ndarray, int]:
    require_well_formed(graph, "graph")
    A = sp.coo_matrix(graph, dtype=float)
    A.sum_duplicates()
    known, group = np.unique(np.asarray(labels), return_inverse=True)
    if A.shape[0] != A.shape[1] or group.shape != (A.shape[0],):
        raise ValueError(
            f"labels must name a group for each node of a square graph; got a graph of shape {A.shape} "
            f"and {group.size} labels."
        )
    return A, group, len(known)


def _loopless(S: Any) -> sp.csr_matrix:
    S = sp.csr_matrix(S, dtype=float)
    S.setdiag(0)
    S.eliminate_zeros()
    return S


def _dense(product: Any) -> np.ndarray:
    return product.toarray() if sp.issparse(product) else np.asarray(product)


def _cosines(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Cosines of pairs of rows, a few thousand pairs at a time."""
    from sklearn.preprocessing import normalize

    X = normalize(X)
    parts = []
    for at in range(0, len(rows), 4096):
        a, b = X[rows[at : at + 4096]], X[columns[at : at + 4096]]
        product = a.multiply(b).sum(axis=1) if sp.issparse(X) else (a * b).sum(axis=1)
        parts.append(np.asarray(product, dtype=float).ravel())
    return np.concatenate(parts) if parts else np.zeros(0)


def _without_gaps(X: Any) -> Any:
    """Rows with the mean of their column, or 0 if nothing is known of it, in place of NaN."""
    if sp.issparse(X):
        X = sp.csr_matrix(X)
        if np.isnan(X.data).any():
            X = X.copy()
            X.data = np.nan_to_num(X.data)
        return X
    X = np.asarray(X, dtype=float)
    gaps = np.isnan(X)
    if not gaps.any():
        return X
    seen = np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, np.nansum(X, axis=0) / seen, X)
