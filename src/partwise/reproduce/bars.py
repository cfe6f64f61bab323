"""The bars test of Yus López (2015, section 4.1): success rates and the figures of chapter 4.

What is left open there, and what `--paper` takes:

- a bar counts as found when its cosine with a component is above 0.95, one component for each bar;
- the perturbation is Poisson noise of mean 0.02 on every entry of W after every step but the last ten;
- γ = πH = 2.4 is rounded up to 3 (`--gamma follow`: ⌈πH⌉ with the π learned so far);
- the truncation limit is raised to H for the last five steps (`--widen-to`: to less than H).

`--grid` shows how much the success rates depend on these. `--ablation` takes away, one by one, what the defaults do
about local optima.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from partwise.datasets import make_bars
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.plot import save_figure
from partwise.reproduce.bars_picture import bars_page
from partwise.reproduce.bars_runs import (
    Published,
    default_run,
    from_truth,
    least_squares_fall,
    parts_found,
    published_run,
    rates,
    with_progress,
)
from partwise.reproduce.bars_studies import (
    ablation_lines,
    ablation_table,
    ablations,
    grid_table,
    settings_grid,
)

__all__ = ["parts_found", "reproduce_bars", "with_progress"]

PUBLISHED = {"exact": "91 ± 5 %", "truncated": "84 ± 5 %"}


def reproduce_bars(
    folder: Path,
    runs: Annotated[int, typer.Option(min=1, help="Number of seeded runs.")] = 100,
    paper: Annotated[
        bool, typer.Option("--paper", help="The published settings instead of the defaults.")
    ] = False,
    inference: Annotated[str, typer.Option(help="exact, truncated, or both.")] = "both",
    size: Annotated[int, typer.Option(min=2, help="Side of the image; there are twice as many bars.")] = 4,
    n_samples: Annotated[int, typer.Option("--samples", min=1, help="Images in each run.")] = 1000,
    activation: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of each bar.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the first run.")] = 0,
    gamma: Annotated[
        str, typer.Option(help="With --paper: γ, or 'follow' for the learned π times the number of bars.")
    ] = "3",
    widen_to: Annotated[
        int | None,
        typer.Option(
            "--widen-to", min=1, help="With --paper: γ of the last five steps; all bars if not given."
        ),
    ] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Also vary what the publication does not state.")
    ] = False,
    ablation: Annotated[
        bool,
        typer.Option(
            "--ablation",
            help="Instead: EM rule, NMF start, annealing and rescue, each alone and each taken away.",
        ),
    ] = False,
) -> dict[str, Any]:
    """The bars test of binary NMF: how often all bars are found, and the figures of Yus López (2015)."""
    if inference not in ("exact", "truncated", "both"):
        raise ValueError(f"--inference must be exact, truncated or both; got '{inference}'.")
    inferences = ("exact", "truncated") if inference == "both" else (inference,)
    H = 2 * size
    if paper and (size, n_samples) != (4, 1000):
        raise ValueError("--paper is the published experiment; leave --size and --samples alone.")
    open_choices = open_from(gamma, widen_to, paper, H)
    if ablation:
        return ablated(folder, runs, paper, size, n_samples, activation, seed)
    if H > 16 and "exact" in inferences:
        inferences = ("truncated",)
    table, kept = [], {}
    for name in inferences:
        outcomes = []
        for i in with_progress(runs, f"{name} bars"):
            bars = make_bars(n_samples, size, activation=activation, random_state=seed + i)
            run = published_run(bars, name, i, open_choices) if paper else default_run(bars, name, i)
            outcomes.append((bars, run))
        kept[name] = outcomes
        table.append({"inference": name, **rates(outcomes, activation)})
    bars = kept[inferences[0]][0][0]
    truth = {rule: from_truth(bars, rule) for rule in ("em", "least-squares")}
    summary: dict[str, Any] = {
        "settings": "published" if paper else "default",
        "runs": runs,
        "table": table,
        "from_truth": {rule: trace.tolist() for rule, trace in truth.items()},
        "fall": least_squares_fall(bars),
    }
    if grid:
        summary["grid"] = settings_grid(runs, seed)
        summary["tables"] = {"grid": grid_table(summary["grid"])}
    summary["lines"] = lines(summary, paper and activation == 0.3)
    with uninterrupted():
        save_figure(bars_page(kept, truth, size), folder / "bars.png")
        write_json(folder / "bars.json", summary)
    return summary


def open_from(gamma: str, widen_to: int | None, paper: bool, H: int) -> Published:
    """The options for what Yus López (2015) leaves open."""
    if gamma != "follow" and not (gamma.isdigit() and 1 <= int(gamma) <= H):
        raise ValueError(f"--gamma must be follow or a number from 1 to {H}; got '{gamma}'.")
    if widen_to is not None and widen_to > H:
        raise ValueError(f"--widen-to {widen_to} exceeds the number of bars, {H}.")
    if not paper and (gamma != "3" or widen_to is not None):
        raise ValueError("--gamma and --widen-to vary the published experiment: add --paper.")
    return Published(gamma=None if gamma == "follow" else int(gamma), widen_to=widen_to)


def ablated(
    folder: Path, runs: int, paper: bool, size: int, n_samples: int, activation: float, seed: int
) -> dict[str, Any]:
    """Which of the four measures against local optima finds all bars, at this size."""
    if paper:
        raise ValueError("--ablation varies the defaults, --paper does not use them: leave one out.")
    rows = ablations(runs, size, n_samples, activation, seed)
    summary: dict[str, Any] = {
        "settings": "ablation",
        "runs": runs,
        "size": size,
        "ablation": rows,
        "tables": {"ablation": ablation_table(rows, runs)},
        "lines": ablation_lines(rows, runs, size),
    }
    with uninterrupted():
        write_json(folder / "ablation.json", summary)
    return summary


def lines(summary: dict[str, Any], published: bool) -> list[str]:
    """The summary as lines of text."""
    out = [f"bars test, {summary['settings']} settings, {summary['runs']} runs:"]
    for row in summary["table"]:
        rate = f"   (Yus López 2015: {PUBLISHED[row['inference']]})" if published else ""
        out.append(
            f"  {row['inference']:10s} all bars in {100 * row['success']:.0f} ± {100 * row['error']:.0f} % of runs"
            f"{rate}; "
            f"π = {row['activation']:.3f}, {row['activation_bias']:+.4f} against the bars drawn; "
            f"{row['n_iter']:.0f} steps"
        )
    for rule, trace in summary["from_truth"].items():
        steps = np.diff(trace)
        out.append(
            f"  started at the truth, '{rule}': log-likelihood {trace[0]:.1f} → {trace[-1]:.1f}, "
            f"largest fall of a step {max(0.0, float(-steps.min())):.3g}"
        )
    fall = summary["fall"]
    out.append(
        f"  the first least-squares step from the truth changes it by {fall['zero_counts']:+.0f} in pixels with "
        f"count 0 and by {fall['positive_counts']:+.0f} in the others; dark pixels get a rate of "
        f"{fall['dark_rate']:.3f}"
    )
    for row in summary.get("grid", ()):
        out.append(
            f"  grid: {row['inference']:10s} noise {row['noise']:<4g} γ {row['gamma']} widened {row['widen']:2d} "
            f"to {row['widen_to']}: {100 * row['success']:3.0f} %  π {row['activation']:.3f}"
        )
    return out
