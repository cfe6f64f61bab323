"""Observers of a run. They look; they never steer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from partwise.core.state import Info, State

#: Anything that may be called after each step.
Callback = Callable[[Info, State], Any]


class History:
    """Objective and seconds of every step, the start included."""

    def __init__(self) -> None:
        self.objective: list[float] = []
        self.seconds: list[float] = []

    def __call__(self, info: Info, state: State) -> None:
        """Write down one step."""
        self.objective.append(info.objective)
        self.seconds.append(info.seconds)


class Progress:
    """A progress bar on stderr, drawn by rich; at rest it leaves one line with the outcome."""

    def __init__(self, total: int, description: str = "fit") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("objective {task.fields[objective]}"),
            console=Console(file=sys.stderr),
        )
        self._task = self._bar.add_task(description, total=total, objective="…")
        self._bar.start()

    def __call__(self, info: Info, state: State) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=info.iteration, objective=f"{info.objective:.6g}")

    def close(self) -> None:
        """Leave the bar full at the iteration that was reached."""
        done = self._bar.tasks[0].completed
        self._bar.update(self._task, total=max(done, 1))
        self._bar.stop()


class Countdown:
    """A bar over the seconds, or the steps, that a search may take, with what it has reached; on stderr, by rich."""

    def __init__(self, total: float, description: str = "search", word: str = "wrong") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn(word + " {task.fields[objective]}"),
            console=Console(file=sys.stderr),
        )
        self._begin = perf_counter()
        self._task = self._bar.add_task(description, total=total, objective="…")
        self._bar.start()

    def __call__(self, objective: float, step: float | None = None) -> None:
        """Move the bar to the step, or to where the clock is."""
        place = perf_counter() - self._begin if step is None else step
        self._bar.update(self._task, completed=place, objective=f"{objective:g}")

    def close(self) -> None:
        """Leave the bar full."""
        self._bar.update(self._task, total=1.0, completed=1.0)
        self._bar.stop()
