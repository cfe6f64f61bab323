"""Figures 2.5, 2.6, 2.7 and 3.1: the proximal operator, rejection sampling, a Langevin path, the priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.boolean.palm import prox
from partwise.plot import INK, SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.plan import Plan
from partwise.samplers.unit_priors import UNIT_PRIORS

#: Draws of the rejection sampler, steps of the Langevin path, and their size.
PROPOSALS, PATH, STEP = 20_000, 400, 0.05
#: Priors of the thesis by their names in figure 3.1.
PRIORS = {"uniform": "U(0, 1)", "normal": "Normal(0, 1)", "laplace": "Laplace(0, 2)", "beta": "Beta(½, ½)"}


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the figures.

    Parameters
    ----------
    plan : Plan
        The folder; sizes do not matter here.

    Returns
    -------
    dict
        The acceptance rate of rejection sampling and errors of both samplers, with "lines".
    """
    draw_operator(plan)
    found: dict[str, Any] = {**draw_rejection(plan), **draw_path(plan)}
    draw_priors(plan)
    found["lines"] = [
        f"  2.6 rejection sampling: {100 * found['accepted']:.0f} % of the proposals are accepted; mean off by "
        f"{found['rejection_off']:.3f} of the standard deviation",
        f"  2.7 Langevin path of {PATH} steps: after the way in, mean off by {found['path_off']:.2f} standard "
        f"deviations, spread {found['path_spread']:.2f} of the exact one (steps are correlated)",
    ]
    return found


def draw_operator(plan: Plan) -> None:
    """Figure 2.5: the proximal operator (2.13) and the penalty that it belongs to."""
    x = np.linspace(-0.25, 1.25, 601)
    drawing, axes = figure([["operator", "penalty"]], size=(8.5, 3.4))
    axes["operator"].plot(x, x, color=INK, lw=0.8, ls=":", label="no change")
    for i, rho in enumerate((0.05, 0.1, 0.2)):
        axes["operator"].plot(x, prox(x, rho), color=SERIES[i], label=f"ρ = {rho:g}")
        inside = np.linspace(0.0, 1.0, 301)
        axes["penalty"].plot(inside, 2.0 * rho * np.minimum(inside, 1.0 - inside), color=SERIES[i])
    title(axes["operator"], "2.5  proximal operator of PAL-Tiling")
    title(axes["penalty"], "the penalty it belongs to, infinite outside [0, 1]")
    axes["operator"].legend(frameon=False)
    for place in axes.values():
        place.set_xlabel("x")
    save_figure(drawing, plan.folder / "figure_2_5.png")


def density(x: np.ndarray) -> np.ndarray:
    """The unnormalised density of figure 2.6: two normal modes."""
    return np.asarray(np.exp(-0.5 * ((x + 1.0) / 0.6) ** 2) + 0.6 * np.exp(-0.5 * ((x - 1.4) / 0.5) ** 2))


def draw_rejection(plan: Plan) -> dict[str, float]:
    """Figure 2.6: proposals from a normal density above the target (algorithm 2.1), and what was accepted."""
    rng, scale = np.random.default_rng(0), 1.8
    x = np.linspace(-5.0, 5.0, 2001)

    def envelope(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * (at / scale) ** 2))

    bound = float((density(x) / envelope(x)).max()) * 1.02
    proposed = scale * rng.standard_normal(PROPOSALS)
    height = rng.random(PROPOSALS) * bound * envelope(proposed)
    kept = height < density(proposed)
    area = float(np.trapezoid(density(x), x))
    mean = float(np.trapezoid(x * density(x), x)) / area
    spread = float(np.sqrt(np.trapezoid((x - mean) ** 2 * density(x), x) / area))
    drawing, axes = figure([["how", "what"]], size=(9.5, 3.6))
    axes["how"].plot(x, bound * envelope(x), color=INK, label="M q(x)")
    axes["how"].plot(x, density(x), color=SERIES[0], label="Z p(x)")
    few = slice(0, 600)
    for chosen, colour, label in ((kept, SERIES[2], "accepted"), (~kept, SERIES[1], "rejected")):
        here = chosen[few]
        axes["how"].plot(proposed[few][here], height[few][here], ".", ms=3, color=colour, label=label)
    axes["how"].legend(frameon=False, fontsize=8)
    title(axes["how"], "2.6  rejection sampling")
    axes["what"].hist(
        proposed[kept], bins=80, density=True, color=SERIES[2], alpha=0.7, label="accepted draws"
    )
    axes["what"].plot(x, density(x) / area, color=INK, lw=1.2, label="exact density")
    axes["what"].legend(frameon=False, fontsize=8)
    title(axes["what"], "accepted draws are exact")
    save_figure(drawing, plan.folder / "figure_2_6.png")
    off = abs(float(proposed[kept].mean()) - mean) / spread
    return {"accepted": float(kept.mean()), "rejection_off": off}


def draw_path(plan: Plan) -> dict[str, float]:
    """Figure 2.7: a discretised Langevin diffusion (2.33, with the step on its drift) on a normal distribution."""
    rng = np.random.default_rng(1)
    path = np.empty((PATH, 2))
    path[0] = 0.5, -5.0
    for i in range(1, PATH):
        noise = np.sqrt(STEP) * rng.standard_normal(2)
        path[i] = path[i - 1] - 0.5 * STEP * path[i - 1] + noise
    exact = rng.standard_normal((PATH, 2))
    drawing, axes = figure([["path", "exact"]], size=(9.0, 4.4))
    side = np.linspace(-5.5, 3.5, 120)
    grid = np.exp(-0.5 * (side[:, None] ** 2 + np.linspace(-3.5, 3.5, 120)[None] ** 2))
    for place in axes.values():
        place.imshow(
            grid, extent=(-3.5, 3.5, -5.5, 3.5), origin="lower", cmap="Greys", alpha=0.7, aspect="auto"
        )
        place.grid(False)
    arrows = np.stack(np.meshgrid(np.linspace(-3, 3, 9), np.linspace(-5, 3, 11)))
    axes["path"].quiver(*arrows, *(-arrows), color=SERIES[0], alpha=0.6, width=0.003)
    axes["path"].plot(*path.T, color="#b5332e", lw=0.8)
    axes["path"].plot(*path[0], "o", color="#b5332e", ms=5, label="start")
    axes["path"].legend(frameon=False)
    title(axes["path"], "2.7  Langevin path and gradients")
    axes["exact"].plot(*exact.T, ".", ms=4, color=SERIES[2])
    title(axes["exact"], "as many exact draws")
    save_figure(drawing, plan.folder / "figure_2_7.png")
    late = path[PATH // 3 :]
    return {
        "path_off": float(np.abs(late.mean(axis=0)).mean()),
        "path_spread": float(late.std(axis=0).mean()),
    }


def draw_priors(plan: Plan) -> None:
    """Figure 3.1: prior densities on [0, 1]; beside them, exact draws."""
    rng, x = np.random.default_rng(0), np.linspace(0.002, 0.998, 500)
    names = list(PRIORS)
    drawing, axes = figure([names], size=(11.0, 3.0))
    for i, name in enumerate(names):
        prior = UNIT_PRIORS[name]
        place = axes[name]
        place.hist(
            prior.sample((20_000,), rng), bins=50, range=(0, 1), density=True, color=SERIES[i], alpha=0.4
        )
        place.plot(x, np.exp(prior.log_kernel(x) - prior.log_constant), color=SERIES[i])
        place.set_ylim(0.0, 4.0)
        title(place, ("3.1  " if i == 0 else "") + PRIORS[name])
    save_figure(drawing, plan.folder / "figure_3_1.png")
