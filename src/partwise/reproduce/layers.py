"""Parts of parts: the layers of `DeepNMF` on faces or digits, beside models of one layer."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from partwise.datasets import fetch_orl, load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF, DeepNMF, SemiNMF
from partwise.plot import draw_parts, figure, save_figure

#: Seeds of k-means, whose results are averaged.
SEEDS = 5


def reproduce_layers(
    folder: Path,
    first: Annotated[int, typer.Option(min=2, help="Parts of the first layer.")] = 48,
    second: Annotated[int, typer.Option(min=1, help="Parts of the second layer.")] = 16,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Parts of two layers of DeepNMF, signed and nonnegative, and what a single layer of the same size does."""
    bunch, name = (fetch_orl(), "ORL faces") if "PARTWISE_DATA" in os.environ else (load_digits(), "digits")
    X = np.asarray(bunch.data, float)
    X = X / X.max()
    models: dict[str, Any] = {
        f"SemiNMF({second})": SemiNMF(second, random_state=seed, max_iter=500),
        f"DeepNMF(({first}, {second}))": DeepNMF((first, second), random_state=seed, max_iter=500),
        f"NMF({second})": NMF(second, random_state=seed, max_iter=500),
        f"DeepNMF(({first}, {second}), semi=False)": DeepNMF(
            (first, second), semi=False, random_state=seed, max_iter=500
        ),
    }
    table = []
    for label, model in models.items():
        W = model.fit_transform(X)
        error = float(model.reconstruction_err_ / np.linalg.norm(X))
        table.append({"model": label, "relative_error": error, "nmi": agreement(W, bunch.target)})
    summary: dict[str, Any] = {"data": name, "first": first, "second": second, "table": table}
    summary["lines"] = [
        f"{name}, {len(X)} images; k-means of the features against the classes, mean of {SEEDS} seeds",
        *(
            f"  {row['model']:32s} relative error {row['relative_error']:.4f}, NMI {row['nmi']:.3f}"
            for row in table
        ),
    ]
    with uninterrupted():
        draw(folder / "layers.png", list(models.values())[1::2], bunch.images[0].shape)
        write_json(folder / "layers.json", summary)
    return summary


def agreement(W: np.ndarray, target: Any) -> float:
    """Normalised mutual information of the classes and of clusters of the rows of W, as many as there are classes."""
    features, count = normalize(W), len(np.unique(target))
    clusters = (KMeans(count, n_init=1, random_state=seed).fit_predict(features) for seed in range(SEEDS))
    return float(np.mean([normalized_mutual_info_score(target, found) for found in clusters]))


def draw(path: Path, models: list[Any], shape: tuple[int, int]) -> None:
    """The parts of both layers of a signed and a nonnegative model; negative values in another colour."""
    drawing, axes = figure([["00", "01"], ["10", "11"]], size=(9.5, 6.4), width_ratios=[3, 1])
    gap = max(1, shape[0] // 12)
    for i, model in enumerate(models):
        kind = "signed" if model.semi else "nonnegative"
        for j, parts in enumerate(model.layer_components_):
            title = f"{kind}, layer {j + 1}: {len(parts)} parts"
            draw_parts(axes[f"{i}{j}"], parts, shape, title, ceil(len(parts) / 4), gap=gap)
    save_figure(drawing, path)
