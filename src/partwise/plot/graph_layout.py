"""Where the nodes of a graph are drawn: forces, begun at the place of their communities."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

#: Up to so many nodes every pair repels; in larger graphs each node is repelled by so many others, drawn anew.
_ALL_PAIRS, _SAMPLED = 1200, 64
_STEPS = 120


def graph_layout(A: Any, membership: np.ndarray, seed: int = 0) -> np.ndarray:
    """Places of the nodes in the plane, such that edges are short and nodes do not crowd.

    Forces as of Fruchterman & Reingold (1991): edges attract by d²/ℓ, nodes repel by ℓ²/d, and moves get shorter.
    Nodes begin at the mean of the places of their communities, which are laid out first, by the weight of edges
    between them. A is never made dense; above 1,200 nodes the repulsion is that of 64 nodes drawn anew in every step,
    scaled up.

    Parameters
    ----------
    A : sparse matrix of shape (n, n)
        Edge weights, symmetric.
    membership : array of shape (n, n_communities)
        Shares of the nodes in communities; rows sum to one.
    seed : int
        Of the random numbers.

    Returns
    -------
    array of shape (n, 2)
        Places, the middle of all at the origin and all within 1.2 of it, further apart across than down.
    """
    rng = np.random.default_rng(seed)
    n, k = membership.shape
    A = sp.csr_matrix(A, dtype=float)
    centres = np.zeros((1, 2))
    if k > 1:
        links = membership.T @ (A @ membership)
        np.fill_diagonal(links, 0.0)
        turn = 2 * np.pi * np.arange(k) / k
        begin = np.column_stack([np.cos(turn), np.sin(turn)])[_ring(links)]
        centres = _forced(sp.csr_matrix(links / max(float(links.max()), 1e-300)), begin, rng, 0.02)
    size = np.sqrt(np.maximum(membership.sum(axis=0), 1.0) / n)
    spread = 0.25 * rng.standard_normal((n, 2)) * (membership @ size)[:, None]
    weights = A.copy()
    if weights.nnz:
        # By their roots: a few heavy edges would pull everything else along.
        weights.data = np.sqrt(weights.data / weights.data.mean()).clip(0.1, 4.0)
    places = _forced(weights, membership @ centres + spread, rng, 0.1)
    places -= places.mean(axis=0)
    # The longer side across; nodes far out, which hang by one edge, drawn in.
    places = places @ np.linalg.eigh(places.T @ places)[1][:, ::-1]
    far = np.linalg.norm(places, axis=1, keepdims=True)
    far /= max(float(np.quantile(far, 0.95)), 1e-12)
    drawn_in = np.where(far > 0.8, 0.8 + 0.4 * np.tanh((far - 0.8) / 0.4), far)
    return np.asarray(places * drawn_in / np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-12))


def _ring(links: np.ndarray) -> np.ndarray:
    """Places on a circle for communities, such that those with many links tend to be neighbours: greedily."""
    k = len(links)
    order, left = [0], set(range(1, k))
    while left:
        nearest = max(left, key=lambda j: (links[order[-1], j] + links[j, order[-1]], -j))
        order.append(nearest)
        left.remove(nearest)
    place = np.empty(k, dtype=int)
    place[order] = np.arange(k)
    return place


def _forced(A: sp.csr_matrix, places: np.ndarray, rng: np.random.Generator, heat: float) -> np.ndarray:
    """Nodes moved by the forces, each step by at most what is left of `heat`."""
    n = len(places)
    edges = sp.coo_matrix(sp.triu(A, 1))
    first, second, weight = edges.row, edges.col, edges.data[:, None]
    length = 1.0 / np.sqrt(max(n, 1))
    few = n <= _ALL_PAIRS
    for step in range(_STEPS):
        others = places if few else places[rng.integers(0, n, _SAMPLED)]
        # ℓ² (p − q) / ‖p − q‖², summed over all others.
        squared = ((places[:, None] - others[None]) ** 2).sum(axis=2) + 1e-4 * length**2
        inverse = 1.0 / squared
        force = places * inverse.sum(axis=1, keepdims=True) - inverse @ others
        force *= length**2 * (1.0 if few else n / _SAMPLED)
        apart = places[first] - places[second]
        pull = weight * apart * np.linalg.norm(apart, axis=1, keepdims=True) / length
        for axis in (0, 1):
            force[:, axis] -= np.bincount(first, pull[:, axis], n) - np.bincount(second, pull[:, axis], n)
        # Towards the middle, so that parts without edges between them stay in the picture.
        force -= 0.4 * length * np.sqrt(n) * places
        size = np.linalg.norm(force, axis=1, keepdims=True)
        most = heat * (1.0 - step / _STEPS) + 1e-3 * length
        places = places + force / np.maximum(size, 1e-12) * np.minimum(size, most)
    return places
