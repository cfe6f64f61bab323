"""The OR model from random starts: planted tiles found again, calibration of doubt, bits by several rules."""

from __future__ import annotations

import warnings
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.boolean.bit_table import BitTable
from partwise.boolean.threshold import THRESHOLDS, cut, cut_at
from partwise.boolean.tiles import Tiles
from partwise.datasets import make_boolean
from partwise.models import BayesianBooleanMF
from partwise.reproduce.bars import with_progress
from partwise.reproduce.posteriors.plan import Plan
from partwise.samplers.posterior_bits import calibration_error

#: "clean" and "noisy" in Gonsior (2019, table 3.1), and a level at which many entries are in doubt.
CLEAN, NOISY, DOUBT = (0.01, 0.05), (0.05, 0.15), (0.18, 0.38)


def draw(plan: Plan) -> dict[str, Any]:
    """Measure recovery at three levels of noise, and bits of relaxed draws by several rules.

    Parameters
    ----------
    plan : Plan
        Sizes, tables and draws.

    Returns
    -------
    dict
        Rows for each level, with "lines".
    """
    tables, draws = plan.n_tables, plan.draws
    found: dict[str, Any] = {
        "recovery": [recovery(plan, *level, tables, draws) for level in (CLEAN, NOISY)],
        "doubt": recovery(plan, *DOUBT, max(1, tables // 2), draws),
        "binarization": [binarization(plan, *level, draws) for level in (CLEAN, NOISY)],
    }
    found["lines"] = lines(plan, found)
    return found


def fitted(
    data: Any, rank: int, draws: int, seed: int, **more: Any
) -> tuple[BayesianBooleanMF, float, float]:
    """A model fitted to a table, with the seconds it took: of the clock, and of the processor."""
    begin, work = perf_counter(), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianBooleanMF(rank, n_draws=draws, random_state=seed, **more).fit(data)
    return model, perf_counter() - begin, process_time() - work


def recovery(plan: Plan, add: float, drop: float, tables: int, draws: int) -> dict[str, Any]:
    """What `found_again` finds on several tables, as lists."""
    rows = [
        found_again(plan, add, drop, draws, seed)[2]
        for seed in with_progress(tables, f"noise {add:g}/{drop:g}")
    ]
    lists = {name: [row[name] for row in rows] for name in rows[0]}
    return {"noise_add": add, "noise_drop": drop, "tables": tables, "draws": draws, **lists}


def found_again(
    plan: Plan, add: float, drop: float, draws: int, seed: int
) -> tuple[Any, BayesianBooleanMF, dict[str, Any]]:
    """A table, the model fitted to it by four chains from scaled random starts, and entries wrong before noise."""
    table = make_boolean(plan.side, plan.side, plan.rank, noise_add=add, noise_drop=drop, random_state=seed)
    model, seconds, cpu = fitted(table.data, plan.rank, draws, seed)
    cells = model.probability_["cells"]
    error, doubtful = calibration_error(cells, table.clean)
    one = model.draws_["W"][0, -1] @ model.draws_["H"][0, -1]
    values = {
        "bits": int(((model.usage_ @ model.tiles_) != table.clean).sum()),
        "cells": int(((cells > 0.5) != table.clean).sum()),
        "expected": model.expected_wrong_,
        "last": int((one != table.clean).sum()),
        "rhat": max(model.rhat_.values()),
        "error": error,
        "doubtful": doubtful,
        "seconds": seconds,
        "cpu": cpu,
    }
    return table, model, values


def binarization(plan: Plan, add: float, drop: float, draws: int, seed: int = 0) -> dict[str, Any]:
    """Wrong entries of bits from relaxed draws: thresholds of Gonsior (2019), and the posterior rule."""
    table = make_boolean(plan.side, plan.side, plan.rank, noise_add=add, noise_drop=drop, random_state=seed)
    model, _, _ = fitted(
        table.data, plan.rank, draws, seed, sampler="relaxed-gibbs", n_chains=1, n_warmup=draws
    )
    seen, clean = BitTable.of(table.data), BitTable.of(table.clean)
    W, Ht = model.W_mean_, np.ascontiguousarray(model.components_.T)

    def wrong(tiles: Tiles) -> int:
        return int(((tiles.usage @ tiles.columns) != table.clean).sum())

    low, high = model.predict_interval(level=0.9)
    ends = (0.0, *THRESHOLDS, 1.0)
    pairs = [cut_at(seen, W, Ht, rows, columns) for rows in ends for columns in ends]
    return {
        "noise_add": add,
        "noise_drop": drop,
        "half": wrong(cut_at(seen, W, Ht, 0.5, 0.5)),
        "one": wrong(cut(seen, W, Ht)[0]),
        "pair": wrong(min(pairs, key=lambda tiles: tiles.error)),
        "oracle": wrong(cut(clean, W, Ht)[0]),
        "rule": int(((model.usage_ @ model.tiles_) != table.clean).sum()),
        "covered": float(((low <= table.clean) & (table.clean <= high)).mean()),
    }


def lines(plan: Plan, summary: dict[str, Any]) -> list[str]:
    """What was measured, as lines of text."""
    out = [
        f"  {plan.side} × {plan.side}, {plan.rank} tiles: entries wrong against the noise-free table; 4 chains from "
        "scaled random starts"
    ]
    for row in [*summary["recovery"], summary["doubt"]]:
        text = wrong_by_rule(row)
        text += f" (none wrong on {sum(w == 0 for w in row['bits'])} of {row['tables']})"
        text += f"; R-hat at most {max(row['rhat']):.3f}"
        if any(row["doubtful"]):
            error = np.mean([one for one in row["error"] if one is not None])
            text += f"; calibration error {error:.3f} over {np.mean(row['doubtful']):.0f} cells in doubt"
        out.append(text + f"  ({median(row['seconds'])} s, {median(row['cpu'])} s of processor time)")
    for row in summary["binarization"]:
        out.append(
            f"  relaxed draws, noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}: cut at ½ {row['half']}, "
            f"one threshold {row['one']}, a pair {row['pair']}, by the oracle {row['oracle']}, "
            f"posterior rule {row['rule']}; 90 % intervals hold the entry in {100 * row['covered']:.1f} %"
        )
    return out


def wrong_by_rule(row: dict[str, Any]) -> str:
    """Medians of wrong entries at a level of noise: the rule for bits, single cells, a single draw."""
    return (
        f"  noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}: posterior rule {median(row['bits'])}, "
        f"cells above ½ {median(row['cells'])}, one draw {median(row['last'])}"
    )


def median(values: list[float]) -> str:
    """The median, without needless digits."""
    return f"{np.median(values):.1f}".removesuffix(".0")
