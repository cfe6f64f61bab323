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
    seconds, error : list of float
        Every error that was reported, and when.
    trials : int
        Trials that the climbs have made.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seconds: list[float] = []
        self.error: list[float] = []
        self.trials = 0

    def report(self, error: float) -> None:
        """Write down the lowest error so far, and show it."""
        self.seconds.append(self.session.seconds)
        self.error.append(float(error))
        self.show(error)

    def show(self, error: float) -> None:
        """Show an error beside the bar, which runs in seconds."""
        self.session.show(self.session.seconds, error)

    def stage(
        self, name: str, compute: Callable[[], dict[str, Any]], rng: np.random.Generator
    ) -> dict[str, Any]:
        """`Session.stage`, with what was reported meanwhile; what was computed is kept if Ctrl-C ends its saving."""
        reported, trials = len(self.error), self.trials
        made: list[dict[str, Any]] = []

        def logged() -> dict[str, Any]:
            found = compute()
            log = {
                "log_seconds": np.array(self.seconds[reported:]),
                "log_error": np.array(self.error[reported:]),
                "log_trials": self.trials - trials,
            }
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
            self.seconds += packed["log_seconds"].tolist()
            self.error += packed["log_error"].tolist()
            self.trials += packed["log_trials"]
        return packed
