"""Losses by name. To add one: a file with a `Loss`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from partwise.losses.base import Loss
from partwise.losses.bernoulli import Bernoulli
from partwise.losses.beta import BetaDivergence
from partwise.losses.negative_binomial import NegativeBinomial

#: Name → the loss with its default settings.
REGISTRY: dict[str, Callable[[], Loss]] = {
    "frobenius": lambda: BetaDivergence(2.0),
    "kullback-leibler": lambda: BetaDivergence(1.0),
    "itakura-saito": lambda: BetaDivergence(0.0),
    "negative-binomial": NegativeBinomial,
    "bernoulli": Bernoulli,
}

#: Other words for the same.
ALIASES = {
    "euclidean": "frobenius",
    "l2": "frobenius",
    "kl": "kullback-leibler",
    "poisson": "kullback-leibler",
    "is": "itakura-saito",
    "nb": "negative-binomial",
}


def register_loss(name: str, make: Callable[[], Loss]) -> None:
    """Let `beta_loss` and `--loss` know a loss by this name."""
    REGISTRY[name] = make


def as_loss(beta_loss: Any) -> Loss:
    """Turn `beta_loss` (a name, a number β, or a loss) into a loss."""
    if isinstance(beta_loss, Loss):
        return beta_loss
    if isinstance(beta_loss, str) and ALIASES.get(beta_loss, beta_loss) in REGISTRY:
        return REGISTRY[ALIASES.get(beta_loss, beta_loss)]()
    if isinstance(beta_loss, Real) and np.isfinite(float(beta_loss)):
        return BetaDivergence(float(beta_loss))
    raise ValueError(
        f"beta_loss must be a finite number β, a loss such as partwise.losses.NegativeBinomial(0.5), or one of "
        f"{sorted(REGISTRY)}; got {beta_loss!r}."
    )
