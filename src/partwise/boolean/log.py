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

    Attributes
    ----------
    reports : list of pairs of float
        When an error was reported, in seconds of the session and of those that it goes on from, and the error.
    trials : int
        Trials that the climbs have made.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.reports: list[tuple[float, float]] = []
        self.trials = 0
        self._earlier = 0.0

    def report(self, error: float) -> None:
        """Write down the lowest error so far, and show it."""
        self.record(error)
        self.show(error)

    def record(self, error: float) -> None:
        """Write down an error and when it was reached."""
        self.reports.append((self.session.seconds + self._earlier, float(error)))

    def history(self) -> dict[str, np.ndarray]:
        """The reports as arrays: "seconds" and "error"."""
        seconds, error = np.array(self.reports).reshape(-1, 2).T
        return {"seconds": seconds.copy(), "error": error.copy()}

    def show(self, error: float) -> None:
        """Show an error beside the bar, which runs in seconds."""
        self.session.show(self.session.seconds, error)

    def stage(
        self, name: str, compute: Callable[[], dict[str, Any]], rng: np.random.Generator
    ) -> dict[str, Any]:
        """`Session.stage`, with what was reported meanwhile; what was computed is kept if Ctrl-C ends its saving."""
        reported, trials = len(self.reports), self.trials
        made: list[dict[str, Any]] = []

        def logged() -> dict[str, Any]:
            found = compute()
            log = {"reports": np.array(self.reports[reported:]), "trials": self.trials - trials}
            made.append(found | log)
            return made[0]

        try:
            packed = self.session.stage(name, logged, rng)
        except KeyboardInterrupt:
            if not made:
                raise
            self.session.interrupt()
            packed = made[0]
        if not made:
            self.reports += [(seconds, error) for seconds, error in packed["reports"].tolist()]
            self.trials += packed["trials"]
            if self.reports:
                self._earlier = self.reports[-1][0] - self.session.seconds
        return packed
