"""What the bars test depends on: the open settings of Yus López (2015), and the measures against local optima."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import make_bars
from partwise.models import BinaryNMF
from partwise.reproduce.bars_runs import Published, parts_found, published_run, rates, with_progress

#: Options of `BinaryNMF` without a measure, and with it.
MEASURES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "EM rule": ({"update": "least-squares"}, {"update": "em"}),
    "NMF start": ({"init": "random"}, {"init": "nmf"}),
    "annealing": ({"anneal": False}, {"anneal": True}),
    "rescue": ({"rescue": False}, {"rescue": True}),
}


def settings_grid(runs: int, seed: int) -> list[dict[str, Any]]:
    """Success of the published experiment over the settings that Yus López (2015) does not state."""
    cells = [("exact", Published(noise)) for noise in (0.0, 0.02, 0.1, 0.3, 1.0)]
    cells += [("truncated", Published(noise)) for noise in (0.0, 0.02, 0.1, 0.3)]
    cells += [("truncated", Published(gamma=gamma)) for gamma in (2, None)]
    cells += [("truncated", Published(widen=widen)) for widen in (1, 15)]
    cells += [("truncated", Published(widen_to=to)) for to in (4, 5, 6)]
    rows = []
    for inference, taken in cells:
        done = []
        for i in with_progress(runs, f"{inference}, noise {taken.noise:g}"):
            bars = make_bars(random_state=seed + i)
            done.append((bars, published_run(bars, inference, i, taken)))
        # A γ of None is one that follows π, a limit of None is H.
        shown = {**asdict(taken), "gamma": taken.gamma or "follow", "widen_to": taken.widen_to or "H"}
        rows.append({"inference": inference, **shown, **rates(done, 0.3)})
    return rows


def grid_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The grid as cells of text."""
    cells = []
    for row in rows:
        exact = row["inference"] == "exact"
        gamma = {"follow": "⌈πH⌉"}.get(row["gamma"], str(row["gamma"]))
        widened = f"{row['widen']} to {row['widen_to']}"
        cells.append(
            [
                row["inference"],
                f"{row['noise']:g}",
                "" if exact else gamma,
                "" if exact else widened,
                f"{100 * row['success']:.0f} %",
                f"{row['activation']:.3f}",
            ]
        )
    return {"columns": ["inference", "noise", "γ", "widened steps", "all bars found", "π"], "rows": cells}


def ablation_settings() -> list[tuple[str, dict[str, Any]]]:
    """None of the measures, each alone, all of them, all but each.

    With an NMF start there is nothing to anneal, so that all but annealing is all of them; but annealing is what
    is left to a random start.
    """
    without = {name: options[0] for name, options in MEASURES.items()}
    everything = {name: options[1] for name, options in MEASURES.items()}

    def merged(parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        return {key: value for part in parts.values() for key, value in part.items()}

    out = [("none", merged(without))]
    out += [(f"{name} alone", merged({**without, name: everything[name]})) for name in MEASURES]
    out.append(("all (the default)", merged(everything)))
    out += [
        (f"all but {name}", merged({**everything, name: without[name]}))
        for name in MEASURES
        if name != "annealing"
    ]
    out.append(
        (
            "all but NMF start and annealing",
            merged({**everything, "NMF start": without["NMF start"], "annealing": without["annealing"]}),
        )
    )
    return out


def ablations(runs: int, size: int, n_samples: int, activation: float, seed: int) -> list[dict[str, Any]]:
    """How many runs find all bars, by the measures taken against local optima."""
    H, rows = 2 * size, []
    for name, options in ablation_settings():
        found, steps = [], []
        for i in with_progress(runs, name):
            bars = make_bars(n_samples, size, activation=activation, random_state=seed + i)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", UserWarning)
                model = BinaryNMF(H, random_state=i, **options).fit(bars.data)
            found.append(parts_found(model.components_, bars.components))
            steps.append(model.n_iter_)
        rows.append(
            {
                "measures": name,
                "successes": int(np.sum(np.array(found) == H)),
                "mean_found": float(np.mean(found)),
                "n_iter": float(np.mean(steps)),
                "found": found,
            }
        )
    return rows


def ablation_table(rows: list[dict[str, Any]], runs: int) -> dict[str, Any]:
    """The ablation as cells of text."""
    return {
        "columns": ["measures", f"runs of {runs} with all bars", "bars found, mean", "steps, mean"],
        "rows": [
            [row["measures"], str(row["successes"]), f"{row['mean_found']:.2f}", f"{row['n_iter']:.0f}"]
            for row in rows
        ],
    }


def ablation_lines(rows: list[dict[str, Any]], runs: int, size: int) -> list[str]:
    """The ablation as lines of text."""
    return [
        f"bars test, {size} × {size}, {runs} runs, measures against local optima:",
        *(
            f"  {row['measures']:32s} all bars in {row['successes']:3d} of {runs}; {row['mean_found']:.2f} found on "
            f"average, {row['n_iter']:.0f} steps"
            for row in rows
        ),
    ]
