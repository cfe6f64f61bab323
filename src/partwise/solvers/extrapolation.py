"""Extrapolation with restart (Ang & Gillis 2019), for solvers that update each factor with the other held.

A step from the current point (W, H), with β in [0, 1]:

1. H is pushed on along its last move: Ĥ = max(0, H + β (H − H₋)).
2. W is updated with Ĥ held, then pushed on: W⁺ = max(0, W′ + β (W′ − W′₋)), W′ being the update itself.
3. H is updated with W⁺ held, from Ĥ: H⁺.
4. The new point is (W⁺, H⁺). Its objective falls out of the sums that the H-update used.

If the objective fell, β grows; if it rose, the step is undone, β shrinks, and a plain step is made instead,
which cannot raise it. So the objective of the points handed out never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.priors import Terms


@dataclass
class Momentum:
    """β and its cap, and the points before; kept in the state's `extra` between steps.

    The schedule is that of Ang & Gillis: β starts at 0.5 and grows by 1 % a step up to the cap, which itself
    grows by half a percent up to 1; when the objective rises the cap becomes the last β that worked, and β is
    divided by 1.5.
    """

    beta: float = 0.5
    cap: float = 1.0
    last: float = 0.5

    def worked(self) -> None:
        """The objective fell."""
        self.last = self.beta
        self.beta = min(self.cap, 1.01 * self.beta)
        self.cap = min(1.0, 1.005 * self.cap)

    def failed(self) -> None:
        """The objective rose."""
        self.cap = self.last
        self.beta /= 1.5

    def array(self) -> np.ndarray:
        """As an array, for the state."""
        return np.array([self.beta, self.cap, self.last])


def pushed(A: np.ndarray, before: np.ndarray, beta: float, terms: Terms) -> np.ndarray:
    """A + β (A − before), kept nonnegative, and well above zero where the prior has a pole there."""
    out = A - before
    out *= A.dtype.type(beta)
    out += A
    if terms.log > 0:
        return np.maximum(out, A.dtype.type(0.5) * A, out=out)
    return np.maximum(out, A.dtype.type(0.0), out=out)
