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
    """Register a loss under a name that `beta_loss` and `--loss` then accept.

    Parameters
    ----------
    name : str
        The name.
    make : callable
        Called without arguments; returns the loss with its default settings.
    """
    REGISTRY[name] = make


def as_loss(beta_loss: Any) -> Loss:
    """Turn the parameter `beta_loss` into a loss.

    Parameters
    ----------
    beta_loss : str, float or Loss
        A name from `REGISTRY` or `ALIASES`, the β of a β-divergence, or a loss, which is returned as it is.

    Returns
    -------
    Loss
        The loss.

    Raises
    ------
    ValueError
        If there is no such loss.
    """
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
