"""Pictures of a classifier: what its classes look like, and where it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from partwise.models.summary import feature_names_of, part_names
from partwise.plot import style
from partwise.plot.images import draw_parts
from partwise.plot.style import INK, SERIES, figure, name_ticks, shortened

#: Classes up to which counts are written into the confusion matrix.
WRITTEN = 26
#: Mistakes drawn or listed, at most.
MISTAKES = 24
#: What is shown of components: attributes of a `MixtureClassifier`.
_SHOWN = ("means", "component_class", "component_samples")


def classes(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    proba: Any = None,
    shape: tuple[int, int] | None = None,
    row_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Any:
    """Draw what the classes of a classifier look like, its confusion matrix, and its worst mistakes.

    Parameters
    ----------
    model : MixtureClassifier, or Pipeline that ends in one
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        Samples, best those that were not trained on.
    y : array-like of shape (n_samples,), optional
        Their labels. Without them only the classes are drawn.
    proba : array of shape (n_samples, n_classes), optional
        What `predict_proba` gives for X, where it is known already.
    shape : tuple of int, optional
        Height and width where samples are pictures.
    row_names : sequence of str, optional
        Names of the samples; by default their numbers.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of the fit.

    Returns
    -------
    matplotlib Figure
        The mean of the samples of each component, as pictures or by feature; the confusion matrix, true classes
        down; and the wrong answers that were given with most confidence, surest first.
    """
    labels, wrong = model.classes_, np.empty(0, int)
    if y is not None:
        y = np.asarray(y)
        proba = np.asarray(model.predict_proba(X) if proba is None else proba)
        answers, sure = labels[proba.argmax(axis=1)], proba.max(axis=1)
        wrong = np.flatnonzero(answers != y)
        wrong = wrong[np.argsort(-sure[wrong], kind="stable")]
    side = min(9.0, max(3.6, 0.3 * len(labels) + 1.2))
    widths = {"looks": 4.6}
    widths |= {"confusion": side} if y is not None else {}
    widths |= {"mistakes": 4.0} if len(wrong) else {}
    size = (sum(widths.values()), max(side, 4.4))
    drawing, axes = figure([list(widths)], size=size, width_ratios=list(widths.values()))
    _looks(axes["looks"], model, shape, feature_names)
    if y is not None:
        right = f"{len(y) - len(wrong):,} of {len(y):,} right"
        _confusion(axes["confusion"], labels, y, answers, side, right)
    if len(wrong):
        axes["mistakes"].set_axis_off()
        listed = f"the {MISTAKES} surest" if len(wrong) > MISTAKES else "surest first"
        style.title(axes["mistakes"], f"{len(wrong):,} wrong" + (f", {listed}" if len(wrong) > 1 else ""))
        if shape is not None:
            _wrong_pictures(axes["mistakes"], X, shape, wrong, y, answers)
        else:
            names = [f"sample {i}" for i in range(len(y))] if row_names is None else row_names
            _wrong_lines(axes["mistakes"], names, wrong, y, answers, sure, size[1])
    return drawing


def _looks(axes: Any, model: Any, shape: tuple[int, int] | None, feature_names: Sequence[str] | None) -> None:
    """The mean of each component, in the space of the data as far as the steps before can be undone."""
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    used, before = in_use(steps[-1]), list(steps[:-1])
    means, owner, samples = (getattr(steps[-1], f"{one}_")[used] for one in _SHOWN)
    while before and hasattr(before[-1], "inverse_transform"):
        means = before.pop().inverse_transform(means)
    owners = [str(model.classes_[c]) for c in owner]
    title = "mean sample of each component"
    if len(used) < len(steps[-1].means_):
        title += f" in use ({len(used)} of {len(steps[-1].means_)})"
    if shape is not None:
        window = getattr(before[-1], "size", None) if before else None
        shown = shape if window is None else (window, window)
        if shown[0] * shown[1] == means.shape[1]:
            each = int(np.bincount(owner).max())
            across = each * max(1, ceil(np.sqrt(len(model.classes_) / max(each, 1)) / 1.5))
            marks = [shortened(owner, 6) for owner in owners] if across <= 16 else ()
            draw_parts(axes, np.maximum(means, 0.0), shown, title, across, marks)
            return
    first = before[-1] if before else steps[0]
    names = part_names(first) if before else feature_names_of(first, feature_names)
    if len(names) != means.shape[1]:
        names = [f"column{j}" for j in range(means.shape[1])]
    chosen = telling_features(means, owner, samples)
    shades = means[:, chosen] / np.maximum(np.abs(means[:, chosen]).max(axis=0), 1e-300)
    axes.imshow(
        shades, cmap=_ink(), aspect="auto", interpolation="nearest", vmin=min(0.0, shades.min()), vmax=1
    )
    axes.grid(False)
    name_ticks(axes.xaxis, [names[j] for j in chosen], 3.6, 20)
    _owner_ticks(axes, owners)
    some = f"; {len(chosen)} of {means.shape[1]}, the same number from each class"
    what = "" if len(chosen) == means.shape[1] else some
    axes.set_xlabel("each feature against its largest" + what, loc="left", fontsize=8.5)
    style.title(axes, title)


def in_use(mixture: Any) -> np.ndarray:
    """The components that are responsible for half a sample at least; of every class the one with most."""
    samples, owner = mixture.component_samples_, mixture.component_class_
    used = samples >= 0.5
    for c in range(len(mixture.classes_)):
        own = np.flatnonzero(owner == c)
        used[own[np.argmax(samples[own])]] = True
    return np.flatnonzero(used)


def telling_features(means: np.ndarray, owner: np.ndarray, samples: np.ndarray, most: int = 30) -> np.ndarray:
    """Features to show of the components: of each class in turn the one that it has most above the others.

    Parameters
    ----------
    means : array of shape (n_components, n_features)
        What the components look like.
    owner : array of int of shape (n_components,)
        The class of each.
    samples : array of shape (n_components,)
        How many samples each stands for.
    most : int
        How many features at most.

    Returns
    -------
    array of int
        Columns, in their order.
    """
    groups = np.unique(owner)
    weight = (owner == groups[:, None]) * np.maximum(samples, 1e-9)
    level = (weight @ means) / weight.sum(axis=1, keepdims=True)
    others = (level.sum(axis=0) - level) / max(len(groups) - 1, 1)
    ahead = (level - others) / np.maximum(np.abs(level).max(axis=0), 1e-300)
    # A feature of tiny numbers may differ as much by chance: those with the larger difference go first among equals.
    ahead *= np.sqrt(np.maximum(np.abs(level - others), 0.0))
    ranked = np.argsort(-ahead, axis=1, kind="stable")
    firsts = list(dict.fromkeys(ranked.T.ravel().tolist()))
    return np.sort(firsts[:most])


def _owner_ticks(axes: Any, owners: list[str]) -> None:
    """The class beside the middle of its components, and a line between classes."""
    edges = [0, *(i for i in range(1, len(owners)) if owners[i] != owners[i - 1]), len(owners)]
    middles = [(a + b - 1) / 2 for a, b in pairwise(edges)]
    axes.set_yticks(middles, [shortened(owners[a], 18) for a in edges[:-1]])
    axes.tick_params(axis="y", length=0, labelsize=min(9.0, 250.0 / max(len(middles), 1)))
    for edge in edges[1:-1]:
        axes.axhline(edge - 0.5, color=INK, lw=0.6)


def confusion_counts(y: np.ndarray, answers: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """How many samples of each class were taken for each; y of a class that training had not is left out.

    `classes` are sorted. scikit-learn's function wants a sample of one of them at least.
    """
    found = np.zeros((len(classes), len(classes)), dtype=int)
    known = np.isin(y, classes)
    np.add.at(found, (np.searchsorted(classes, y[known]), np.searchsorted(classes, answers[known])), 1)
    return found


def _confusion(axes: Any, labels: Any, y: np.ndarray, answers: np.ndarray, side: float, title: str) -> None:
    """Counts of true class against answer; mistakes are coloured, right answers are only written."""
    counts = confusion_counts(y, answers, labels)
    off = counts - np.diag(np.diag(counts))
    shades = np.where(np.eye(len(labels), dtype=bool), np.nan, off)
    ink = _ink(1).with_extremes(bad="#eef1f4")
    axes.imshow(shades, cmap=ink, vmin=0, vmax=max(4.0, 1.4 * off.max()), interpolation="nearest")
    if len(labels) <= WRITTEN:
        letters = min(8.0, 20.0 * side / len(labels))
        for i, j in np.argwhere(counts):
            axes.text(
                j, i, f"{counts[i, j]:,}", ha="center", va="center", fontsize=letters,
                color=INK if i != j else "#7b8894", fontweight="bold" if i != j else "normal",
            )  # fmt: skip
    names = [str(label) for label in labels]
    name_ticks(axes.xaxis, names, side - 1.0, 14)
    name_ticks(axes.yaxis, names, side - 1.0, 14)
    axes.set_xlabel("answer")
    axes.set_ylabel("true class")
    axes.grid(False)
    style.title(axes, title)


def _wrong_pictures(axes: Any, X: Any, shape: Any, wrong: np.ndarray, y: Any, answers: Any) -> None:
    """The samples with wrong answers, each under what it is and what it was taken for."""
    X, shown, across = np.asarray(X), wrong[:MISTAKES], 4
    for number, i in enumerate(shown):
        down, right = divmod(number, across)
        inset = axes.inset_axes((right / across, 1 - (down + 1) / 6 + 0.005, 0.9 / across, 0.125))
        inset.imshow(X[i].reshape(shape), cmap="gray_r", interpolation="nearest")
        inset.set_axis_off()
        inset.set_title(f"{shortened(y[i], 8)} → {shortened(answers[i], 8)}", fontsize=7.5, pad=2)


def _wrong_lines(
    axes: Any, names: Any, wrong: np.ndarray, y: Any, answers: Any, sure: np.ndarray, height: float
) -> None:
    """Name, true class, answer and its probability of the samples with wrong answers."""
    step = 0.17 / height
    columns = (0.0, 0.45, 0.87)
    for number, i in enumerate(wrong[:MISTAKES]):
        place = 1.0 - (number + 1) * step
        texts = (
            shortened(names[i], 20),
            f"{shortened(y[i], 10)} → {shortened(answers[i], 10)}",
            f"{sure[i]:.2f}",
        )
        for left, text in zip(columns, texts):
            axes.text(left, place, text, transform=axes.transAxes, fontsize=8, va="center")


def _ink(colour: int = 0) -> Any:
    """White to a colour of the house."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ink", ["#ffffff", SERIES[colour]])
