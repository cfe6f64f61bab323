"""Open question 1: IASG on all of PAL-Tiling, whose other objectives are only locally Lipschitz.

The relaxed description length of Primp (Hess, Morik & Piatkowski 2017), F = μ/2 ‖D − Y Xᵀ‖² + ½ G, is no quadratic
polynomial, so the derivation of the step (2.34) does not hold. Its gradient by one factor has a modulus of Lipschitz
that depends on where the other factor stands; a step of its inverse, computed anew at every step, needs no
calibration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partwise.boolean.palm import RelaxedProblem
from partwise.boolean.primp import primp_problem
from partwise.core import Info, State
from partwise.plot import INK, SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.chain_run import Found
from partwise.reproduce.posteriors.plan import Plan
from partwise.reproduce.posteriors.thresholds import thresholds
from partwise.samplers.iasg import IASG
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.truncated_normal import truncated_normal


@dataclass(frozen=True)
class TermPrior:
    """What an objective of PAL-Tiling has of one factor alone, as a log-prior."""

    term: Any

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Gradient of the log-prior."""
        return np.asarray(-self.term.gradient(A) + 0.0 * A)


@dataclass(frozen=True)
class TilingPosterior:
    """exp(−F) for an objective F of PAL-Tiling, as samplers of relaxed factors ask for it.

    Parameters
    ----------
    relaxed : RelaxedProblem
        The objective, without Λ.
    """

    relaxed: RelaxedProblem
    noise: float = 1.0
    observed: None = None

    @property
    def X(self) -> np.ndarray:
        """The data."""
        return self.relaxed.D

    @property
    def T(self) -> TilingPosterior:
        """The same for the other factor."""
        return replace(self, relaxed=self.relaxed.T)

    @property
    def prior(self) -> TermPrior:
        """What depends on the first factor alone."""
        return TermPrior(self.relaxed.on_W)

    def log_density(self, W: np.ndarray, Ht: np.ndarray, noise: float | None = None) -> float:
        """−F."""
        return -self.relaxed.objective(W, Ht)

    def slope(self, W: np.ndarray, Ht: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """Gradient of the loss by W, each column of the data counted a number of times."""
        counted = Ht if times is None else Ht * times[:, None]
        return np.asarray(self.relaxed.scale * (self.X @ counted - W @ (Ht.T @ counted)))

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """Gradient of −F by W."""
        return -self.relaxed.gradient(W, Ht)

    def start(self, rank: int, rng: np.random.Generator, size: float = 1.0) -> State:
        """Factors at random, as for relaxed posteriors."""
        return RelaxedPosterior(self.X).start(rank, rng, size)


@dataclass(frozen=True)
class ModulusIASG(IASG):
    """IASG whose step is the inverse of the modulus of the gradient, where the chain stands.

    A minibatch of S of N rows gets the share S/N of it, as in (2.34).
    """

    adapt: bool = False

    def step(self, problem: Any, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One step of `IASG` with these steps.

        Parameters
        ----------
        problem : TilingPosterior
            The objective.
        state : State
            Where the chain stands.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        tuple
            The next state, and its log-density.
        """
        (n, m), (rows, columns) = problem.X.shape, self.batches(problem)
        extra = dict(state.extra or {})
        extra["step_W"] = columns / m / problem.relaxed.modulus(state.W, state.Ht)
        extra["step_Ht"] = rows / n / problem.relaxed.T.modulus(state.Ht, state.W)
        return super().step(problem, replace(state, extra=extra), rng)

    def noise_scale(self, problem: Any, rank: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Nothing to calibrate."""
        return np.zeros(1), np.zeros(1)


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the log-density and the wrong entries with both steps; the exact sampler beside them.

    Parameters
    ----------
    plan : Plan
        Tables, steps and folder.

    Returns
    -------
    dict
        What was measured, with "lines".
    """
    table = plan.tables["clean"]
    problem: Any = TilingPosterior(primp_problem(table.data.astype(float)))
    steps = max(400, plan.steps // 2)
    kernels = {
        "step (2.34)": IASG(every=1, n_calibration=plan.calibration, adapt=False),
        "step from the modulus": ModulusIASG(every=1),
        "step (2.34), half batches": IASG(
            plan.side // 2, every=1, n_calibration=plan.calibration, adapt=False
        ),
        "modulus, half batches": ModulusIASG(plan.side // 2, every=1),
    }
    found = {name: followed(plan, problem, kernel, steps, table) for name, kernel in kernels.items()}
    exact, spread, accepted = exact_draws(problem.relaxed, table, max(plan.sweeps, 200))
    drawing, axes = figure([["density", "wrong"]], size=(10.0, 3.8))
    for i, (name, row) in enumerate(found.items()):
        axes["density"].plot(row["at"], -np.array(row["density"]), color=SERIES[i], label=name)
        axes["wrong"].plot(row["marks"], row["wrong"], "o-", color=SERIES[i], ms=3, label=name)
    axes["density"].axhline(
        -float(np.mean(exact)), color=INK, ls=":", label="exact sampler, from the planted tiles"
    )
    axes["density"].set_yscale("log")
    title(axes["density"], "open question 1: −log-density of Primp's objective")
    title(axes["wrong"], "entries wrong at the best threshold")
    for place in axes.values():
        place.set_xlabel("step")
    axes["density"].legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.8))
    save_figure(drawing, plan.folder / "figure_primp_steps.png")
    lines = [
        f"  question 1, Primp's objective, {name}: −log-density {-row['density'][-1]:,.0f}, wrong "
        f"{row['wrong'][-1]:,}, "
        f"standard deviations {row['spread'] / spread:.3f} of the exact ones"
        for name, row in found.items()
    ]
    lines.append(
        f"    exact sampler from the planted tiles, {100 * accepted:.0f} % of the columns accepted: "
        f"{-float(np.mean(exact)):,.0f}"
    )
    return {
        "found": found,
        "exact": float(np.mean(exact)),
        "accepted": accepted,
        "exact_spread": spread,
        "lines": lines,
    }


def exact_draws(relaxed: RelaxedProblem, table: Any, sweeps: int) -> tuple[list[float], float, float]:
    """Gibbs sampling of exp(−F), column by column, from the planted tiles.

    Given the rest, a column of X has truncated normal entries. So has one of Y, but for the term of its sum in G: it
    is proposed with that term's slope at the planted sums, which does not depend on the column, and accepted by
    Metropolis's rule.

    Parameters
    ----------
    relaxed : RelaxedProblem
        Primp's objective.
    table : Bunch
        From `make_boolean`.
    sweeps : int
        Sweeps, the first half of which is warm-up.

    Returns
    -------
    density : list of float
        Log-densities of the draws.
    spread : float
        Mean standard deviation of the entries of Y.
    accepted : float
        Share of the proposed columns of Y that were accepted.
    """
    rng, D, scale = np.random.default_rng(0), relaxed.D, relaxed.scale
    W, Ht = table.usage.astype(float), table.components.T.astype(float)
    slopes = np.broadcast_to(relaxed.on_W.gradient(W), W.shape)[0].copy()
    codes = np.broadcast_to(relaxed.on_Ht.gradient(Ht), Ht.shape)
    density: list[float] = []
    total, squares, accepted = np.zeros(W.shape), np.zeros(W.shape), 0.0
    for sweep in range(sweeps):
        for t in range(W.shape[1]):
            drawn = conditional(D, W, Ht, t, scale, slopes[t], rng)
            after = W.copy()
            after[:, t] = drawn
            change = relaxed.on_W.value(W) - relaxed.on_W.value(after)
            change += slopes[t] * float(drawn.sum() - W[:, t].sum())
            if np.log(1.0 - rng.random()) < change:
                W = after
                accepted += 1.0 / (sweeps * W.shape[1])
        for t in range(W.shape[1]):
            Ht[:, t] = conditional(D.T, Ht, W, t, scale, codes[:, t], rng)
        if sweep >= sweeps // 2:
            density.append(-relaxed.objective(W, Ht))
            total, squares = total + W, squares + W * W
    mean = total / len(density)
    return density, float(np.sqrt(np.maximum(squares / len(density) - mean * mean, 0.0)).mean()), accepted


def conditional(
    D: np.ndarray, W: np.ndarray, Ht: np.ndarray, t: int, scale: float, slope: Any, rng: np.random.Generator
) -> np.ndarray:
    """A column of W from exp(−scale/2 ‖D − W Hᵀ‖² − slope · w) on [0, 1], the other columns held."""
    h = Ht[:, t]
    weight = max(scale * float(h @ h), 1e-9)
    pull = scale * (D @ h - W @ (Ht.T @ h) + W[:, t] * float(h @ h)) - slope
    return np.asarray(truncated_normal(pull / weight, weight**-0.5, 0.0, 1.0, rng))


def followed(plan: Plan, problem: Any, kernel: IASG, steps: int, table: Any) -> dict[str, Any]:
    """A chain from a random start: log-density and wrong entries along the way, spread of its second half."""
    rng = np.random.default_rng(0)
    state = kernel.init(problem, plan.rank, rng)
    at, density, marks, wrong = [], [], [], []
    total: Any = 0.0
    squares: Any = 0.0
    count = 0
    for i in range(steps):
        state, info = kernel.step(problem, state, rng)
        if i % max(1, steps // 300) == 0 or i + 1 == steps:
            at.append(i + 1)
            density.append(info.objective)
        if i >= steps // 2:
            drawn = kernel.draw(problem, state)["W"]
            total, squares, count = total + drawn, squares + drawn**2, count + 1
        if (i + 1) % max(1, steps // 10) == 0:
            marks.append(i + 1)
            nothing = np.zeros(1)
            one = Found(state.W, nothing, state.Ht, nothing, nothing, nothing, nothing)
            wrong.append(thresholds(one, table.clean)["best"])
    spread = float(np.sqrt(np.maximum(squares / count - (total / count) ** 2, 0.0)).mean())
    return {"at": at, "density": density, "marks": marks, "wrong": wrong, "spread": spread}
