"""Many tiles for the width of a table: what it is worth to climb from several starts and to merge what they find."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from partwise.boolean.bit_table import BitTable
from partwise.boolean.log import SearchLog
from partwise.boolean.methods import default_patience
from partwise.boolean.search import MERGING, PLAIN, Plan, search
from partwise.core import open_session
from partwise.io import write_json
from partwise.reproduce.bars import with_progress
from partwise.reproduce.narrow_tables import narrow_tables


def reproduce_narrow(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Searches of each table.")] = 2,
    half: Annotated[
        Literal["others", "chosen"], typer.Option(help="Tables that constants were chosen on, or others.")
    ] = "others",
    tiles: Annotated[
        float, typer.Option(min=0.0, help="Least number of tiles, as a share of the columns.")
    ] = 0.3,
) -> dict[str, Any]:
    """Wrong entries in narrow tables, with merging (as small tables are searched) and without; and trials."""
    cases = [case for case in narrow_tables(half) if case[2] >= tiles * case[1].shape[1]]
    rows: list[dict[str, Any]] = []
    for i in with_progress(len(cases), "tables"):
        name, X, k = cases[i]
        found = {key: [one(X, k, seed, plan) for seed in range(seeds)] for key, plan in PLANS.items()}
        best = min(wrong for runs in found.values() for wrong, _ in runs)
        rows.append({"table": f"{name}, {X.shape[0]} × {X.shape[1]}", "k": k, "best": best, **found})
    summary = {"half": half, "rows": rows, "tables": {"narrow": as_table(rows)}, "lines": lines(rows)}
    write_json(folder / "narrow.json", summary)
    return summary


#: The two ways to search.
PLANS = {"plain": PLAIN, "merging": MERGING}


def one(X: np.ndarray, k: int, seed: int, plan: Plan) -> tuple[int, int]:
    """Wrong entries and trials of one search with the default patience."""
    table = BitTable.of(X)
    with open_session(None) as session:
        log = SearchLog(session)
        patience = default_patience(table, k)
        found, _ = search(
            log, table, X.astype(float), k, np.random.default_rng(seed), patience=patience, plan=plan
        )
    return int(found.error), log.trials


def as_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Wrong entries by seed and trials on average, for both ways."""
    body = [
        [row["table"], str(row["k"]), str(row["best"])]
        + [
            cell
            for key in PLANS
            for cell in (
                ", ".join(str(wrong) for wrong, _ in row[key]),
                f"{np.mean([trials for _, trials in row[key]]):,.0f}",
            )
        ]
        for row in rows
    ]
    return {
        "columns": ["table", "tiles", "best seen", "plain: wrong", "trials", "merging: wrong", "trials"],
        "rows": body,
    }


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each table, and what they add up to."""
    out = []
    for row in rows:
        cells = (f"{key} {[wrong for wrong, _ in row[key]]}" for key in PLANS)
        out.append(f"{row['table']:28s} {row['k']:3d} tiles, best seen {row['best']:5d}: {'; '.join(cells)}")
    for key in PLANS:
        runs = [(wrong - row["best"], trials) for row in rows for wrong, trials in row[key]]
        out.append(
            f"{key}: the best seen in {sum(over == 0 for over, _ in runs)} of {len(runs)} searches, "
            f"{sum(over for over, _ in runs)} entries more in all, {sum(trials for _, trials in runs):,} trials"
        )
    return out
