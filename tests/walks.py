"""Kernels on known posteriors, to test chains and calibration with."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partwise.core import Info, RunState
from partwise.samplers.calibration import CalibrationCase


@dataclass
class Place(RunState):
    x: np.ndarray


@dataclass(frozen=True)
class NormalGibbs:
    """x ~ N(0, 1) for two coordinates, y ~ N(x₁ + x₂, 1): Gibbs, one coordinate after the other."""

    #: Times the right standard deviation; 1 is exact.
    wrong: float = 1.0
    #: Step at which the chain breaks.
    breaks_at: int = -1
    name: ClassVar[str] = "normal"
    remedy: ClassVar[str] = "Use a smaller step."

    def init(self, problem, x):
        return Place(np.array(x, float))

    def value(self, problem, state):
        x = state.x
        return float(-0.5 * (x @ x) - 0.5 * (problem - x.sum()) ** 2)

    def step(self, problem, state, rng):
        x = state.x.copy()
        for i in range(2):
            x[i] = 0.5 * (problem - x[1 - i]) + self.wrong * np.sqrt(0.5) * rng.standard_normal()
        new = Place(x, iteration=state.iteration + 1)
        new.objective = np.nan if new.iteration == self.breaks_at else self.value(problem, new)
        return new, Info(new.iteration, new.objective, notes={"first": x[0]})

    def draw(self, problem, state):
        return {"x": state.x}


def case(wrong=1.0):
    kernel = NormalGibbs(wrong)

    def data(x, rng):
        return float(x.sum() + rng.standard_normal())

    def simulate(rng):
        x = rng.standard_normal(2)
        return data(x, rng), Place(x)

    return CalibrationCase(
        kernel,
        simulate,
        lambda y, rng: Place(rng.standard_normal(2)),
        lambda y, state, rng: (data(state.x, rng), state),
        lambda y, state: {"sum": state.x.sum(), "first": state.x[0]},
        n_warmup=5,
        thin=2,
    )
