"""Boolean tiles (Gonsior 2019, sections 3.3.3 and 4.2.5, and more): recovery, thresholds, ranks, records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import numpy as np
import typer

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.boolean.descent import best_usage
from partwise.boolean.noise import likely_prices
from partwise.boolean.palm import panpal
from partwise.boolean.prices import Prices
from partwise.boolean.threshold import cut, cut_at
from partwise.boolean.tiles import Tiles, cost_of
from partwise.datasets import fetch_boolean_records, make_boolean
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.io.atomic import atomic_file
from partwise.models import BooleanMF
from partwise.plot import draw_curve, figure, save_figure
from partwise.reproduce.bars import with_progress

#: (p₊, p₋); the first two are "clean" and "noisy" in Gonsior (2019).
NOISE = ((0.01, 0.05), (0.05, 0.15), (0.10, 0.25), (0.12, 0.30), (0.15, 0.35), (0.20, 0.40), (0.25, 0.45))
#: Numbers of planted tiles, at the noise of the second level.
RANKS = (10, 20, 30, 40)
#: Tables with published errors: numbers of tiles, the best errors published, and where missing entries are.
RECORDS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "zoo": ("small", (2, 5, 10), (271, 126, 39)),
    "heart": ("small", (2, 5, 10), (1185, 737, 419)),
    "lymp": ("small", (2, 5, 10), (1184, 982, 728)),
    "apb": ("small", (2, 5, 10), (776, 684, 573)),
    "chess_krvskp": ("large", (10, 20, 30), (10435, 3023, 453)),
    "breast": ("large", (23, 46, 69), (1755, 780, 203)),
    "cmc": ("large", (18,), (2994,)),
}


def reproduce_tiling(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Planted tables for each noise level.")] = 3,
    levels: Annotated[int, typer.Option(min=1, help="How many noise levels, from the lowest.")] = len(NOISE),
    records: Annotated[bool, typer.Option(help="Also the tables with published errors.")] = True,
) -> dict[str, Any]:
    """Boolean tiles: recovery against noise and rank, thresholds, tables with published records."""
    summary: dict[str, Any] = {
        "recovery": [recovery(add, drop, 30, seeds) for add, drop in NOISE[:levels]],
        "by_rank": [recovery(*NOISE[1], rank, seeds) for rank in RANKS],
        "auto_rank": [chosen_ranks(add, drop, seeds) for add, drop in NOISE[: min(2, levels)]],
        "thresholds": [thresholds(add, drop) for add, drop in NOISE[: min(2, levels)]],
        "records": [],
    }
    if records and "PARTWISE_DATA" in os.environ:
        summary["records"] = all_records(folder)
    summary["lines"] = lines(summary)
    with uninterrupted():
        draw(folder / "tiling.png", summary)
        write_json(folder / "tiling.json", summary)
    return summary


def recovery(add: float, drop: float, rank: int, seeds: int) -> dict[str, Any]:
    """Entries wrong against the table before noise, the number of tiles given, everything else by default."""
    wrong, taken, ones, outdone, decidable = [], [], [], 0, 0
    for seed in with_progress(seeds, f"noise {add:g}/{drop:g}, {rank} tiles"):
        table = make_boolean(rank=rank, noise_add=add, noise_drop=drop, random_state=seed)
        begin = perf_counter()
        model = BooleanMF(rank, random_state=seed)
        usage = model.fit_transform(table.data)
        taken.append(perf_counter() - begin)
        wrong.append(int((model.inverse_transform(usage) != table.clean).sum()))
        ones.append(int(table.clean.sum()))
        outdone += as_probable(table, usage, model.components_)
        decidable += is_decidable(table, add, drop)
    return {
        "noise_add": add,
        "noise_drop": drop,
        "rank": rank,
        "wrong": wrong,
        "ones": float(np.mean(ones)),
        "seconds": taken,
        "as_probable": outdone,
        "decidable": decidable,
    }


def as_probable(planted: Any, usage: np.ndarray, columns: np.ndarray) -> bool:
    """Whether the tiles found are at least as probable, given the data, as those planted."""
    table = BitTable.of(planted.data)
    truth = Tiles(np.asarray(planted.usage, bool), np.asarray(planted.components, bool), 0.0)
    prices = likely_prices(table, truth.usage, truth.columns)
    return cost_of(table, Tiles(usage, columns, 0.0), prices) <= cost_of(table, truth, prices) + 1e-6


def is_decidable(planted: Any, add: float, drop: float) -> bool:
    """Whether each factor is the most probable one, given the other, the noise and the share of set bits.

    Where it is not, even an oracle that knows one factor has entries wrong.
    """
    table = BitTable.of(planted.data)
    U, V = np.asarray(planted.usage, bool), np.asarray(planted.components, bool)
    one, zero = np.log((1.0 - drop) / add), np.log((1.0 - add) / drop)
    share = (U.sum() + V.sum()) / (U.size + V.size)
    prices = Prices(float(one), float(zero), float(np.log((1.0 - share) / share)))
    rows, columns = U.copy(), np.ascontiguousarray(V.T)
    best_usage(table.by_row, pack(V), rows, prices, exact=True)
    best_usage(table.by_column, pack(U.T), columns, prices, exact=True)
    return bool((rows == U).all() and (columns == V.T).all())


def chosen_ranks(add: float, drop: float, seeds: int) -> dict[str, Any]:
    """The number of tiles that the description length chooses, where 30 were planted."""
    found = []
    for seed in with_progress(seeds, f"noise {add:g}/{drop:g}, rank auto"):
        table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
        found.append(BooleanMF(random_state=seed).fit(table.data).n_components_)
    return {"noise_add": add, "noise_drop": drop, "found": found}


def thresholds(add: float, drop: float, seed: int = 0) -> dict[str, Any]:
    """PanPAL's factors cut by algorithm 4.1 of Gonsior (2019), judged on the data and on the noise-free table."""
    table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
    last = panpal(np.asarray(table.data, dtype=float), 30, np.random.default_rng(seed)).state
    seen, clean = BitTable.of(table.data), BitTable.of(table.clean)

    def wrong(tiles: Any) -> int:
        rebuilt = (tiles.usage.astype(int) @ tiles.columns.astype(int)) > 0
        return int((rebuilt != table.clean).sum())

    one, (lowest, highest) = cut(seen, last.W, last.Ht)
    each, _ = cut(seen, last.W, last.Ht, each=True)
    oracle, (oracle_lowest, oracle_highest) = cut(clean, last.W, last.Ht)
    return {
        "noise_add": add,
        "noise_drop": drop,
        "half": wrong(cut_at(seen, last.W, last.Ht, 0.5, 0.5)),
        "one": wrong(one),
        "each": wrong(each),
        "oracle": wrong(oracle),
        "interval": [lowest[0], highest[0]],
        "oracle_interval": [oracle_lowest[0], oracle_highest[0]],
    }


def all_records(folder: Path) -> list[dict[str, Any]]:
    """Wrong entries on the tables with published errors, from the factors themselves, kept in records.npz."""
    out: list[dict[str, Any]] = []
    factors: dict[str, np.ndarray] = {}
    cells = [(name, k, best) for name, (_, ks, bests) in RECORDS.items() for k, best in zip(ks, bests)]
    for i in with_progress(len(cells), "published tables"):
        name, k, best = cells[i]
        which: Literal["small", "large"] = "small" if RECORDS[name][0] == "small" else "large"
        table = np.asarray(fetch_boolean_records(which).data[name])
        X = np.where(table == 255, np.nan, table.astype(float))
        begin = perf_counter()
        model = BooleanMF(k, random_state=0)
        usage = model.fit_transform(X)
        seconds = perf_counter() - begin
        # Counted again, from the factors alone.
        rebuilt = (usage.astype(int) @ model.components_.astype(int)) > 0
        wrong = int((rebuilt != (X == 1))[~np.isnan(X)].sum())
        factors[f"{name}_{k}_usage"], factors[f"{name}_{k}_tiles"] = usage, model.components_
        out.append({"table": name, "k": k, "wrong": wrong, "published": best, "seconds": seconds})
    with atomic_file(folder / "records.npz") as stream:
        np.savez_compressed(stream, allow_pickle=False, **factors)
    return out


def lines(summary: dict[str, Any]) -> list[str]:
    """The summary as lines of text."""
    out = ["512 × 512: entries wrong against the noise-free table, number of tiles given"]
    for row in [*summary["recovery"], *summary["by_rank"]]:
        out.append(
            f"  noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}, {row['rank']} tiles: "
            f"median {np.median(row['wrong']):6.0f} ({100 * np.median(row['wrong']) / row['ones']:.2f} % of the "
            f"ones), none wrong in {sum(w == 0 for w in row['wrong'])} of {len(row['wrong'])}, as "
            f"probable as the truth in {row['as_probable']}, an oracle given one factor and the noise gets the "
            f"other right in {row['decidable']}  "
            f"(median {np.median(row['seconds']):.1f} s, longest {max(row['seconds']):.1f} s)"
        )
    for row in summary["auto_rank"]:
        near = sum(abs(k - 30) <= 1 for k in row["found"])
        out.append(
            f"  noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}: 30 ± 1 tiles found in {near} of "
            f"{len(row['found'])} ({min(row['found'])} to {max(row['found'])})"
        )
    for row in summary["thresholds"]:
        out.append(
            f"  PanPAL, noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}: wrong when cut at ½ {row['half']}, at "
            f"one threshold chosen on the data {row['one']} ({row['interval'][0]:.2f} to {row['interval'][1]:.2f}), "
            f"at one each {row['each']}, by the oracle {row['oracle']}"
        )
    for row in summary["records"]:
        out.append(
            f"  {row['table']:12s} k = {row['k']:2d}: {row['wrong']:5d} wrong (published {row['published']}), "
            f"{row['seconds']:.1f} s"
        )
    return out


def draw(path: Path, summary: dict[str, Any]) -> None:
    """The recovery curves: every table a dot, the median a line. From 0 to 1 evenly, then by powers of ten."""
    drawing, axes = figure([["noise", "rank"]], size=(10.0, 4.0))

    def curve(name: str, rows: Sequence[dict[str, Any]], key: str, title: str, xlabel: str) -> None:
        x, wrong = [row[key] for row in rows], [row["wrong"] for row in rows]
        for place, errors in zip(x, wrong):
            axes[name].scatter([place] * len(errors), errors, s=10, color="0.6", zorder=1)
        draw_curve(
            axes[name], x, [np.median(errors) for errors in wrong], marker="o", title=title, xlabel=xlabel
        )
        axes[name].set_yscale("symlog", linthresh=1.0)
        axes[name].set_ylim(-0.3, max(10.0, 2.0 * max(map(max, wrong))))
        axes[name].set_yticks([0, *10 ** np.arange(1 + int(np.log10(axes[name].get_ylim()[1])))])
        axes[name].yaxis.set_major_formatter("{x:,.0f}")

    title = "entries wrong against the noise-free table"
    curve("noise", summary["recovery"], "noise_drop", title, "share of ones dropped")
    curve("rank", summary["by_rank"], "rank", "the same by number of tiles, noise .05/.15", "tiles")
    save_figure(drawing, path)
