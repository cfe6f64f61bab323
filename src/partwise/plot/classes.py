"""Pictures of a classifier: what its classes look like, and where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from partwise.plot.images import draw_parts
from partwise.plot.style import figure, save_figure


def draw_classes(
    path: Path,
    model: Any,
    summary: dict[str, Any],
    X: Any,
    y: Any,
    proba: Any,
    size: tuple[int, int] | None,
    deslant: bool,
) -> None:
    """Draw the mean of each component, the confusion matrix, and the samples with the largest loss.

    Parameters
    ----------
    path : Path
        The file.
    model : Pipeline
        Ends in a `MixtureClassifier`; an earlier step may be called "nmf".
    summary : dict
        Its "classes" and, with labels, its "confusion" are read.
    X : array of shape (n_samples, n_features)
        Samples that were not trained on.
    y : array of shape (n_samples,) or None
        Their labels.
    proba : array of shape (n_samples, n_classes)
        What the model predicts for them.
    size : tuple of int or None
        Height and width if samples are pictures.
    deslant : bool
        Whether the first step is `DeslantCrop`.
    """
    mixture = model.steps[-1][1]
    means = mixture.means_
    for name, step in reversed(model.steps[:-1]):
        if name == "nmf":
            means = step.inverse_transform(means)
    panels = [*(["classes"] if size else []), *(["confusion"] if y is not None else [])]
    if y is not None and size:
        panels.append("worst")
    if not panels:
        panels = ["classes"]
    drawing, axes = figure([panels], size=(5.0 * len(panels), 5.0))
    classes = summary["classes"]
    if "classes" in axes and size is not None:
        each = int(np.bincount(mixture.component_class_).max())
        shown = (20, 20) if deslant else size
        draw_parts(axes["classes"], np.maximum(means, 0.0), shown, "what each class looks like to it", each)
    elif "classes" in axes:
        axes["classes"].imshow(np.maximum(means, 0.0), cmap="gray_r", aspect="auto")
        axes["classes"].set_title("mean features of each component", loc="left", fontsize=10)
    if "confusion" in axes:
        counts = np.array(summary["confusion"], dtype=float)
        off = counts - np.diag(np.diag(counts))
        axes["confusion"].imshow(off, cmap="Oranges", vmin=0, vmax=max(5.0, 1.5 * off.max()))
        for i, row in enumerate(counts.astype(int)):
            for j, value in enumerate(row):
                if value and len(classes) <= 20:
                    axes["confusion"].text(j, i, str(value), ha="center", va="center", fontsize=7)
        axes["confusion"].set_title("true class down, answer across", loc="left", fontsize=10)
        axes["confusion"].set_xticks(range(len(classes)), classes)
        axes["confusion"].set_yticks(range(len(classes)), classes)
        axes["confusion"].grid(False)
    if "worst" in axes and size is not None:
        place = np.searchsorted(model.classes_, y)
        loss = np.log(proba.max(axis=1) + 1e-300) - np.log(proba[np.arange(len(y)), place] + 1e-300)
        order = np.argsort(-loss)[:25]
        examples = ", ".join(f"{y[i]}→{model.classes_[proba[i].argmax()]}" for i in order[:6])
        draw_parts(axes["worst"], X[order], size, f"most surprising: {examples}, …", 5)
    save_figure(drawing, path)
