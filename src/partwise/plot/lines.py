"""Curves in the colours of the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.plot import style
from partwise.plot.style import SERIES


def draw_curve(
    axes: Any,
    x: Any,
    y: Any,
    *,
    label: str | None = None,
    colour: int = 0,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    logx: bool = False,
    logy: bool = False,
    marker: str = "",
) -> None:
    """Draw one curve in the colours of `SERIES`; when they come round again, dashed, then dotted.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    x, y : array-like
        Points of the curve.
    label : str, optional
        Entry in the legend.
    colour : int
        Number of the colour.
    title, xlabel, ylabel : str
        Texts above and beside the axes.
    logx, logy : bool
        Whether an axis is logarithmic.
    marker : str
        Marker of the points, as matplotlib names it.
    """
    axes.plot(
        np.asarray(x),
        np.asarray(y),
        color=SERIES[colour % len(SERIES)],
        linestyle=("-", "--", ":")[colour // len(SERIES) % 3],
        label=label,
        marker=marker,
        lw=1.6,
        ms=4,
    )
    style.title(axes, title)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    if logx:
        axes.set_xscale("log")
    if logy:
        axes.set_yscale("log")
    if label:
        axes.legend(frameon=False)
