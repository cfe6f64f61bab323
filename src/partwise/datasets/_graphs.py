"""Graphs with known groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from partwise.datasets._npz import Arrays, csr_from, read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_CORA_TOPICS = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
_CONFERENCES = (
    "Atlantic Coast",
    "Big East",
    "Big Ten",
    "Big Twelve",
    "Conference USA",
    "Independents",
    "Mid-American",
    "Mountain West",
    "Pacific Ten",
    "Southeastern",
    "Sun Belt",
    "Western Athletic",
)


def fetch_cora(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch Cora: 2708 machine-learning papers, their words and who cites whom.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data`` and ``adjacency``.

    Returns
    -------
    Bunch
        ``data`` (2708 papers × 1433 words, CSR, 1 where the word occurs), ``adjacency`` (2708 × 2708,
        CSR, symmetric, 1 where either paper cites the other), ``edges`` (each edge in both
        directions), ``target`` (the topic), ``target_names`` and ``DESCR``.

    Notes
    -----
    The file ``graphs/cora.npz`` holds ``edges``, ``n``, ``y`` and the words as ``X_data``, ``X_indices``,
    ``X_indptr``, ``X_shape``.
    """
    from sklearn.utils import Bunch

    words = ("X_data", "X_indices", "X_indptr", "X_shape")
    arrays = read_arrays(locate("cora").path, "edges", "n", "y", *words)
    return Bunch(
        data=csr_from(arrays, dtype, prefix="X_"),
        target_names=np.array(_CORA_TOPICS),
        DESCR=describe("cora", "Cora citation network"),
        **_graph(arrays, dtype),
    )


def fetch_football(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the network of American college football games of autumn 2000.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (115 × 115 teams, CSR, symmetric, 1 where two teams played; also as ``adjacency``),
        ``edges`` (each edge in both directions), ``target`` (the conference), ``target_names``,
        ``names`` (the teams) and ``DESCR``.

    Notes
    -----
    The file ``graphs/football.npz`` holds ``edges``, ``n``, ``y`` and ``names``.
    """
    from sklearn.utils import Bunch

    arrays = read_arrays(locate("football").path, "edges", "n", "y", "names")
    graph = _graph(arrays, dtype)
    return Bunch(
        data=graph["adjacency"],
        target_names=np.array(_CONFERENCES),
        names=arrays["names"],
        DESCR=describe("football", "American college football games"),
        **graph,
    )


def _graph(arrays: Arrays, dtype: DTypeLike) -> dict[str, Any]:
    """Return the fields all graphs share."""
    edges, n = arrays["edges"], int(arrays["n"])
    ones = np.ones(len(edges), dtype=dtype)
    adjacency = sp.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    return {"adjacency": adjacency, "edges": edges, "target": arrays["y"]}
