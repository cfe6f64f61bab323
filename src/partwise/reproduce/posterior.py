"""Posteriors of Boolean factors (Gonsior 2019, chapters 2 to 5): the published sampler, and exact ones beside it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.io import write_json
from partwise.messages import inform
from partwise.plot import require_matplotlib, save_figure  # noqa: F401 (asked for before the work: it draws)
from partwise.reproduce.posteriors.plan import PLANS, Plan
from partwise.reproduce.posteriors.questions import answers

#: The groups in the order in which they run, and what each draws or tabulates.
GROUPS = {
    "theory": "figures 2.5, 2.6, 2.7, 3.1",
    "planted": "figures 3.4, 3.5, table 3.1",
    "analogs": "figures 4.2, 4.3 with exact means",
    "traces": "figure 4.1",
    "means": "figures 4.4, 4.5, 4.6",
    "spreads": "figures 4.7, 4.8, 4.9, 4.10, 4.11",
    "thresholds": "tables 4.1, 4.2, figure 4.12",
    "failures": "U-shaped and flat priors, remedies at the boundary",
    "noise_levels": "how high noise shows",
    "primp_steps": "open question 1: IASG on Primp's objective",
    "used_tiles": "open question 3: the rank as uncertain",
    "ambiguity": "open question 4: ambiguity against uncertainty",
    "recovery": "planted tiles found again, calibration, bits by several rules",
    "averaging": "the posterior rule beside BooleanMF at harder noise",
    "iasg_worth": "IASG from a random start, its spread; open question 2: boundaries",
}
#: About how many minutes of one processor each size takes.
MINUTES = {"quick": 2, "medium": 40, "full": 240}


def reproduce_posterior(
    folder: Path,
    quick: Annotated[
        bool, typer.Option("--quick", help="Tables of 128 × 128, short chains: about 2 minutes (default).")
    ] = False,
    medium: Annotated[
        bool, typer.Option("--medium", help="Tables of 512 × 512, 6,000 to 60,000 steps: about 40 minutes.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="As published: 60,000, 600,000 and 2 million steps; about 4 hours.")
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="Minibatch gradients of IASG unscaled, as published.")
    ] = False,
    tables: Annotated[
        int | None,
        typer.Option(min=1, help="Tables of the groups recovery and averaging, instead of 1 or 10."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this group of figures, as analogs; repeatable.")
    ] = None,
) -> dict[str, Any]:
    """Posteriors of Boolean factors: every figure and table of Gonsior (2019), the exact sampler beside each.

    Groups are kept when they are done, and chains while they run: a second call with the same folder goes on.
    """
    size = "full" if full else "medium" if medium else "quick"
    if sum((quick, medium, full)) > 1:
        raise ValueError("--quick, --medium and --full exclude each other; give one of them.")
    chosen = only or list(GROUPS)
    for name in chosen:
        if name not in GROUPS:
            raise ValueError(f"--only takes one of {', '.join(GROUPS)}; got '{name}'.")
    sizes = PLANS[size] | ({} if tables is None else {"n_tables": tables})
    plan = Plan(folder, paper=paper, **sizes)
    inform(
        f"posterior --{size}: {plan.side} × {plan.side}, chains of {plan.steps:,}, {plan.long:,} and "
        f"{plan.longest:,} steps; about {MINUTES[size]} minutes of one processor for all groups, which a "
        "second call goes on with"
    )
    summary: dict[str, Any] = {"size": size, "paper": paper}
    settings = {name: value for name, value in asdict(plan).items() if name != "folder"}
    lines = [table_of_runs(plan)]
    for i, name in enumerate(chosen):
        inform(f"{i + 1} of {len(chosen)}: {GROUPS[name]}")
        module = importlib.import_module(f"partwise.reproduce.posteriors.{name}")
        summary[name] = part(folder, name, settings, partial(module.draw, plan))
        lines += [GROUPS[name][0].upper() + GROUPS[name][1:], *summary[name]["lines"]]
    if not only:
        lines += answers(summary)
    summary["lines"] = lines
    write_json(folder / "posterior.json", summary)
    return summary


def table_of_runs(plan: Plan) -> str:
    """Table 3.2: which chains are run."""
    return (
        f"Runs (table 3.2): {plan.steps:,} steps for clean and noisy, three priors, both starts, batches 75, 250 "
        f"and 512 of 512; {plan.long:,} for the normal prior and ranks {plan.ranks[0]}, {plan.rank}, "
        f"{plan.ranks[1]}; "
        f"{plan.longest:,} from a random start; exact sampler {plan.sweeps:,} sweeps"
    )


def part(folder: Path, name: str, settings: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """What a group found, now or in an earlier call with the same settings."""
    path = folder / f"part-{name}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept.get("settings") == settings:
            return kept["found"]
    found = compute()
    write_json(path, {"settings": settings, "found": found})
    return json.loads(path.read_text(encoding="utf-8"))["found"]
