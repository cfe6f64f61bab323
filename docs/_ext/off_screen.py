"""Pictures for the example gallery: `partwise.plot` draws off screen, where pyplot does not see it."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper() -> Any:
    """What sphinx-gallery calls after each block of an example."""
    return figures


def figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that a block made, in the order of their names' first use, and show them.

    Parameters
    ----------
    block : tuple
        Kind, text and line of the block.
    block_vars : dict
        "example_globals" holds the variables of the example, "image_path_iterator" names for pictures.
    gallery_conf : dict
        Settings of the gallery.

    Returns
    -------
    str
        reStructuredText that shows the pictures.
    """
    paths = []
    for value in list(block_vars["example_globals"].values()):
        if isinstance(value, Figure) and not getattr(value, "in_gallery", False):
            value.in_gallery = True  # type: ignore[attr-defined]
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, dpi=130)
            paths.append(path)
    return str(figure_rst(paths, gallery_conf["src_dir"]))
