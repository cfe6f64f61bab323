"""What failed, and what does not: U-shaped and flat priors (4.2.3, 4.2.1), remedies at the boundary (4.2.6)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from partwise.core import State
from partwise.datasets import make_boolean
from partwise.plot import SERIES, figure, save_figure
from partwise.plot.style import heading, title
from partwise.reproduce.posteriors.chain_run import ChainRun, run_chain
from partwise.reproduce.posteriors.plan import Plan
from partwise.reproduce.posteriors.thresholds import thresholds
from partwise.samplers.alignment import match
from partwise.samplers.iasg import IASG
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS

#: Sides of the tables on which steps are tried that may leave [0, 1].
SIDES = (2, 4, 8, 16, 32, 64)
#: Step of these, and the scale of the logit.
STEP, LOGIT = 2e-3, 3e-2
#: Variance there: near that of the data, so that exact draws have ones near 1. With σ² = 1 they have none.
NOISE = 0.1


def draw(plan: Plan) -> dict[str, Any]:
    """Draw one figure for each failure.

    Parameters
    ----------
    plan : Plan
        Tables, chains and folder.

    Returns
    -------
    dict
        What was measured, with "lines".
    """
    found = {"beta": beta(plan), "cycling": cycling(plan), "remedies": remedies(plan)}
    ours = found["cycling"]
    lines = [
        "  beta(½, ½) prior, share of means below 0.05 (planted: "
        f"{found['beta']['planted']:.2f}), entries wrong at the best threshold: "
        + "; ".join(
            f"{name} {row['zeros']:.2f}, {row['wrong']:,}" for name, row in found["beta"]["rows"].items()
        ),
        f"  flat prior, 12 × 12, 3 tiles, {ours['steps']:,} steps: times the order of the tiles changes, and "
        "range of "
        "mean(Y) − mean(X): "
        + "; ".join(f"{name} {row['changes']}, {row['range']:.2f}" for name, row in ours["rows"].items()),
        "  rejection of steps that leave [0, 1]: accepted "
        + ", ".join(f"{100 * a:.0f} % ({n:,} entries)" for n, a in found["remedies"]["accepted"]),
        "  [−1, 1]: entries that a step carries out of it: "
        f"{100 * found['remedies']['out_high']:.1f} % above 1, {100 * found['remedies']['out_low']:.1f} % below −1; "
        f"out of [0, 1] {100 * found['remedies']['out_zero']:.1f} % below 0",
        "  sigmoid: mean |logit| after all steps "
        f"{found['remedies']['plain']:.1f} without the Jacobian, {found['remedies']['jacobian']:.1f} with it",
    ]
    return {**found, "lines": lines}


def beta(plan: Plan) -> dict[str, Any]:
    """Means under a Beta(½, ½) prior: IASG from both starts, and the exact sampler from the optimum."""
    table = plan.tables["clean"]
    rows, drawn = {}, {}
    cases = {
        "IASG from random": ("random", 512, plan.steps),
        "IASG from the optimum": ("optimum", 512, plan.steps),
        "IASG, batch 75": ("optimum", 75, plan.steps),
        "exact sampler": ("optimum", 0, plan.sweeps),
    }
    for name, (start, batch, steps) in cases.items():
        one = run_chain(plan, ChainRun("clean", "beta", start, plan.rank, batch), steps)
        drawn[name] = np.concatenate([one.W_mean.ravel(), one.Ht_mean.ravel()])
        rows[name] = {
            "zeros": float((drawn[name] < 0.05).mean()),
            "wrong": thresholds(one, table.clean)["best"],
        }
    drawing, axes = figure([list(cases)], size=(12.0, 3.0))
    for name, values in drawn.items():
        axes[name].hist(values, bins=50, range=(0.0, 1.0), color=SERIES[0], log=True)
        title(axes[name], f"{name}: {100 * rows[name]['zeros']:.0f} % near 0")
        axes[name].set_xlabel("mean")
    heading(drawing, "4.2.3  means of both factors under a Beta(½, ½) prior, clean data")
    save_figure(drawing, plan.folder / "figure_beta_prior.png")
    planted = 1.0 - np.concatenate([table.usage.ravel(), table.components.ravel()]).mean()
    return {"rows": rows, "planted": float(planted)}


def cycling(plan: Plan) -> dict[str, Any]:
    """A small table under a flat and a normal prior: imbalance of the factors, and changes of their order."""
    table = make_boolean(12, 12, 3, 0.3, random_state=0)
    steps = min(plan.steps, 20_000)
    drawing, axes = figure(
        [["uniform IASG", "normal IASG"], ["uniform exact", "normal exact"]], size=(10.0, 5.0)
    )
    rows = {}
    for prior in ("uniform", "normal"):
        problem = RelaxedPosterior(table.data.astype(float), UNIT_PRIORS[prior])
        for name, kernel in (("IASG", IASG(n_calibration=200, adapt=False)), ("exact", RelaxedGibbs())):
            seen, changes = followed(problem, kernel, table, steps)
            place = axes[f"{prior} {name}"]
            place.plot(seen[:, 0], color=SERIES[0], lw=0.7, label="mean of X")
            place.plot(seen[:, 1], color=SERIES[1], lw=0.7, label="mean of Y")
            title(place, f"{prior} prior, {name}: order of tiles changes {changes} times")
            place.set_ylim(0.0, 1.0)
            gap = seen[:, 1] - seen[:, 0]
            rows[f"{prior}, {name}"] = {"changes": changes, "range": float(gap.max() - gap.min())}
    axes["uniform IASG"].legend(frameon=False, fontsize=8)
    heading(drawing, "4.2.1  12 × 12, 3 tiles: balance of the factors along the chain")
    save_figure(drawing, plan.folder / "figure_flat_prior.png")
    return {"steps": steps, "rows": rows}


def followed(problem: RelaxedPosterior, kernel: Any, table: Any, steps: int) -> tuple[np.ndarray, int]:
    """Mean entries of X and Y along a chain from the planted factors, and how often the order of tiles changes."""
    rng = np.random.default_rng(0)
    planted = table.usage.astype(float), table.components.T.astype(float)
    state = State(planted[0].copy(), planted[1].copy(), {"noise": np.array(1.0)})
    if isinstance(kernel, IASG):
        state = kernel.init(problem, 3, rng, state)
    every = max(1, steps // 1000)
    seen, orders = [], []
    for i in range(steps):
        state, _ = kernel.step(problem, state, rng)
        if i % every == 0:
            seen.append((state.Ht.mean(), state.W.mean()))
            orders.append(tuple(match(planted, (state.W, state.Ht))))
    changes = sum(a != b for a, b in pairwise(orders))
    return np.array(seen), changes


def remedies(plan: Plan) -> dict[str, Any]:
    """Steps rejected where they leave [0, 1]; the interval [−1, 1]; a sigmoid, without and with its Jacobian."""
    accepted = [acceptance(side) for side in SIDES]
    out = leaving()
    steps = min(plan.steps, 20_000)
    drift = {"plain": on_logits(False, steps), "jacobian": on_logits(True, steps)}
    drawing, axes = figure([["reject", "shift", "sigmoid"]], size=(12.0, 3.4))
    sizes, shares = np.array(accepted).T
    axes["reject"].semilogx(sizes, shares, "o-", color=SERIES[0], label="Langevin step, rejected outside")
    axes["reject"].semilogx(sizes, np.ones(len(sizes)), "--", color=SERIES[2], label="Gibbs sampling")
    axes["reject"].set_xlabel("entries of both factors")
    axes["reject"].legend(frameon=False, fontsize=8)
    title(axes["reject"], "share of steps accepted")
    names = ["below 0\nof [0, 1]", "below −1\nof [−1, 1]", "above 1\nof both"]
    axes["shift"].bar(names, [out["out_zero"], out["out_low"], out["out_high"]], color=SERIES[1])
    title(axes["shift"], "share of entries a step carries outside")
    for i, (name, label) in enumerate((("plain", "without the Jacobian"), ("jacobian", "with the Jacobian"))):
        axes["sigmoid"].plot(
            np.linspace(0, steps, len(drift[name])), drift[name], color=SERIES[i], label=label
        )
    axes["sigmoid"].set_xlabel("step")
    axes["sigmoid"].legend(frameon=False, fontsize=8)
    title(axes["sigmoid"], "sigmoid: mean |logit|")
    heading(drawing, "4.2.6  remedies at the boundary that fail, and what mends the last")
    save_figure(drawing, plan.folder / "figure_remedies.png")
    return {"accepted": accepted, **out, "plain": drift["plain"][-1], "jacobian": drift["jacobian"][-1]}


def drawn_problem(side: int, sweeps: int = 60) -> tuple[RelaxedPosterior, State]:
    """A planted square table, and a state from its exact posterior."""
    rank = max(1, min(3, side // 4))
    table = make_boolean(side, side, rank, 0.3, random_state=0)
    problem, kernel, rng = (
        RelaxedPosterior(table.data.astype(float), UNIT_PRIORS["normal"], NOISE),
        RelaxedGibbs(),
        np.random.default_rng(0),
    )
    state = problem.start(rank, rng)
    for _ in range(sweeps):
        state, _ = kernel.step(problem, state, rng)
    return problem, state


def moved(problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> np.ndarray:
    """All entries after a Langevin step of both factors, wherever it leads."""
    parts = []
    for A, B, one in ((state.W, state.Ht, problem), (state.Ht, state.W, problem.T)):
        noise = np.sqrt(2.0 * STEP) * rng.standard_normal(A.shape)
        parts.append((A + STEP * one.gradient(A, B) + noise).ravel())
    return np.concatenate(parts)


def acceptance(side: int, tries: int = 200) -> tuple[int, float]:
    """Number of entries, and the share of steps from an exact draw that stay inside [0, 1]."""
    problem, state = drawn_problem(side)
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(tries):
        after = moved(problem, state, rng)
        inside += bool(((after >= 0.0) & (after <= 1.0)).all())
    return state.W.size + state.Ht.size, inside / tries


def leaving(tries: int = 50) -> dict[str, float]:
    """Share of entries that a step from an exact draw carries below 0, below −1 and above 1."""
    problem, state = drawn_problem(32)
    rng = np.random.default_rng(2)
    after = np.concatenate([moved(problem, state, rng) for _ in range(tries)])
    return {
        "out_zero": float((after < 0.0).mean()),
        "out_low": float((after < -1.0).mean()),
        "out_high": float((after > 1.0).mean()),
    }


def on_logits(jacobian: bool, steps: int) -> list[float]:
    """Mean |logit| along Langevin steps of logits, from an exact draw; without the Jacobian it has no bound."""
    problem, state = drawn_problem(16)
    rng = np.random.default_rng(3)
    Z = [np.log(A / (1.0 - A)) for A in (np.clip(state.W, 1e-6, 1 - 1e-6), np.clip(state.Ht, 1e-6, 1 - 1e-6))]
    seen, every = [], max(1, steps // 300)
    for i in range(steps):
        for side in (0, 1):
            A, B = (1.0 / (1.0 + np.exp(-Z[s])) for s in (side, 1 - side))
            G = (problem if side == 0 else problem.T).gradient(A, B) * A * (1.0 - A)
            if jacobian:
                G = G + 1.0 - 2.0 * A
            Z[side] = Z[side] + LOGIT * G + np.sqrt(2.0 * LOGIT) * rng.standard_normal(A.shape)
        if i % every == 0:
            seen.append(float(np.mean([np.abs(z).mean() for z in Z])))
    return seen
