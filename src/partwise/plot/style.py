"""The style of all figures: ink on white, few colours, no boxes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from partwise.io.atomic import atomic_file

INK = "#22313f"
FAINT = "#c9d1d9"
SERIES = ("#1f6f8b", "#e07a5f", "#81a684", "#8d6a9f", "#d9a441", "#5c6b73")
_SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 9.5,
    "text.color": INK,
    "figure.dpi": 110,
    "savefig.dpi": 150,
}


def require_matplotlib() -> None:
    """Raise ImportError, with what to install, where figures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError('Drawing needs matplotlib: pip install "partwise[report]"') from error


def figure(mosaic: Any, size: tuple[float, float] = (8.0, 4.5), **more: Any) -> tuple[Any, dict[str, Any]]:
    """A matplotlib figure and its axes by name, off screen, in the style of this package.

    Parameters
    ----------
    mosaic : str or nested list
        Layout, as ``Figure.subplot_mosaic`` takes it.
    size : tuple of float
        Width and height in inches.
    **more : object
        Further parameters of ``Figure.subplot_mosaic``.

    Returns
    -------
    drawing : matplotlib Figure
        The figure.
    axes : dict of matplotlib Axes
        Axes by their names in `mosaic`.
    """
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        drawing = Figure(figsize=size, layout="constrained")
        axes = drawing.subplot_mosaic(mosaic, **more)
    return drawing, axes


def title(axes: Any, text: str) -> None:
    """A small title over the left edge."""
    axes.set_title(text, loc="left", fontsize=10.5, color=INK)


def save_figure(drawing: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, whole or not at all; the same figure gives the same bytes.

    Parameters
    ----------
    drawing : matplotlib Figure
        The figure.
    path : str or path-like
        The file; its suffix says the format.
    """
    with atomic_file(path) as stream:
        drawing.savefig(stream, format=Path(path).suffix[1:] or "png", metadata={"Software": None})
