"""Networks in files: edge lists, .gml, .graphml and matrices, as a sparse adjacency matrix with names of nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.domains.edge_lists import EdgeList, is_edge_list, read_edge_list
from partwise.io.budget import limited, spend
from partwise.io.errors import DataError
from partwise.io.npz import read_npz_arrays
from partwise.io.reading import read, require_file
from partwise.io.words import listing, shorten
from partwise.node_names import ORDERED, column_order

#: How files of edges end; each may be gz-compressed.
EDGE_SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".el", ".dat")
MATRIX_SUFFIXES = (".mtx", ".mtx.gz", ".npz", ".npy")
XML_SUFFIXES = (".gml", ".graphml")


@dataclass(frozen=True, eq=False)
class Graph:
    """A network.

    Parameters
    ----------
    adjacency : csr_matrix of shape (n, n)
        Weights of edges, nonnegative and finite, without loops; symmetric unless `directed`.
    names : list of str
        Names of the nodes.
    source : str
        The file, as it was given.
    directed : bool
        Whether entry (i, j) is an edge from i to j.
    attributes : dict of str to list of str
        What the file says of each node, "" where it says nothing.
    notes : tuple of str
        Sentences for the user: what was summed, left out or turned.
    """

    adjacency: sp.csr_matrix
    names: list[str]
    source: str
    directed: bool = False
    attributes: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return int(self.adjacency.nnz if self.directed else self.adjacency.nnz // 2)

    @property
    def weighted(self) -> bool:
        """Whether edges differ in weight."""
        values = self.adjacency.data
        return bool(values.size and (values != values[0]).any())


def read_graph(
    path: str | os.PathLike[str],
    *,
    directed: bool = False,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    key: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Graph:
    """Return the network in a file.

    Parameters
    ----------
    path : str or path-like
        An edge list (.csv, .tsv, .txt, .edges, .edgelist, .el, .dat, each also with .gz): two nodes a line, names or
        numbers, and perhaps a weight. A .gml or .graphml file (needs networkx). A square matrix: .mtx, .npz, .npy, or
        a text table. An .npz with an array "edges" of two columns, and "n", "names" and "weights" if there are any.
    directed : bool, default=False
        Whether edges keep their directions. Otherwise a ↔ b is one edge; where a file lists each edge in both
        directions, with the same weight, it counts once.
    weights : str, optional
        The column (or edge attribute) of weights, "none" for edges that all weigh the same; by default what is called
        "weight", or the third column of an edge list without header if it holds numbers.
    columns : sequence of str, optional
        The two columns of an edge list that hold the ends of edges: names, or numbers from 1.
    header : bool, optional
        Whether the first line of an edge list names its columns; None finds out.
    key : str, optional
        The array of an .npz that holds the matrix.
    encoding : str, optional
        Of an edge list, as "latin-1".
    decimal : "." or ",", default="."
        The mark before the decimals of weights in an edge list.

    Returns
    -------
    Graph
        The network. Weights of edges that are listed more than once are summed; loops, and edges whose weight is
        negative or not a number, are left out; `notes` says so.

    Raises
    ------
    DataError
        With a sentence to act on, for a file that holds no network, or one without edges.

    Examples
    --------
    >>> import os, tempfile
    >>> from partwise.domains import read_graph
    >>> path = os.path.join(tempfile.mkdtemp(), "friends.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("source,target,weight\\nada,ben,2\\nben,cleo,1\\nada,ben,1\\n")
    >>> graph = read_graph(path)
    >>> graph.names, graph.n_edges, float(graph.adjacency[0, 1])
    (['ada', 'ben', 'cleo'], 2, 3.0)
    """
    source = os.fspath(path)
    file = Path(source)
    require_file(file, source)
    name = file.name.lower()
    with limited(source):
        if name.endswith(XML_SUFFIXES):
            return _of_networkx_file(file, source, directed, weights)
        if name.endswith(MATRIX_SUFFIXES):
            return _of_matrix_file(file, source, directed, key)
        if name.removesuffix(".gz").endswith(EDGE_SUFFIXES):
            if columns is not None or header or is_edge_list(file, source, encoding, decimal):
                edges = read_edge_list(
                    file,
                    source,
                    header=header,
                    columns=columns,
                    weights=weights,
                    encoding=encoding,
                    decimal=decimal,
                )
                return graph_of_edges(edges, source, directed)
            return _of_matrix_file(file, source, directed, None)
    known = ", ".join((*EDGE_SUFFIXES, *XML_SUFFIXES, *MATRIX_SUFFIXES))
    raise DataError(f"{source}: networks are read from {known} files. Name it by what it is.")


def graph_of_edges(edges: EdgeList, source: str, directed: bool = False, **more: Any) -> Graph:
    """The network of a list of edges, as `read_graph` returns it."""
    n = len(edges.names)
    notes = list(edges.notes)
    first, second = edges.first, edges.second
    weight = np.ones(len(first)) if edges.weight is None else edges.weight.astype(float)
    kept = np.ones(len(first), dtype=bool)
    for bad, what in (
        (first == second, "from a node to itself, which say nothing of communities,"),
        (~np.isfinite(weight), "without a finite weight"),
        (weight < 0, "with a negative weight, which no community explains,"),
        (weight == 0, "of weight zero"),
    ):
        bad &= kept
        if bad.any():
            notes.append(f"{source}: {_edges(int(bad.sum()))} {what} {_were(int(bad.sum()))} left out.")
            kept &= ~bad
    if not kept.any():
        why = "; ".join(note.removeprefix(f"{source}: ").rstrip(".") for note in notes)
        raise DataError(
            f"{source} has no edges{f' ({why})' if why else ''}: there are no communities to find."
        )
    first, second, weight = first[kept], second[kept], weight[kept]
    spend(48 * len(first) + 16 * n)
    A = sp.csr_matrix(sp.coo_matrix((weight, (first, second)), (n, n)))
    repeated = len(first) - A.nnz
    if not directed:
        mirrored = sp.csr_matrix(A.T)
        if A.nnz != 0 and abs(A - mirrored).nnz:
            total = sp.csr_matrix(A + mirrored)
            repeated += A.nnz - total.nnz // 2
            A = total
    if repeated:
        notes.append(f"{source}: {_edges(repeated)} {_were(repeated)} listed before; weights were summed.")
    A.sort_indices()
    return Graph(A, list(edges.names), source, directed, notes=tuple(notes), **more)


def graph_of(G: Any, *, directed: bool = False, weights: str | None = None, source: str = "graph") -> Graph:
    """The network of a networkx graph.

    Parameters
    ----------
    G : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Names of nodes are their attribute "label" or "name" where all have one of their own, else what they are.
    directed : bool, default=False
        Whether edges keep their directions.
    weights : str, optional
        The attribute of edges that is their weight, by default "weight"; "none" for edges that all weigh the same.
    source : str
        What notes and errors call it.

    Returns
    -------
    Graph
        As `read_graph` returns it, with what the graph says of its nodes as `attributes`.
    """
    nodes = list(G.nodes(data=True))
    index = {node: i for i, (node, _) in enumerate(nodes)}
    ends = [(index[u], index[v]) for u, v in G.edges()]
    first, second = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    word = "weight" if weights is None else weights
    cells = [] if word == "none" else [data.get(word) for _, _, data in G.edges(data=True)]
    notes: list[str] = []
    weight = None
    if any(cell is not None for cell in cells):
        try:
            weight = np.array([1.0 if cell is None else float(cell) for cell in cells])
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{source}: '{word}' of an edge is no number: {error}. Add --weights none."
            ) from error
    elif weights not in (None, "none"):
        raise DataError(f"{source} has no edge with a '{shorten(word)}'.")
    if G.is_directed() and not directed:
        notes.append(f"{source}: its edges have directions, which were dropped; --directed keeps them.")
    keys = dict.fromkeys(key for _, data in nodes for key in data)
    attributes = {str(key): [str(data.get(key, "")) for _, data in nodes] for key in keys}
    names = [str(node) for node, _ in nodes]
    for key in ("label", "Label", "name"):
        held = attributes.get(key, [])
        if held and len(set(held)) == len(held):
            names = attributes.pop(key)
            break
    edges = EdgeList(first, second, weight, names, notes)
    return graph_of_edges(edges, source, directed, attributes=attributes)


def _of_networkx_file(file: Path, source: str, directed: bool, weights: str | None) -> Graph:
    try:
        import networkx
    except ImportError as error:
        raise DataError(
            f'Reading {file.suffix.lower()} needs networkx: pip install "partwise[graphs]". Edge lists do not.'
        ) from error
    # A node or an edge is a Python dict, tens of times as large as its text.
    spend(30 * file.stat().st_size)
    try:
        if file.suffix.lower() == ".graphml":
            G = networkx.read_graphml(file)
        else:
            G = _parsed_gml(networkx, file.read_text("utf-8-sig"))
    except (DataError, MemoryError):
        raise
    except Exception as error:  # networkx and expat raise many kinds on damaged files
        raise DataError(
            f"{source} is not a readable {file.suffix.lower()} file: {shorten(str(error), 120)}. Write it again, or "
            "give an edge list."
        ) from error
    return graph_of(G, directed=directed, weights=weights, source=source)


def _parsed_gml(networkx: Any, text: str) -> Any:
    """The graph of a GML text, in which edges may be listed more than once."""
    head, mark, body = text.partition("graph [") if "graph [" in text else text.partition("graph\n[")
    if mark and "multigraph" not in text:
        text = f"{head}{mark}\n  multigraph 1\n{body}"
    try:
        return networkx.parse_gml(text, label="label")
    except networkx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return networkx.parse_gml(text, label="id")


def _of_matrix_file(file: Path, source: str, directed: bool, key: str | None) -> Graph:
    """The network of a square matrix, or of the edges in an .npz."""
    attributes: dict[str, list[str]] = {}
    if file.name.lower().endswith(".npz") and key is None:
        arrays = read_npz_arrays(file, source)
        if "edges" in arrays:
            return _of_edge_arrays(arrays, source, directed)
    table = read(file, key=key)
    rows, columns = table.shape
    if rows != columns:
        raise DataError(
            f"{source} is a table of {rows} rows and {columns} columns, but a network has as many of both: a row "
            "and a column for each node. Give an edge list (two columns), or factor the table with partwise fit."
        )
    names = table.row_names or table.column_names
    notes = list(table.notes)
    try:
        order = column_order(table.row_names, table.column_names, source)
    except ValueError as error:
        raise DataError(str(error)) from error
    matrix = table.data
    if order is not None:
        matrix = matrix[:, order]
        notes.append(ORDERED.format(source))
    attributes.update(table.text)
    if names is None and "names" in attributes:
        names = attributes.pop("names")
    # Matrix Market counts from 1, arrays from 0.
    start = 1 if ".mtx" in file.name.lower() else 0
    names = names or [str(i + start) for i in range(rows)]
    attributes.update(
        {name: [str(value) for value in values.tolist()] for name, values in table.extra.items()}
    )
    A = sp.coo_matrix(matrix, dtype=float)
    edges = EdgeList(A.row.astype(np.int64), A.col.astype(np.int64), A.data, list(names), notes)
    symmetric = abs(sp.csr_matrix(A) - sp.csr_matrix(A).T).nnz == 0
    graph = graph_of_edges(edges, source, directed=True, attributes=attributes)
    if directed:
        return graph
    if symmetric:
        return replace(graph, directed=False)
    mean = sp.csr_matrix((graph.adjacency + graph.adjacency.T) * 0.5)
    note = f"{source}: it is not symmetric; each edge gets the mean of its two directions. --directed keeps them."
    return replace(graph, adjacency=mean, directed=False, notes=(*graph.notes, note))


def _of_edge_arrays(arrays: dict[str, np.ndarray], source: str, directed: bool) -> Graph:
    """The network of an array of edges, with names, weights and what else is said of nodes."""
    edges = arrays["edges"]
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu" or not edges.size:
        raise DataError(
            f"{source}: 'edges' must hold whole numbers in two columns, the nodes of each edge; it has shape "
            f"{edges.shape} and type {edges.dtype}."
        )
    n = int(arrays["n"].reshape(-1)[0]) if "n" in arrays and arrays["n"].size == 1 else int(edges.max()) + 1
    if int(edges.min()) < 0 or int(edges.max()) >= n:
        raise DataError(f"{source}: 'edges' names nodes outside of 0 to {n - 1}.")
    spend(80 * n)
    beside = {
        name: a.reshape(-1)
        for name, a in arrays.items()
        if a.size == n and name not in ("edges", "n", "weights")
    }
    attributes = {name: [str(value) for value in values.tolist()] for name, values in beside.items()}
    weight = arrays.get("weights")
    if weight is not None and (weight.size != len(edges) or weight.dtype.kind not in "biuf"):
        raise DataError(f"{source}: 'weights' must hold a number for each of the {len(edges)} edges.")
    names = attributes.pop("names", None) or [str(i) for i in range(n)]
    held = EdgeList(
        edges[:, 0].astype(np.int64),
        edges[:, 1].astype(np.int64),
        None if weight is None else weight.reshape(-1),
        names,
    )
    return graph_of_edges(held, source, directed, attributes=attributes)


def node_labels(graph: Graph, said: str, encoding: str | None = None) -> np.ndarray:
    """Known labels of the nodes of a network.

    Parameters
    ----------
    graph : Graph
        As `read_graph` returns it.
    said : str
        An attribute of its nodes; or a file with a node and its label in each line, or with one label a line for each
        node in the order of `graph.names`.
    encoding : str, optional
        Of the file.

    Returns
    -------
    array of object of shape (n,)
        Labels as text, None where a node has none.
    """
    if said in graph.attributes:
        return np.array([label or None for label in graph.attributes[said]], dtype=object)
    path = Path(said)
    if not path.is_file():
        known = listing(list(graph.attributes)) if graph.attributes else "nothing"
        raise DataError(
            f"'{shorten(said)}' is neither a file nor what {graph.source} says of its nodes; that is {known}."
        )
    from partwise.io.labels import read_labels

    with limited(said):
        try:
            pairs = read_edge_list(path, said, weights="none", encoding=encoding)
        except DataError:
            labels = np.array([str(label) for label in read_labels(path)], dtype=object)
            if len(labels) != len(graph.names):
                raise DataError(
                    f"{said} has {len(labels)} labels, but the network has {len(graph.names)} nodes. Give a node and "
                    "its label in each line."
                ) from None
            return labels
    label_of = {pairs.names[i]: pairs.names[j] for i, j in zip(pairs.first.tolist(), pairs.second.tolist())}
    found = np.array([label_of.get(name) for name in graph.names], dtype=object)
    if all(label is None for label in found):
        raise DataError(f"{said} names none of the nodes of {graph.source}, as '{shorten(graph.names[0])}'.")
    return found


def _edges(count: int) -> str:
    return f"{count:,} edge{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
