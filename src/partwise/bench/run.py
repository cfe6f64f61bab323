"""The whole race: every racer on every case, each in its own process, one after the other; table, JSON, plot."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partwise.bench.cases import CASES, Case, find_case
from partwise.bench.matching import own_gaps, peer_target, time_with_restarts
from partwise.bench.solvers import SOLVERS

PARTWISE = "partwise"


def run_bench(
    folder: Path, names: Sequence[str], seeds: int, seconds: float, peers: Sequence[str]
) -> dict[str, Any]:
    """Race every case, and write `bench.json` and `bench.png`.

    Parameters
    ----------
    folder : Path
        Where the files go.
    names : sequence of str
        Names of cases; all that can be run if none is given.
    seeds : int
        Number of starts.
    seconds : float
        How long each peer runs.
    peers : sequence of str
        Names of the other racers; all if none is given.

    Returns
    -------
    dict
        The contents of `bench.json`.
    """
    from rich.console import Console
    from rich.progress import Progress

    cases = [find_case(name) for name in names] if names else [case for case in default_cases() if case.raced]
    racers = [PARTWISE, *(peers or (name for name in SOLVERS if name != PARTWISE))]
    runs = [(case, racer, seed) for case in cases for racer in racers for seed in range(seeds)]
    results: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with Progress(console=Console(file=sys.stderr)) as bar:
        task = bar.add_task("race", total=len(runs))
        for case, racer, seed in runs:
            bar.update(task, description=f"{case.name} · {racer} · seed {seed}")
            curves = results.setdefault(case.name, {}).setdefault(racer, [])
            if not (curves and "skipped" in curves[-1]):
                # partwise needs less time than the peers; a third of theirs shows where its runs end.
                curves.append(run_racer(case, racer, seed, seconds / 3 if racer == PARTWISE else seconds))
            bar.advance(task)
    summary = {
        "machine": machine(),
        "seeds": seeds,
        "seconds": seconds,
        "table": [row for case in cases for row in table_rows(case, results[case.name])],
        "curves": results,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(summary), encoding="utf-8")
    draw(folder / "bench.png", results)
    return summary


def default_cases() -> list[Case]:
    """All cases if PARTWISE_DATA names a folder of real data, else those whose data come with the package."""
    return [case for case in CASES if case.bundled or "PARTWISE_DATA" in os.environ]


def run_racer(case: Case, racer: str, seed: int, seconds: float) -> dict[str, Any]:
    """A racer's curve, or why there is none."""
    command = [sys.executable, "-m", "partwise.bench.segment", case.name, racer, str(seed), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"solver": racer, "skipped": f"failed: {last}"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table_rows(case: Case, curves: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One row of the table for each peer."""
    ours = curves[PARTWISE]
    out = []
    for peer, theirs in curves.items():
        if peer == PARTWISE:
            continue
        if "skipped" in theirs[0]:
            out.append({"case": case.name, "peer": peer, "skipped": theirs[0]["skipped"]})
            continue
        reason = next((why for why in map(invalid_because, theirs) if why), None)
        if reason is not None:
            out.append({"case": case.name, "peer": peer, "skipped": reason})
            continue
        ratios, pairs = [], []
        for seed, curve in enumerate(theirs):
            t_peer, target = peer_target(curve)
            t_ours = time_with_restarts(ours, seed, target)
            pairs.append((t_peer, t_ours))
            ratios.append(np.nan if t_ours is None else t_peer / t_ours)
        out.append(
            {
                "case": case.name,
                "peer": peer,
                "ratio": float(np.median(ratios)),
                "ratios": ratios,
                "times": pairs,
                "peer_gaps": own_gaps(theirs[0]),
                "our_gaps": own_gaps(ours[0]),
                "peer_extra_bytes": theirs[0]["extra_bytes"],
                "our_extra_bytes": ours[0]["extra_bytes"],
            }
        )
    return out


def invalid_because(curve: dict[str, Any]) -> str | None:
    """Why a curve cannot be compared, or None."""
    values = np.array(curve["objective"])
    if not np.isfinite(values).all():
        return "its factors became infinite or NaN"
    return None if values[1:].min() < values[0] else "never came below its start"


def machine() -> dict[str, Any]:
    """What the race was run on."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def table_lines(summary: dict[str, Any]) -> list[str]:
    """The table as lines of text."""
    lines = [f"{'case':24s} {'peer':12s} {'t_peer':>8s} {'t_ours':>8s} {'ratio':>7s}  memory ours/peer"]
    for row in summary["table"]:
        if "skipped" in row:
            lines.append(f"{row['case']:24s} {row['peer']:12s} left out: {row['skipped']}")
            continue
        t_peer, t_ours = row["times"][0]
        mine = "never" if t_ours is None else f"{t_ours:.2f} s"
        memory = f"{row['our_extra_bytes'] / 1e6:.0f}/{row['peer_extra_bytes'] / 1e6:.0f} MB"
        lines.append(
            f"{row['case']:24s} {row['peer']:12s} {t_peer:6.2f} s {mine:>8s} {row['ratio']:6.1f}×  {memory}"
        )
    lines.append(f"ratios are medians over {summary['seeds']} seed(s); times are those of the first")
    return lines


def draw(path: Path, results: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    """Gap to the best objective seen against time, on logarithmic axes, a panel for each case."""
    from partwise.plot import draw_curve, figure, save_figure

    names = list(results)
    columns = min(3, len(names))
    grid = [names[i : i + columns] for i in range(0, len(names), columns)]
    grid[-1] += ["."] * (columns - len(grid[-1]))
    drawing, axes = figure(grid, size=(4.2 * columns, 3.4 * len(grid)))
    for name, racers in results.items():
        curves = {racer: runs[0] for racer, runs in racers.items() if "skipped" not in runs[0]}
        best = min(min(curve["objective"]) for curve in curves.values())
        first = max(curve["objective"][0] for curve in curves.values())
        for colour, (racer, curve) in enumerate(curves.items()):
            gap = np.maximum((np.array(curve["objective"][1:]) - best) / (first - best), 1e-6)
            draw_curve(
                axes[name],
                curve["seconds"][1:],
                gap,
                label=racer,
                colour=colour,
                title=name,
                xlabel="seconds",
                ylabel="gap",
                logx=True,
                logy=True,
            )
    save_figure(drawing, path)
