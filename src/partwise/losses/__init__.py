"""Losses: how far a reconstruction is from the data."""

from partwise.losses.base import Loss, ScalarFunctions, scalar, strict_scalar
from partwise.losses.bernoulli import Bernoulli
from partwise.losses.beta import FROBENIUS, KL, BetaDivergence
from partwise.losses.negative_binomial import NegativeBinomial
from partwise.losses.registry import ALIASES, REGISTRY, as_loss, find_loss, register_loss

__all__ = [
    "ALIASES",
    "FROBENIUS",
    "KL",
    "REGISTRY",
    "Bernoulli",
    "BetaDivergence",
    "Loss",
    "NegativeBinomial",
    "ScalarFunctions",
    "as_loss",
    "find_loss",
    "register_loss",
    "scalar",
    "strict_scalar",
]
