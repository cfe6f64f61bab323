"""Figure 4.1: the log-posterior from the start, for models, batch sizes and starts; the exact sampler beside them."""

from __future__ import annotations

from typing import Any

from partwise.plot import INK, SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.chain_run import ChainRun, run_chain
from partwise.reproduce.posteriors.plan import BATCHES, MODELS, Plan


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the figure.

    Parameters
    ----------
    plan : Plan
        Tables, chains and folder.

    Returns
    -------
    dict
        First and last log-posterior of every chain, with "lines".
    """
    names = list(MODELS)
    drawing, axes = figure(
        [[f"{start} {name}" for name in names] for start in ("random", "optimum")], size=(11.0, 6.0)
    )
    ends: dict[str, Any] = {}
    for start in ("random", "optimum"):
        for name in names:
            place = axes[f"{start} {name}"]
            for i, batch in enumerate(BATCHES):
                chain = ChainRun("clean", MODELS[name], start, plan.rank, batch)
                trace = run_chain(plan, chain, plan.steps).trace
                early = trace[trace[:, 0] <= max(plan.steps // 6, 100)]
                place.plot(early[:, 0], early[:, 1], color=SERIES[i], label=f"batch {batch} of 512")
                ends[f"{start}, {name}, {batch}"] = [float(trace[0, 1]), float(trace[-1, 1])]
            exact = run_chain(
                plan, ChainRun("clean", MODELS[name], "optimum", plan.rank, 0), plan.sweeps
            ).trace
            level = float(exact[len(exact) // 3 :, 1].mean())
            if start == "random":
                place.axhline(level, color=INK, lw=1.0, ls=":", label="exact sampler, mean")
            ends[f"exact, {name}"] = level
            said = "4.1  " if place is axes[f"random {names[0]}"] else ""
            title(
                place,
                f"{said}{name}, {start} start" + ("" if start == "random" else f" (exact {level:,.0f})"),
            )
            place.set_xlabel("step")
    axes[f"random {names[0]}"].set_ylabel("log-posterior")
    axes[f"optimum {names[0]}"].set_ylabel("log-posterior")
    axes[f"random {names[0]}"].legend(frameon=False, fontsize=8, loc="center right")
    save_figure(drawing, plan.folder / "figure_4_1.png")
    lines = [
        "  4.1 log-posterior of the clean data at the start and at the end of the chains, and of exact draws:"
    ]
    for name in names:
        for start in ("random", "optimum"):
            said = ", ".join(
                f"batch {b} {ends[f'{start}, {name}, {b}'][0]:,.0f} → {ends[f'{start}, {name}, {b}'][1]:,.0f}"
                for b in BATCHES
            )
            lines.append(f"    {name}, {start}: {said}")
        lines.append(f"    {name}, exact: {ends[f'exact, {name}']:,.0f}")
    return {"ends": ends, "lines": lines}
