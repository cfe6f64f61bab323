"""The bars test of Yus López (2015, section 4.1): success rates and the figures of chapter 4.

What is left open there, and what `--paper` takes:

- a bar counts as found when its cosine with a component is above 0.95, one component for each bar;
- the perturbation is Poisson noise of mean 0.02 on every entry of W after every step but the last ten;
- γ = πH = 2.4 is rounded up to 3;
- the truncation limit is raised to H for the last five steps.

`--grid` shows how much the success rates depend on these.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import linear_sum_assignment

from partwise.datasets import make_bars
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, Outcome, learn
from partwise.latent.inference import Inference
from partwise.matrix import Dense
from partwise.models import BinaryNMF
from partwise.plot import draw_curve, draw_parts, figure, save_figure

STEPS = 60
QUIET = 10
PUBLISHED = {"exact": "91 ± 5 %", "truncated": "84 ± 5 %"}


@dataclass(frozen=True)
class Run:
    """What one fit found, and every step on the way.

    Attributes
    ----------
    W : array of shape (H, n_features)
        The components.
    activation : float
        π.
    n_iter : int
        Steps made.
    history : dict
        "log_likelihood", "activation" and "components" of the start and of every step.
    """

    W: np.ndarray
    activation: float
    n_iter: int
    history: dict[str, Any]


def parts_found(components: np.ndarray, truth: np.ndarray, cosine: float = 0.95) -> int:
    """How many true parts have a learned component of their own that points the same way."""
    size = np.linalg.norm(components, axis=1)[:, None] * np.linalg.norm(truth, axis=1)
    alike = components @ truth.T / np.maximum(size, 1e-300)
    mine, theirs = linear_sum_assignment(-alike)
    return int((alike[mine, theirs] > cosine).sum())


def reproduce_bars(
    folder: Path,
    runs: Annotated[int, typer.Option(min=1, help="Number of seeded runs.")] = 100,
    paper: Annotated[
        bool, typer.Option("--paper", help="The published settings instead of the defaults.")
    ] = False,
    inference: Annotated[str, typer.Option(help="exact, truncated, or both.")] = "both",
    size: Annotated[int, typer.Option(min=2, help="Side of the image; there are twice as many bars.")] = 4,
    n_samples: Annotated[int, typer.Option("--samples", min=1, help="Images in each run.")] = 1000,
    activation: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of each bar.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the first run.")] = 0,
    grid: Annotated[
        bool, typer.Option("--grid", help="Also vary what the publication does not state.")
    ] = False,
) -> dict[str, Any]:
    """The bars test of binary NMF: how often all bars are found, and the figures of Yus López (2015)."""
    if inference not in ("exact", "truncated", "both"):
        raise ValueError(f"--inference must be exact, truncated or both; got '{inference}'.")
    inferences = ("exact", "truncated") if inference == "both" else (inference,)
    H = 2 * size
    if paper and (size, n_samples) != (4, 1000):
        raise ValueError("--paper is the published experiment; leave --size and --samples alone.")
    if H > 16 and "exact" in inferences:
        inferences = ("truncated",)
    table, kept = [], {}
    for name in inferences:
        outcomes = []
        for i in with_progress(runs, f"{name} bars"):
            bars = make_bars(n_samples, size, activation=activation, random_state=seed + i)
            outcomes.append((bars, published_run(bars, name, i) if paper else default_run(bars, name, i)))
        kept[name] = outcomes
        table.append({"inference": name, **rates(outcomes, activation)})
    bars = kept[inferences[0]][0][0]
    truth = {rule: from_truth(bars, rule) for rule in ("em", "least-squares")}
    summary: dict[str, Any] = {
        "settings": "published" if paper else "default",
        "runs": runs,
        "table": table,
        "from_truth": {rule: trace.tolist() for rule, trace in truth.items()},
        "fall": least_squares_fall(bars),
    }
    if grid:
        summary["grid"] = settings_grid(runs, seed)
    summary["lines"] = lines(summary, paper and activation == 0.3)
    with uninterrupted():
        draw(folder / "bars.png", kept, truth, size)
        write_json(folder / "bars.json", summary)
    return summary


def with_progress(total: int, description: str) -> Iterator[int]:
    """0 … total − 1, with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import track

    yield from track(range(total), description, console=Console(stderr=True), transient=True)


def default_run(bars: Any, inference: str, seed: int) -> Run:
    """BinaryNMF with its default settings."""
    model = BinaryNMF(
        len(bars.components), inference=inference, random_state=seed, record_components=True
    ).fit(bars.data)
    return Run(model.components_, float(model.activation_), model.n_iter_, model.history_)


def published_run(
    bars: Any, inference: str, seed: int, noise: float = 0.02, gamma: int = 3, widen: int = 5
) -> Run:
    """Uniform start, random π, least squares, perturbation, 60 steps; π plain, so that it needs the widening."""
    rng = np.random.default_rng(seed)
    H, D = bars.components.shape
    exact = inference == "exact"
    method = ExpectationMaximization(
        Inference(exact, None if exact else gamma, None if exact else "all"),
        update="least-squares",
        correct=False,
        perturb=(noise,) * (STEPS - QUIET),
        widen=0 if exact else widen,
        max_iter=STEPS,
        tol=0.0,
        record_components=True,
    )
    found = from_start(bars, method, rng.random((H, D)), rng.random(), rng)
    return Run(found.W, float(found.activation.mean()), found.n_iter, found.history)


def from_start(
    bars: Any, method: ExpectationMaximization, W: np.ndarray, activation: float, rng: np.random.Generator
) -> Outcome:
    """EM from these components, and one π for all."""
    state = method.init(W, np.full(len(W), activation))
    return learn(Counts(Dense.of(bars.data)), method, state, rng)


def from_truth(bars: Any, rule: str, steps: int = 20) -> np.ndarray:
    """The log-likelihood from a start at the true parameters (Yus López 2015, figure 4.4)."""
    H = len(bars.components)
    inference = Inference()
    if H > 12:
        # γ is held: log-likelihoods over different sets of states cannot be compared.
        gamma = Inference(exact=False).gamma(np.full(H, bars.latent.mean()))
        inference = Inference(exact=False, max_active=gamma)
    method = ExpectationMaximization(inference, update=rule, max_iter=steps, tol=0.0)
    found = from_start(bars, method, bars.components, bars.latent.mean(), np.random.default_rng(0))
    return np.array(found.history["log_likelihood"])


def least_squares_fall(bars: Any) -> dict[str, float]:
    """Where the log-likelihood falls in a least-squares step from the truth, with the bits as they were drawn.

    The step averages counts without dividing by their variance, so that the noise of bright pixels moves the rates
    of dark ones, and clipping at zero keeps what moved up: pixels that are never lit get a small rate, which every
    count of zero there pays for.
    """
    method = ExpectationMaximization(
        Inference(exact=len(bars.components) <= 12),
        update="least-squares",
        max_iter=1,
        tol=0.0,
        record_components=True,
    )
    found = from_start(bars, method, bars.components, bars.latent.mean(), np.random.default_rng(0))
    W = np.asarray(found.history["components"][1])
    before, after = (bars.latent @ one for one in (bars.components, W))
    y = bars.data
    # Where the true rate is zero the count is zero too, and the term is the rate alone.
    seen = (y > 0) & (before > 0) & (after > 0)
    ratio = np.divide(after, before, out=np.ones_like(before, dtype=float), where=seen)
    change = y * np.log(ratio) - (after - before)
    return {
        "zero_counts": float(change[y == 0].sum()),
        "positive_counts": float(change[y > 0].sum()),
        "dark_rate": float(W[bars.components == 0].mean()),
    }


def rates(outcomes: Sequence[tuple[Any, Run]], activation: float) -> dict[str, Any]:
    """Share of runs that found all parts, and the mean of π."""
    found = np.array([parts_found(run.W, bars.components) for bars, run in outcomes])
    pi = np.array([run.activation for _, run in outcomes])
    drawn = np.array([bars.latent.mean() for bars, _ in outcomes])
    H = len(outcomes[0][0].components)
    success = float((found == H).mean())
    return {
        "success": success,
        "error": float(np.sqrt(success * (1 - success) / len(found))),
        "found": found.tolist(),
        "activation": float(pi.mean()),
        "activation_bias": float((pi - drawn).mean()),
        "activation_spread": float((pi - drawn).std()),
        "truth": activation,
        "n_iter": float(np.mean([run.n_iter for _, run in outcomes])),
    }


def settings_grid(runs: int, seed: int) -> list[dict[str, Any]]:
    """Success of the published experiment over the settings that Yus López (2015) does not state."""
    rows = []
    cells = [("exact", noise, 3, 0) for noise in (0.0, 0.02, 0.1, 0.3, 1.0)]
    cells += [("truncated", noise, gamma, 5) for noise in (0.02, 0.1, 0.3) for gamma in (2, 3)]
    cells += [("truncated", 0.02, 3, widen) for widen in (1, 15)]
    for inference, noise, gamma, widen in cells:
        done = []
        for i in with_progress(runs, f"{inference}, noise {noise:g}"):
            bars = make_bars(random_state=seed + i)
            done.append((bars, published_run(bars, inference, i, noise, gamma, widen)))
        row = rates(done, 0.3)
        rows.append({"inference": inference, "noise": noise, "gamma": gamma, "widen": widen, **row})
    return rows


def lines(summary: dict[str, Any], published: bool) -> list[str]:
    """The summary as lines of text."""
    out = [f"bars test, {summary['settings']} settings, {summary['runs']} runs:"]
    for row in summary["table"]:
        rate = f"   (Yus López 2015: {PUBLISHED[row['inference']]})" if published else ""
        out.append(
            f"  {row['inference']:10s} all bars in {100 * row['success']:.0f} ± {100 * row['error']:.0f} % of runs"
            f"{rate}; "
            f"π = {row['activation']:.3f}, {row['activation_bias']:+.4f} against the bars drawn; "
            f"{row['n_iter']:.0f} steps"
        )
    for rule, trace in summary["from_truth"].items():
        steps = np.diff(trace)
        out.append(
            f"  started at the truth, '{rule}': log-likelihood {trace[0]:.1f} → {trace[-1]:.1f}, "
            f"largest fall of a step {max(0.0, float(-steps.min())):.3g}"
        )
    fall = summary["fall"]
    out.append(
        f"  the first least-squares step from the truth changes it by {fall['zero_counts']:+.0f} in pixels with "
        f"count 0 and by {fall['positive_counts']:+.0f} in the others; dark pixels get a rate of "
        f"{fall['dark_rate']:.3f}"
    )
    for row in summary.get("grid", ()):
        out.append(
            f"  grid: {row['inference']:10s} noise {row['noise']:<4g} γ {row['gamma']} widened {row['widen']:2d}: "
            f"{100 * row['success']:3.0f} %  π {row['activation']:.3f}"
        )
    return out


def draw(path: Path, kept: dict[str, Any], truth: dict[str, np.ndarray], size: int) -> None:
    """The figures of chapter 4 of Yus López (2015) on one page."""
    warnings.filterwarnings("ignore", message="No artists with labels")
    first = next(iter(kept.values()))
    bars, run = first[0]
    shape = (size, size)
    mosaic = [
        ["data", "bars", "learned", "failed"],
        ["evolution", "evolution", "evolution", "evolution"],
        ["traces", "traces", "pi", "truth"],
    ]
    drawing, axes = figure(mosaic, size=(12.0, 9.0))
    draw_parts(axes["data"], bars.data[:12], shape, "samples (4.1)", normalise=True)
    draw_parts(axes["bars"], bars.components, shape, "bars (4.2)")
    draw_parts(axes["learned"], run.W, shape, "learned (4.5)")
    runs = [(b, r) for outcomes in kept.values() for b, r in outcomes]
    H = len(bars.components)
    failed = [r for b, r in runs if parts_found(r.W, b.components) < H]
    if failed:
        draw_parts(axes["failed"], failed[0].W, shape, "a local optimum (4.5b)")
    else:
        axes["failed"].set_axis_off()
        axes["failed"].text(0.5, 0.5, "every run found\nall bars", ha="center", va="center")
    steps = run.history["components"]
    shown = np.unique(np.geomspace(1, len(steps), 6).astype(int)) - 1  # 0 is the start
    evolution = np.concatenate([steps[i] for i in shown])
    names = ", ".join(str(i) for i in shown)
    draw_parts(axes["evolution"], evolution, shape, f"W after steps {names}, one line each (4.6)", columns=H)
    for colour, (label, chosen) in enumerate(example_runs(runs, H)):
        by_step(axes["traces"], chosen.history["log_likelihood"], label, colour, "log-likelihood (4.3)")
    for colour, (name, outcomes) in enumerate(kept.items()):
        shared = [np.mean(pi) for pi in outcomes[0][1].history["activation"]]
        by_step(axes["pi"], shared, name, colour, "π (4.7)")
    axes["pi"].axhline(bars.latent.mean(), lw=0.8, ls=":", color="0.4")
    for colour, (rule, trace) in enumerate(truth.items()):
        by_step(axes["truth"], trace, rule, colour, "started at the truth (4.4)")
    for name in ("traces", "pi", "truth"):
        axes[name].legend()
    save_figure(drawing, path)


def by_step(axes: Any, values: Any, label: str, colour: int, title: str) -> None:
    """One quantity: at the start, and after every step."""
    steps = np.arange(len(values))
    draw_curve(axes, steps, values, label=label, colour=colour, title=title, xlabel="step")


def example_runs(runs: Sequence[tuple[Any, Run]], H: int) -> list[tuple[str, Run]]:
    """The quickest and the slowest run that found all parts, and one that ended in a local optimum."""

    def steps_to_end(run: Run) -> int:
        L = np.array(run.history["log_likelihood"])
        return int(np.argmax(L[-1] - 0.02 * (L.max() - L.min()) <= L))

    good = sorted((r for b, r in runs if parts_found(r.W, b.components) == H), key=steps_to_end)
    out = []
    if good:
        out = [("fast", good[0]), ("slowest", good[-1])] if len(good) > 1 else [("fast", good[0])]
    out += [("local optimum", r) for b, r in runs if parts_found(r.W, b.components) < H][:1]
    return out
