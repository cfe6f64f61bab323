"""Bernoulli loss for data in [0, 1]: yes/no answers, or shares of yes.

The reconstruction y ≥ 0 is the *odds* of a yes, whose probability is y / (1 + y): any nonnegative W H is then a
probability, which W H itself is not. The loss is the deviance

    d(x | y) = x log(x / π) + (1 − x) log((1 − x) / (1 − π)),      π = y / (1 + y),

that is −x log y + log(1 + y) up to what does not depend on y (Hong, Kolda & Duersch 2020, "Bernoulli, odds link").
The first part is convex and the second concave, so the multiplicative update with numerator x / y and denominator
1 / (1 + y) never raises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log1p

import numpy as np

from partwise.losses.base import Loss, ScalarFunctions, scalar, strict_scalar
from partwise.losses.beta import _kl_pull


@strict_scalar
def _deviance(x: float, y: float, p: float) -> float:
    cost = log1p(y)
    if x > 0.0:
        cost += x * (log(x) - log(y))
    if x < 1.0:
        cost += (1.0 - x) * log(1.0 - x)
    # Where y fits x the terms cancel to rounding.
    return max(cost, 0.0)


@scalar
def _push(one: float, y: float, p: float) -> float:
    return one / (one + y)


_FUNCTIONS = ScalarFunctions("bernoulli", _deviance, _kl_pull, _push)


@dataclass(frozen=True)
class Bernoulli(Loss):
    """Loss for data between 0 and 1; the reconstruction is the odds, `mean` the probability.

    Examples
    --------
    >>> from partwise.losses import Bernoulli
    >>> round(Bernoulli().value([1.0, 0.0], [9.0, 1.0]), 4)  # −log 0.9 − log 0.5
    0.7985
    """

    name = "bernoulli"
    likelihood = True
    highest = 1.0

    @property
    def functions(self) -> ScalarFunctions:
        """Deviance, and the two parts of its derivative."""
        return _FUNCTIONS

    def mean(self, Y: np.ndarray) -> np.ndarray:
        """Probabilities y / (1 + y)."""
        return np.asarray(Y / (1.0 + Y))

    def fitting(self, X: np.ndarray) -> np.ndarray:
        """Odds x / (1 − x)."""
        with np.errstate(divide="ignore"):
            return np.asarray(X / (1.0 - X))
