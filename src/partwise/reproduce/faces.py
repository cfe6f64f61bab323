"""Figure 1 of Lee, Seung & Saul: faces by NMF, by vector quantization and by PCA."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from partwise.comparison import mean_sparseness
from partwise.datasets import fetch_cbcl, load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF
from partwise.plot import figure, image_grid, save_figure


def reproduce_faces(
    folder: Path,
    n_components: Annotated[int, typer.Option("-k", "--components", min=2, help="Number of parts.")] = 49,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Faces by NMF, vector quantization and PCA, side by side: figure 1 of Lee, Seung and Saul."""
    if "PARTWISE_DATA" in os.environ:
        X, name = np.asarray(fetch_cbcl(version="lee-seung").data, float), "CBCL faces"
    else:
        X, name = np.asarray(load_digits().data, float), "bundled digits"
    side = round(np.sqrt(X.shape[1]))
    nmf = NMF(
        n_components,
        beta_loss="kullback-leibler",
        max_iter=500,
        scale="components",
        random_state=seed,
        verbose=1,
    )
    W = nmf.fit_transform(X)
    means = KMeans(n_components, n_init=1, random_state=seed).fit(X)
    pca = PCA(n_components, random_state=seed).fit(X)
    codes = {
        "NMF": (nmf.components_, W, W @ nmf.components_),
        "VQ": (
            means.cluster_centers_,
            np.eye(n_components)[means.labels_],
            means.cluster_centers_[means.labels_],
        ),
        "PCA": (pca.components_, pca.transform(X), pca.inverse_transform(pca.transform(X))),
    }
    table = []
    for method, (basis, code, rebuilt) in codes.items():
        table.append(
            {
                "method": method,
                "relative_error": float(np.linalg.norm(X - rebuilt) / np.linalg.norm(X)),
                "basis_sparseness": mean_sparseness(basis),
                "code_sparseness": mean_sparseness(code),
            }
        )
    summary: dict[str, Any] = {"data": name, "n_components": n_components, "table": table}
    summary["lines"] = [
        f"{name}, {len(X)} images of {side} × {side}, {n_components} basis images each",
        *(
            f"  {row['method']:4s} relative error {row['relative_error']:.4f}, sparseness of the basis "
            f"{row['basis_sparseness']:.2f}, of the code {row['code_sparseness']:.2f}"
            for row in table
        ),
    ]
    with uninterrupted():
        draw(folder / "faces.png", X, codes, side)
        write_json(folder / "faces.json", summary)
    return summary


def draw(path: Path, X: np.ndarray, codes: dict[str, Any], side: int) -> None:
    """For each method its basis, the code of one face, and the face rebuilt; negative values in another colour."""
    from matplotlib.colors import LinearSegmentedColormap

    ink = LinearSegmentedColormap.from_list("ink", ["#e07a5f", "#ffffff", "#22313f"]).with_extremes(
        bad="#c9d1d9"
    )
    mosaic = [[f"{method}-basis", f"{method}-code", f"{method}-face"] for method in codes]
    drawing, axes = figure(mosaic, size=(9.5, 11.0), width_ratios=[3, 2, 1.4])
    for method, (basis, code, rebuilt) in codes.items():
        size = np.abs(basis).max(axis=1, keepdims=True)
        panels = {
            "basis": image_grid(basis / np.maximum(size, 1e-300), (side, side), normalise=False),
            "code": image_grid(code[0][:, None] / np.abs(code[0]).max(), (1, 1), gap=0, normalise=False),
            "face": image_grid(np.vstack([X[0], rebuilt[0]]) / X[0].max(), (side, side), 1, normalise=False),
        }
        titles = {"basis": f"{method}: basis", "code": "code of a face", "face": "given, rebuilt"}
        for panel, picture in panels.items():
            place = axes[f"{method}-{panel}"]
            place.imshow(picture, cmap=ink, vmin=-1, vmax=1, interpolation="nearest")
            place.set_title(titles[panel], loc="left", fontsize=10)
            place.set_axis_off()
    save_figure(drawing, path)
