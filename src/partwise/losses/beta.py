"""The β-divergence as a loss: Frobenius (β = 2), Kullback-Leibler (1), Itakura-Saito (0), any β."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from partwise.losses import scalar

NAMES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


@dataclass(frozen=True)
class BetaDivergence:
    """D(X | Y) = Σ d_β(x_ij | y_ij); see `partwise.losses.scalar` for d_β."""

    beta: float = 2.0

    def __post_init__(self) -> None:
        # The general form divides by β (β − 1) and loses all digits next to 0 and 1, where the family is
        # continuous: β that close is taken as 0, 1 or 2.
        nearest = min((0.0, 1.0, 2.0), key=lambda special: abs(self.beta - special))
        if abs(self.beta - nearest) < 1e-7:
            object.__setattr__(self, "beta", nearest)

    @property
    def name(self) -> str:
        """The name scikit-learn gives to this β, or ``beta=…``."""
        for name, beta in NAMES.items():
            if beta == self.beta:
                return name
        return f"beta={self.beta:g}"

    @property
    def convex(self) -> bool:
        """Whether the loss is convex in one factor when the other is held."""
        return 1.0 <= self.beta <= 2.0

    @property
    def needs_positive_data(self) -> bool:
        """Whether d(0 | y) is infinite."""
        return self.beta <= 0.0

    def shift(self, mean: float, dtype: np.dtype) -> float:
        """The constant δ added to every reconstruction where d has a pole at y = 0.

        A floor relative to the data's scale. It is *added* rather than imposed by a maximum: a constant
        background is one more held component, so every descent proof still holds to the letter.
        """
        if self.beta >= 2.0:
            return 0.0
        return float(mean) * (1e-8 if dtype == np.float32 else 1e-12)

    def value(self, X: np.ndarray, Y: np.ndarray) -> float:
        """D(X | Y), entry by entry in double precision: the definition, for tests and small arrays."""
        x, y = np.broadcast_arrays(np.asarray(X, float), np.asarray(Y, float))
        return float(sum(scalar.divergence(a, b, self.beta) for a, b in zip(x.ravel(), y.ravel())))

    def gradient(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """∂D/∂Y, entry by entry."""
        x, y = np.broadcast_arrays(np.asarray(X, float), np.asarray(Y, float))
        out = [scalar.derivative(a, b, self.beta) for a, b in zip(x.ravel(), y.ravel())]
        return np.array(out).reshape(x.shape)


def as_loss(beta_loss: Any) -> BetaDivergence:
    """Turn scikit-learn's `beta_loss` (a name or a number) into a loss."""
    if isinstance(beta_loss, BetaDivergence):
        return beta_loss
    if isinstance(beta_loss, str):
        if beta_loss not in NAMES:
            raise ValueError(f"beta_loss must be a number or one of {sorted(NAMES)}; got {beta_loss!r}.")
        return BetaDivergence(NAMES[beta_loss])
    if isinstance(beta_loss, Real) and np.isfinite(float(beta_loss)):
        return BetaDivergence(float(beta_loss))
    raise ValueError(f"beta_loss must be a finite number or one of {sorted(NAMES)}; got {beta_loss!r}.")
