"""Gamma prior (seed 003, section 1.4): p(a) ∝ a^(shape−1) exp(−rate · a)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

from partwise.priors.base import Prior, Terms


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma density with mean shape / rate (seed 003: α_w, β_w for W; α_h, β_h for H).

    With shape ≥ 1 the negative log-density (1 − shape) log a + rate · a is convex. With shape < 1 it falls to
    −∞ at a = 0, where no minimum exists; what is optimised then is the shifted
    (1 − shape) log(a + shift) + rate · a, which agrees with it for a ≫ shift and is finite at 0.

    Parameters
    ----------
    shape, rate : float
        Shape (> 0) and rate (≥ 0). A rate of 0 gives an improper prior.
    shift : float, optional
        The ε of the shifted prior; by default 1e-6 times the prior mean. Used only when shape < 1.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.priors import Gamma
    >>> round(Gamma(shape=2.0, rate=3.0).log_density(np.array([[0.5]])), 4)
    0.0041
    """

    shape: float = 1.0
    rate: float = 0.0
    shift: float | None = None

    def __post_init__(self) -> None:
        if not (0 < self.shape < float("inf") and 0 <= self.rate < float("inf")):
            raise ValueError(f"Gamma needs shape > 0 and rate ≥ 0; got shape={self.shape}, rate={self.rate}.")
        if self.shift is not None and not 0 < self.shift < float("inf"):
            raise ValueError(f"Gamma's shift must be positive; got {self.shift}.")

    @property
    def epsilon(self) -> float:
        """The shift in use."""
        if self.shift is not None:
            return self.shift
        return 1e-6 * (self.shape / self.rate if self.rate > 0 else 1.0)

    def terms(self) -> Terms:
        """Linear and logarithmic; the logarithm is shifted for shape < 1."""
        if self.shape >= 1:
            return Terms(linear=self.rate, log=self.shape - 1.0)
        return Terms(linear=self.rate, concave=1.0 - self.shape, shift=self.epsilon)

    def normaliser(self) -> float:
        """Shape · log rate − log Γ(shape); 0 for an improper prior."""
        return self.shape * log(self.rate) - lgamma(self.shape) if self.rate > 0 else 0.0
