"""What stands between the layers of a `DeepNMF`: a function of every entry, its derivative and its inverse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Activation:
    """A smooth, growing function.

    Parameters
    ----------
    value, slope : callable
        The function and its derivative.
    inverse : callable
        The inverse, of entries between `low` and `high`.
    low, high : float
        To which features are clipped before `inverse` is taken.
    """

    value: Function
    slope: Function
    inverse: Function
    low: float = 0.0
    high: float = np.inf


def _softplus(z: np.ndarray) -> np.ndarray:
    # max(z, 0) + log(1 + e^−|z|): half the time of logaddexp.
    out = np.log1p(np.exp(-np.abs(z)))
    out += np.maximum(z, 0.0)
    return out


def _softplus_inverse(f: np.ndarray) -> np.ndarray:
    return f + np.log(-np.expm1(-f))


def _tanh_slope(z: np.ndarray) -> np.ndarray:
    return 1.0 - np.tanh(z) ** 2


def _sigmoid_slope(z: np.ndarray) -> np.ndarray:
    return expit(z) * expit(-z)


ACTIVATIONS = {
    "softplus": Activation(_softplus, expit, _softplus_inverse, low=0.01),
    "sigmoid": Activation(expit, _sigmoid_slope, logit, low=0.01, high=0.99),
    "tanh": Activation(np.tanh, _tanh_slope, np.arctanh, high=0.99),
}
