"""Figures in one style; matplotlib is imported when a figure is drawn."""

from partwise.plot.classes_picture import classes
from partwise.plot.comparison_picture import comparison
from partwise.plot.graph_picture import communities
from partwise.plot.history_picture import history
from partwise.plot.images import draw_parts, image_grid
from partwise.plot.likeness_picture import likeness
from partwise.plot.lines import draw_curve
from partwise.plot.parts_picture import parts
from partwise.plot.posterior_picture import posterior
from partwise.plot.reconstruction_picture import reconstructions
from partwise.plot.separation_picture import separation
from partwise.plot.style import INK, SERIES, figure, require_matplotlib, save_figure
from partwise.plot.tiles_picture import tiles
from partwise.plot.topics_picture import topics
from partwise.plot.tree_picture import sunburst, sunbursts, tree
from partwise.plot.usage_picture import usage

__all__ = [
    "INK",
    "SERIES",
    "classes",
    "communities",
    "comparison",
    "draw_curve",
    "draw_parts",
    "figure",
    "history",
    "image_grid",
    "likeness",
    "parts",
    "posterior",
    "reconstructions",
    "require_matplotlib",
    "save_figure",
    "separation",
    "sunburst",
    "sunbursts",
    "tiles",
    "topics",
    "tree",
    "usage",
]
