"""Tables 4.1 and 4.2 and figure 4.12: bits by thresholds (algorithm 4.1), and the posterior rule beside them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.boolean.threshold import FINE
from partwise.models import BayesianBooleanMF
from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.chain_run import ChainRun, Found, run_chain
from partwise.reproduce.posteriors.plan import BATCHES, LEVELS, MODELS, Plan


def draw(plan: Plan) -> dict[str, Any]:
    """Compute both tables, and draw the figure.

    Parameters
    ----------
    plan : Plan
        Tables, chains and folder.

    Returns
    -------
    dict
        Rows of the tables, with "lines".
    """
    rows = []
    for start in ("random", "optimum"):
        for table in LEVELS:
            for name, prior in MODELS.items():
                for batch in BATCHES:
                    chain = ChainRun(table, prior, start, plan.rank, batch)
                    found = thresholds(run_chain(plan, chain, plan.steps), plan.tables[table].clean)
                    rows.append({"start": start, "data": table, "model": name, "batch": batch, **found})
    exact = {table: posterior_rule(plan, table) for table in LEVELS}
    draw_intervals(plan, rows)
    lines = []
    for number, start in (("4.1", "random"), ("4.2", "optimum")):
        lines.append(
            f"  table {number}, {start} start, {plan.steps:,} steps: wrong at ½, wrong at the best thresholds, these"
        )
        for i, row in enumerate(one for one in rows if one["start"] == start):
            lines.append(
                f"    {i:2d} {row['data']:<5} {row['model']:<12} {row['batch']:>3}: {row['half']:>6,} "
                f"{row['best']:>6,}  "
                f"{row['low']:.2f} to {row['high']:.2f}"
            )
    for table, wrong in exact.items():
        ones = int(plan.tables[table].clean.sum())
        lines.append(
            f"    OR model, exact sampler from random starts, posterior rule, {table}: {wrong} wrong of "
            f"{ones:,} ones, "
            "without a threshold"
        )
    return {"rows": rows, "rule": exact, "lines": lines}


def thresholds(one: Found, clean: np.ndarray) -> dict[str, Any]:
    """Algorithm 4.1: wrong entries by threshold, against the noise-free table.

    Parameters
    ----------
    one : Found
        Mean factors.
    clean : array of bool of shape (n, m)
        The noise-free table.

    Returns
    -------
    dict
        "half", wrong entries at ½; "best", the fewest; "low" and "high", the thresholds that give them.
    """
    wrong = []
    for cut in FINE:
        cover = (one.W_mean > cut).astype(np.float32) @ (one.Ht_mean > cut).T.astype(np.float32) > 0.5
        wrong.append(int((cover != clean).sum()))
    best = min(wrong)
    places = [cut for cut, count in zip(FINE, wrong) if count == best]
    return {"half": wrong[FINE.index(0.5)], "best": best, "low": places[0], "high": places[-1]}


def posterior_rule(plan: Plan, table: str) -> int:
    """Wrong entries of the bits that `BayesianBooleanMF` names, chains from random starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianBooleanMF(plan.rank, n_draws=plan.draws, random_state=0).fit(plan.tables[table].data)
    return int(((model.usage_ @ model.tiles_) != plan.tables[table].clean).sum())


def draw_intervals(plan: Plan, rows: list[dict[str, Any]]) -> None:
    """Figure 4.12: the thresholds with the fewest wrong entries, numbered as in the tables."""
    drawing, axes = figure([["random", "optimum"]], size=(9.5, 5.2))
    for start, place in axes.items():
        chosen = [row for row in rows if row["start"] == start]
        for i, row in enumerate(chosen):
            colour = SERIES[list(MODELS).index(row["model"])]
            place.plot([row["low"], row["high"]], [i, i], color=colour, lw=4, solid_capstyle="butt")
            place.plot([0.5 * (row["low"] + row["high"])], [i], "|", color=colour, ms=9)
        place.axvline(0.5, color="#c0392b", lw=1.0)
        place.set_xlim(0.0, 1.0)
        place.set_yticks(
            range(len(chosen)),
            [f"{row['data']}, {row['model']}, {row['batch']}" for row in chosen],
            fontsize=7,
        )
        place.invert_yaxis()
        place.set_xlabel("threshold")
        title(place, f"{'4.12  ' if start == 'random' else ''}best thresholds, {start} start")
    save_figure(drawing, plan.folder / "figure_4_12.png")
