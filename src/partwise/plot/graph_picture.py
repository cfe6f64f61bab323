"""A graph, its nodes coloured by the communities that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.plot import style
from partwise.plot.graph_layout import graph_layout
from partwise.plot.style import FAINT, INK, SERIES, figure, shortened

#: Drawn at most: nodes and edges; those of most weight or degree first.
NODES, EDGES = 20_000, 15_000
#: Nodes with names beside them, and nodes drawn as pies, at most.
NAMED, PIES = 130, 400


def communities(
    A: Any,
    membership: Any,
    *,
    labels: Any = None,
    names: Sequence[str] | None = None,
    random_state: int = 0,
) -> Any:
    """Draw a graph with its communities: nodes as pies of their shares, or in the mixed colours of these.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Edge weights.
    membership : array of shape (n, n_communities)
        Shares of the nodes, as `SymmetricNMF.membership_`.
    labels : array of int of shape (n,), optional
        The community of each node, −1 for none; by default the largest share.
    names : sequence of str, optional
        Names of the nodes; shown beside up to 130 nodes, else beside those of most edges in each community.
    random_state : int, default=0
        Of the layout.

    Returns
    -------
    matplotlib Figure
        Of more than 20,000 nodes or 15,000 edges those of most weight are drawn, which the title says.
    """
    A = sp.csr_matrix(A, dtype=float)
    A = sp.csr_matrix(A.maximum(A.T))
    shares = np.asarray(membership, dtype=float)
    group = shares.argmax(axis=1) if labels is None else np.asarray(labels)
    n, k = shares.shape
    said = f"{n:,} nodes, {sp.triu(A, 1).nnz:,} edges, {k} communit{'y' if k == 1 else 'ies'}"
    degree = np.diff(A.indptr)
    kept = np.flatnonzero(degree)
    if len(kept) < n and len(kept):
        said += f"; {n - len(kept):,} nodes without edges are not drawn"
    if len(kept) > NODES:
        kept = np.sort(np.argsort(-degree, kind="stable")[:NODES])
        said += f"; the {NODES:,} nodes of most edges are drawn"
    kept = kept if len(kept) else np.arange(n)
    if len(kept) < n:
        A, shares, group, degree = A[kept][:, kept], shares[kept], group[kept], degree[kept]
    places = graph_layout(A, shares, random_state)
    wide = 6.6 if n <= 60 else 8.6
    across, down = np.ptp(places, axis=0)
    high = float(np.clip(wide * down / max(across, 1e-12), 0.5 * wide, 1.05 * wide))
    drawing, axes = figure([["graph"]], size=(wide + 1.9, high + 0.5))
    place = axes["graph"]
    colours = palette(k)
    drawn, total = _draw_edges(place, A, places, group, colours)
    if drawn < total:
        said += f"; {drawn:,} of the edges are drawn"
    radius = _draw_nodes(place, places, shares, group, degree, colours)
    if names is not None:
        _draw_names(place, places, radius, group, degree, [names[i] for i in kept.tolist()])
    _legend(drawing, group, colours)
    place.set_aspect("equal")
    place.margins(0.06)
    place.set_axis_off()
    style.heading(drawing, said.replace("; ", "\n", 1))
    return drawing


def palette(k: int) -> np.ndarray:
    """Colours of k communities, as rows of red, green and blue."""
    from matplotlib import colormaps
    from matplotlib.colors import hsv_to_rgb, to_rgb

    if k <= len(SERIES) - 1:
        return np.array([to_rgb(colour) for colour in SERIES[:k]])
    if k <= 20:
        # The ten strong colours before their ten pale companions.
        table = colormaps["tab20"](np.arange(20))[:, :3]
        return np.asarray(np.concatenate([table[::2], table[1::2]])[:k])
    turn = (0.61803398875 * np.arange(k)) % 1.0
    light = np.array([0.9, 0.7, 0.55])[np.arange(k) % 3]
    return np.asarray(hsv_to_rgb(np.column_stack([turn, np.full(k, 0.65), light])))


def _draw_edges(
    axes: Any, A: sp.csr_matrix, places: np.ndarray, group: np.ndarray, colours: np.ndarray
) -> tuple[int, int]:
    """Lines between nodes, those inside a community in its colour; how many are drawn, of how many."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    edges = sp.coo_matrix(sp.triu(A, 1))
    first, second = edges.row, edges.col
    total = len(first)
    if total > EDGES:
        # By weight, and at random among equals.
        chance = np.random.default_rng(0).random(total)
        chosen = np.lexsort((chance, -edges.data))[:EDGES]
        first, second = first[chosen], second[chosen]
    inside = (group[first] == group[second]) & (group[first] >= 0)
    faint = np.array(to_rgb(FAINT))
    ink = np.where(inside[:, None], 0.55 * colours[group[first]] + 0.45, 0.85 * faint)
    width = float(np.clip(16.0 / np.sqrt(max(len(first), 1)), 0.15, 1.1))
    order = np.argsort(inside, kind="stable")
    lines = np.stack([places[first], places[second]], axis=1)[order]
    alpha = 0.9 if len(first) < 2000 else 0.45
    axes.add_collection(
        LineCollection(list(lines), colors=ink[order], linewidths=width, alpha=alpha, zorder=1)
    )
    return len(first), total


def _draw_nodes(
    axes: Any,
    places: np.ndarray,
    shares: np.ndarray,
    group: np.ndarray,
    degree: np.ndarray,
    colours: np.ndarray,
) -> np.ndarray:
    """Circles whose area grows with the degree: pies where there are few, else in the mixed colour; their radii."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Wedge

    n = len(places)
    grey = np.array([0.75, 0.75, 0.75])
    mixed = np.where((group >= 0)[:, None], shares @ colours, grey)
    relative = np.sqrt(degree / max(float(degree.mean()), 1e-12)).clip(0.6, 2.2)
    radius = 0.5 / np.sqrt(max(n, 30)) * 0.42 * relative
    if n > PIES:
        # A radius of 1 is about 0.38 of the figure; areas are in square points.
        points = (2 * radius * 0.38 * 8.6 * 72) ** 2
        order = np.argsort(degree, kind="stable")
        axes.scatter(*places[order].T, s=points[order].clip(1.5), c=mixed[order], linewidths=0, zorder=2)
        return np.asarray(radius)
    wedges, ink = [], []
    for i in range(n):
        turn = 90.0
        if group[i] < 0:
            wedges.append(Wedge(places[i], radius[i], 0, 360))
            ink.append(grey)
            continue
        for t in np.argsort(-shares[i], kind="stable"):
            # Below two per cent a slice cannot be seen.
            if shares[i, t] >= 0.02:
                wedges.append(Wedge(places[i], radius[i], turn - 360.0 * shares[i, t], turn))
                ink.append(colours[t])
                turn -= 360.0 * shares[i, t]
    axes.add_collection(PatchCollection(wedges, facecolors=ink, edgecolors="white", linewidths=0.3, zorder=2))
    axes.scatter(*places.T, s=0.01, c="white", zorder=0)
    return np.asarray(radius)


def _draw_names(
    axes: Any,
    places: np.ndarray,
    radius: np.ndarray,
    group: np.ndarray,
    degree: np.ndarray,
    names: Sequence[str],
) -> None:
    """Names of all nodes where there are few, else of the node of most edges in each community."""
    n = len(places)
    if n <= NAMED:
        chosen = np.arange(n)
    else:
        order = np.argsort(-degree, kind="stable")
        _, at = np.unique(group[order], return_index=True)
        chosen = order[at[:40]]
        chosen = chosen[group[chosen] >= 0]
    size = 8.0 if n <= 40 or n > NAMED else 5.6
    box = {
        "boxstyle": "round,pad=0.15",
        "facecolor": "white",
        "edgecolor": "none",
        "alpha": 0.6 * (n > NAMED),
    }
    for i in chosen.tolist():
        text = shortened(names[i], 18)
        axes.text(
            places[i, 0],
            places[i, 1] + (radius[i] + 0.008 if n <= NAMED else 0.0),
            text,
            fontsize=size,
            ha="center",
            va="bottom" if n <= NAMED else "center",
            color=INK,
            zorder=3,
            bbox=box if n > NAMED else None,
        )


def _legend(drawing: Any, group: np.ndarray, colours: np.ndarray) -> None:
    """Colours of the communities and their numbers of nodes; of the first 24."""
    from matplotlib.lines import Line2D

    size = np.bincount(group[group >= 0], minlength=len(colours))
    shown = min(len(colours), 24)
    marks = [
        Line2D([], [], marker="o", linestyle="", color=colours[t], label=f"community {t}: {size[t]:,} nodes")
        for t in range(shown)
    ]
    if (group < 0).any():
        marks.append(
            Line2D([], [], marker="o", linestyle="", color="0.75", label=f"none: {(group < 0).sum():,} nodes")
        )
    if len(colours) > shown:
        marks.append(Line2D([], [], linestyle="", label=f"… and {len(colours) - shown} more"))
    drawing.legend(handles=marks, loc="outside right upper", frameon=False, fontsize=8)
