"""The parts of a model: bars of their leading features, or pictures."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from partwise.models.summary import feature_names_of, leading, part_names, parts_of, summary_of
from partwise.plot import style
from partwise.plot.images import draw_parts
from partwise.plot.style import SERIES, figure, shortened


def parts(
    model: Any,
    *,
    n: int = 10,
    specific: bool = False,
    shape: tuple[int, ...] | None = None,
    feature_names: Sequence[str] | None = None,
    max_parts: int = 40,
) -> Any:
    """Draw the parts of a model: the features that lead each, or each as a picture.

    Parameters
    ----------
    model : estimator
        A fitted model.
    n : int, default=10
        Features of each part, at most.
    specific : bool, default=False
        Whether features are ranked by what sets a part apart; see the model's `top_features`.
    shape : tuple of int, optional
        Height and width (and 3, for colours) where rows of the data are pictures: parts are drawn as pictures.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit, else column0, column1, …
    max_parts : int, default=40
        The first so many parts are drawn; the title says where that is not all.

    Returns
    -------
    matplotlib Figure
        In a notebook it shows itself; ``fig.savefig("parts.png")`` writes it.
    """
    weights = parts_of(model)
    if weights is None or not len(weights):
        return _nothing(f"This {type(model).__name__} has no {getattr(model, 'part_word', 'part')}s.")
    if shape is not None:
        return _pictures(model, weights, shape)
    names = feature_names_of(model, feature_names)
    details = [part.get("sentence", "") for part in summary_of(model)["parts"]][:max_parts]
    shown = weights[:max_parts]
    scores = shown
    if specific:
        from partwise.models.looking import specificity

        scores = specificity(weights)[:max_parts]
    # Not those whose bars could not be seen.
    lists = [[j for j in leading(by, n) if row[j] > 0.004 * row.max()] for by, row in zip(scores, shown)]
    down = ceil(
        len(shown) / (3 if len(shown) == 3 else 2 if len(shown) <= 4 else 4 if len(shown) <= 16 else 5)
    )
    across = ceil(len(shown) / down)
    tall = max(max(map(len, lists)), 1)
    mosaic = [
        [f"{i * across + j}" if i * across + j < len(shown) else "." for j in range(across)]
        for i in range(down)
    ]
    size = (max(4.2, 3.1 * across), down * (0.55 + 0.19 * tall) + 0.35)
    drawing, axes = figure(mosaic, size=size)
    for i, (name, row, chosen) in enumerate(zip(part_names(model), shown, lists)):
        _bars(axes[str(i)], [names[j] for j in chosen], [float(row[j]) for j in chosen], tall, i)
        axes[str(i)].set_title(shortened(name, 40), loc="left", fontsize=9.5)
        if details[i] and across <= 2:
            axes[str(i)].set_xlabel(shortened(details[i], 60), fontsize=8, loc="left")
    ranked = "what sets each apart from the others" if specific else "features of most weight in each"
    style.heading(drawing, _count(model, len(weights), len(shown)) + f": {ranked}")
    return drawing


def _bars(axes: Any, names: list[str], weights: list[float], tall: int, number: int) -> None:
    """Horizontal bars with names, the first on top; every panel has room for as many."""
    axes.barh(range(len(names)), weights, color=SERIES[number % len(SERIES)], height=0.72)
    axes.set_yticks(range(len(names)), [shortened(name) for name in names])
    axes.set_ylim(tall - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelsize=8.5)
    axes.tick_params(axis="x", labelsize=7.5, length=2)
    axes.locator_params(axis="x", nbins=3)
    axes.ticklabel_format(axis="x", scilimits=(-3, 4))
    axes.xaxis.get_offset_text().set_fontsize(7.5)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    if len(set(weights)) == 1:
        # All of one weight, as in a tile: the bars say nothing, the names do.
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)


def _pictures(model: Any, weights: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Every part as a picture with its number."""
    if prod(shape) != weights.shape[1]:
        raise ValueError(f"shape {shape} has {prod(shape)} pixels; the parts have {weights.shape[1]}.")
    columns = min(len(weights), max(ceil(np.sqrt(len(weights) * shape[0] / shape[1])), 1))
    down = ceil(len(weights) / columns)
    gap = max(1, round(0.12 * shape[0]))
    wide = min(10.0, 1.3 * columns)
    high = wide * down * (shape[0] + gap) / (columns * (shape[1] + gap))
    drawing, axes = figure([["parts"]], size=(max(3.4, wide), high + 0.4))
    title = f"{_count(model, len(weights), len(weights))}, each against its largest pixel"
    draw_parts(axes["parts"], weights, shape, title, columns, range(len(weights)), gap)
    return drawing


def _count(model: Any, total: int, shown: int) -> str:
    """How many parts there are, and how many of them are drawn."""
    word = getattr(model, "part_word", "part") + ("s" if total != 1 else "")
    return f"{total} {word}" if shown == total else f"the first {shown} of {total} {word}"


def _nothing(text: str) -> Any:
    """A figure that says that there is nothing to draw."""
    drawing, axes = figure([["empty"]], size=(4.0, 1.0))
    axes["empty"].text(0.0, 0.5, text, va="center")
    axes["empty"].set_axis_off()
    return drawing
