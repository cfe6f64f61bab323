"""Boolean tiles (seed 004, section 3.3.3 and beyond): recovery against noise, and records on real tables."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from partwise.datasets import fetch_boolean_records, make_boolean
from partwise.io import write_json
from partwise.models import BooleanMF
from partwise.plot import draw_curve, figure, save_figure
from partwise.reproduce.bars import counted

#: (p₊, p₋); the first two are the thesis's "clean" and "noisy".
NOISE = ((0.01, 0.05), (0.05, 0.15), (0.10, 0.25), (0.12, 0.30), (0.15, 0.35), (0.20, 0.40), (0.25, 0.45))
#: Best published Hamming errors at 2, 5 and 10 tiles (Kovács, Günlük & Hauser 2021).
PUBLISHED = {
    "zoo": (272, 126, 39),
    "heart": (1185, 737, 419),
    "lymp": (1184, 982, 728),
    "apb": (776, 684, 573),
}


def reproduce_tiling(
    folder: Path, seeds: int = 3, seconds: float = 3.0, levels: int = len(NOISE), records: bool = True
) -> dict[str, Any]:
    """Recover planted tiles; then, where PARTWISE_DATA has them, the small tables with published errors."""
    recovery = []
    for add, drop in NOISE[:levels]:
        for objective in ("error", "likelihood"):
            wrong, taken = [], []
            for seed in counted(seeds, f"noise {add:g}/{drop:g}, {objective}"):
                table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
                begin = perf_counter()
                model = BooleanMF(30, objective=objective, max_time=seconds, random_state=seed)
                usage = model.fit_transform(table.data)
                taken.append(perf_counter() - begin)
                wrong.append(int((model.inverse_transform(usage) != table.clean).sum()))
            recovery.append(
                {
                    "noise_add": add,
                    "noise_drop": drop,
                    "objective": objective,
                    "wrong": wrong,
                    "seconds": float(np.median(taken)),
                }
            )
    summary: dict[str, Any] = {"recovery": recovery, "records": []}
    if records and "PARTWISE_DATA" in os.environ:
        summary["records"] = small_records()
    summary["lines"] = lines(summary)
    draw(folder / "tiling.png", recovery)
    write_json(folder / "tiling.json", summary)
    return summary


def small_records() -> list[dict[str, Any]]:
    """Wrong entries at 2, 5 and 10 tiles, ten seconds each, checked against the factors."""
    tables = fetch_boolean_records("small").data
    out = []
    for name, published in PUBLISHED.items():
        X = np.asarray(tables[name], dtype=bool)
        for k, best in zip((2, 5, 10), published):
            model = BooleanMF(k, random_state=0).fit(X)
            rebuilt = model.inverse_transform(model.transform(X))
            out.append({"table": name, "k": k, "wrong": int((rebuilt != X).sum()), "published": best})
    return out


def lines(summary: dict[str, Any]) -> list[str]:
    """For a person."""
    out = ["512 × 512, 30 tiles given: entries wrong against the noise-free table"]
    for row in summary["recovery"]:
        out.append(
            f"  noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}  {row['objective']:10s} "
            f"median {np.median(row['wrong']):7.0f}  exact in {sum(w == 0 for w in row['wrong'])} of "
            f"{len(row['wrong'])}  ({row['seconds']:.1f} s each)"
        )
    for row in summary["records"]:
        out.append(
            f"  {row['table']:6s} k = {row['k']:2d}: {row['wrong']} wrong (published {row['published']})"
        )
    return out


def draw(path: Path, recovery: list[dict[str, Any]]) -> None:
    """The recovery curve."""
    drawing, axes = figure([["curve"]], size=(6.5, 4.0))
    for colour, objective in enumerate(("error", "likelihood")):
        rows = [row for row in recovery if row["objective"] == objective]
        draw_curve(
            axes["curve"],
            [row["noise_drop"] for row in rows],
            [1 + np.median(row["wrong"]) for row in rows],
            label=objective,
            colour=colour,
            marker="o",
            title="entries wrong against the noise-free table, plus 1",
            xlabel="share of ones dropped",
            logy=True,
        )
    axes["curve"].legend()
    save_figure(drawing, path)
