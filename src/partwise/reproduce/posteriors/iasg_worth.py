"""What IASG is worth: from a random start, its spread against the exact one, and Langevin steps at the boundary."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.threshold import cut
from partwise.core import State
from partwise.datasets import make_boolean
from partwise.reproduce.bars import with_progress
from partwise.reproduce.posteriors.plan import LEVELS, Plan
from partwise.samplers.iasg import IASG
from partwise.samplers.langevin import Langevin
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS, UnitPrior

#: Random starts on the table with less noise.
STARTS = 5


def draw(plan: Plan) -> dict[str, Any]:
    """Measure the three.

    Parameters
    ----------
    plan : Plan
        Sizes and steps.

    Returns
    -------
    dict
        Rows of each, with "lines".
    """
    found: dict[str, Any] = {
        "iasg": iasg(plan, plan.iasg),
        "spread": spreads(plan, plan.iasg // 10),
        "boundaries": boundaries(plan.langevin),
    }
    found["lines"] = lines(found)
    return found


def relaxed(plan: Plan, level: str, prior: UnitPrior) -> tuple[Any, RelaxedPosterior]:
    """A planted table, and its relaxed posterior at σ² = 1."""
    table = plan.tables[level]
    return table, RelaxedPosterior(table.data.astype(np.float32), prior)


def iasg(plan: Plan, steps: int) -> list[dict[str, Any]]:
    """IASG from scaled random starts, with adapted and with published steps, at the threshold that fits best."""
    return [
        iasg_run(plan, level, steps, seed, adapt)
        for level in LEVELS
        for adapt in (True, False)
        for seed in range(STARTS if adapt or level == "clean" else 1)
    ]


def iasg_run(plan: Plan, level: str, steps: int, seed: int, adapt: bool) -> dict[str, Any]:
    """IASG from one start."""
    add, drop = LEVELS[level]
    table, problem = relaxed(plan, level, UNIT_PRIORS["normal"])
    seen, rng = BitTable.of(table.data), np.random.default_rng(seed)
    kernel = IASG(paper=plan.paper, n_calibration=plan.calibration, adapt=adapt)
    state = kernel.init(problem, plan.rank, rng)
    begin, work, wrong, density = perf_counter(), process_time(), [], []
    # Cutting takes longer than hundreds of steps; its time does not count.
    pause = 0.0
    for i in with_progress(steps, f"IASG, noise {add:g}/{drop:g}"):
        state, info = kernel.step(problem, state, rng)
        if (i + 1) in (steps // 100, steps // 20) or (i + 1) % max(1, steps // 10) == 0:
            stop = process_time()
            tiles, _ = cut(seen, state.W, state.Ht)
            wrong.append((i + 1, int(((tiles.usage @ tiles.columns) != table.clean).sum())))
            density.append(info.objective)
            pause += process_time() - stop
    return {
        "noise_add": add,
        "noise_drop": drop,
        "seed": seed,
        "adapt": adapt,
        "steps": steps,
        "wrong": wrong,
        "log_posterior": density,
        "seconds": perf_counter() - begin,
        "cpu": process_time() - work - pause,
    }


def spreads(plan: Plan, steps: int) -> list[dict[str, Any]]:
    """Standard deviations of IASG's samples over those of the exact posterior, both begun at the planted factors.

    With published steps for three priors; with adapted ones at σ² = 1 and at the variance of the table's noise.
    """
    table = plan.tables["clean"]
    noise = float(np.mean(np.square(table.data.astype(float) - table.clean)))
    cases = [(name, 1.0, False) for name in ("uniform", "normal", "laplace")]
    cases += [("normal", 1.0, True), ("normal", noise, True)]
    out = []
    for name, variance, adapt in cases:
        problem = RelaxedPosterior(table.data.astype(np.float32), UNIT_PRIORS[name], variance)
        begin = {"noise": np.array(variance)}
        truth = State(table.usage.astype(float), table.components.T.astype(float), begin)
        exact = spread_of(RelaxedGibbs(sample_noise=False), problem, truth.copy(), 200, 1)
        for batch in (512, 250, 75):
            kernel = IASG(
                plan.batch(batch), paper=plan.paper, n_calibration=min(plan.calibration, steps), adapt=adapt
            )
            state = kernel.init(problem, plan.rank, np.random.default_rng(0), truth)
            found = spread_of(kernel, problem, state, steps // 2, kernel.window(problem))
            width = np.mean(exact["std"])
            row = {"prior": name, "noise": variance, "adapt": adapt, "batch": batch, "steps": steps}
            row["ratio"] = float(np.mean(found["std"]) / width)
            row["mean_off"] = float(np.mean(np.abs(found["mean"] - exact["mean"])) / width)
            if adapt and not plan.paper:
                wanted = kernel.wanted(problem, state.W, state.Ht)["wanted_W"]
                row["too_large"] = float(np.median(wanted / (state.extra or {})["step_W"]))
            out.append(row)
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


def lines(summary: dict[str, Any]) -> list[str]:
    """What was measured, as lines of text."""
    out = []
    for row in summary["iasg"]:
        wrong = ", ".join(f"{wrong:,} ({at:,})" for at, wrong in row["wrong"])
        out.append(
            f"  IASG, {way(row)}, noise {row['noise_add']:.2f}/{row['noise_drop']:.2f}, start {row['seed']}, "
            f"{row['steps']} steps: wrong (after so many) {wrong}  ({row['seconds']:.0f} s, {row['cpu']:.0f} s of "
            "processor time)"
        )
    for row in summary["spread"]:
        more = f"; the noise asks for steps {row['too_large']:,.0f} × as large" if "too_large" in row else ""
        out.append(
            f"  IASG, {way(row)}, σ² = {row['noise']:.2g}, prior {row['prior']}, batch {row['batch']}: standard "
            f"deviations {row['ratio']:.3f} of the exact ones; means off by {row['mean_off']:.2f} of these{more}"
        )
    for row in summary["boundaries"]:
        out.append(
            f"  Langevin 20 × 15, {row['boundary']}, step {row['step']:g}: means off by {row['mean_error']:.4f} "
            f"(± {row['noise']:.4f}), standard deviations times {row['deviation_ratio']:.3f}"
        )
    return out


def way(row: dict[str, Any]) -> str:
    """How the steps of a chain were chosen, in words."""
    return "adapted steps" if row["adapt"] else "published steps"
