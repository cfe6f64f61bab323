"""Figures 4.4 to 4.6: pictures and histograms of the mean factors, and those of the exact sampler beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import heading, title
from partwise.reproduce.posteriors.chain_run import ChainRun, Found, run_chain
from partwise.reproduce.posteriors.plan import Plan

#: Means below this are counted, not drawn, in the histograms.
NEAR_ZERO = 0.05
ROWS = {"optimum": "IASG from the optimum", "random": "IASG from random", "exact": "exact sampler"}


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the figures, for the normal prior, the right rank and full batches.

    Parameters
    ----------
    plan : Plan
        Tables, chains and folder.

    Returns
    -------
    dict
        Numbers of means near zero, with "lines".
    """
    exact = run_chain(plan, ChainRun("clean", "normal", "optimum", plan.rank, 0), plan.sweeps)
    counts: dict[str, dict[str, list[int]]] = {}
    for number, steps in (("4_5", plan.steps), ("4_6", plan.long)):
        chains = {
            start: run_chain(plan, ChainRun("clean", "normal", start, plan.rank), steps)
            for start in ("optimum", "random")
        }
        if steps == plan.steps:
            draw_matrices(plan, {**chains, "exact": exact})
        counts[number] = draw_tails(plan, number, steps, {**chains, "exact": exact})
    lines = [
        f"  {number.replace('_', '.')} means below {NEAR_ZERO:g} of {plan.side * plan.rank:,}, X and Y: "
        + "; ".join(f"{ROWS[name]} {x:,} and {y:,}" for name, (x, y) in found.items())
        for number, found in counts.items()
    ]
    table = plan.tables["clean"]
    planted = np.concatenate([table.usage.ravel(), table.components.T.ravel()])
    levels = {}
    for name, one in {**chains, "exact": exact}.items():
        both = np.concatenate([one.W_mean.ravel(), one.Ht_mean.ravel()])
        levels[name] = [float(both[planted].mean()), float(both[~planted].mean())]
    # From a random start components have an order of their own.
    lines.append(
        "  mean over entries that are planted ones, and over zeros: "
        + "; ".join(
            f"{ROWS[name]} {levels[name][0]:.2f}, {levels[name][1]:.2f}" for name in ("optimum", "exact")
        )
    )
    return {"near_zero": counts, "levels": levels, "lines": lines}


def draw_matrices(plan: Plan, found: dict[str, Found]) -> None:
    """Figure 4.4: means of X and Y from red (0) over yellow to blue (1)."""
    drawing, axes = figure([[f"X {name}", f"Y {name}"] for name in found], size=(10.0, 7.2))
    for name, one in found.items():
        for side, A in (("X", one.Ht_mean), ("Y", one.W_mean)):
            place = axes[f"{side} {name}"]
            image = place.imshow(A.T, cmap="RdYlBu", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
            place.grid(False)
            place.set_xticks([])
            title(place, f"{side}, {ROWS[name]}")
    heading(drawing, f"4.4  means, normal prior, {plan.steps:,} steps, clean data (transposed)")
    drawing.colorbar(image, ax=list(axes.values()), shrink=0.5, pad=0.01)
    save_figure(drawing, plan.folder / "figure_4_4.png")


def draw_tails(plan: Plan, number: str, steps: int, found: dict[str, Found]) -> dict[str, list[int]]:
    """Figures 4.5 and 4.6: histograms of means above `NEAR_ZERO`; the others are counted."""
    drawing, axes = figure([[f"X {name}", f"Y {name}"] for name in found], size=(9.0, 7.0))
    counts = {}
    for name, one in found.items():
        counts[name] = [int((A < NEAR_ZERO).sum()) for A in (one.Ht_mean, one.W_mean)]
        for side, A, count in (("X", one.Ht_mean, counts[name][0]), ("Y", one.W_mean, counts[name][1])):
            place = axes[f"{side} {name}"]
            place.hist(np.ravel(A[A >= NEAR_ZERO]), bins=48, range=(NEAR_ZERO, 1.0), color=SERIES[0])
            title(place, f"{side}, {ROWS[name]} ({count:,} below {NEAR_ZERO:g})")
    heading(drawing, f"{number.replace('_', '.')}  means after {steps:,} steps, normal prior, clean data")
    save_figure(drawing, plan.folder / f"figure_{number}.png")
    return counts
