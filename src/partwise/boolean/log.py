"""What a search says while it runs: errors and when they were reached, trials, and stages for a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise.core import Session


class SearchLog:
    """The record of one search, which belongs to a session.

    Parameters
    ----------
    session : Session
        Has the clock and the bar, and says when to stop.
    in_seconds : bool
        Whether the bar runs in seconds, else in trials.

    Attributes
    ----------
    reports : list of three floats
        When an error was reported, in seconds of the session and of those that it goes on from and in trials, and the
        error.
    trials : int
        Trials that the climbs have made.
    timed : bool
        Whether the clock has ended anything, so that what is found depends on the machine and its load.
    prefix : str
        Put before the names of stages.
    """

    def __init__(self, session: Session, in_seconds: bool = False) -> None:
        self.session, self.in_seconds = session, in_seconds
        self.reports: list[tuple[float, float, float]] = []
        self.trials = 0
        self.timed = False
        self.prefix = ""
        self._earlier = 0.0

    def out_of_time(self, moment: float = np.inf) -> bool:
        """Whether time is up, the session's or up to a `moment` on its clock; if so, that is noted in `timed`."""
        late = self.session.out_of_time or self.session.seconds > moment
        self.timed = self.timed or late
        return late

    def report(self, error: float, trials: int = 0) -> None:
        """Write down the lowest error so far and the trials since the last report, and show them."""
        self.trials += trials
        self.record(error)
        self.show(error)

    def record(self, error: float) -> None:
        """Write down an error and when it was reached."""
        self.reports.append((self.session.seconds + self._earlier, float(self.trials), float(error)))

    def history(self) -> dict[str, np.ndarray]:
        """The reports as arrays: "seconds", "trials" and "error"."""
        columns = np.array(self.reports).reshape(-1, 3).T
        return {name: column.copy() for name, column in zip(("seconds", "trials", "error"), columns)}

    def show(self, error: float) -> None:
        """Show an error beside the bar."""
        self.session.show(self.session.seconds if self.in_seconds else self.trials, error)

    def stage(
        self, name: str, compute: Callable[[], dict[str, Any]], rng: np.random.Generator
    ) -> dict[str, Any]:
        """`Session.stage`, with what was reported meanwhile; what was computed is kept if Ctrl-C ends its saving."""
        reported, trials = len(self.reports), self.trials
        made: list[dict[str, Any]] = []

        def logged() -> dict[str, Any]:
            found = compute()
            log = {
                "reports": np.array(self.reports[reported:]),
                "trials": self.trials - trials,
                "timed": self.timed,
            }
            made.append(found | log)
            return made[0]

        try:
            packed = self.session.stage(self.prefix + name, logged, rng)
        except KeyboardInterrupt:
            if not made:
                raise
            self.session.interrupt()
            packed = made[0]
        if not made:
            self.reports += [(seconds, tried, error) for seconds, tried, error in packed["reports"].tolist()]
            self.trials += packed["trials"]
            self.timed = self.timed or packed["timed"]
            if self.reports:
                self._earlier = self.reports[-1][0] - self.session.seconds
        return packed
