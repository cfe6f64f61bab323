"""How alike recordings are: a square of shades."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.plot import style
from partwise.plot.style import INK, figure, name_ticks


def likeness(alike: np.ndarray, names: Sequence[str]) -> Any:
    """Draw how alike recordings are, those that are most alike side by side.

    Parameters
    ----------
    alike : array of shape (n_recordings, n_recordings)
        Symmetric, between 0 and 1.
    names : sequence of str
        Names of the recordings.

    Returns
    -------
    matplotlib Figure
        A square for each pair, with its number where there is room.
    """
    alike = np.asarray(alike, float)
    order = side_by_side(alike)
    shown, labels = alike[np.ix_(order, order)], [names[i] for i in order]
    count = len(labels)
    side = float(np.clip(0.55 * count, 2.2, 9.0))
    drawing, axes = figure([["square"]], size=(side + 2.4, side + 1.6))
    square = axes["square"]
    apart = shown[~np.eye(count, dtype=bool)]
    picture = square.imshow(
        shown, cmap="Blues", vmin=min(float(apart.min()), 0.9) if count > 1 else 0.0, vmax=1
    )
    name_ticks(square.xaxis, labels, side)
    name_ticks(square.yaxis, labels, side)
    square.grid(False)
    for edge in square.spines.values():
        edge.set_visible(False)
    if count <= 16:
        middle = 0.5 * (picture.norm.vmin + picture.norm.vmax)
        for i in range(count):
            for j in range(count):
                color = "white" if shown[i, j] > middle else INK
                square.text(j, i, f"{shown[i, j]:.2f}", ha="center", va="center", fontsize=8, color=color)
    drawing.colorbar(picture, ax=square, label="cosine of the nearest spectra", shrink=0.8)
    style.heading(drawing, f"how alike {count} recordings are, by their spectra")
    return drawing


def side_by_side(alike: np.ndarray) -> np.ndarray:
    """An order in which those that are alike are neighbours: that of the leaves of a tree by average linkage.

    Parameters
    ----------
    alike : array of shape (n, n)
        Symmetric.

    Returns
    -------
    array of shape (n,)
        Numbers 0 … n − 1.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(alike) < 3:
        return np.arange(len(alike))
    apart = squareform(np.maximum(1.0 - alike, 0.0), checks=False)
    return np.asarray(leaves_list(optimal_leaf_ordering(linkage(apart, "average"), apart)))
