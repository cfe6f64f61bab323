"""Pictures beside what a model makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from partwise.plot import style
from partwise.plot.style import FAINT, figure, shortened


def reconstructions(
    X: Any,
    Y: Any,
    shape: tuple[int, ...],
    *,
    names: Sequence[str] | None = None,
    notes: Sequence[str] | None = None,
    title: str = "pictures (left) and their reconstructions (right)",
) -> Any:
    """Draw pictures, each with its reconstruction to the right of it.

    Parameters
    ----------
    X : array of shape (n, height × width [× 3])
        Pictures, one in each row, from 0 (black) to 1 (white).
    Y : array of the same shape
        Their reconstructions, as `inverse_transform` returns them.
    shape : tuple of int
        Height and width of a picture, and 3 where it has colours.
    names : sequence of str, optional
        Written above each.
    notes : sequence of str, optional
        Written below each.
    title : str
        Above all.

    Returns
    -------
    matplotlib Figure
        All of them; give a dozen or two.
    """
    X, Y = (np.asarray(one, dtype=float).reshape(len(one), *shape) for one in (X, Y))
    if not len(X):
        raise ValueError("There are no pictures to draw.")
    height, width = shape[:2]
    pair = (2 * width + 0.06 * width) / height
    across = int(np.clip(round(np.sqrt(len(X) * 1.6 / pair)), 1, 6))
    across = min(across, len(X))
    down = ceil(len(X) / across)
    mosaic = [
        [f"{i * across + j}" if i * across + j < len(X) else "." for j in range(across)] for i in range(down)
    ]
    wide = min(11.0, 2.6 * across)
    high = wide / across / pair
    captions = 0.2 * (names is not None) + 0.2 * (notes is not None) + 0.08
    drawing, axes = figure(mosaic, size=(max(wide, 4.6), down * (high + captions) + 0.4))
    top = max(1.0, float(X.max()))
    gap = np.full((height, max(1, round(0.06 * width)), *shape[2:]), np.nan)
    for i, (x, y) in enumerate(zip(X, Y)):
        tile = np.concatenate([x, gap, y], axis=1) / top
        _draw(axes[str(i)], tile.clip(0.0, 1.0))
        if names is not None:
            axes[str(i)].set_title(shortened(names[i], 26), fontsize=7.5, loc="left", pad=2)
        if notes is not None:
            axes[str(i)].set_xlabel(notes[i], fontsize=7.5, loc="left", labelpad=1)
    style.heading(drawing, title)
    return drawing


def _draw(axes: Any, tile: np.ndarray) -> None:
    """Two pictures side by side, in grey or in colours, on white."""
    from matplotlib import colormaps

    if tile.ndim == 3:
        axes.imshow(np.nan_to_num(tile, nan=1.0), interpolation="nearest")
    else:
        grey = colormaps["gray"].with_extremes(bad="white")
        axes.imshow(tile, cmap=grey, vmin=0, vmax=1, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_color(FAINT)
        side.set_linewidth(0.5)
