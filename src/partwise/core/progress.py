"""The progress bar of a fit, and the record of its steps."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from partwise.core.state import Info
from partwise.messages import draws_bars, logger

_Item = TypeVar("_Item")


class History:
    """Objective, seconds and further quantities of every step of a run, the start included."""

    def __init__(self) -> None:
        self.objective: list[float] = []
        self.seconds: list[float] = []
        self.notes: dict[str, list[Any]] = {}

    def __call__(self, info: Info, state: object) -> None:
        """Record one step."""
        self.objective.append(info.objective)
        self.seconds.append(info.seconds)
        for name, value in info.notes.items():
            self.notes.setdefault(name, []).append(value)


class ProgressBar:
    """A bar on stderr, drawn by rich, that stays as one line with the outcome; a record of the logger at the end.

    The bar is left out where a program handles the records and stderr is no terminal, and with PARTWISE_QUIET.

    Parameters
    ----------
    total : float
        Steps or seconds at which the bar is full.
    description : str
        Written before the bar.
    quantity : str
        What the number beside the bar is.
    """

    def __init__(self, total: float, description: str = "fit", quantity: str = "objective") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TimeElapsedColumn(),
            TextColumn(quantity + " {task.fields[objective]}"),
            console=Console(file=sys.stderr),
            disable=not draws_bars(),
        )
        self._outcome = f"{description}: %.0f/%.0f, {quantity} %s"
        self._task = self._bar.add_task(description, total=total, objective="…")

    def start(self) -> None:
        """Draw the bar from now on, on a thread of its own."""
        self._bar.start()

    def update(self, place: float, objective: float) -> None:
        """Move the bar to `place` and show the objective.

        Parameters
        ----------
        place : float
            Steps or seconds done, in the unit of `total`.
        objective : float
            The number beside the bar.
        """
        self._bar.update(self._task, completed=place, objective=f"{objective:.6g}")

    def close(self) -> None:
        """Leave the bar full at the place that was reached."""
        task = self._bar.tasks[0]
        logger.info(self._outcome, task.completed, task.total, task.fields["objective"], extra={"bar": True})
        self._bar.update(self._task, total=max(task.completed, 1))
        self._bar.stop()


def watched(
    items: Iterable[_Item], description: str, total: int | None = None, unit: str = ""
) -> Iterator[_Item]:
    """The same items, with a bar on stderr that moves as they are taken.

    Parameters
    ----------
    items : iterable
        What is passed on.
    description : str
        Written before the bar.
    total : int, optional
        Number of items, if it is known.
    unit : str
        What the items are called beside the bar.

    Yields
    ------
    object
        Each item.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(file=sys.stderr), disable=not draws_bars())
    with bar:
        yield from bar.track(items, total=total, description=description)
