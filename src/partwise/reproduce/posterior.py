"""Posteriors of Boolean factors (Gonsior 2019, chapters 3 and 4): the published sampler, and exact ones beside it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from partwise.boolean.bit_table import BitTable
from partwise.boolean.threshold import THRESHOLDS, cut, cut_at
from partwise.boolean.tiles import Tiles
from partwise.core import State
from partwise.datasets import make_boolean
from partwise.io import write_json
from partwise.messages import inform
from partwise.models import BayesianBooleanMF, BooleanMF
from partwise.reproduce.bars import with_progress
from partwise.samplers.iasg import IASG
from partwise.samplers.langevin import Langevin
from partwise.samplers.posterior_bits import calibration_error
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS, UnitPrior

#: "clean" and "noisy" in Gonsior (2019, table 3.1), two levels at which BooleanMF has entries wrong, one in doubt.
CLEAN, NOISY, HARD, HARDER, DOUBT = (0.01, 0.05), (0.05, 0.15), (0.12, 0.30), (0.15, 0.35), (0.18, 0.38)
#: How much is done: tables, draws of each chain, steps of IASG, steps of the comparison with Langevin.
SIZES: dict[str, dict[str, int]] = {
    "quick": {"tables": 2, "doubtful": 1, "draws": 100, "iasg": 2_000, "langevin": 4_000},
    "medium": {"tables": 10, "doubtful": 5, "draws": 250, "iasg": 40_000, "langevin": 10_000},
    "full": {"tables": 10, "doubtful": 10, "draws": 1000, "iasg": 60_000, "langevin": 100_000},
}
#: About how many minutes each takes on two cores.
MINUTES = {"quick": 3, "medium": 30, "full": 120}


def reproduce_posterior(
    folder: Path,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two tables, few draws: about 3 minutes (default).")
    ] = False,
    medium: Annotated[
        bool, typer.Option("--medium", help="Ten tables, 40,000 steps of IASG: about half an hour.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Long chains, 60,000 steps of IASG: about two hours.")
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="Minibatch gradients of IASG unscaled, as published.")
    ] = False,
) -> dict[str, Any]:
    """Posteriors of Boolean factors: recovery, doubt and its calibration, what IASG is worth, boundaries.

    Each part is saved when it is done; a second call with the same folder goes on with the next.
    """
    size = "full" if full else "medium" if medium else "quick"
    settings = {**SIZES[size], "paper": paper}
    inform(f"posterior --{size} takes about {MINUTES[size]} minutes on two cores")
    tables, doubtful, draws = settings["tables"], settings["doubtful"], settings["draws"]
    parts: dict[str, Callable[[], Any]] = {
        "recovery": lambda: [recovery(*level, tables, draws) for level in (CLEAN, NOISY)],
        "beside": lambda: [recovery(*level, tables, draws, beside=True) for level in (HARD, HARDER)],
        "doubt": lambda: recovery(*DOUBT, doubtful, draws),
        "binarization": lambda: [binarization(*level, draws) for level in (CLEAN, NOISY)],
        "iasg": lambda: iasg(settings["iasg"], paper),
        "spread": lambda: spreads(settings["iasg"] // 10, paper),
        "boundaries": lambda: boundaries(settings["langevin"]),
    }
    summary: dict[str, Any] = {"size": size, "paper": paper}
    for name, compute in parts.items():
        summary[name] = part(folder, name, settings, compute)
    summary["lines"] = lines(summary)
    write_json(folder / "posterior.json", summary)
    return summary


def part(folder: Path, name: str, settings: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """What a part of the experiment found, now or in an earlier call with the same settings."""
    path = folder / f"part-{name}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept.get("settings") == settings:
            return kept["found"]
    found = compute()
    write_json(path, {"settings": settings, "found": found})
    return json.loads(path.read_text(encoding="utf-8"))["found"]


# ------------------------------------------------------------------------ the OR model


def fitted(
    data: Any, rank: int, draws: int, seed: int, **more: Any
) -> tuple[BayesianBooleanMF, float, float]:
    """A model fitted to a table, with the seconds it took: of the clock, and of the processor."""
    begin, work = perf_counter(), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianBooleanMF(rank, n_draws=draws, random_state=seed, **more).fit(data)
    return model, perf_counter() - begin, process_time() - work


def recovery(add: float, drop: float, tables: int, draws: int, beside: bool = False) -> dict[str, Any]:
    """Entries wrong against the table before noise, four chains from scaled random starts; `beside` BooleanMF."""
    out: dict[str, list[Any]] = {
        name: []
        for name in (
            "bits",
            "cells",
            "expected",
            "last",
            "boolean",
            "rhat",
            "error",
            "doubtful",
            "seconds",
            "cpu",
        )
    }
    for seed in with_progress(tables, f"noise {add:g}/{drop:g}"):
        table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
        model, seconds, cpu = fitted(table.data, 30, draws, seed)
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
        if beside:
            best = BooleanMF(30, random_state=seed)
            usage = best.fit_transform(table.data)
            values["boolean"] = int((best.inverse_transform(usage) != table.clean).sum())
        for name, value in values.items():
            out[name].append(value)
    return {"noise_add": add, "noise_drop": drop, "tables": tables, "draws": draws, **out}


def binarization(add: float, drop: float, draws: int, seed: int = 0) -> dict[str, Any]:
    """Wrong entries of bits from relaxed draws: thresholds of Gonsior (2019), and the posterior rule."""
    table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
    model, _, _ = fitted(table.data, 30, draws, seed, sampler="relaxed-gibbs", n_chains=1, n_warmup=draws)
    seen, clean = BitTable.of(table.data), BitTable.of(table.clean)
    W, Ht = model.W_mean_, np.ascontiguousarray(model.components_.T)

    def wrong(tiles: Tiles) -> int:
        return int(((tiles.usage @ tiles.columns) != table.clean).sum())

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
    }


# ------------------------------------------------------------------- the relaxed model


def relaxed(add: float, drop: float, prior: UnitPrior, seed: int = 0) -> tuple[Any, RelaxedPosterior]:
    """A planted table, and its relaxed posterior at σ² = 1."""
    table = make_boolean(noise_add=add, noise_drop=drop, random_state=seed)
    return table, RelaxedPosterior(table.data.astype(np.float32), prior)


def iasg(steps: int, paper: bool) -> list[dict[str, Any]]:
    """IASG from a scaled random start: wrong entries along the way, cut at the threshold that fits the data best."""
    out = []
    for add, drop in (CLEAN, NOISY):
        table, problem = relaxed(add, drop, UNIT_PRIORS["normal"])
        seen, kernel, rng = BitTable.of(table.data), IASG(paper=paper), np.random.default_rng(0)
        state = kernel.init(problem, 30, rng)
        begin, work, wrong, density = perf_counter(), process_time(), [], []
        # Cutting takes longer than hundreds of steps; its time does not count.
        pause = 0.0
        for i in with_progress(steps, f"IASG, noise {add:g}/{drop:g}"):
            state, info = kernel.step(problem, state, rng)
            if (i + 1) % max(1, steps // 10) == 0:
                stop = process_time()
                tiles, _ = cut(seen, state.W, state.Ht)
                wrong.append(int(((tiles.usage @ tiles.columns) != table.clean).sum()))
                density.append(info.objective)
                pause += process_time() - stop
        out.append(
            {
                "noise_add": add,
                "noise_drop": drop,
                "steps": steps,
                "wrong": wrong,
                "log_posterior": density,
                "seconds": perf_counter() - begin,
                "cpu": process_time() - work - pause,
            }
        )
    return out


def spreads(steps: int, paper: bool) -> list[dict[str, Any]]:
    """Standard deviations of IASG's samples over those of the exact posterior, both begun at the planted factors."""
    out = []
    for name in ("uniform", "normal", "laplace"):
        table, problem = relaxed(*CLEAN, UNIT_PRIORS[name])
        truth = State(table.usage.astype(float), table.components.T.astype(float), {"noise": np.array(1.0)})
        exact = spread_of(RelaxedGibbs(), problem, truth.copy(), 200, 1)
        for batch in (512, 250, 75):
            kernel = IASG(batch, paper=paper, n_calibration=min(2500, steps))
            state = kernel.init(problem, 30, np.random.default_rng(0), truth)
            found = spread_of(kernel, problem, state, steps // 2, kernel.window(problem))
            ratio = float(np.mean(found["std"]) / np.mean(exact["std"]))
            away = float(np.mean(np.abs(np.asarray(found["mean"]) - exact["mean"])) / np.mean(exact["std"]))
            out.append({"prior": name, "batch": batch, "steps": steps, "ratio": ratio, "mean_off": away})
    return out


def spread_of(kernel: Any, problem: Any, state: Any, steps: int, every: int) -> dict[str, np.ndarray]:
    """Mean and standard deviation of all entries over the second half of 2 · `steps` steps."""
    rng, n = np.random.default_rng(1), 0
    total: Any = 0.0
    squares: Any = 0.0
    for i in range(2 * steps):
        state, _ = kernel.step(problem, state, rng)
        if i >= steps and i % every == 0:
            draw = kernel.draw(problem, state)
            both = np.concatenate([draw["W"], draw["Ht"]])
            total, squares, n = total + both, squares + both * both, n + 1
    mean = np.asarray(total) / n
    return {"mean": mean, "std": np.sqrt(np.maximum(np.asarray(squares) / n - mean * mean, 0.0))}


def boundaries(steps: int) -> list[dict[str, Any]]:
    """Langevin with each boundary against Gibbs on a 20 × 15 table, k = 3: errors of means and of deviations.

    Chains of a factorization may exchange components, so entries of the reconstruction are compared.
    """
    table = make_boolean(20, 15, 3, 0.3, random_state=0)
    problem = RelaxedPosterior(table.data.astype(float), UNIT_PRIORS["normal"], 0.1)
    exact, noise = reconstruction(RelaxedGibbs(), problem, steps)
    again, _ = reconstruction(RelaxedGibbs(), problem, steps, seed=1)
    out = [{"boundary": "gibbs again", "step": 0.0, **apart(again, exact), "noise": noise}]
    for boundary in ("clamp", "reflect", "mirror"):
        for step in (1e-2, 3e-3, 1e-3):
            # On the logit scale a step is 16 times as large at the middle.
            scaled = step * (16.0 if boundary == "mirror" else 1.0)
            # Smaller steps need more of them.
            longer = int(steps * min(4.0, 1e-2 / step))
            found, noise = reconstruction(Langevin(scaled, boundary=boundary), problem, longer)
            out.append({"boundary": boundary, "step": step, **apart(found, exact), "noise": noise})
    return out


def reconstruction(kernel: Any, problem: Any, steps: int, seed: int = 0) -> tuple[np.ndarray, float]:
    """Mean and standard deviation of every entry of W Hᵀ along a chain, and the standard error of the means."""
    rng = np.random.default_rng(seed)
    state = kernel.init(problem, 3, rng)
    every = max(1, steps // 4000)
    kept = []
    for i in range(steps):
        state, _ = kernel.step(problem, state, rng)
        if i >= steps // 5 and i % every == 0:
            kept.append((state.W @ state.Ht.T).ravel())
    draws = np.array(kept)
    halves = [half.mean(axis=0) for half in np.array_split(draws, 10)]
    return np.stack([draws.mean(axis=0), draws.std(axis=0)]), float(
        np.std(halves, axis=0).mean() / np.sqrt(10)
    )


def apart(found: np.ndarray, exact: np.ndarray) -> dict[str, float]:
    """Mean absolute difference of the means, and mean ratio of the standard deviations."""
    return {
        "mean_error": float(np.abs(found[0] - exact[0]).mean()),
        "deviation_ratio": float((found[1] / exact[1]).mean()),
    }


# ------------------------------------------------------------------------------- lines


def lines(summary: dict[str, Any]) -> list[str]:
    """The summary as lines of text."""
    out = [
        "512 × 512, 30 tiles: entries wrong against the noise-free table; 4 chains from scaled random starts"
    ]
    for row in [*summary["recovery"], *summary["beside"], summary["doubt"]]:
        text = (
            f"  noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}: posterior rule {median(row['bits'])}, "
            f"cells above ½ {median(row['cells'])}, one draw {median(row['last'])}"
        )
        if row["boolean"]:
            better = sum(a <= b for a, b in zip(row["bits"], row["boolean"]))
            text += f", BooleanMF {median(row['boolean'])} (rule no worse on {better} of {row['tables']})"
        else:
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
            f"posterior rule {row['rule']}"
        )
    for row in summary["iasg"]:
        out.append(
            f"  IASG, noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}, {row['steps']} steps: wrong after "
            f"each tenth {', '.join(map(str, row['wrong']))}  ({row['seconds']:.0f} s, "
            f"{row['cpu']:.0f} s of processor time)"
        )
    for row in summary["spread"]:
        out.append(
            f"  IASG, prior {row['prior']}, batch {row['batch']}: standard deviations {row['ratio']:.3f} of the "
            f"exact ones; means off by {row['mean_off']:.2f} of these"
        )
    for row in summary["boundaries"]:
        out.append(
            f"  Langevin 20 × 15, {row['boundary']}, step {row['step']:g}: means off by {row['mean_error']:.4f} "
            f"(± {row['noise']:.4f}), standard deviations times {row['deviation_ratio']:.3f}"
        )
    return out


def median(values: list[float]) -> str:
    """The median, without needless digits."""
    return f"{np.median(values):.1f}".removesuffix(".0")
