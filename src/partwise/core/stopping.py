"""When to stop. Each rule sees every `Info` of a run, in order, and says whether the run is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from partwise.core.state import Info


class Stopping(ABC):
    """A rule with a memory; make a new one for each run.

    Parameters
    ----------
    tol : float
        Tolerance; 0 never stops.

    Attributes
    ----------
    memory : dict
        What the rule remembers of the steps so far, as plain values that a checkpoint can keep.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.memory: dict[str, Any] = {}

    def begin(self, objective: float) -> None:
        """Take note of the objective at the start.

        Parameters
        ----------
        objective : float
            Its value before the first step.
        """
        self.memory = {"first": objective}

    @abstractmethod
    def done(self, info: Info) -> bool:
        """Whether the run has converged; `tol = 0` never has.

        Parameters
        ----------
        info : Info
            What the last step reported.

        Returns
        -------
        bool
            True ends the run.
        """


class RelativeProgress(Stopping):
    """Converged when the objective falls, per step, by less than `tol` times itself.

    The fall is averaged over the last ten steps, so that one short step does not end a run. With `ahead`, a run has
    also converged when, at this pace, as many steps again as were made would lower the objective by less than `ahead`
    times `tol` times itself: where little was done so far, a little more per step does not add up. An objective that
    has come down to rounding level is done too: to 1e-14 of what it was after the first step. (At the start it
    says more about where the factors began than about the data.)

    Parameters
    ----------
    tol : float
        Tolerance; 0 never stops.
    ahead : float, default=0
        See above; 0 looks at single steps alone.
    """

    window = 10

    def __init__(self, tol: float, ahead: float = 0.0) -> None:
        super().__init__(tol)
        self.ahead = ahead

    def begin(self, objective: float) -> None:
        """Take note of the objective at the start."""
        self.memory = {"first": objective, "recent": [objective]}

    def done(self, info: Info) -> bool:
        """Whether the average relative decrease is below `tol`."""
        recent = [*self.memory["recent"], info.objective][-self.window - 1 :]
        self.memory["recent"] = recent
        if self.tol <= 0:
            return False
        scale = self.memory.setdefault("scale", min(abs(self.memory["first"]), abs(info.objective)))
        if abs(info.objective) <= 1e-14 * scale:
            return True
        if len(recent) <= self.window:
            return False
        fall = (recent[0] - info.objective) / self.window
        enough = max(1.0, self.ahead / max(info.iteration, 1))
        return bool(fall <= enough * self.tol * abs(info.objective))


class SmallGain(Stopping):
    """Converged when several steps in a row each raise the objective by less than `tol` times itself.

    Parameters
    ----------
    tol : float
        Tolerance; 0 never stops.
    steps : int
        How many such steps in a row; one alone may be a plateau.
    after : int
        Steps at the beginning that do not count, because they are annealed or perturbed.
    size : float, optional
        The gain is compared with `tol` times this; by default with `tol` times the objective's own size. For
        objectives that shift with the units of the data, such as the logarithm of a density.
    """

    def __init__(self, tol: float, steps: int = 1, after: int = 0, size: float | None = None) -> None:
        super().__init__(tol)
        self.steps, self.after, self.size = steps, after, size

    def begin(self, objective: float) -> None:
        """Take note of the objective at the start."""
        self.memory = {"first": objective, "previous": objective, "small": 0}

    def done(self, info: Info) -> bool:
        """Whether the last gains were small."""
        gain = info.objective - self.memory["previous"]
        size = abs(info.objective) if self.size is None else self.size
        small = info.iteration > self.after and gain <= self.tol * size
        self.memory["small"] = self.memory["small"] + 1 if small else 0
        self.memory["previous"] = info.objective
        return self.tol > 0 and self.memory["small"] >= self.steps


class ViolationRatio(Stopping):
    """Rule of scikit-learn for coordinate descent: projected gradient below `tol` times that of step one.

    Parameters
    ----------
    tol : float
        Tolerance; 0 never stops.
    """

    def done(self, info: Info) -> bool:
        """Compare the sum of projected gradients with the first step's."""
        initial = self.memory.setdefault("initial", info.violation)
        if initial == 0:
            return True
        return self.tol > 0 and info.violation <= self.tol * initial


class ObjectiveEveryTen(Stopping):
    """Rule of scikit-learn for multiplicative updates, applied every ten steps.

    Converged when √(2 · objective) has fallen, since ten steps ago, by less than `tol` times its value at the start.

    Parameters
    ----------
    tol : float
        Tolerance; 0 never stops.
    """

    def begin(self, objective: float) -> None:
        """Take note of the objective at the start."""
        size = self._size(objective)
        self.memory = {"first": objective, "previous": size, "scale": size}

    @staticmethod
    def _size(objective: float) -> float:
        return max(2.0 * objective, 0.0) ** 0.5

    def done(self, info: Info) -> bool:
        """Compare with ten steps ago."""
        if self.tol <= 0 or info.iteration % 10:
            return False
        size = self._size(info.objective)
        small = self.memory["previous"] - size <= self.tol * self.memory["scale"]
        self.memory["previous"] = size
        return small
