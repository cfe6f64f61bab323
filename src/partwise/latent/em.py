"""The EM loop of BinaryNMF: E-step, M-step, annealing, perturbation, widening."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from partwise.core import Interrupted
from partwise.latent.counts import Counts
from partwise.latent.enumerated import enumerated
from partwise.latent.m_step import activation_update, em_update, least_squares_update
from partwise.latent.preselected import preselected
from partwise.latent.states import all_states, count_up_to, size_distribution, states_up_to
from partwise.latent.statistics import Statistics

#: States of more bits are left out when together they have less than this probability.
TAIL = 0.02
#: Combinations visited for each sample at most.
MOST_STATES = 600


@dataclass(frozen=True)
class Inference:
    """How posteriors are found.

    Parameters
    ----------
    exact : bool
        All 2^H states.
    max_active : int, optional
        γ; None lets it follow π.
    n_candidates : int, "all" or None
        H′; "all" visits the same states for every sample, and |s| = γ + 1 in the denominator, as the thesis does.
    """

    exact: bool = True
    max_active: int | None = None
    n_candidates: int | str | None = None

    def gamma(self, activation: np.ndarray) -> int:
        """γ for this π: nearly all of the prior's mass, as far as the number of states allows."""
        H = len(activation)
        if self.max_active is not None:
            return min(self.max_active, H)
        reach = np.cumsum(size_distribution(activation))
        wanted = int(np.searchsorted(reach, 1.0 - TAIL)) or 1
        while wanted > 2 and count_up_to(self._room(wanted, H), wanted) > MOST_STATES:
            wanted -= 1
        return min(max(wanted, min(2, H)), H)

    def _room(self, gamma: int, H: int) -> int:
        """H′ for this γ."""
        if self.n_candidates == "all":
            return H
        return min(H, gamma + 3 if self.n_candidates is None else int(self.n_candidates))

    def __call__(
        self, counts: Counts, W: np.ndarray, activation: np.ndarray, inverse_temperature: float = 1.0
    ) -> tuple[Statistics, tuple[int, int] | None]:
        """Posterior sums; if states were left out, how many bits were counted and visited."""
        H = len(W)
        if self.exact:
            return enumerated(counts, W, activation, all_states(H), None, inverse_temperature), None
        gamma = self.gamma(activation)
        if self.n_candidates == "all":
            states = states_up_to(H, gamma + 1)
            inside = count_up_to(H, gamma)
            return enumerated(counts, W, activation, states, inside, inverse_temperature), (gamma, gamma + 1)
        room = self._room(gamma, H)
        return preselected(counts, W, activation, gamma, room, inverse_temperature), (gamma, gamma)


@dataclass(frozen=True)
class Settings:
    """How the loop goes."""

    inference: Inference
    update: str = "em"
    per_component: bool = False
    correct: bool = True
    temperatures: Sequence[float] = ()
    perturb: Sequence[float] = ()
    widen: int = 0
    max_iter: int = 200
    tol: float = 1e-5
    record_components: bool = False


@dataclass
class Run:
    """Where a run stands, and how it came there."""

    W: np.ndarray
    activation: np.ndarray
    log_likelihood: float = -np.inf
    converged: bool = False
    interrupted: bool = False
    history: dict[str, list[Any]] = field(
        default_factory=lambda: {"log_likelihood": [], "activation": [], "components": [], "seconds": []}
    )

    @property
    def n_iter(self) -> int:
        """Steps made."""
        return len(self.history["log_likelihood"])


def run_em(
    counts: Counts,
    W: np.ndarray,
    activation: np.ndarray,
    settings: Settings,
    rng: np.random.Generator,
    tell: Callable[[int, float], None] | None = None,
) -> Run:
    """EM until the log-likelihood rises by less than `tol` of itself a step, or the steps are used up.

    The log-likelihood written down is that of the parameters before the step, at temperature 1. What is returned is
    the best point seen where the loop went by temperature 1, unperturbed; Ctrl-C returns what there is.
    """
    begin = perf_counter()
    run = Run(W.copy(), activation.copy())
    scheduled = max(len(settings.temperatures), len(settings.perturb))
    previous, calm = -np.inf, 0
    try:
        for step in range(settings.max_iter):
            inverse = 1.0 / settings.temperatures[step] if step < len(settings.temperatures) else 1.0
            last = settings.widen and step >= settings.max_iter - settings.widen
            inference = Inference(exact=True) if last else settings.inference
            stats, truncation = inference(counts, run.W, run.activation, inverse)
            value = log_likelihood(counts, stats)
            run.log_likelihood = value
            _note(run, value, perf_counter() - begin, settings)
            if tell is not None:
                tell(step + 1, value)
            # One step of little gain may be the end of a plateau; three are not.
            calm = calm + 1 if step > scheduled and value - previous <= settings.tol * abs(value) else 0
            if settings.tol > 0 and calm >= 3 and not settings.widen:
                run.converged = True
                break
            previous = value
            update = em_update if settings.update == "em" else least_squares_update
            limit = truncation if settings.correct else None
            # The posteriors of a tempered step say little of π: a hot step keeps it.
            if inverse == 1.0:
                run.activation = activation_update(
                    counts, run.activation, stats, limit, settings.per_component
                )
            run.W = update(counts, run.W, stats)
            if step < len(settings.perturb) and settings.perturb[step] > 0:
                run.W = run.W + rng.poisson(settings.perturb[step], run.W.shape)
    except KeyboardInterrupt:
        run.interrupted = True
        warnings.warn(
            f"Interrupted after {run.n_iter} iterations; the parameters reached so far are kept.",
            Interrupted,
            stacklevel=2,
        )
    return run


def log_likelihood(counts: Counts, stats: Statistics) -> float:
    """Equation 3.9, constant terms included."""
    return float(counts.row_weight @ (stats.evidence - counts.log_factorials))


def _note(run: Run, value: float, seconds: float, settings: Settings) -> None:
    run.history["log_likelihood"].append(value)
    run.history["activation"].append(run.activation.copy())
    run.history["seconds"].append(seconds)
    if settings.record_components:
        run.history["components"].append(run.W.copy())
