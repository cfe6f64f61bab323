"""A posterior at a glance: factor means, means against standard deviations, traces, and the draws of one entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.models.summary import feature_names_of
from partwise.plot import style
from partwise.plot.style import INK, SERIES, figure, name_ticks, shortened

#: Small values red, middle ones yellow, large ones blue, as Gonsior (2019, figure 4.4) draws factor means.
COLOURS = "RdYlBu"
#: Columns of an image and points of a scatter plot, at most.
MOST, POINTS = 2000, 20_000
BINS = 50


def posterior(
    model: Any,
    *,
    entry: tuple[int, int] | None = None,
    row_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Any:
    """Draw what a Bayesian model knows of its factors, and how well.

    Parameters
    ----------
    model : BayesianNMF or BayesianBooleanMF
        A fitted model. One from a file has no draws: the lower row then shows what the file has.
    entry : tuple of int, optional
        Component and column of the entry of H whose draws are shown; by default the one with the largest standard
        deviation.
    row_names : sequence of str, optional
        Names of the rows, shown where there is room.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit.

    Returns
    -------
    matplotlib Figure
        Means of W and H from red (0) over yellow to blue (1, or a large value); means against standard deviations;
        the log-posterior along each chain; a histogram of the draws of one entry.
    """
    check_is_fitted(model)
    if not hasattr(model, "components_std_"):
        raise ValueError(
            f"{type(model).__name__} has no standard deviations to draw; fit BayesianNMF or BayesianBooleanMF."
        )
    names = feature_names_of(model, feature_names)
    word = getattr(model, "part_word", "part")
    parts = [f"{word} {t}" for t in range(len(model.components_))]
    entry = most_uncertain(model) if entry is None else checked_entry(entry, model.components_.shape)
    drawing, axes = figure(
        [["W", "H"], ["W against", "H against"], ["trace", "entry"]],
        size=(11.0, 9.0),
        height_ratios=[1.1, 1.0, 0.9],
    )
    for name, mean, labels in (("W", model.W_mean_.T, row_names), ("H", model.components_, names)):
        draw_means(drawing, axes[name], mean, labels, parts)
        style.title(
            axes[name], f"mean of {name}" + (" (rows of the data from left to right)" if name == "W" else "")
        )
    for name, mean, std in (
        ("W", model.W_mean_, model.W_std_),
        ("H", model.components_, model.components_std_),
    ):
        draw_against(axes[f"{name} against"], mean, std, name, SERIES[0 if name == "W" else 1])
    draw_traces(axes["trace"], model)
    draw_entry(axes["entry"], model, entry, f"{parts[entry[0]]}, {names[entry[1]]}")
    return drawing


def most_uncertain(model: Any) -> tuple[int, int]:
    """Component and column of the entry of H with the largest standard deviation.

    Parameters
    ----------
    model : estimator
        With `components_std_`.

    Returns
    -------
    tuple of int
        Component and column.
    """
    t, j = np.unravel_index(int(np.argmax(model.components_std_)), model.components_std_.shape)
    return int(t), int(j)


def checked_entry(entry: tuple[int, int], shape: tuple[int, int]) -> tuple[int, int]:
    """An entry that there is.

    Parameters
    ----------
    entry : tuple of int
        Component and column.
    shape : tuple of int
        Of H.

    Returns
    -------
    tuple of int
        The same.
    """
    t, j = int(entry[0]), int(entry[1])
    if not (0 <= t < shape[0] and 0 <= j < shape[1]):
        raise ValueError(
            f"entry ({t}, {j}) does not exist: components are 0 to {shape[0] - 1}, columns 0 to {shape[1] - 1}."
        )
    return t, j


def draw_means(
    drawing: Any, place: Any, mean: np.ndarray, labels: Sequence[str] | None, parts: Sequence[str]
) -> None:
    """A factor as a picture: components from top to bottom.

    Parameters
    ----------
    drawing : matplotlib Figure
        For the scale of colours.
    place : matplotlib Axes
        Where to draw.
    mean : array of shape (n_components, n)
        Means; where they exceed 1, the scale ends at their 99.5 % quantile.
    labels : sequence of str, optional
        Names of the n rows or columns.
    parts : sequence of str
        Names of the components.
    """
    chosen = np.arange(mean.shape[1])
    if len(chosen) > MOST:
        chosen = np.linspace(0, len(chosen) - 1, MOST).astype(int)
    top = 1.0 if mean.max() <= 1.0 + 1e-9 else float(np.quantile(mean, 0.995)) or 1.0
    # Factors of which nothing is large have a scale of their own.
    if mean.max() < 0.2:
        top = float(mean.max()) or 1.0
    image = place.imshow(
        mean[:, chosen], cmap=COLOURS, vmin=0.0, vmax=top, aspect="auto", interpolation="nearest"
    )
    place.grid(False)
    name_ticks(place.yaxis, parts, 2.4)
    if labels is None or len(labels) > 45:
        place.set_xticks([])
    else:
        name_ticks(place.xaxis, list(labels), 4.4, 16)
    drawing.colorbar(image, ax=place, pad=0.01, fraction=0.04)


def draw_against(place: Any, mean: np.ndarray, std: np.ndarray, name: str, colour: str) -> None:
    """Means of all entries against their standard deviations (Gonsior 2019, figure 4.7).

    Parameters
    ----------
    place : matplotlib Axes
        Where to draw.
    mean, std : arrays
        Of one shape.
    name : str
        Of the factor.
    colour : str
        Of the points.
    """
    x, y = mean.ravel(), std.ravel()
    said = ""
    if len(x) > POINTS:
        chosen = np.random.default_rng(0).permutation(len(x))[:POINTS]
        x, y, said = x[chosen], y[chosen], f", {POINTS:,} of {mean.size:,} entries"
    place.plot(x, y, ".", ms=2.5 if len(x) > 500 else 7, alpha=0.5, color=colour, mew=0, rasterized=True)
    place.set_ylim(bottom=0.0)
    style.title(place, f"{name}: mean against standard deviation{said}")
    place.set_xlabel("mean")
    place.set_ylabel("standard deviation")


def draw_traces(place: Any, model: Any) -> None:
    """The log-posterior along each chain after the warm-up; of a model from a file, what its history has.

    Parameters
    ----------
    place : matplotlib Axes
        Where to draw.
    model : estimator
        The model.
    """
    kept = getattr(model, "_draws", None)
    worst = max(model.rhat_.values(), default=float("nan"))
    if kept is None:
        values = np.asarray(model.history_.get("log_posterior", []))
        place.plot(np.arange(len(values)), values, lw=1.0, color=SERIES[0])
        style.title(place, f"log-posterior, warm-up included (R-hat at most {worst:.3f})")
        place.set_xlabel("step")
        return
    for c, values in enumerate(kept["log_posterior"]):
        place.plot(values, lw=0.8, alpha=0.85, color=SERIES[c % len(SERIES)], label=f"chain {c + 1}")
    style.title(place, f"log-posterior after the warm-up (R-hat at most {worst:.3f})")
    place.set_xlabel("kept draw")
    if len(kept["log_posterior"]) <= 6:
        place.legend(frameon=False, fontsize=8, ncols=3)


def draw_entry(place: Any, model: Any, entry: tuple[int, int], name: str) -> None:
    """The draws of one entry of H; of a model from a file, its mean and standard deviation.

    Parameters
    ----------
    place : matplotlib Axes
        Where to draw.
    model : estimator
        The model.
    entry : tuple of int
        Component and column.
    name : str
        Of the entry.
    """
    mean, std = float(model.components_[entry]), float(model.components_std_[entry])
    style.title(place, f"H of {shortened(name, 40)}: {mean:.3g} ± {std:.2g}")
    place.set_xlabel("value")
    kept = getattr(model, "_draws", None)
    if kept is None:
        place.errorbar([mean], [0.0], xerr=[std], fmt="o", color=INK)
        place.set_yticks([])
        return
    values = model.draws_["H"][:, :, entry[0], entry[1]]
    place.set_ylabel("share of kept draws")
    if values.dtype == bool:
        width = 0.8 / len(values)
        for c, chain in enumerate(values):
            shares = [1.0 - chain.mean(), chain.mean()]
            place.bar(
                np.arange(2) + width * (c - (len(values) - 1) / 2),
                shares,
                width,
                color=SERIES[c % len(SERIES)],
                label=f"chain {c + 1}",
            )
        place.set_xticks([0, 1])
    else:
        weights = np.full(values.size, 1.0 / values.size)
        place.hist(values.ravel(), bins=BINS, weights=weights, color=SERIES[1])
        place.axvline(mean, color=INK, lw=1.0, ls=":", label="mean")
    place.legend(frameon=False, fontsize=8)
