"""Rows of a matrix drawn as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np

from partwise.plot import style
from partwise.plot.style import FAINT, SERIES


def image_grid(
    rows: np.ndarray, shape: tuple[int, ...], columns: int | None = None, gap: int = 1, normalise: bool = True
) -> np.ndarray:
    """One picture with every row of `rows` as a tile of `shape`.

    Parameters
    ----------
    rows : array of shape (n_images, height × width [× 3])
        The images, one in each row.
    shape : tuple of int
        Height and width of an image, and 3 where it has colours.
    columns : int, optional
        Tiles side by side; by default such that the picture is about square.
    gap : int
        Pixels between tiles.
    normalise : bool
        Whether each tile is scaled to its own largest absolute value.

    Returns
    -------
    array of two dimensions, or three for colours
        The picture, NaN in the gaps.
    """
    rows = np.asarray(rows, dtype=float)
    columns = columns or ceil(sqrt(len(rows) * shape[0] / shape[1]))
    lines = ceil(len(rows) / columns)
    height, width = shape[0] + gap, shape[1] + gap
    canvas = np.full((lines * height - gap, columns * width - gap, *shape[2:]), np.nan)
    for i, row in enumerate(rows):
        tile = row.reshape(shape)
        top = np.abs(tile).max() if normalise and tile.any() else 1.0
        y, x = divmod(i, columns)
        canvas[y * height : y * height + shape[0], x * width : x * width + shape[1]] = tile / top
    return canvas


def draw_parts(
    axes: Any,
    rows: np.ndarray,
    shape: tuple[int, ...],
    title: str = "",
    columns: int | None = None,
    labels: Sequence[Any] = (),
    gap: int = 1,
    **more: Any,
) -> None:
    """Draw a grid of pictures, dark where a part is strong, on a faint ground that shows where each ends.

    Values below zero are in colour. Images that have colours themselves are drawn as they are, from black; where they
    have values below zero, grey is zero.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    rows : array of shape (n_images, height × width [× 3])
        The images, one in each row.
    shape : tuple of int
        Height and width of an image, and 3 where it has colours.
    title : str
        Written above.
    columns : int, optional
        Tiles side by side; by default such that the picture is about square.
    labels : sequence, optional
        Small texts in the upper left corners of the images.
    gap : int
        Pixels between tiles.
    **more : object
        Further parameters of `image_grid`.
    """
    from matplotlib.colors import to_rgb

    signed = bool(np.min(rows, initial=0.0) < 0)
    ink = _ink(signed)
    columns = columns or ceil(sqrt(len(rows) * shape[0] / shape[1]))
    picture = image_grid(rows, shape, columns, gap, **more)
    bounds = (
        {"vmin": -np.nanmax(np.abs(picture)), "vmax": np.nanmax(np.abs(picture))} if signed else {"vmin": 0}
    )
    if len(shape) == 3:
        shown = 0.5 + 0.5 * picture if signed else picture
        shown = np.where(np.isnan(shown), np.array(to_rgb(FAINT)), shown.clip(0.0, 1.0))
        axes.imshow(shown, interpolation="nearest")
    else:
        axes.imshow(picture, cmap=ink, interpolation="nearest", **bounds)
    for i, label in enumerate(labels):
        y, x = divmod(i, columns)
        corner = (x * (shape[1] + gap), y * (shape[0] + gap))
        axes.annotate(
            str(label), corner, (2, -2), textcoords="offset points", fontsize=7, va="top", color=SERIES[1]
        )
    style.title(axes, title)
    axes.set_axis_off()


def part_pixels(row: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """One part in the colours that `draw_parts` gives it.

    Parameters
    ----------
    row : array of shape (height × width [× 3],)
        The part.
    shape : tuple of int
        Height and width, and 3 where it has colours.

    Returns
    -------
    array of uint8 of shape (height, width, 3)
        Dark where the part is strong; with a hue below zero. Parts that have colours themselves: as they are.
    """
    tile = np.asarray(row, dtype=float).reshape(shape)
    signed = bool(tile.min(initial=0.0) < 0)
    tile = tile / (np.abs(tile).max(initial=0.0) or 1.0)
    shade = (0.5 + 0.5 * tile) if signed else tile
    colours = shade if len(shape) == 3 else _ink(signed)(shade)[..., :3]
    return np.round(255.0 * np.clip(colours, 0.0, 1.0)).astype(np.uint8)


def _ink(signed: bool) -> Any:
    """The colours of numbers: black is the largest, white zero; below zero there is a hue."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("signed", [SERIES[1], "white", "black"])
    return (colours if signed else colormaps["gray_r"]).with_extremes(bad=FAINT)
