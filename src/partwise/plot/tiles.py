"""A yes/no table, and the tiles in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from partwise.plot.lines import draw_curve
from partwise.plot.style import figure, save_figure


def draw_tiles(path: Path, data: Any, usage: Any, model: Any) -> None:
    """The table as given and with rows and columns in the order of their tiles; error and bits by rank."""
    X = np.asarray(data.toarray() if hasattr(data, "tocsr") else data, dtype=float)
    if X.size > 4_000_000:
        # More rows than the picture has pixels: take evenly spaced ones.
        keep = np.linspace(0, len(X) - 1, max(1, 4_000_000 // X.shape[1])).astype(int)
        X, usage = X[keep], usage[keep]
    by_row = np.lexsort([~column for column in usage.T[::-1]]) if usage.shape[1] else np.arange(len(X))
    by_column = (
        np.lexsort([~tile for tile in model.components_[::-1]]) if usage.shape[1] else np.arange(X.shape[1])
    )
    drawing, axes = figure([["given", "ordered", "wrong"], ["given", "ordered", "bits"]], size=(12.6, 4.8))
    for name, shown, title in (
        ("given", X, "as given"),
        ("ordered", X[by_row][:, by_column], "rows and columns in the order of their tiles"),
    ):
        axes[name].imshow(np.ma.masked_invalid(shown), cmap="gray_r", aspect="auto", interpolation="nearest")
        axes[name].set_title(title, loc="left", fontsize=10)
        axes[name].set_axis_off()
    for name, title, xlabel in (
        ("wrong", "entries wrong", ""),
        ("bits", "bits to describe the table", "tiles"),
    ):
        draw_curve(
            axes[name],
            model.ranks_["tiles"],
            model.ranks_[name],
            marker="o" if len(model.ranks_["tiles"]) <= 40 else "",
            title=title,
            xlabel=xlabel,
        )
    save_figure(drawing, path)
