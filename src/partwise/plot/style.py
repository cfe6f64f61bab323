"""The style of all figures: ink on white, few colours, no boxes."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partwise.interrupts import uninterrupted
from partwise.io.atomic import atomic_file
from partwise.io.caller import callers_level

#: How matplotlib begins its warning of a character that a font lacks.
_NO_GLYPH = r"Glyph \d+ .*missing from"
#: How often names that look alike are cut anew, at most: each time they differ further behind.
_ROUNDS = 8
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
        # Ctrl-C while compiled modules load reaches us as an ImportError; so it waits until they are there.
        with uninterrupted():
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


def heading(drawing: Any, text: str) -> None:
    """A title over the left edge of a whole figure."""
    drawing.suptitle(text, x=0.01, ha="left", fontsize=10.5, color=INK)


def shortened(name: Any, length: int = 24) -> str:
    """A name that fits beside a picture: where it is longer than `length`, an ellipsis stands for its middle.

    Not for its end, for names that begin alike often differ there.
    """
    text = " ".join(str(name).split())
    if len(text) > length:
        end = length // 3
        text = text[: length - end - 1].rstrip() + "…" + text[-end:].lstrip()
    return text.replace("$", r"\$")


def told_apart(names: Sequence[Any], length: int = 24) -> list[str]:
    """Names that fit beside a picture, as `shortened` makes them, and different where the names are.

    Of those that would look the same, what they begin with alike is left out instead.
    """
    texts = [" ".join(str(name).split()) for name in names]
    shown = {text: shortened(text, length) for text in texts}
    for _ in range(_ROUNDS):
        alike: dict[str, list[str]] = {}
        for text, short in shown.items():
            alike.setdefault(short, []).append(text)
        for group in alike.values():
            if len(group) == 1:
                continue
            begin = max(0, _common(min(group), max(group)) - length // 3)
            for text in group:
                rest = "…" * (begin > 0) + text[begin:]
                cut = rest if len(rest) <= length else rest[: length - 1] + "…"
                shown[text] = cut.replace("$", r"\$")
    return [shown[text] for text in texts]


def _common(one: str, other: str) -> int:
    """With how many characters two texts begin alike."""
    pairs = enumerate(zip(one, other))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def row_names_of(table: Any) -> list[str] | None:
    """The names in the index of a DataFrame; None for numbers and for other tables."""
    index = getattr(table, "index", None)
    kind = getattr(getattr(index, "dtype", None), "kind", "i")
    return None if index is None or kind in "iuf" else [str(name) for name in index]


def name_ticks(axis: Any, names: Any, room: float, length: int = 24) -> None:
    """Names along a matplotlib Axis of `room` inches, one at each whole number; none where they would overlap."""
    space = 72 * room / max(len(names), 1)
    if space < 5:
        axis.set_ticks([])
        return
    axis.set_ticks(range(len(names)), told_apart(names, length))
    axis.set_tick_params(length=0, labelsize=min(9.0, 0.9 * space), labelrotation=0)
    if (
        axis.axis_name == "x"
        and max((len(shortened(name, length)) for name in names), default=0) * 5.8 > space
    ):
        axis.set_tick_params(labelrotation=90)


def save_figure(drawing: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, whole or not at all; the same figure gives the same bytes.

    Parameters
    ----------
    drawing : matplotlib Figure
        The figure.
    path : str or path-like
        The file; its suffix says the format.
    """
    with atomic_file(path) as stream, warnings.catch_warnings(record=True) as said:
        # matplotlib has a warning for each character that the font lacks; one sentence is enough for all.
        warnings.filterwarnings("always", message=_NO_GLYPH)
        drawing.savefig(stream, format=Path(path).suffix[1:] or "png", metadata={"Software": None})
    others = [one for one in said if not re.match(_NO_GLYPH, str(one.message))]
    for other in others:
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if len(others) < len(said):
        warnings.warn(
            "Pictures show boxes for characters that their font lacks (files of numbers and words have them). "
            "Install a font that has them, and name it in matplotlib's settings (font.sans-serif in matplotlibrc).",
            stacklevel=callers_level(),
        )
