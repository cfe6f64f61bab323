"""Figures 4.7 to 4.11: means against standard deviations and gradients, and what a wrong rank does to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import heading, title
from partwise.reproduce.posteriors.chain_run import ChainRun, Found, run_chain
from partwise.reproduce.posteriors.plan import MODELS, Plan


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the figures.

    Parameters
    ----------
    plan : Plan
        Tables, chains and folder.

    Returns
    -------
    dict
        Mean standard deviations of every chain over those of the exact sampler, with "lines".
    """
    found: dict[str, float] = {}
    for number, rank in (("4_7", plan.rank), ("4_10", plan.ranks[0]), ("4_11", plan.ranks[1])):
        found |= draw_lengths(plan, number, rank)
    found |= draw_batches(plan)
    lines = ["  standard deviations of IASG's samples, mean over entries, over those of the exact sampler:"]
    lines += [f"    {name}: {ratio:.3f}" for name, ratio in found.items()]
    return {"ratios": found, "lines": lines}


def scatter(place: Any, one: Found, what: str = "std") -> None:
    """Means of X and Y against their standard deviations, or their mean gradients."""
    for i, (name, mean, height) in enumerate(
        (
            ("X", one.Ht_mean, one.Ht_std if what == "std" else one.Ht_slope),
            ("Y", one.W_mean, one.W_std if what == "std" else one.W_slope),
        )
    ):
        place.plot(
            np.ravel(mean),
            np.ravel(height),
            ".",
            ms=3,
            alpha=0.6,
            mew=0,
            color=SERIES[i],
            label=name,
            rasterized=True,
        )
    place.set_xlim(-0.03, 1.03)
    if what == "std":
        place.set_ylim(bottom=0.0)
    place.set_xlabel("mean")


def spread(one: Found) -> float:
    """Mean standard deviation over all entries."""
    return float(np.concatenate([one.W_std.ravel(), one.Ht_std.ravel()]).mean())


def draw_lengths(plan: Plan, number: str, rank: int) -> dict[str, float]:
    """Figures 4.7, 4.10 and 4.11: the normal prior at one rank, by number of steps; the exact sampler last."""
    lengths = [plan.steps, plan.long] + ([plan.longest] if rank == plan.rank else [])
    exact = run_chain(plan, ChainRun("clean", "normal", "optimum", rank, 0), plan.sweeps)
    names = [*(str(n) for n in lengths), "exact"]
    drawing, axes = figure(
        [[f"{start} {name}" for name in names] for start in ("random", "optimum")],
        size=(3.0 * len(names) + 0.5, 6.0),
    )
    found = {}
    for start in ("random", "optimum"):
        for steps in lengths:
            place = axes[f"{start} {steps}"]
            if start == "optimum" and steps == plan.longest:
                place.set_axis_off()
                continue
            one = run_chain(plan, ChainRun("clean", "normal", start, rank), steps)
            scatter(place, one)
            title(place, f"{start}, {steps:,} steps")
            found[f"rank {rank}, {start}, {steps:,} steps"] = spread(one) / spread(exact)
        begun = run_chain(plan, ChainRun("clean", "normal", start, rank, 0), plan.sweeps)
        scatter(axes[f"{start} exact"], begun)
        title(axes[f"{start} exact"], f"{start}, exact, {plan.sweeps:,} sweeps")
        axes[f"{start} {lengths[0]}"].set_ylabel("standard deviation")
    axes[f"random {lengths[0]}"].legend(frameon=False, markerscale=5)
    heading(
        drawing,
        f"{number.replace('_', '.')}  mean against standard deviation, rank {rank} (planted {plan.rank}), "
        "normal prior, clean",
    )
    save_figure(drawing, plan.folder / f"figure_{number}.png")
    return found


def draw_batches(plan: Plan) -> dict[str, float]:
    """Figures 4.8 and 4.9: models, starts and batches; standard deviations with the exact sampler, and gradients."""
    columns = [f"{start} {name}" for start in ("random", "optimum") for name in MODELS]
    found = {}
    for number, what in (("4_8", "std"), ("4_9", "slope")):
        rows = ["75", "512", "exact"] if what == "std" else ["75", "512"]
        drawing, axes = figure(
            [[f"{row} {column}" for column in columns] for row in rows], size=(14.0, 2.6 * len(rows) + 0.6)
        )
        for column in columns:
            start, name = column.split(" ", 1)
            for row in rows:
                chain = ChainRun("clean", MODELS[name], start, plan.rank, 0 if row == "exact" else int(row))
                one = run_chain(plan, chain, plan.sweeps if row == "exact" else plan.steps)
                place = axes[f"{row} {column}"]
                scatter(place, one, what)
                said = "exact" if row == "exact" else f"batch {row} of 512"
                title(place, f"{name}, {start}\n{said}")
                if row != "exact" and what == "std":
                    exact = run_chain(
                        plan, ChainRun("clean", MODELS[name], "optimum", plan.rank, 0), plan.sweeps
                    )
                    found[f"{name}, batch {row}, {start}"] = spread(one) / spread(exact)
        for row in rows:
            axes[f"{row} {columns[0]}"].set_ylabel("standard deviation" if what == "std" else "mean gradient")
        axes[f"75 {columns[0]}"].legend(frameon=False, markerscale=5)
        kind = "standard deviation" if what == "std" else "mean gradient"
        unscaled = ", gradients unscaled as published" if plan.paper else ""
        heading(
            drawing,
            f"{number.replace('_', '.')}  mean against {kind}, {plan.steps:,} steps, clean data{unscaled}",
        )
        save_figure(drawing, plan.folder / f"figure_{number}.png")
    return found
