"""Figures 4.1 to 4.7 of Yus López (2015) on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.plot import draw_curve, draw_parts, figure
from partwise.reproduce.bars_runs import Run, parts_found, true_likelihood

_MOSAIC = [
    ["data", "bars", "learned", "failed"],
    ["fast", "slow", "stuck", "truth"],
    ["evolution", "evolution", "exact", "truncated"],
]


def bars_page(kept: dict[str, Any], truth: dict[str, np.ndarray], size: int) -> Any:
    """The page.

    Parameters
    ----------
    kept : dict
        Inference → (bars, run) of all runs.
    truth : dict
        Rule → log-likelihoods from a start at the truth.
    size : int
        Side of the image.

    Returns
    -------
    matplotlib Figure
        Samples, bars, learned parts, their evolution, log-likelihoods and π.
    """
    drawing, axes = figure(_MOSAIC, size=(14.0, 10.0))
    shape = (size, size)
    # The late rise of figure 4.3 belongs to truncated runs.
    examples = example_runs(kept.get("truncated") or kept["exact"], 2 * size)
    bars, run = examples["fast"] or next(iter(kept.values()))[0]
    draw_parts(axes["data"], bars.data[:12], shape, "samples (4.1)", normalise=True)
    draw_parts(axes["bars"], bars.components, shape, "bars (4.2)")
    draw_parts(axes["learned"], run.W, shape, "learned, all bars found (4.5a)")
    stuck = examples["stuck"] or next(
        (found for outcomes in kept.values() if (found := example_runs(outcomes, 2 * size)["stuck"])), None
    )
    if stuck is None:
        say(axes["failed"], "every run found\nall bars (4.5b)")
    else:
        draw_parts(axes["failed"], stuck[1].W, shape, "learned, a local optimum (4.5b)")
    titles = {
        "fast": "converges fast (4.3a)",
        "slow": "is stuck for a while (4.3b)",
        "stuck": "stays stuck (4.3c)",
    }
    for name, title in titles.items():
        chosen = stuck if name == "stuck" else examples[name]
        if chosen is None:
            say(axes[name], f"no such run ({title[-5:-1]})")
            continue
        by_step(axes[name], chosen[1].history["log_likelihood"], "learned", 0, title)
        axes[name].axhline(true_likelihood(chosen[0]), lw=0.9, ls="--", color="0.4", label="truth")
        axes[name].set_ylabel("log-likelihood")
        axes[name].legend(loc="lower right")
    for colour, (rule, trace) in enumerate(truth.items()):
        by_step(axes["truth"], trace, rule, colour, "started at the truth (4.4)")
    axes["truth"].legend()
    draw_evolution(axes["evolution"], run, shape, 2 * size)
    for name, title in (("exact", "π, exact (4.7a)"), ("truncated", "π, truncated (4.7b)")):
        draw_activation(axes[name], kept.get(name), title, 2 * size)
    return drawing


def draw_evolution(axes: Any, run: Run, shape: tuple[int, int], H: int) -> None:
    """Components after some of the steps, a line for each."""
    steps = run.history["components"]
    shown = np.unique(np.geomspace(1, len(steps), 6).astype(int)) - 1  # 0 is the start
    names = ", ".join(str(i) for i in shown)
    evolution = np.concatenate([steps[i] for i in shown])
    draw_parts(axes, evolution, shape, f"W after steps {names}, a line each (4.6)", columns=H)


def draw_activation(axes: Any, outcomes: Any, title: str, H: int) -> None:
    """π of a run that found all bars, by step."""
    if not outcomes:
        say(axes, f"not run ({title[-5:-1]})")
        return
    bars, run = example_runs(outcomes, H)["fast"] or outcomes[0]
    by_step(axes, [np.mean(pi) for pi in run.history["activation"]], "learned", 0, title)
    axes.axhline(bars.latent.mean(), lw=0.9, ls="--", color="0.4", label="share of bars drawn")
    axes.set_ylim(0.0, 1.0)
    axes.legend()


def say(axes: Any, text: str) -> None:
    """Words where there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center")


def by_step(axes: Any, values: Any, label: str | None, colour: int, title: str) -> None:
    """One quantity: at the start, and after every step."""
    steps = np.arange(len(values))
    draw_curve(axes, steps, values, label=label, colour=colour, title=title, xlabel="step")


def example_runs(runs: Sequence[tuple[Any, Run]], H: int) -> dict[str, tuple[Any, Run] | None]:
    """The quickest and the slowest run that found all parts, and one that ended in a local optimum."""

    def steps_to_end(one: tuple[Any, Run]) -> int:
        L = np.array(one[1].history["log_likelihood"])
        # Widening changes what the log-likelihood is over, so the last steps do not count.
        L = L[: max(2, len(L) - 15)]
        return int(np.argmax(L[-1] - 0.02 * (L.max() - L.min()) <= L))

    good = sorted((one for one in runs if parts_found(one[1].W, one[0].components) == H), key=steps_to_end)
    stuck = [one for one in runs if parts_found(one[1].W, one[0].components) < H]
    return {
        "fast": good[0] if good else None,
        "slow": good[-1] if len(good) > 1 else None,
        "stuck": stuck[0] if stuck else None,
    }
