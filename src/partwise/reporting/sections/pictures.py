"""Pictures that the command wrote beside its results and that the page does not draw itself."""

from __future__ import annotations

from typing import Any

from partwise.reporting import blocks
from partwise.reporting.files import other_pictures
from partwise.reporting.source import Source

#: The page draws these itself, so that one can point at them.
DRAWN = ("parts.png", "usage.png", "tiles.png", "tree.png")


def section(source: Source) -> dict[str, Any] | None:
    """The pictures.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None where there are none.
    """
    taken, left = other_pictures(source, DRAWN)
    if not taken and not left:
        return None
    found: list[dict[str, Any]] = [
        {"block": "picture", "uri": uri, "alt": f"The picture {name}", "caption": name} for name, uri in taken
    ]
    if left:
        found.append(blocks.text(f"Too large for this page, but in the folder: {', '.join(left)}."))
    return {"title": "Pictures", "blocks": found}
