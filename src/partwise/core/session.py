"""What surrounds the runs of one fit: a clock, a time limit, a progress bar, Ctrl-C, and a checkpoint.

A fit opens a session; every run inside it, however deep, joins it. So one press of Ctrl-C ends them all: the run
under way returns the best it has, runs that begin later return at once, and the fit keeps what there is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Event
from typing import Any, TypeVar

import numpy as np

from partwise.compiling import clock
from partwise.core.checkpoint import Checkpoint
from partwise.core.progress import ProgressBar
from partwise.interrupts import never_ignored, uninterrupted

_Outcome = TypeVar("_Outcome")

_current: ContextVar[Session | None] = ContextVar("partwise_session", default=None)


class Interrupted(UserWarning):
    """Issued when Ctrl-C ended a fit early; what had been found by then is kept."""


class Session:
    """One fit, seen from outside its mathematics.

    Parameters
    ----------
    max_time : float, optional
        Seconds that the fit may take, compiling not counted.
    bar : ProgressBar, optional
        Where steps are shown.
    checkpoint : Checkpoint, optional
        Where runs save their state and look for one to go on from.
    parent : Session, optional
        The session of the fit that this fit is a part of.

    Attributes
    ----------
    kept : bool
        Whether the fit has set its attributes, so that Ctrl-C can no longer take anything away.
    """

    def __init__(
        self,
        max_time: float | None = None,
        bar: ProgressBar | None = None,
        checkpoint: Checkpoint | None = None,
        parent: Session | None = None,
    ) -> None:
        self.max_time, self.bar, self.checkpoint, self.parent = max_time, bar, checkpoint, parent
        self._interrupted = False
        self.kept = False
        self._begin = clock()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, here or in a session around this one."""
        return self._interrupted or (self.parent is not None and self.parent.interrupted)

    @property
    def seconds(self) -> float:
        """Time since the session began, without the time spent on compiling."""
        return clock() - self._begin

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit of this session, or of one around it, has passed."""
        if self.max_time is not None and self.seconds >= self.max_time:
            return True
        return self.parent is not None and self.parent.out_of_time

    @property
    def stopped(self) -> bool:
        """Whether no further work should begin: Ctrl-C was pressed, or time is up."""
        return self.interrupted or self.out_of_time

    def interrupt(self) -> None:
        """Take note of Ctrl-C, here and in the sessions around this one."""
        self._interrupted = True
        if self.parent is not None:
            self.parent.interrupt()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A block that Ctrl-C ends without an exception; what it had not done is left undone.

        Yields
        ------
        None
            Nothing; whether Ctrl-C was pressed is in `interrupted`.
        """
        try:
            yield
        except KeyboardInterrupt:
            self.interrupt()

    def completed(self, compute: Callable[[], _Outcome]) -> _Outcome:
        """The result of `compute`, which is computed again if Ctrl-C ends it.

        For what a fit must finish, because nothing is of use without it: short work that has no effects, or the same
        if it is done twice. It may do less if `interrupted`. A second Ctrl-C is not caught.

        Parameters
        ----------
        compute : callable
            The work.

        Returns
        -------
        object
            What `compute` returned.
        """
        try:
            return compute()
        except KeyboardInterrupt:
            self.interrupt()
        return compute()

    def keep(self, set_attributes: Callable[[], None]) -> None:
        """The last act of a fit; from here on Ctrl-C is only noted.

        Parameters
        ----------
        set_attributes : callable
            Sets the fitted attributes of the model.
        """
        self.completed(set_attributes)
        self.kept = True

    def show(self, place: float, objective: float) -> None:
        """Move the progress bar, if there is one.

        Parameters
        ----------
        place : float
            Steps or seconds done, in the unit of the bar's total.
        objective : float
            Shown beside the bar.
        """
        if self.bar is not None:
            self.bar.update(place, objective)

    def restarts(self, count: int, attempt: Callable[[int], _Outcome]) -> list[_Outcome]:
        """Call ``attempt(0) … attempt(count − 1)`` until Ctrl-C or the time limit.

        The first attempt is always made. Ctrl-C during a later one drops that one and keeps those before it.

        Parameters
        ----------
        count : int
            Number of attempts, at most.
        attempt : callable
            Given the number of the attempt; returns its outcome.

        Returns
        -------
        list
            The outcomes, in order.
        """
        outcomes: list[_Outcome] = []
        for i in range(count):
            if outcomes and self.stopped:
                break
            try:
                outcomes.append(attempt(i))
            except KeyboardInterrupt:
                if not outcomes:
                    raise
                self.interrupt()
        return outcomes

    def latest(self, outcomes: Iterator[_Outcome]) -> _Outcome:
        """The last of ever better outcomes.

        Parameters
        ----------
        outcomes : iterator
            Yields outcomes, each better than the one before.

        Returns
        -------
        object
            The last outcome. Ctrl-C ends the search for more, and is raised only before the first.
        """
        found: list[_Outcome] = []
        try:
            for one in outcomes:
                found = [one]
                if self.interrupted:
                    break
        except KeyboardInterrupt:
            if not found:
                raise
            self.interrupt()
        return found[0]

    def stage(
        self, name: str, compute: Callable[[], dict[str, Any]], rng: np.random.Generator | None = None
    ) -> dict[str, Any]:
        """The result of `compute`, or what a checkpoint has of it.

        Parameters
        ----------
        name : str
            Names the stage within the fit.
        compute : callable
            Returns a dict of arrays and numbers.
        rng : Generator, optional
            The random numbers that `compute` draws from; set to where it left them when the result comes from a file.

        Returns
        -------
        dict
            What `compute` returned, now or in an earlier call.
        """
        if self.checkpoint is None:
            return compute()
        saved = self.checkpoint.load(name, rng)
        if saved is not None:
            return saved
        found = compute()
        if not self.stopped:
            # What was cut short is computed again by whoever goes on; Ctrl-C while saving loses nothing.
            with self.interruptible():
                self.checkpoint.save(name, found, rng)
        return found


class WholeSession(Session):
    """Work that is of use only as a whole: Ctrl-C is raised, whatever has been found, and nothing is kept."""

    def interrupt(self) -> None:
        """Pass Ctrl-C on."""
        raise KeyboardInterrupt


class BranchSession(Session):
    """One of several runs that go on at the same time, each on a thread of its own, as parts of one fit.

    Parameters
    ----------
    parent : Session
        The session of the fit.
    ended : threading.Event
        Ends the run when it is set; the runs of a fit share it.
    report : callable
        Called as ``report(place, objective)`` in place of moving the bar, which all runs share.
    """

    def __init__(self, parent: Session, ended: Event, report: Callable[[float, float], None]) -> None:
        saved = parent.checkpoint
        # A checkpoint of its own, in the same folder: the clock of its saves is that of this run.
        own = None if saved is None else Checkpoint(saved.folder, saved.interval)
        super().__init__(checkpoint=own, parent=parent)
        self._ended, self._report = ended, report

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, or the runs of this fit were ended."""
        return self._ended.is_set() or super().interrupted

    def show(self, place: float, objective: float) -> None:
        """Report where the run stands."""
        self._report(place, objective)


@contextmanager
def branch_session(
    parent: Session, ended: Event, report: Callable[[float, float], None]
) -> Iterator[BranchSession]:
    """A `BranchSession` for the block, which is the work of one thread.

    Parameters
    ----------
    parent : Session
        The session of the fit.
    ended : threading.Event
        Ends the run when it is set.
    report : callable
        Called as ``report(place, objective)`` after every step.

    Yields
    ------
    BranchSession
        The session, current for this thread until the block ends.
    """
    session = BranchSession(parent, ended, report)
    token = _current.set(session)
    try:
        yield session
    finally:
        _current.reset(token)


def current_session() -> Session | None:
    """The innermost open session of this thread.

    Returns
    -------
    Session or None
        None where no session is open.
    """
    return _current.get()


@contextmanager
def open_session(
    max_time: float | None = None,
    bar: ProgressBar | None = None,
    checkpoint: Checkpoint | None = None,
) -> Iterator[Session]:
    """Open a session for the fit in the block.

    When the block ends normally after Ctrl-C, the outermost session issues the warning `Interrupted`.

    Parameters
    ----------
    max_time : float, optional
        Seconds that the fit may take, compiling not counted.
    bar : ProgressBar, optional
        Where steps are shown; closed with the session.
    checkpoint : Checkpoint, optional
        Where runs save their state and look for one to go on from.

    Yields
    ------
    Session
        The session, current until the block ends.
    """
    parent = _current.get()
    session = Session(max_time, bar, checkpoint, parent)
    token = _current.set(session)
    try:
        # The outermost session is enough: its fit is where the others run.
        with never_ignored() if parent is None else nullcontext():
            if bar is not None:
                with uninterrupted():
                    bar.start()
            yield session
    except KeyboardInterrupt:
        if not session.kept:
            raise
        session.interrupt()
    finally:
        _current.reset(token)
        if bar is not None:
            with session.interruptible(), uninterrupted():
                bar.close()
    if session.interrupted and parent is None:
        warnings.warn(
            f"Interrupted after {session.seconds:.1f} s; the best found so far is kept.",
            Interrupted,
            stacklevel=5,
        )


@contextmanager
def whole_session() -> Iterator[Session]:
    """A `WholeSession` for the block; neither the time limit of a session around it nor an earlier Ctrl-C ends it.

    Yields
    ------
    Session
        The session.
    """
    session = WholeSession()
    token = _current.set(session)
    try:
        with never_ignored():
            yield session
    finally:
        _current.reset(token)


@contextmanager
def joined_session() -> Iterator[Session]:
    """The current session, or a new one for the block where there is none.

    Yields
    ------
    Session
        The session.
    """
    session = _current.get()
    if session is not None:
        yield session
        return
    with open_session() as session:
        yield session
