"""EM for data with binary latents (Yus López 2015, chapter 3): annealed, perturbed and widened on request."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.core import Info, Result, RunState, SmallGain, run
from partwise.latent.counts import Counts
from partwise.latent.inference import Inference
from partwise.latent.m_step import activation_update, least_squares_update
from partwise.latent.noise import POISSON, Noise
from partwise.latent.statistics import Statistics

#: Steps of little gain, one after the other, after which EM has converged: one may be a plateau.
CALM_STEPS = 3


@dataclass
class EMState(RunState):
    """Where EM stands, and the best point it has seen. Steps make a new state and leave the old one as it was.

    Attributes
    ----------
    W : array of shape (H, n_features)
    activation : array of shape (H,)
        π.
    best_W, best_activation : arrays
        The point of the highest log-likelihood; see `ExpectationMaximization` for which are compared.
    best_value : float
        Its log-likelihood; NaN before the first E-step.
    best_kind : list of int
        What its log-likelihood can be compared with.
    variance, best_variance : float
        σ² of Gaussian noise, here and at the best point; NaN for Poisson noise.
    statistics : Statistics, optional
        Posterior sums at (W, π); None where they have yet to be found, as after a checkpoint.
    """

    W: np.ndarray
    activation: np.ndarray
    best_W: np.ndarray
    best_activation: np.ndarray
    best_value: float = float("nan")
    best_kind: list[int] = field(default_factory=list)
    variance: float = float("nan")
    best_variance: float = float("nan")
    statistics: Statistics | None = field(default=None, metadata={"packed": False})

    def restore(self, packed: dict[str, Any]) -> None:
        """Set the fields to what `pack` gave; the next step finds the statistics again."""
        super().restore(packed)
        self.statistics = None


@dataclass(frozen=True)
class ExpectationMaximization:
    """The EM of a binary factor model. A step is an M-step from the state's sums, then an E-step at what it found.

    The log-likelihood of a step is that of its new parameters at temperature 1, whatever the temperature of the
    step. The best point is looked for among those that can be compared. A new comparison begins after the annealed
    and perturbed steps, which are meant to lead away from an optimum; and where other states are visited (another γ,
    or all of them in the widened steps), with the first point that is both made and judged by them.

    Parameters
    ----------
    inference : Inference
        The E-step.
    update : {"em", "least-squares"}
        How W is updated.
    per_component : bool
        One π for each component.
    correct : bool
        Correct π for the states that were left out.
    temperatures : sequence of float
        Of the first E-steps.
    perturb : sequence of float
        Mean of the Poisson noise that each of the first steps adds to W.
    widen : int
        The number of last steps that use more states; there is no stopping rule then.
    max_iter : int
    tol : float
        Converged when `CALM_STEPS` steps in a row each raise the log-likelihood by less than `tol` of itself.
    record_components : bool
        Note W after every step.
    noise : Noise
        Poisson; or Gaussian, with the σ² to start from.
    widen_to : int, optional
        γ of the widened steps; None is all 2^H states.
    """

    inference: Inference = field(default_factory=Inference)
    update: str = "em"
    per_component: bool = False
    correct: bool = True
    temperatures: Sequence[float] = ()
    perturb: Sequence[float] = ()
    widen: int = 0
    max_iter: int = 200
    tol: float = 1e-5
    record_components: bool = False
    noise: Noise = POISSON
    widen_to: int | None = None

    @property
    def scheduled(self) -> int:
        """How many steps at the beginning are annealed or perturbed."""
        return max(len(self.temperatures), len(self.perturb))

    def init(
        self, W: np.ndarray, activation: np.ndarray, iteration: int = 0, variance: float | None = None
    ) -> EMState:
        """The state at (W, π); its E-step is left to the run, where Ctrl-C leaves the start as it is.

        Parameters
        ----------
        W : array of shape (H, n_features)
        activation : array of shape (H,)
        iteration : int
            Steps that went before.
        variance : float, optional
            σ²; by default that of the method's noise.
        """
        # Rows lie together in memory: the E-step's kernels read them one by one.
        W, activation = np.array(W, dtype=float, order="C"), np.array(activation, dtype=float)
        variance = self.noise.variance if variance is None else variance
        return EMState(
            W, activation, W, activation, variance=variance, best_variance=variance, iteration=iteration
        )

    def stopping(self, counts: Counts) -> SmallGain | None:
        """The stopping rule for `tol`; None where all `max_iter` steps are made."""
        if self.widen:
            return None
        return SmallGain(self.tol, CALM_STEPS, after=self.scheduled, size=self.noise.nats(counts))

    def value(self, problem: Counts, state: EMState) -> float:
        """The log-likelihood where the state stands; the sums of this E-step stay with the state."""
        stats = self._posterior(problem, state)
        value = log_likelihood(problem, stats, self.noise.at(state.variance))
        state.statistics = stats
        state.best_value, state.best_kind = value, self._kind(state, stats, stats)
        return value

    def step(self, problem: Counts, state: EMState, rng: np.random.Generator) -> tuple[EMState, Info]:
        """M-step, then E-step."""
        stats = self._posterior(problem, state) if state.statistics is None else state.statistics
        W, activation, noise = self._maximised(problem, state, stats, rng)
        new = dataclasses.replace(
            state,
            W=W,
            activation=activation,
            variance=noise.variance,
            iteration=state.iteration + 1,
            statistics=None,
        )
        new.statistics = self._posterior(problem, new)
        new.objective = log_likelihood(problem, new.statistics, noise)
        kind = self._kind(new, stats, new.statistics)
        if kind != state.best_kind or not new.objective <= state.best_value:
            new.best_W, new.best_activation, new.best_variance = W, activation, noise.variance
            new.best_value, new.best_kind = new.objective, kind
        notes = {"activation": activation, **noted(noise)}
        if self.record_components:
            notes["components"] = W
        return new, Info(new.iteration, new.objective, notes=notes)

    def _maximised(
        self, counts: Counts, state: EMState, stats: Statistics, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, Noise]:
        """New W, π and noise from the sums of an E-step."""
        activation, noise = state.activation, self.noise.at(state.variance)
        # The posteriors of a tempered step say little of π: a hot step keeps it.
        if self._inverse_temperature(state.iteration) == 1.0:
            activation = activation_update(
                counts, activation, stats, self.correct, self.per_component, noise.saturated(counts)
            )
        update = noise.updated if self.update == "em" else least_squares_update
        W = update(counts, state.W, stats)
        noise = noise.learned(counts, state.W, W, stats)
        if state.iteration < len(self.perturb) and self.perturb[state.iteration] > 0:
            W = W + rng.poisson(self.perturb[state.iteration], W.shape)
        return W, activation, noise

    def _posterior(self, counts: Counts, state: EMState) -> Statistics:
        inference = self.inference
        if self.widened(state.iteration):
            to = self.widen_to
            inference = Inference() if to is None else dataclasses.replace(inference, max_active=to)
        return inference(
            counts,
            state.W,
            state.activation,
            self._inverse_temperature(state.iteration),
            self.noise.at(state.variance),
        )

    def _inverse_temperature(self, iteration: int) -> float:
        return 1.0 / self.temperatures[iteration] if iteration < len(self.temperatures) else 1.0

    def widened(self, iteration: int) -> bool:
        """Whether the E-step after `iteration` steps uses more states."""
        return self.widen > 0 and iteration >= self.max_iter - self.widen

    def _kind(self, state: EMState, made_from: Statistics, judged_by: Statistics) -> list[int]:
        """Points of the same kind have log-likelihoods that can be compared."""
        free = self.scheduled == 0 or state.iteration > self.scheduled
        everything = len(state.W), len(state.W)
        return [int(free), *(made_from.truncation or everything), *(judged_by.truncation or everything)]


@dataclass(frozen=True)
class Outcome:
    """What was found from one start.

    Attributes
    ----------
    W, activation : arrays
        The best point.
    log_likelihood : float
        Of the best point, by the inference of the run that found it; NaN where none was found.
    reason : {"converged", "max_iter", "max_time", "interrupted"}
        Why the last run ended.
    history : dict of lists
        "log_likelihood", "activation", "seconds" and, on request, "components": the start and every step.
    state : EMState
        Where the last run ended.
    variance : float
        σ² at the best point; NaN for Poisson noise.
    """

    W: np.ndarray
    activation: np.ndarray
    log_likelihood: float
    reason: str
    history: dict[str, list[Any]]
    state: EMState
    variance: float = float("nan")

    @property
    def n_iter(self) -> int:
        """Steps made."""
        return len(self.history["log_likelihood"]) - 1

    def followed_by(self, later: Outcome) -> Outcome:
        """One outcome of two runs; the start of the second is no step."""
        history = {name: values + later.history[name][1:] for name, values in self.history.items()}
        before = self.history["seconds"]
        history["seconds"] = before + [before[-1] + s for s in later.history["seconds"][1:]]
        return dataclasses.replace(later, history=history)


def learn(
    counts: Counts,
    method: ExpectationMaximization,
    state: EMState,
    rng: np.random.Generator,
    max_iter: int | None = None,
    name: str = "",
) -> Outcome:
    """Run EM from a state.

    Parameters
    ----------
    counts : Counts
    method : ExpectationMaximization
    state : EMState
        From `method.init`, or where another run ended.
    rng : Generator
        Where the perturbation comes from.
    max_iter : int, optional
        Steps at most, those that the state has behind it included; by default those of the method.
    name : str, optional
        Under which a checkpoint keeps the run.

    Returns
    -------
    Outcome
        The best point; on Ctrl-C that of the steps made, or the start.
    """
    start = untried(method, state)
    limit = method.max_iter if max_iter is None else max_iter
    # A restored run writes into the state that it is given.
    own = dataclasses.replace(state)
    result: Result[EMState] = run(
        counts, method, own, max_iter=limit, stopping=method.stopping(counts), rng=rng, name=name
    )
    history, made = dict(start.history), result.history
    if made.objective:
        history["log_likelihood"], history["seconds"] = made.objective, made.seconds
        for note, values in made.notes.items():
            history[note] = history[note] + values
    end = result.state
    return Outcome(
        end.best_W, end.best_activation, end.best_value, result.reason, history, end, end.best_variance
    )


def untried(method: ExpectationMaximization, state: EMState) -> Outcome:
    """The outcome of a run that was interrupted before its first step."""
    history: dict[str, list[Any]] = {
        "log_likelihood": [state.objective],
        "activation": [state.activation],
        "seconds": [0.0],
        **{name: [value] for name, value in noted(method.noise.at(state.variance)).items()},
    }
    if method.record_components:
        history["components"] = [state.W]
    return Outcome(state.W, state.activation, state.objective, "interrupted", history, state, state.variance)


def noted(noise: Noise) -> dict[str, float]:
    """What the history holds of the noise."""
    return {"noise_variance": noise.variance} if noise.squared else {}


def log_likelihood(counts: Counts, stats: Statistics, noise: Noise = POISSON) -> float:
    """Log-likelihood of the data (Yus López 2015, equation 3.9), constant terms included."""
    return float(counts.row_weight @ (stats.evidence - noise.constant(counts)))
