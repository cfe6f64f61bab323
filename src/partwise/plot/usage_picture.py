"""Which samples use which parts, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.models.summary import part_names as names_of_parts
from partwise.plot import style
from partwise.plot.style import SERIES, figure, name_ticks, row_names_of

#: Lines of the picture, at most.
LINES = 1000


def usage(
    W: Any, X: Any = None, *, row_names: Sequence[str] | None = None, part_names: Sequence[str] | None = None
) -> Any:
    """Draw which samples use which parts: a line for each sample, sorted by the part it uses most.

    Parameters
    ----------
    W : array or DataFrame of shape (n_samples, n_components), or estimator
        What `transform` returned; or a fitted model, which then transforms `X`.
    X : array-like, optional
        Samples, where W is a model.
    row_names : sequence of str, optional
        Names of the samples, shown where there is room; by default the index of a DataFrame, if it names them.
    part_names : sequence of str, optional
        Names of the parts; by default the columns of a DataFrame or the model's own.

    Returns
    -------
    matplotlib Figure
        Samples down, parts across. Where there are more than 1,000 samples each line is the mean of several, which
        the title says.
    """
    if hasattr(W, "get_params"):
        if X is None:
            raise ValueError(
                "usage of a model needs the samples too: usage(model, X), or usage(model.transform(X))."
            )
        part_names = names_of_parts(W) if part_names is None else part_names
        W = W.transform(X)
    row_names = row_names_of(W) if row_names is None else row_names
    if hasattr(W, "columns"):
        part_names = [str(name) for name in W.columns] if part_names is None else part_names
    A = np.asarray(W.toarray() if hasattr(W, "tocsr") else W, dtype=float)
    if A.ndim != 2 or not A.size:
        raise ValueError(
            f"usage needs a table of samples × parts with at least one of each; got shape {A.shape}."
        )
    n, k = A.shape
    # Parts need not be at one scale; a percentile, because a few samples may be far above all others.
    top = np.array([np.percentile(column[column > 0], 99) if (column > 0).any() else 1.0 for column in A.T])
    probability = A.max() <= 1.0
    shades = A if probability else np.minimum(A / top, 1.0)
    order = sorted_by_part(shades)
    shades = shades[order]
    title = f"{n:,} samples by the part they use most"
    if n > LINES:
        starts = np.linspace(0, n, LINES + 1).astype(int)[:-1]
        shades = np.add.reduceat(shades, starts, axis=0) / np.diff([*starts, n])[:, None]
        title += f"\neach line the mean of about {n / LINES:,.0f}"
    named = row_names is not None and n <= 120
    high = min(11.0, max(3.0, 0.14 * n + 1.0)) if named else 6.5
    wide = min(12.0, max(4.2, 0.28 * k + 2.4))
    return _heat_map(shades, (wide, high), title, order, row_names, part_names, probability)


def _heat_map(
    shades: np.ndarray,
    size: tuple[float, float],
    title: str,
    order: np.ndarray,
    row_names: Sequence[str] | None,
    part_names: Sequence[str] | None,
    probability: bool,
) -> Any:
    """The picture itself."""
    from matplotlib.colors import LinearSegmentedColormap

    drawing, axes = figure([["usage"]], size=size)
    place = axes["usage"]
    ink = LinearSegmentedColormap.from_list("ink", [(0.0, "#ffffff"), (0.65, SERIES[0]), (1.0, "#0d2f3b")])
    image = place.imshow(shades, cmap=ink, aspect="auto", interpolation="nearest", vmin=0, vmax=1)
    place.grid(False)
    names = [str(t) for t in range(shades.shape[1])] if part_names is None else part_names
    name_ticks(place.xaxis, names, size[0] - 1.8)
    if row_names is not None and len(order) == len(shades):
        name_ticks(place.yaxis, [row_names[i] for i in order], size[1] - 1.0)
    else:
        place.set_yticks([])
    for side in ("left", "bottom"):
        place.spines[side].set_visible(False)
    bar = drawing.colorbar(
        image,
        ax=place,
        shrink=min(0.9, 2.6 / size[1]),
        aspect=16,
        pad=0.02,
        extend="neither" if probability else "max",
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=2)
    bar.set_label("usage" if probability else "usage, 1: the 99th percentile of a part", fontsize=8.5)
    style.heading(drawing, title)
    return drawing


def sorted_by_part(shades: np.ndarray) -> np.ndarray:
    """An order of rows: by the part of most weight, its falling weight, and the others; unused rows last."""
    first, weight = shades.argmax(axis=1), shades.max(axis=1)
    first = np.where(weight > 0, first, shades.shape[1])
    return np.lexsort((*-shades.T[::-1], -weight, first))
