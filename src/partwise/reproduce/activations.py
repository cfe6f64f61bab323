"""Networks seen through their parts: the ReLU activations of each layer factorized (Epstein 2017, 3.2 and 8.2).

A part's picture is the mean of the images, weighted by how much each uses the part, less the mean of all images. A
part's purity is the share of its use by the class that uses it most. The accuracy of a layer's parts is that of the
network with the layer's activations on test images rebuilt from them, W H. Parts and principal components are learned
from training images; those of PCA have the mean activation besides, and may be negative.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import fetch_mnist, load_digits
from partwise.domains import activations, with_activations
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF
from partwise.plot import INK, SERIES, figure, image_grid, save_figure
from partwise.plot.style import FAINT, heading, title
from partwise.reproduce.bars import with_progress
from partwise.reproduce.small_networks import Network, convnet, has_torch, perceptron

#: Numbers of parts that are tried, and the one that is drawn.
SIZES, DRAWN = (2, 4, 8, 12, 16, 24, 32, 64), 12
#: Accuracy that may be lost where a number of parts is said to be enough.
MARGIN = 0.01
#: Images that use a part most, drawn below it.
LEADING = 3


def reproduce_activations(
    folder: Path,
    data: Annotated[str, typer.Option(help="digits (bundled) or mnist.")] = "digits",
    quick: Annotated[bool, typer.Option("--quick", help="Few epochs, images and numbers of parts.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Networks seen through their parts: each layer's activations factorized, drawn, and put back.

    A perceptron of scikit-learn and, where PyTorch is installed, a ConvNet, trained on handwritten digits.
    """
    images = prepared(data, quick, seed)
    epochs = (10, 10) if quick else (200, 60) if data == "digits" else (15, 6)
    X, y = images["train"]
    networks = [perceptron(X, y, epochs[0], seed)]
    if has_torch():
        networks.append(convnet(X, y, epochs[1], seed))
    sizes = [k for k in SIZES if not quick or k in (4, DRAWN, 32)]
    jobs = [(network, layer) for network in networks for layer in network.layers]
    rows = []
    for i in with_progress(len(jobs), "layers"):
        rows.append(seen_through(*jobs[i], images, sizes, seed))
    drawn = [row.pop("drawn") for row in rows]
    summary: dict[str, Any] = {
        "data": data,
        "seed": seed,
        "n_train": len(y),
        "n_factorized": len(images["some"]),
        "n_test": len(images["test"][1]),
        "margin": MARGIN,
        "table": rows,
    }
    summary["lines"] = described(summary)
    if not has_torch():
        summary["lines"].append("ConvNet left out: PyTorch is not installed (pip install torch).")
    with uninterrupted():
        page(folder / "activations.png", rows, drawn, images["test"][0])
        write_json(folder / "activations.json", summary)
    return summary


def prepared(data: str, quick: bool, seed: int) -> dict[str, Any]:
    """Images in [0, 1]: "train" and "test" with their labels, and "some" of the former to learn parts from."""
    if data not in ("digits", "mnist"):
        raise typer.BadParameter(f"--data must be digits or mnist; got {data}.")
    if data == "mnist":
        found = fetch_mnist()
        X, y = found.data / np.float32(255), found.target
        train, test = np.flatnonzero(found.is_train), np.flatnonzero(~found.is_train)
    else:
        X, y = load_digits().data.astype(np.float32) / 16, load_digits().target
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:1297], order[1297:]
    if quick:
        train, test = train[:1000], test[:500]
    some = np.random.default_rng(seed).permutation(train)[:5000]
    return {"train": (X[train], y[train]), "test": (X[test], y[test]), "some": X[some]}


def seen_through(
    network: Network, layer: str, images: dict[str, Any], sizes: list[int], seed: int
) -> dict[str, Any]:
    """What the parts of a layer look like, whose they are, and how many of them do for the layer."""
    place = network.layers[layer]
    (X, y), some = images["test"], network.take(images["some"])
    seen, held = (activations(network.model, Z, place) for Z in (some, network.take(X)))
    seen, held = seen.reshape(len(seen), -1), held.reshape(len(held), -1)
    size = float(np.linalg.norm(held))

    def judged(rebuilt: np.ndarray) -> tuple[float, float]:
        rebuilt = rebuilt.astype(np.float32)
        answer = with_activations(network.model, network.take(X), place, rebuilt)
        right = float((answer.argmax(axis=1) == y).mean())
        return right, float(np.linalg.norm(rebuilt - held)) / size

    row: dict[str, Any] = {"network": network.name, "layer": layer, "accuracy": judged(held)[0]}
    row["n_parts"] = [k for k in sizes if k <= seen.shape[1]]
    outcomes: dict[str, list[tuple[float, float]]] = {"nmf": [], "pca": []}
    for k in row["n_parts"]:
        with warnings.catch_warnings():
            # As many parts as units fit them exactly; the objective then falls towards 0 for ever.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = NMF(k, max_iter=400, random_state=seed).fit(seen)
        W = model.transform(held)
        outcomes["nmf"].append(judged(W @ model.components_))
        pca = PCA(k, svd_solver="full" if seen.shape[1] <= 200 else "randomized", random_state=seed).fit(seen)
        outcomes["pca"].append(judged(pca.inverse_transform(pca.transform(held))))
        if k == DRAWN:
            row["drawn"] = W[:, W.any(axis=0)]
            row |= {"purity": float(purity(W, y)[0].mean()), "unit_purity": float(purity(held, y)[0].mean())}
            row["classes"], row["purities"] = (part.tolist() for part in purity(W, y)[::-1])
    for method, pairs in outcomes.items():
        right, errors = (list(column) for column in zip(*pairs))
        row[f"{method}_accuracy"], row[f"{method}_relative_error"] = right, errors
        enough = [k for k, share in zip(row["n_parts"], right) if share >= row["accuracy"] - MARGIN]
        row[f"{method}_enough"] = min(enough, default=None)
    return row


def purity(W: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each column that is used: the share of its use by the class that uses it most, and that class."""
    use = np.stack([W[y == label].sum(axis=0, dtype=float) for label in range(10)])
    use = use[:, use.sum(axis=0) > 0]
    return use.max(axis=0) / use.sum(axis=0), use.argmax(axis=0)


def described(summary: dict[str, Any]) -> list[str]:
    """The table in lines, and where the one or the other needs fewer."""
    rows, margin = summary["table"], 100 * MARGIN
    lines = [
        f"{summary['data']}: {summary['n_train']} images to train, {summary['n_factorized']} of them factorized, "
        f"{summary['n_test']} to test; a layer's activations rebuilt from k parts"
    ]
    for name in dict.fromkeys(row["network"] for row in rows):
        own = [row for row in rows if row["network"] == name]
        lines.append(f"{name}, accuracy {own[0]['accuracy']:.2%}")
        for row in own:
            lines.append(
                f"  {row['layer']}: purity of {DRAWN} parts {row['purity']:.2f}, of units {row['unit_purity']:.2f}"
            )
            lines.append("    k    " + "".join(f"{k:7d}" for k in row["n_parts"]))
            for method in ("nmf", "pca"):
                figures = "".join(f"{100 * share:7.1f}" for share in row[f"{method}_accuracy"])
                enough = row[f"{method}_enough"] or f"more than {row['n_parts'][-1]}"
                lines.append(f"    {method.upper()}  {figures}   within {margin:g} point from k = {enough}")
    sooner = {"NMF": 0, "PCA": 0, "neither": 0}
    for row in rows:
        nmf, pca = (row[f"{method}_enough"] or np.inf for method in ("nmf", "pca"))
        sooner["NMF" if nmf < pca else "PCA" if pca < nmf else "neither"] += 1
    cells = [(a, b) for row in rows for a, b in zip(row["nmf_accuracy"], row["pca_accuracy"])]
    lines.append(
        f"fewer are enough with NMF in {sooner['NMF']} of {len(rows)} layers, with PCA in {sooner['PCA']}; "
        f"of {len(cells)} cells NMF is more accurate in {sum(a > b for a, b in cells)}, "
        f"PCA in {sum(a < b for a, b in cells)}"
    )
    return lines


def page(path: Path, rows: list[dict[str, Any]], drawn: list[np.ndarray], images: np.ndarray) -> None:
    """A column for each network, its layers below each other; then errors with k parts, and purity by layer."""
    names = list(dict.fromkeys(row["network"] for row in rows))
    own = {name: [i for i, row in enumerate(rows) if row["network"] == name] for name in names}
    width = 6 // len(names)
    mosaic = [[f"parts {i}" for i in line for _ in range(width)] for line in zip(*own.values())]
    below = [f"error {name}" for name in names] + ["purity"]
    mosaic.append([panel for panel in below for _ in range(6 // len(below))])
    size = (5.4 * max(len(names), 1.5), 2.9 + 1.95 * (len(mosaic) - 1))
    drawing, axes = figure(mosaic, size=size, height_ratios=[1] * (len(mosaic) - 1) + [1.2])
    heading(
        drawing,
        "Layers seen through their parts. First line: each part in pixel space, the mean image by use less the mean "
        "of all (orange: less ink),\nunder the class that uses it most and its share of the use. Below: the test "
        "images that use it most.",
    )
    for i, (row, W) in enumerate(zip(rows, drawn)):
        draw_layer(axes[f"parts {i}"], row, W, images)
    for name in names:
        draw_errors(axes[f"error {name}"], name, [rows[i] for i in own[name]])
    for colour, name in enumerate(names):
        for which, of in (("purity", f"{DRAWN} parts"), ("unit_purity", "units")):
            values = [rows[i][which] for i in own[name]]
            line = axes["purity"].plot(range(len(values)), values, color=SERIES[colour], marker="o", ms=4)[0]
            line.set(linestyle="-" if which == "purity" else ":", label=f"{name}, {of}")
    axes["purity"].set_xticks(range(len(mosaic) - 1), ["pixels", *map(str, range(1, len(mosaic) - 1))])
    axes["purity"].set_ylim(0, None)
    axes["purity"].legend(frameon=False, fontsize=8)
    title(axes["purity"], "mean purity by layer")
    save_figure(drawing, path)


def draw_errors(axes: Any, name: str, rows: list[dict[str, Any]]) -> None:
    """Test errors of a network with k parts in a layer's place: a colour for each layer, PCA dashed."""
    axes.axhline(100 * (1 - rows[0]["accuracy"]), color=FAINT, lw=2.5)
    for colour, row in enumerate(rows):
        for method, style in (("nmf", "-"), ("pca", "--")):
            error = 100 * (1 - np.array(row[f"{method}_accuracy"]))
            label = row["layer"].split(":")[0] if method == "nmf" else None
            axes.plot(row["n_parts"], error, style, color=SERIES[colour], label=label, lw=1.5)
    axes.set(xscale="log", yscale="log", xlabel="parts k (NMF solid, PCA dashed)")
    axes.set_xticks(rows[0]["n_parts"], [str(k) for k in rows[0]["n_parts"]])
    low, high = axes.get_ylim()
    shown = [tick for tick in (0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
    axes.set_yticks(shown, [f"{tick:g}" for tick in shown])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    title(axes, f"{name}: test error, %, with k parts")


def draw_layer(axes: Any, row: dict[str, Any], W: np.ndarray, images: np.ndarray) -> None:
    """The parts of one layer side by side, by class, each above the images that use it most."""
    from matplotlib.colors import LinearSegmentedColormap

    ink = LinearSegmentedColormap.from_list("ink", [SERIES[1], "#ffffff", INK])
    order = np.lexsort((-np.array(row["purities"]), row["classes"]))
    W, side = W[:, order].astype(float), round(np.sqrt(images.shape[1]))
    pictures = (W / W.sum(axis=0)).T @ images - images.mean(axis=0)
    pictures /= np.abs(pictures).max(axis=1, keepdims=True)
    leading = np.argsort(-W, axis=0, kind="stable")[:LEADING]
    tiles = np.vstack([pictures, *(images[line] for line in leading)])
    gap = max(1, side // 8)
    axes.imshow(
        image_grid(tiles, (side, side), W.shape[1], gap=gap, normalise=False),
        cmap=ink.with_extremes(bad="#ffffff"),
        vmin=-1,
        vmax=1,
        interpolation="nearest",
    )
    for column, part in enumerate(order):
        axes.annotate(
            f"{row['classes'][part]} · {100 * row['purities'][part]:.0f}%",
            (column * (side + gap) + 0.5 * (side - 1), -0.5),
            (0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=6.5,
        )
    axes.set_title(
        f"{row['network']}, {row['layer']}; mean purity {row['purity']:.2f}", loc="left", fontsize=9.5, pad=11
    )
    axes.set_axis_off()
