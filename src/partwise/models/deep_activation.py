"""What stands between the layers of a `DeepNMF`: a function of every entry, its derivative and its inverse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from partwise.jit import njit
from partwise.losses.logarithm import tail

Function = Callable[[np.ndarray], np.ndarray]
_LOG_2 = float(np.log(2.0))


@dataclass(frozen=True)
class Activation:
    """A smooth, growing function.

    Parameters
    ----------
    both : callable
        The function and its derivative, which share most of their arithmetic; None is a derivative of one.
    inverse : callable
        The inverse, of entries between `low` and `high`.
    low, high : float
        To which features are clipped before `inverse` is taken.
    """

    both: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | None]]
    inverse: Function
    low: float = 0.0
    high: float = np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def _from_exponentials(z: np.ndarray, e: np.ndarray, value: np.ndarray) -> None:
    """Softplus of z, and in the place of e = exp(−|z|) its derivative.

    log(1 + e) is 2 artanh(s) with s = e / (2 + e), or log 2 + 2 artanh(s) with s = (e − 1) / (e + 3), whichever is
    smaller; without branches, so that the loop is compiled to vector instructions.
    """
    for j in range(len(z)):
        x = np.float64(e[j])
        near = x < 0.41421356
        s = x / (2.0 + x) if near else (x - 1.0) / (x + 3.0)
        q = s * s
        above = z[j] > 0
        value[j] = (0.0 if near else _LOG_2) + 2.0 * (s + s * q * tail(q)) + (z[j] if above else 0.0)
        e[j] = (1.0 if above else x) / (1.0 + x)


def _softplus(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # max(z, 0) + log(1 + e^−|z|), and 1 / (1 + e^−z).
    z = np.ascontiguousarray(z)
    e, value = np.abs(z), np.empty_like(z)
    np.exp(np.negative(e, out=e), out=e)
    _from_exponentials(z.ravel(), e.ravel(), value.ravel())
    return value, e


def _softplus_inverse(f: np.ndarray) -> np.ndarray:
    return f + np.log(-np.expm1(-f))


def _tanh(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value = np.tanh(z)
    return value, 1.0 - value**2


def _sigmoid(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value = np.exp(-np.abs(z))
    other = 1.0 / (1.0 + value)
    value *= other
    # One of the two is the function, the other what it lacks to one.
    return np.where(z > 0, other, value), value * other


ACTIVATIONS = {
    "softplus": Activation(_softplus, _softplus_inverse, low=0.01),
    "sigmoid": Activation(_sigmoid, logit, low=0.01, high=0.99),
    "tanh": Activation(_tanh, np.arctanh, high=0.99),
}
