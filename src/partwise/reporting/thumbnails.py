"""Small pictures as data URIs, for a page that loads nothing."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import numpy as np

from partwise.reporting.limits import PIXELS


def picture_uri(values: Any, shape: tuple[int, ...], top: float | None = None) -> str:
    """A part or a sample as a PNG: dark where it is strong, on white; red where it is below zero.

    Parameters
    ----------
    values : array of shape (height × width,) or (height × width × 3,)
        The pixels.
    shape : tuple of int
        Height and width, and 3 for colours.
    top : float, optional
        The value that is black; by default the largest absolute value.

    Returns
    -------
    str
        ``data:image/png;base64,…``
    """
    from PIL import Image

    pixels = np.nan_to_num(np.asarray(values, dtype=float)).reshape(shape)
    top = float(np.abs(pixels).max()) if top is None else top
    level = np.clip(pixels / top if top > 0 else pixels * 0.0, -1.0, 1.0)
    if level.ndim == 3:
        made = Image.fromarray((255 * np.clip(level, 0, 1)).astype(np.uint8)[..., :3])
    elif (level < 0).any():
        ink = np.where(level[..., None] < 0, (31, 143, 161), (255, 255, 255))
        made = Image.fromarray((255 - ink * np.abs(level)[..., None]).astype(np.uint8))
    else:
        made = Image.fromarray((255 * (1 - level)).astype(np.uint8))
    if max(made.size) > PIXELS:
        made.thumbnail((PIXELS, PIXELS), Image.Resampling.BOX)
    stream = BytesIO()
    made.save(stream, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
