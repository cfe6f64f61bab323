"""Priors of numbers between 0 and 1 (Gonsior 2019, equations 3.3 to 3.6), as members of one family.

Up to a constant, log p(a) = −linear · a − ½ quadratic · a² + (alpha − 1) log a + (beta − 1) log(1 − a) − 2 push ·
min(a, 1 − a) on [0, 1]. Laplace(0, 2) has linear = ½, which is PanPAL's penalty. (The thesis swaps the sizes of both
factors in these equations; an entry's prior does not depend on them.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import quad

from partwise.samplers.truncated_normal import truncated_normal


@dataclass(frozen=True)
class UnitPrior:
    """A density on [0, 1]; see the module for what the parameters do.

    Parameters
    ----------
    linear, quadratic : float, default=0
        Slope of an exponential (Laplace) prior, and inverse variance of a normal one with mean 0.
    alpha, beta : float, default=1
        Parameters of a Beta factor.
    push : float, default=0
        How strongly values are pushed towards the nearer of 0 and 1.
    """

    linear: float = 0.0
    quadratic: float = 0.0
    alpha: float = 1.0
    beta: float = 1.0
    push: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no density."""
        values = (self.linear, self.quadratic, self.alpha, self.beta, self.push)
        if not (np.isfinite(values).all() and self.quadratic >= 0 and min(self.alpha, self.beta) > 0):
            raise ValueError(
                f"A prior on [0, 1] needs finite numbers, quadratic ≥ 0, alpha > 0 and beta > 0; got {self}."
            )

    @property
    def conjugate(self) -> bool:
        """Whether it is a truncated normal or exponential, so that conditionals are truncated normals."""
        return self.alpha == 1.0 and self.beta == 1.0 and self.push == 0.0

    @property
    def numbers(self) -> np.ndarray:
        """The parameters as an array, for compiled code."""
        return np.array([self.linear, self.quadratic, self.alpha - 1.0, self.beta - 1.0, self.push])

    def log_kernel(self, a: Any) -> np.ndarray:
        """Log-density up to its constant, entry by entry.

        Parameters
        ----------
        a : array
            Values in [0, 1].

        Returns
        -------
        array
            Of the shape of `a`.
        """
        a = np.asarray(a, dtype=float)
        out = -self.linear * a - 0.5 * self.quadratic * a * a
        with np.errstate(divide="ignore"):
            if self.alpha != 1.0:
                out = out + (self.alpha - 1.0) * np.log(a)
            if self.beta != 1.0:
                out = out + (self.beta - 1.0) * np.log1p(-a)
        if self.push:
            out = out - 2.0 * self.push * np.minimum(a, 1.0 - a)
        return np.asarray(out)

    @cached_property
    def log_constant(self) -> float:
        """Logarithm of the integral of exp(`log_kernel`) over [0, 1]."""

        # a = sin²(πt/2) takes the poles of a Beta factor away.
        def integrand(t: float) -> float:
            a = np.sin(0.5 * np.pi * t) ** 2
            slope = 0.5 * np.pi * np.sin(np.pi * t)
            return float(np.exp(self.log_kernel(a)) * slope)

        return float(np.log(quad(integrand, 0.0, 1.0, points=[0.5], limit=200)[0]))

    def log_density(self, A: np.ndarray) -> float:
        """Log-density of independent entries.

        Parameters
        ----------
        A : array
            Values in [0, 1].

        Returns
        -------
        float
            The sum over the entries.
        """
        if not self.conjugate:
            return float(self.log_kernel(A).sum()) - A.size * self.log_constant
        squares = float(np.vdot(A, A)) if self.quadratic else 0.0
        return -self.linear * float(A.sum()) - 0.5 * self.quadratic * squares - A.size * self.log_constant

    def gradient(self, A: np.ndarray) -> np.ndarray | float:
        """Gradient of `log_density`.

        Parameters
        ----------
        A : array
            Values in (0, 1).

        Returns
        -------
        array or float
            Of a shape that broadcasts to that of `A`.
        """
        out: Any = -self.linear
        if self.quadratic:
            out = out - self.quadratic * A
        if self.alpha != 1.0:
            out = out + (self.alpha - 1.0) / A
        if self.beta != 1.0:
            out = out - (self.beta - 1.0) / (1.0 - A)
        if self.push:
            out = out - 2.0 * self.push * np.where(A < 0.5, 1.0, -1.0)
        return out

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        shape : tuple of int
            How many.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        array
            Of this shape.
        """
        if self.conjugate and self.quadratic:
            sd = self.quadratic**-0.5
            return truncated_normal(-self.linear / self.quadratic, sd, 0.0, 1.0, rng, size=shape)
        if self.conjugate:
            u = rng.random(shape)
            return u if self.linear == 0.0 else np.log1p(u * np.expm1(-self.linear)) / -self.linear
        # Rejection from the Beta factor; the rest is largest at 0, at ½, at 1 or where its slope is zero.
        rest = UnitPrior(self.linear, self.quadratic, push=self.push)
        most = float(rest.log_kernel(np.linspace(0.0, 1.0, 4097)).max()) + 1e-3
        out = np.empty(shape).ravel()
        left = np.arange(out.size)
        while left.size:
            a = rng.beta(self.alpha, self.beta, left.size)
            keep = np.log(rng.random(left.size)) < rest.log_kernel(a) - most
            out[left[keep]] = a[keep]
            left = left[~keep]
        return out.reshape(shape)


#: Priors by the names that estimators take. "binary" pushes to 0 and 1 as PanPAL's proximal operator does.
UNIT_PRIORS: dict[str, UnitPrior] = {
    "uniform": UnitPrior(),
    "normal": UnitPrior(quadratic=1.0),
    "laplace": UnitPrior(linear=0.5),
    "beta": UnitPrior(alpha=0.5, beta=0.5),
    "binary": UnitPrior(push=4.0),
}


def unit_prior(prior: Any) -> UnitPrior:
    """A prior by its name, or as it is given.

    Parameters
    ----------
    prior : str or UnitPrior
        One of `UNIT_PRIORS`, or a prior.

    Returns
    -------
    UnitPrior
        The prior.
    """
    if isinstance(prior, UnitPrior):
        return prior
    if prior not in UNIT_PRIORS:
        raise ValueError(f"prior must be one of {list(UNIT_PRIORS)} or a UnitPrior; got {prior!r}.")
    return UNIT_PRIORS[prior]
