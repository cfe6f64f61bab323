"""Ones and sevens (Yus López 2015, section 4.2): binary parts of handwritten digits, by truncated EM."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import fetch_mnist, load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import BinaryNMF
from partwise.plot import draw_curve, draw_parts, figure, save_figure
from partwise.reproduce.bars_runs import with_progress
from partwise.reproduce.digits17_paper import (
    Learned,
    described,
    independent_pixels,
    kl_nmf,
    paper_page,
    poisson_mixture,
    published,
)

#: Held-out images that `--paper` judges.
HELD_OUT = 2000


def reproduce_digits17(
    folder: Path,
    n_components: Annotated[int, typer.Option("-k", "--components", min=1, help="Number of parts.")] = 16,
    n_samples: Annotated[int, typer.Option("--samples", min=2, help="Training images.")] = 6500,
    max_iter: Annotated[int, typer.Option("--iterations", min=1, help="Most EM steps.")] = 60,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="The published settings, with baselines, for several numbers of parts."),
    ] = False,
    gamma: Annotated[int, typer.Option(min=1, max=6, help="With --paper: the most parts on at once.")] = 2,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Binary parts of handwritten ones and sevens: the picture, and the likelihood of images held out."""
    X, shape, name = ones_and_sevens()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train, test = X[order[:n_samples]], X[order[n_samples:]]
    if len(test) == 0:
        cut = max(1, len(train) // 5)
        train, test = train[:-cut], train[-cut:]
    if paper:
        return published_digits(folder, train, test[:HELD_OUT], shape, name, n_components, gamma, seed)
    model = BinaryNMF(
        n_components,
        inference="truncated",
        max_iter=max_iter,
        random_state=seed,
        record_components=True,
        verbose=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train)
    rate = train.mean(axis=0) + 1e-3
    from scipy.stats import poisson

    baseline = float(poisson.logpmf(test, rate).sum(axis=1).mean())
    summary: dict[str, Any] = {
        "data": name,
        "n_train": len(train),
        "n_test": len(test),
        "n_components": n_components,
        "activation": model.activation_,
        "max_active": model.max_active_,
        "train": model.score(train),
        "test": model.score(test),
        "independent_pixels": baseline,
        "n_iter": model.n_iter_,
    }
    summary["lines"] = [
        f"{name}: {len(train)} images of ones and sevens, H = {n_components}, π = {model.activation_:.3f}, "
        f"at most {model.max_active_} on at once",
        f"log-likelihood per image: {summary['train']:.2f} (train), {summary['test']:.2f} (held out); "
        f"independent Poisson pixels {baseline:.2f}",
    ]
    drawing, axes = figure([["data", "parts"], ["rebuilt", "trace"]], size=(9.0, 8.0))
    draw_parts(axes["data"], test[:16], shape, "held-out images (4.8)")
    draw_parts(axes["parts"], model.components_, shape, "parts (4.9)")
    draw_parts(
        axes["rebuilt"], model.inverse_transform(model.predict(test[:16])), shape, "rebuilt, parts on or off"
    )
    values = model.history_["log_likelihood"] / len(train)
    draw_curve(
        axes["trace"],
        np.arange(len(values)),
        values,
        title="log-likelihood per image",
        xlabel="step",
    )
    with uninterrupted():
        save_figure(drawing, folder / "digits17.png")
        write_json(folder / "digits17.json", summary)
    return summary


def published_digits(
    folder: Path,
    train: np.ndarray,
    test: np.ndarray,
    shape: tuple[int, int],
    name: str,
    n_components: int,
    gamma: int,
    seed: int,
) -> dict[str, Any]:
    """The settings of Yus López (2015) beside a Poisson mixture and KL-NMF with as many parts."""
    sizes = sorted({max(1, n_components // 4), max(1, n_components // 2), n_components})
    rows: list[dict[str, Any]] = []
    learned: list[Learned] = []
    for H in with_progress(len(sizes), "numbers of parts"):
        learned = [
            published(train, test, sizes[H], min(gamma, sizes[H]), seed),
            poisson_mixture(train, test, sizes[H], seed),
            kl_nmf(train, test, sizes[H], seed),
        ]
        rows += [described(one, train) for one in learned]
    pixels = independent_pixels(train, test)
    columns = ["method", "H", "parts on", "sparseness", "cosine with an image", "held-out log-likelihood"]
    cells = [
        [
            row["method"],
            str(row["n_components"]),
            f"{row['active']:.2f}",
            f"{row['sparseness']:.2f}",
            f"{row['wholeness']:.2f}",
            f"{row['held_out']:.1f}" + ("*" if row["method"] == "KL-NMF" else ""),
        ]
        for row in rows
    ]
    summary: dict[str, Any] = {
        "data": name,
        "n_train": len(train),
        "n_test": len(test),
        "gamma": gamma,
        "rows": rows,
        "independent_pixels": pixels,
        "tables": {"digits": {"columns": columns, "rows": cells}},
        "lines": [
            f"{name}: {len(train)} ones and sevens as counts up to 10, published settings, γ = {gamma}; "
            f"independent Poisson pixels {pixels:.1f} per held-out image",
            *("  " + ", ".join(f"{c} {v}" for c, v in zip(columns, one)) for one in cells),
            "  * strengths fitted to each held-out image: not a density",
        ],
    }
    with uninterrupted():
        save_figure(paper_page(train, learned, rows, shape), folder / "digits17-paper.png")
        write_json(folder / "digits17-paper.json", summary)
    return summary


def ones_and_sevens() -> tuple[np.ndarray, tuple[int, int], str]:
    """MNIST where it can be had, else the bundled digits; scaled to a largest pixel of 10, as counts."""
    if "PARTWISE_DATA" in os.environ:
        digits, shape, name = fetch_mnist(), (28, 28), "MNIST"
    else:
        digits, shape, name = load_digits(), (8, 8), "bundled digits"
    X, y = np.asarray(digits.data, dtype=float), np.asarray(digits.target)
    wanted = np.isin(y.astype(int), (1, 7))
    X = np.round(10.0 * X[wanted] / X.max())
    return X, shape, name
