"""Contrastive training: the state, the stopping rule and the result that its methods share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from partwise.core import History, Info, Method, RunState, Stopping, run
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive

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


def note_validation(problem: Contrastive, state: TrainingState) -> dict[str, float]:
    """The held-out loss after a step, as its notes; if it is the smallest so far, the state keeps its parameters."""
    if problem.held is None:
        return {}
    loss = problem.validation(state.x)
    if loss < state.best_validation:
        state.best_x, state.best_objective, state.best_validation = state.x, state.objective, loss
    return {"validation": loss}


class TrainingMethod(Method[Contrastive, Any], Protocol):
    """A method of contrastive training."""

    def init(self, problem: Contrastive, start: Components) -> Any:
        """The state at a start."""
        ...


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
    method: TrainingMethod,
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
    result = run(problem, method, state, max_iter=max_iter, stopping=TrainingProgress(tol), name=name)
    x, objective = result.state.kept
    components = problem.components(x.copy())
    # A factor that all weights share cancels from the posterior.
    components.log_weight -= components.log_weight.max()
    history = history_of(result.history, first)
    return Trained(components, objective, problem.penalty, result.state.iteration, result.reason, history)
