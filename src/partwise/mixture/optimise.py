"""Contrastive training: what its methods share, and the multiplicative updates of Lee, Seung & Saul (4, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from partwise.core import History, Info, Method, RunState, Stopping, run
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive, sums

#: Steps without a smaller loss on the held-out samples after which training ends.
PATIENCE = 20
#: Largest entry of the gradient at which training has converged, whatever `tol` is.
SMALL_GRADIENT = 1e-9


@dataclass
class TrainingState(RunState):
    """Where training stands.

    Attributes
    ----------
    x : array
        The parameters, as `Contrastive.vector` lays them out.
    best_x : array, optional
        Those with the smallest loss on the held-out samples; None where none are held out.
    best_objective, best_validation : float
        Objective and held-out loss of `best_x`.
    """

    x: np.ndarray
    best_x: np.ndarray | None = None
    best_objective: float = float("nan")
    best_validation: float = float("inf")

    @property
    def kept(self) -> tuple[np.ndarray, float]:
        """The parameters to keep and their objective: the best ones, or the last where none are held out."""
        return (self.x, self.objective) if self.best_x is None else (self.best_x, self.best_objective)


StateT = TypeVar("StateT", bound=TrainingState)


def start_validation(problem: Contrastive, state: StateT) -> StateT:
    """Make the start the best so far, where samples are held out."""
    if problem.held is not None:
        state.best_x, state.best_validation = state.x, problem.validation(state.x)
    return state


def take_note(problem: Contrastive, state: TrainingState) -> dict[str, float]:
    """The notes of a step, after which the state knows whether it is the best so far."""
    if problem.held is None:
        return {}
    loss = problem.validation(state.x)
    if loss < state.best_validation:
        state.best_x, state.best_objective, state.best_validation = state.x, state.objective, loss
    return {"validation": loss}


class TrainingProgress(Stopping):
    """Converged when a step gains too little, when the gradient vanishes, or when held-out samples gain no more.

    A gain is too little if it is at most `tol` times the objective (or times 1, where that is more). With ``tol=0``
    training goes on until a step gains nothing. Held-out samples are looked at where the steps note "validation":
    their loss must have reached a new minimum within the last `PATIENCE` steps.
    """

    def begin(self, objective: float) -> None:
        """Take note of the objective at the start."""
        self.memory = {"previous": objective, "least": float("inf"), "since": 0}

    def done(self, info: Info) -> bool:
        """Whether this step should be the last."""
        memory = self.memory
        gain = info.objective - memory["previous"]
        memory["previous"] = info.objective
        loss = info.notes.get("validation", float("nan"))
        memory["since"] = memory["since"] + 1 if loss >= memory["least"] else 0
        memory["least"] = min(memory["least"], loss)
        return bool(
            gain <= self.tol * max(1.0, abs(info.objective))
            or info.violation <= SMALL_GRADIENT
            or memory["since"] >= PATIENCE
        )


@dataclass(frozen=True)
class Trained:
    """What training found.

    Attributes
    ----------
    components : Components
    objective : float
        Of the components; NaN when not known.
    penalty : float
        That they were trained with.
    n_iter : int
    reason : {"converged", "max_iter", "max_time", "interrupted"}
        Why training ended.
    history : dict of arrays
        "objective", "seconds" and "validation" (empty where no samples are held out), the start and every step.
    """

    components: Components
    objective: float = float("nan")
    penalty: float = 0.0
    n_iter: int = 0
    reason: str = "interrupted"
    history: dict[str, np.ndarray] = field(default_factory=lambda: history_of(History()))


def history_of(recorded: History, first_validation: Sequence[float] = ()) -> dict[str, np.ndarray]:
    """The history of a run as arrays; the loop does not note the held-out loss of the start, so it is given."""
    validation = [*first_validation, *recorded.notes.get("validation", ())]
    return {
        "objective": np.array(recorded.objective),
        "seconds": np.array(recorded.seconds),
        "validation": np.array(validation[: len(recorded.objective)]),
    }


def train(
    problem: Contrastive,
    method: Any,
    start: Components,
    *,
    max_iter: int,
    tol: float,
    name: str,
) -> Trained:
    """Train from a start until `TrainingProgress` is met, or the run is ended otherwise.

    Parameters
    ----------
    problem : Contrastive
    method : Multiplicative or Lbfgs
    start : Components
    max_iter : int
    tol : float
    name : str
        Under which a checkpoint keeps the run.

    Returns
    -------
    Trained
    """
    state = method.init(problem, start)
    first = [] if problem.held is None else [state.best_validation]
    steps: Method[Contrastive, TrainingState] = method
    result = run(problem, steps, state, max_iter=max_iter, stopping=TrainingProgress(tol), name=name)
    x, objective = result.state.kept
    components = problem.components(x.copy())
    # A factor that all weights share cancels from the posterior.
    components.log_weight -= components.log_weight.max()
    history = history_of(result.history, first)
    return Trained(components, objective, problem.penalty, result.state.iteration, result.reason, history)


# ------------------------------------------------------------------ multiplicative updates


@dataclass
class MultiplicativeState(TrainingState):
    """A `TrainingState` with Σ_k w_k r⁺_kj and Σ_k w_k r⁻_kj, which the next step of W needs."""

    plus: np.ndarray | None = None
    minus: np.ndarray | None = None


class Multiplicative:
    """Equations 4 and 5 of Lee, Seung & Saul, in turn; the objective never falls.

    W alone has the exponent 1 (the bound of L₋ is linear in W), θ alone 1/η with η the largest row sum of the
    features (Jensen: e^{δ·h} ≤ Σ_μ (h_μ/η) e^{ηδ_μ} + 1 − Σ_μ h_μ/η); both at once, as (4) and (5) may also be
    read, would need a larger η. With a penalty, the step of θ is the root of A − B e^{ηδ} − λ(θ + δ), which is (5)
    at λ = 0.
    """

    def init(self, problem: Contrastive, start: Components) -> MultiplicativeState:
        """The state at a start."""
        return start_validation(problem, MultiplicativeState(problem.vector(start)))

    def value(self, problem: Contrastive, state: MultiplicativeState) -> float:
        """The objective; the sums that come with it are kept in the state."""
        components = problem.components(state.x)
        value, (plus, minus) = sums(problem.data, components, apart=True)
        state.plus, state.minus = plus[:, -1], minus[:, -1]
        state.objective = problem.penalised(value, components.exponents)
        if state.iteration == 0:
            state.best_objective = state.objective
        return state.objective

    def step(
        self, problem: Contrastive, state: MultiplicativeState, rng: np.random.Generator
    ) -> tuple[MultiplicativeState, Info]:
        """W, then θ; two passes over the data."""
        if state.plus is None or state.minus is None:
            self.value(problem, state)
        assert state.plus is not None
        assert state.minus is not None
        data = problem.data
        now = problem.components(state.x).copy()
        now.log_weight += _log_ratio(state.plus, state.minus)
        now.log_weight -= now.log_weight.max()
        _, (plus, minus) = sums(data, now, apart=True)
        weight = problem.penalty * data.total
        now.exponents += theta_step(plus[:, :-1], minus[:, :-1], now.exponents, problem.eta, weight)
        after = replace(state, x=problem.vector(now), iteration=state.iteration + 1)
        self.value(problem, after)
        return after, Info(after.iteration, after.objective, notes=take_note(problem, after))


def _log_ratio(plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).tiny
    return np.log(np.maximum(plus, tiny)) - np.log(np.maximum(minus, tiny))


def theta_step(
    plus: np.ndarray, minus: np.ndarray, theta: np.ndarray, eta: float, weight: float
) -> np.ndarray:
    """δ with A − B e^{ηδ} = λ(θ + δ); without a penalty log(A/B)/η, and 0 for a feature that never occurs.

    Parameters
    ----------
    plus, minus : arrays of shape (J, d)
        A and B: Σ_k w_k r⁺_kj h_k and Σ_k w_k r⁻_kj h_k.
    theta : array of shape (J, d)
    eta : float
        The largest row sum of the features.
    weight : float
        λ, the penalty times the sum of the samples' weights.

    Returns
    -------
    array of shape (J, d)
    """
    free = _log_ratio(plus, minus) / eta
    dead = (plus <= 0) & (minus <= 0)
    if weight == 0:
        return np.where(dead, 0.0, free)
    # The left side falls and the right side rises with δ: one root, between the free step and −θ.
    low, high = np.minimum(free, -theta), np.maximum(free, -theta)
    low, high = np.where(dead, -theta, low), np.where(dead, -theta, high)
    delta = 0.5 * (low + high)
    for _ in range(60):
        push = minus * np.exp(np.minimum(eta * delta, 700.0))
        f = plus - push - weight * (theta + delta)
        low, high = np.where(f > 0, delta, low), np.where(f > 0, high, delta)
        newton = delta + f / (eta * push + weight)
        inside = (newton > low) & (newton < high)
        then = np.where(inside, newton, 0.5 * (low + high))
        if np.abs(then - delta).max() <= 1e-14 * (1.0 + np.abs(delta).max()):
            return then
        delta = then
    return delta
