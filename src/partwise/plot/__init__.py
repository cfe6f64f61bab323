"""Figures in one style; matplotlib is imported when a figure is drawn."""

from partwise.plot.images import draw_parts, image_grid
from partwise.plot.lines import draw_curve
from partwise.plot.style import INK, SERIES, figure, require_matplotlib, save_figure

__all__ = [
    "INK",
    "SERIES",
    "draw_curve",
    "draw_parts",
    "figure",
    "image_grid",
    "require_matplotlib",
    "save_figure",
]
