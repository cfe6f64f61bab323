"""Losses by name. To add one: a file with a `Loss`, and a line here; in another package, `register_loss`."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from partwise.io.registry import register_value
from partwise.losses.base import Loss
from partwise.losses.bernoulli import Bernoulli
from partwise.losses.beta import BetaDivergence
from partwise.losses.negative_binomial import NegativeBinomial
from partwise.plugins import add, find

_Class = TypeVar("_Class", bound=type[Loss])

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


def register_loss(cls: _Class) -> _Class:
    """Let `beta_loss`, `--loss` and model files know a loss by its `name`; a decorator above @dataclass.

    Parameters
    ----------
    cls : class
        A dataclass derived from `Loss` that can be made without arguments: that is what its name stands for.

    Returns
    -------
    class
        The one that was given.
    """
    register_value(cls)
    add(REGISTRY, ALIASES.get(cls.name, cls.name), cls, "loss")
    return cls


def find_loss(name: str) -> Callable[[], Loss] | None:
    """How to make the loss of this name or alias.

    Parameters
    ----------
    name : str
        The name or alias.

    Returns
    -------
    callable or None
        Makes the loss without arguments; None if there is none of this name, here or in an installed package.
    """
    return find(REGISTRY, ALIASES.get(name, name))


def as_loss(beta_loss: Any) -> Loss:
    """Turn the parameter `beta_loss` into a loss.

    Parameters
    ----------
    beta_loss : str, float or Loss
        A name from `REGISTRY` or `ALIASES`, in large or small letters, the β of a β-divergence, or a loss, which is
        returned as it is.

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
    make = find_loss(beta_loss.lower()) if isinstance(beta_loss, str) else None
    if make is not None:
        return make()
    if isinstance(beta_loss, Real) and np.isfinite(float(beta_loss)):
        return BetaDivergence(float(beta_loss))
    raise ValueError(
        f"beta_loss must be a finite number β, a loss such as partwise.losses.NegativeBinomial(0.5), or one of "
        f"{sorted({*REGISTRY, *ALIASES})}; got {beta_loss!r}."
    )
