"""Discretised Langevin diffusion (Gonsior 2019, 2.33; Roberts & Tweedie 1996), unadjusted or Metropolis-adjusted.

a' = a + (ε/2) ∇ log p(a) + √ε · N(0, I), both factors at once. As printed, (2.33) has no step on the drift; then the
discretised process is not that of (2.32) for any step but one. At the boundary steps are clamped, reflected, or made
on the logit scale (see `boundaries`). Unadjusted, the bias falls with ε; adjusted, there is none, but ε must be small
where there are many entries, and clamping cannot be adjusted: its proposals have no density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.core import Info, State
from partwise.samplers.boundaries import EDGE, check_boundary, moved, on_logits
from partwise.samplers.relaxed import RelaxedKernel, RelaxedPosterior

#: Step without one given, as a share of the inverse of the largest curvature at the start.
SHARE = 0.25


@dataclass(frozen=True)
class Langevin(RelaxedKernel):
    """Langevin sampler of relaxed factors.

    Parameters
    ----------
    step_size : float or None, default=None
        ε; None takes `SHARE` of the inverse of the largest curvature where the chain begins.
    adjusted : bool, default=False
        Whether steps are accepted or rejected by Metropolis-Hastings.
    boundary : {"reflect", "mirror", "clamp"}, default="reflect"
        What happens to steps that leave [0, 1].
    temperature : float, default=1
        Scales the variance of the noise; 0 is gradient ascent with the step ε/2.
    """

    name = "langevin"
    remedy = 'Take a smaller step_size, or sampler="relaxed-gibbs", which has no step.'

    step_size: float | None = None
    adjusted: bool = False
    boundary: str = "reflect"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot be adjusted."""
        check_boundary(self.boundary)
        if self.adjusted and self.boundary == "clamp":
            raise ValueError(
                'Clamped steps cannot be Metropolis-adjusted; take boundary="reflect" or "mirror".'
            )
        if self.adjusted and self.temperature != 1.0:
            raise ValueError(f"Metropolis-adjusted steps need temperature 1; got {self.temperature}.")

    def init(
        self, problem: RelaxedPosterior, rank: int, rng: np.random.Generator, start: State | None = None
    ) -> State:
        """A start, and the step.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        rank : int
            Number of components.
        rng : Generator
            Where random numbers are drawn from.
        start : State, optional
            Where to begin; by default a scaled random start.

        Returns
        -------
        State
            Its `extra` has "step".
        """
        state = problem.start(rank, rng) if start is None else start.copy()
        state.W, state.Ht = (np.clip(A, EDGE, 1.0 - EDGE) for A in (state.W, state.Ht))
        step = self.step_size
        if step is None:
            most = max(float(np.linalg.norm(A.T @ A, 2)) for A in (state.W, state.Ht)) / problem.noise
            step = SHARE / (most + problem.prior.quadratic)
            step *= 16.0 if self.boundary == "mirror" else 1.0
        state.extra = {"noise": np.array(problem.noise), "step": np.array(step), "accepted": np.array(0)}
        return state

    def step(self, problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One step of both factors.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            Where the chain stands; not changed.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : State
            Where it stands next.
        info : Info
            Its log-density; notes have whether the step was accepted.
        """
        extra = dict(state.extra or {})
        step, iteration = float(extra["step"]), state.iteration + 1
        here = np.concatenate([state.W, state.Ht])
        drift = 0.5 * step * self._gradient(problem, here)
        there = moved(
            here, drift + np.sqrt(step * self.temperature) * rng.standard_normal(here.shape), self.boundary
        )
        n = len(state.W)
        objective = problem.log_density(there[:n], there[n:])
        accepted = 1.0
        if self.adjusted:
            back = 0.5 * step * self._gradient(problem, there)
            now = problem.log_density(state.W, state.Ht) if np.isnan(state.objective) else state.objective
            ratio = objective - now + self._jacobian(there) - self._jacobian(here)
            ratio += self._log_proposal(there, here, back, step) - self._log_proposal(
                here, there, drift, step
            )
            accepted = float(np.log(1.0 - rng.random()) < ratio)
            if not accepted:
                there, objective = here, now
        after = State(there[:n], there[n:], extra, iteration=iteration, objective=objective)
        return after, Info(iteration, objective, notes={"accepted": accepted})

    def _gradient(self, problem: RelaxedPosterior, both: np.ndarray) -> np.ndarray:
        """Gradient on the scale on which steps are made."""
        n = len(problem.X)
        W, Ht = both[:n], both[n:]
        G = np.concatenate([problem.gradient(W, Ht), problem.T.gradient(Ht, W)])
        return on_logits(both, G) if self.boundary == "mirror" else G

    def _jacobian(self, both: np.ndarray) -> float:
        """Log of the Jacobian of the scale on which steps are made."""
        if self.boundary != "mirror":
            return 0.0
        return float((np.log(both) + np.log1p(-both)).sum())

    def _log_proposal(self, start: np.ndarray, end: np.ndarray, drift: np.ndarray, step: float) -> float:
        """Log-density of a step, on the scale on which it is made, up to a constant."""
        if self.boundary == "mirror":
            away = np.log(end / (1.0 - end)) - np.log(start / (1.0 - start)) - drift
            return float(-0.5 * (away * away).sum() / step)
        # A reflected step may have come from any mirror image of where it ended.
        images = np.stack([end, -end, 2.0 - end, 2.0 + end, end - 2.0])
        away = images - (start + drift)
        return float(np.logaddexp.reduce(-0.5 * away * away / step, axis=0).sum())
