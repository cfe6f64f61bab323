"""Bounds: the interval that a factor's entries lie in."""

from __future__ import annotations

from dataclasses import dataclass

from partwise.priors.base import Prior
from partwise.priors.terms import Terms


@dataclass(frozen=True)
class Bounds(Prior):
    """A flat belief on an interval.

    Parameters
    ----------
    lower, upper : float
        (0, ∞), the default of every factor; (0, 1) for shares and relaxed bits; (−∞, ∞) for signed factors.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.priors import Bounds
    >>> Bounds(0, 1).prox(np.array([[-0.5, 0.3, 2.0]]), step=1.0).tolist()
    [[0.0, 0.3, 1.0]]
    """

    lower: float = 0.0
    upper: float = float("inf")

    def __post_init__(self) -> None:
        if not self.lower < self.upper or self.lower > 0 or self.upper <= 0:
            raise ValueError(
                f"Bounds needs lower ≤ 0 < upper, so that a part can be absent; got lower={self.lower}, "
                f"upper={self.upper}."
            )

    def terms(self) -> Terms:
        """No terms, only the interval."""
        return Terms(bounds=(float(self.lower), float(self.upper)))
