"""The one loop: for optimisers, EM and samplers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from partwise.compiling import clock
from partwise.core.progress import History
from partwise.core.session import Session, joined_session
from partwise.core.state import Info, RunState
from partwise.core.stopping import Stopping
from partwise.interrupts import uninterrupted
from partwise.parallel import own_threads

StateT = TypeVar("StateT", bound=RunState)
ProblemT = TypeVar("ProblemT", contravariant=True)

#: Anything that may be called after each step.
Callback = Callable[[Info, Any], Any]


class Method(Protocol[ProblemT, StateT]):
    """What the loop asks of a solver, an EM or a sampler."""

    def value(self, problem: ProblemT, state: StateT) -> float:
        """The objective at a state, computed as the steps compute it.

        Parameters
        ----------
        problem : object
            What is solved.
        state : RunState
            Where the run stands.

        Returns
        -------
        float
            The objective.
        """
        ...

    def step(self, problem: ProblemT, state: StateT, rng: np.random.Generator) -> tuple[StateT, Info]:
        """One iteration.

        Parameters
        ----------
        problem : object
            What is solved.
        state : RunState
            Where the run stands; the step may change it in place.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : RunState
            Where the run stands after the step.
        info : Info
            What the step reports.
        """
        ...


@dataclass(frozen=True)
class Result(Generic[StateT]):
    """Where a run ended.

    Parameters
    ----------
    state : RunState
        The last state.
    reason : {"converged", "max_iter", "max_time", "interrupted"}
        Why the run ended.
    history : History
        The start and every step.
    """

    state: StateT
    reason: str
    history: History = field(default_factory=History)

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met."""
        return self.reason == "converged"


def run(
    problem: ProblemT,
    method: Method[ProblemT, StateT],
    state: StateT,
    *,
    max_iter: int,
    stopping: Stopping | None = None,
    max_time: float | None = None,
    callbacks: Sequence[Callback] = (),
    rng: np.random.Generator | None = None,
    name: str = "",
) -> Result[StateT]:
    """Step until the stopping rule is met, the iterations or the seconds are used up, or Ctrl-C is pressed.

    Parameters
    ----------
    problem : object
        What is solved.
    method : Method
        How it is solved.
    state : RunState
        Where to start.
    max_iter : int
        Steps at most; those that a restored state has behind it count.
    stopping : Stopping, optional
        The rule that ends the run; without one (a sampler) it makes all its steps.
    max_time : float, optional
        Seconds at most for this run, beside the limit of the session it belongs to.
    callbacks : sequence of callables
        Each is called as ``callback(info, state)`` at the start and after every step.
    rng : Generator, optional
        Where the steps draw random numbers from.
    name : str, optional
        Under which a checkpoint keeps this run; runs without a name are not kept.

    Returns
    -------
    Result
        On Ctrl-C the state as it stands. Steps that lower the objective row by row leave a better state even when
        they are cut short; others must replace their state as a whole.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    history = History()
    with joined_session() as session:
        loop = _Loop(session, state, stopping, history, rng, name)
        reason = "interrupted"
        # A run that begins after Ctrl-C has nothing to add: its start is its result.
        if not session.interrupted:
            with session.interruptible(), own_threads():
                reason = loop.go(problem, method, max_iter, max_time, callbacks)
        return Result(loop.state, "interrupted" if session.interrupted else reason, history)


class _Loop(Generic[StateT]):
    """The variables of one run."""

    def __init__(
        self,
        session: Session,
        state: StateT,
        stopping: Stopping | None,
        history: History,
        rng: np.random.Generator,
        name: str,
    ) -> None:
        self.session, self.state, self.stopping, self.history = session, state, stopping, history
        self.rng, self.name = rng, name
        self.begin = clock()

    def go(
        self,
        problem: Any,
        method: Method[Any, StateT],
        max_iter: int,
        max_time: float | None,
        callbacks: Sequence[Callback],
    ) -> str:
        """Restore or begin, then step; the reason why it ended."""
        if self._restored():
            return "converged"
        if not self.history.objective:
            if np.isnan(self.state.objective):
                self.state.objective = method.value(problem, self.state)
            if self.stopping is not None:
                self.stopping.begin(self.state.objective)
            start = Info(self.state.iteration, self.state.objective, seconds=clock() - self.begin)
            self._report(start, callbacks)
        reason = "max_iter"
        while self.state.iteration < max_iter:
            with self._saved_if_stopped():
                self.state, info = method.step(problem, self.state, self.rng)
                info = replace(info, seconds=clock() - self.begin)
                self._report(info, callbacks)
            if self.stopping is not None and self.stopping.done(info):
                reason = "converged"
                break
            if self.session.out_of_time or (max_time is not None and info.seconds >= max_time):
                reason = "max_time"
                break
            if self.session.interrupted:
                reason = "interrupted"
                break
            self._save("", when_due=True)
        self._save(reason)
        return reason

    @contextmanager
    def _saved_if_stopped(self) -> Iterator[None]:
        """A step after which a checkpoint can be written although Ctrl-C was pressed in it.

        What a step had done when it was cut short is no state to go on from with the same bits. So where there is a
        checkpoint a step is finished first; who presses again is heard at once, and loses what came after the last
        checkpoint.
        """
        if self.session.checkpoint is None or not self.name:
            yield
            return
        before = len(self.history.seconds)
        try:
            with uninterrupted():
                yield
        except KeyboardInterrupt:
            # (A callback may raise it, too, after a whole step.)
            if len(self.history.seconds) == before:
                raise
            self.session.interrupt()

    def _report(self, info: Info, callbacks: Sequence[Callback]) -> None:
        self.history(info, self.state)
        self.session.show(info.iteration, info.objective)
        for callback in callbacks:
            callback(info, self.state)

    def _restored(self) -> bool:
        """Go back to where a checkpoint was made, if there is one; whether it had converged."""
        checkpoint = self.session.checkpoint
        packed = checkpoint.load(self.name, self.rng) if checkpoint is not None and self.name else None
        if packed is None:
            return False
        memory = packed.pop("run")
        self.state.restore(packed)
        for target in (self.history.objective, self.history.seconds):
            target.clear()
        self.history.objective += memory["objective"]
        self.history.seconds += memory["seconds"]
        self.history.notes |= {
            key: [np.asarray(one) if isinstance(one, list) else one for one in values]
            for key, values in memory["notes"].items()
        }
        if self.stopping is not None:
            self.stopping.memory = memory["stopping"]
        self.begin = clock() - (self.history.seconds[-1] if self.history.seconds else 0.0)
        return bool(memory["reason"] == "converged")

    def _save(self, reason: str, when_due: bool = False) -> None:
        checkpoint = self.session.checkpoint
        if checkpoint is None or not self.name or (when_due and not checkpoint.due()):
            return
        memory = {
            "objective": self.history.objective,
            "seconds": self.history.seconds,
            "notes": self.history.notes,
            "stopping": None if self.stopping is None else self.stopping.memory,
            "reason": reason,
        }
        checkpoint.save(self.name, {**self.state.pack(), "run": memory}, self.rng)
