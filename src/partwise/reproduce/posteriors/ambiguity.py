"""Open question 4: ambiguity against uncertainty, on a table where both are known.

Three tiles over the column groups A ∪ B, B ∪ C and A ∪ C, each with rows of its own. A row that has all three
groups is any two of the tiles, or all: its entries are certain, its bits are **ambiguous**. Of other rows most
entries of a fourth tile were not observed: whether they use it is **uncertain**, bits and entries alike.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.models import BayesianBooleanMF
from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.plan import Plan

#: Columns of a group, and rows of each kind.
GROUP, ROWS = 8, 14
KINDS = ("plain", "ambiguous", "uncertain")


def planted(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The table: data with NaN, planted usage and tiles, and the kind of each bit of usage.

    Parameters
    ----------
    seed : int
        For flips and for what is observed.

    Returns
    -------
    tuple of arrays
        Data (n × m), usage (n × 4), tiles (4 × m), and a code for each bit: 0 plain, 1 ambiguous, 2 uncertain.
    """
    rng, g = np.random.default_rng(seed), GROUP
    tiles = np.zeros((4, 4 * g), bool)
    tiles[0, : 2 * g] = tiles[1, g : 3 * g] = True
    tiles[2, :g] = tiles[2, 2 * g : 3 * g] = True
    tiles[3, 3 * g :] = True
    blocks = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 0]]
    usage = np.repeat(np.array(blocks, bool), ROWS, axis=0)
    half = np.zeros((2 * ROWS, 4), bool)
    half[:ROWS, 3] = True
    usage = np.vstack([usage, half])
    kind = np.zeros(usage.shape, int)
    kind[4 * ROWS : 5 * ROWS, :3] = 1
    kind[5 * ROWS :, 3] = 2
    clean = (usage.astype(int) @ tiles) > 0
    flip = rng.random(clean.shape) < np.where(clean, 0.2, 0.1)
    data = (clean ^ flip).astype(float)
    for i in range(5 * ROWS, len(data)):
        hidden = 3 * g + rng.permutation(g)[: g - 2]
        data[i, hidden] = np.nan
    return data, usage, tiles, kind


def draw(plan: Plan) -> dict[str, Any]:
    """Draw means against standard deviations by kind, for relaxed factors and for bits, and doubt about entries.

    Parameters
    ----------
    plan : Plan
        Draws and folder.

    Returns
    -------
    dict
        Medians of each kind, and how well each quantity tells the kinds apart, with "lines".
    """
    data, _, tiles, kind = planted()
    drawing, axes = figure([["relaxed", "bits", "entries"]], size=(12.5, 3.8))
    found: dict[str, Any] = {}
    for name, sampler in (("relaxed", "relaxed-gibbs"), ("bits", "gibbs")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = BayesianBooleanMF(
                4, sampler=sampler, n_draws=2 * plan.draws, random_state=0, prior="uniform"
            ).fit(data)
        order = in_order(model.components_, tiles)
        mean, std = model.W_mean_[:, order], model.W_std_[:, order]
        values = {"std": std}
        if sampler == "gibbs":
            doubt = np.minimum(model.probability_["cells"], 1.0 - model.probability_["cells"])
            values["entries"] = np.stack([doubt[:, tile].mean(axis=1) for tile in tiles], axis=1)
        for code, word in enumerate(KINDS):
            place = axes[name]
            place.plot(
                mean[kind == code], std[kind == code], "o", ms=4, alpha=0.6, color=SERIES[code], label=word
            )
            if "entries" in values:
                axes["entries"].plot(
                    std[kind == code],
                    values["entries"][kind == code],
                    "o",
                    ms=4,
                    alpha=0.6,
                    color=SERIES[code],
                    label=word,
                )
        found[name] = {
            **{
                word: [float(np.median(mean[kind == c])), float(np.median(std[kind == c]))]
                for c, word in enumerate(KINDS)
            },
            **{f"told apart by {what}": separation(V[kind == 1], V[kind == 2]) for what, V in values.items()},
        }
    axes["relaxed"].set(xlabel="mean", ylabel="standard deviation")
    axes["bits"].set(xlabel="mean", ylabel="standard deviation")
    axes["entries"].set(xlabel="standard deviation of the bit", ylabel="doubt about its entries")
    title(axes["relaxed"], "open question 4: relaxed usage, exact sampler")
    title(axes["bits"], "bits of the OR model")
    title(axes["entries"], "the same bits, and the entries they decide")
    axes["relaxed"].legend(frameon=False, fontsize=8)
    save_figure(drawing, plan.folder / "figure_ambiguity.png")
    relaxed, bits = found["relaxed"], found["bits"]
    lines = [
        "  question 4, median mean ± standard deviation: "
        + "; ".join(
            f"{name} {word} {row[word][0]:.2f} ± {row[word][1]:.2f}"
            for name, row in (("relaxed", relaxed), ("bits", bits))
            for word in KINDS
        ),
        f"    ambiguous and uncertain told apart (1 always, ½ by chance): relaxed, by the standard deviation "
        f"{relaxed['told apart by std']:.2f}; bits, by the standard deviation {bits['told apart by std']:.2f}, "
        "by doubt "
        f"about their entries {bits['told apart by entries']:.2f}",
    ]
    return {**found, "lines": lines}


def in_order(H: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """Which component is which planted tile: the assignment with the largest cosines."""
    from scipy.optimize import linear_sum_assignment

    cosine = (tiles / np.linalg.norm(tiles, axis=1)[:, None]) @ (
        H / np.maximum(np.linalg.norm(H, axis=1)[:, None], 1e-12)
    ).T
    return np.asarray(linear_sum_assignment(-cosine)[1])


def separation(first: np.ndarray, second: np.ndarray) -> float:
    """Probability that a value of the second group exceeds one of the first, or the other way round."""
    larger = (second[:, None] > first[None]).mean() + 0.5 * (second[:, None] == first[None]).mean()
    return float(max(larger, 1.0 - larger))
