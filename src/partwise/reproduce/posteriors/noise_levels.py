"""How a high noise level shows within a probabilistic model: doubt about entries, and whether it is deserved."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import make_boolean
from partwise.models import BayesianBooleanMF
from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.plan import Plan

#: Flip probabilities from clean to hardly anything left.
LEVELS = ((0.01, 0.05), (0.05, 0.15), (0.10, 0.25), (0.15, 0.35), (0.18, 0.38))


def draw(plan: Plan) -> dict[str, Any]:
    """Draw doubt and error by noise.

    Parameters
    ----------
    plan : Plan
        Size of the tables, draws and folder.

    Returns
    -------
    dict
        A row for each level, with "lines".
    """
    rows, cells = [], []
    for add, drop in LEVELS:
        table = make_boolean(plan.side, plan.side, plan.rank, noise_add=add, noise_drop=drop, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = BayesianBooleanMF(plan.rank, n_draws=plan.draws, random_state=0).fit(table.data)
        chance = model.probability_["cells"]
        cells.append(chance)
        rows.append(
            {
                "add": add,
                "drop": drop,
                "found_add": model.noise_["add"],
                "found_drop": model.noise_["drop"],
                "doubtful": float(((chance > 0.05) & (chance < 0.95)).mean()),
                "expected": model.expected_wrong_,
                "wrong": int(((model.usage_ @ model.tiles_) != table.clean).sum()),
                "rhat": max(model.rhat_.values()),
            }
        )
    drawing, axes = figure([["doubt", "wrong", "chances"]], size=(12.0, 3.4))
    places = np.arange(len(rows))
    axes["doubt"].bar(places, [100 * row["doubtful"] for row in rows], color=SERIES[0])
    title(axes["doubt"], "% of entries with 0.05 < P < 0.95")
    axes["wrong"].plot(places, [row["expected"] for row in rows], "o-", color=SERIES[0], label="expected")
    axes["wrong"].plot(places, [row["wrong"] for row in rows], "x--", color=SERIES[1], label="found")
    axes["wrong"].legend(frameon=False)
    title(axes["wrong"], "wrong entries of the bits named")
    for name in ("doubt", "wrong"):
        axes[name].set_xticks(places, [f"{row['add']:g}/{row['drop']:g}" for row in rows], fontsize=7)
        axes[name].set_xlabel("p₊ / p₋")
    for i, chance in enumerate(cells):
        heights, edges = np.histogram(chance, bins=25, range=(0.0, 1.0))
        label = f"{LEVELS[i][0]:g}/{LEVELS[i][1]:g}"
        axes["chances"].stairs(np.maximum(heights, 0.5), edges, color=SERIES[i], label=label)
    axes["chances"].set_yscale("log")
    axes["chances"].legend(frameon=False, fontsize=8)
    axes["chances"].set_xlabel("P(entry = 1)")
    title(axes["chances"], "number of entries by probability")
    save_figure(drawing, plan.folder / "figure_noise_levels.png")
    lines = [
        f"  noise {row['add']:.2f}/{row['drop']:.2f}: flips found {row['found_add']:.3f}/{row['found_drop']:.3f}, "
        f"{100 * row['doubtful']:.2f} % of the entries in doubt, {row['expected']:.1f} wrong expected, "
        f"{row['wrong']} "
        f"found; R-hat at most {row['rhat']:.3f}"
        for row in rows
    ]
    return {"rows": rows, "lines": lines}
