"""Negative binomial loss: counts that vary more than Poisson counts of the same mean.

A count x with mean y and variance y + φ y² (dispersion φ; r = 1/φ is the "size") has, up to what does not depend on
y, the negative log-likelihood −x log y + (x + r) log(y + r). As a deviance (zero at y = x):

    d(x | y) = x log(x / y) − (x + r) log((x + r) / (y + r)).

The first part is convex and the second concave in y. Jensen's inequality for the one and the tangent of the other
give the multiplicative update of Gouvert, Oberlin & Févotte (2020),

    W ← W · [(X / Y) Hᵀ] / [((X + r) / (Y + r)) Hᵀ],

which never raises the loss. For φ → 0 it is the update for Kullback-Leibler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log1p

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from partwise.losses.base import Loss, ScalarFunctions, scalar, strict_scalar
from partwise.losses.beta import _kl_pull
from partwise.losses.logarithm import relative_kl


@strict_scalar
def _deviance(x: float, y: float, p: float) -> float:
    # As printed above, d is a difference of numbers as large as x, where it may be as small as r. But
    #     x log(x / y) − x log((x + r) / (y + r)) = x log(1 + q),   q = r (x − y) / ((x + r) y) = −(r / y) t,
    # so that d = x log(1 + q) + r log(1 + t) with t = (y − x) / (x + r), and no digits are lost to large counts.
    s = x + p
    t = (y - x) / s
    if x <= 0.0:
        return p * log1p(t)
    q = -(p / y) * t
    if abs(q) < 0.1 and abs(t) < 0.1:
        # Near y = x both logarithms are taken without their first terms, whose sum is r t (y − x) / y.
        return p * t * ((y - x) / y) - x * relative_kl(q) - p * relative_kl(t)
    return x * log1p(q) + p * log1p(t)


@scalar
def _push(one: float, y: float, p: float) -> float:
    return p / (p + y)


@scalar
def _drag(x: float, y: float, p: float) -> float:
    return x / (p + y)


_FUNCTIONS = ScalarFunctions("negative_binomial", _deviance, _kl_pull, _push, _drag)


@dataclass(frozen=True)
class NegativeBinomial(Loss):
    """Loss for overdispersed counts.

    Parameters
    ----------
    dispersion : float, optional
        φ > 0 in variance = mean + φ mean². None: estimated from the data, by maximum likelihood with the means of a
        first factorization.

    Examples
    --------
    >>> from partwise.losses import NegativeBinomial
    >>> loss = NegativeBinomial(dispersion=0.5)
    >>> loss.value([4.0], [4.0]), round(loss.value([4.0], [1.0]), 4)
    (0.0, 1.3863)
    """

    dispersion: float | None = None
    name = "negative-binomial"
    likelihood = True

    def __post_init__(self) -> None:
        if self.dispersion is not None and not 0 < self.dispersion < float("inf"):
            raise ValueError(
                f"NegativeBinomial needs a dispersion above 0, or None to estimate it; got {self.dispersion}. "
                "Without overdispersion use beta_loss='kullback-leibler'."
            )

    @property
    def functions(self) -> ScalarFunctions:
        """Deviance, and the three parts of its derivative."""
        return _FUNCTIONS

    @property
    def parameter(self) -> float:
        """The size r = 1 / φ."""
        return 1.0 if self.dispersion is None else 1.0 / self.dispersion

    @property
    def estimated(self) -> bool:
        """Whether the dispersion is left to the data."""
        return self.dispersion is None

    def estimate(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> NegativeBinomial:
        """The same loss with the dispersion of largest likelihood, given counts and their means.

        Parameters
        ----------
        X, Y : arrays of shape (n,)
            Counts, and the means of their distributions.
        weights : array of shape (n,)
            How often each count occurs.

        Returns
        -------
        NegativeBinomial
            With a dispersion between 1e-6 and 1e4.
        """
        x, y = np.asarray(X, float), np.maximum(np.asarray(Y, float), 1e-300)

        def cost(log_size: float) -> float:
            r = np.exp(log_size)
            likelihood = gammaln(x + r) - gammaln(r) - (x + r) * np.log1p(y / r) + x * (np.log(y) - np.log(r))
            return -float(np.average(likelihood, weights=weights))

        found = minimize_scalar(cost, bounds=(np.log(1e-4), np.log(1e6)), method="bounded")
        return replace(self, dispersion=float(np.exp(-found.x)))
