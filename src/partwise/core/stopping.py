"""When to stop. Each rule sees every `Info` of a run, in order, and says whether the run is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque

from partwise.core.state import Info


class Stopping(ABC):
    """A rule with a memory; make a new one for each run."""

    def __init__(self, tol: float) -> None:
        self.tol = tol

    def begin(self, objective: float) -> None:
        """Told the objective at the start."""
        self.first = objective

    @abstractmethod
    def done(self, info: Info) -> bool:
        """Whether the run has converged; `tol = 0` never has."""


class RelativeProgress(Stopping):
    """Converged when the objective falls, per step, by less than `tol` times itself.

    The fall is averaged over the last ten steps, so that one lazy step does not end a run. An objective
    that has come down to rounding level (1e-14 of where it began) is done too.
    """

    window = 10

    def begin(self, objective: float) -> None:
        """Remember the start."""
        super().begin(objective)
        self._recent: deque[float] = deque([objective], maxlen=self.window + 1)

    def done(self, info: Info) -> bool:
        """Average relative decrease below `tol`."""
        self._recent.append(info.objective)
        if self.tol <= 0:
            return False
        if abs(info.objective) <= 1e-14 * abs(self.first):
            return True
        if len(self._recent) <= self.window:
            return False
        fall = (self._recent[0] - info.objective) / self.window
        return bool(fall <= self.tol * abs(info.objective))


class ViolationRatio(Stopping):
    """scikit-learn's rule for coordinate descent: projected gradient below `tol` times that of step one."""

    def begin(self, objective: float) -> None:
        """Remember nothing yet."""
        super().begin(objective)
        self._initial: float | None = None

    def done(self, info: Info) -> bool:
        """Sum of projected gradients against the first step's."""
        if self._initial is None:
            self._initial = info.violation
        if self._initial == 0:
            return True
        return self.tol > 0 and info.violation <= self.tol * self._initial


class ObjectiveEveryTen(Stopping):
    """scikit-learn's rule for multiplicative updates: every ten steps, √(2·objective) fell by less than `tol`
    times its value at the start.
    """

    def begin(self, objective: float) -> None:
        """Remember the start."""
        super().begin(objective)
        self._previous = self._size(objective)
        self._scale = self._previous

    @staticmethod
    def _size(objective: float) -> float:
        return max(2.0 * objective, 0.0) ** 0.5

    def done(self, info: Info) -> bool:
        """Compare with ten steps ago."""
        if self.tol <= 0 or info.iteration % 10:
            return False
        size = self._size(info.objective)
        small = self._previous - size <= self.tol * self._scale
        self._previous = size
        return small
