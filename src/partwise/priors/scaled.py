"""Priors of a factor that is divided by a power of two, in an objective that is divided by another.

With A = 2^f A′ and the objective divided by 2^u, a term t(A) becomes 2^(−u) t(2^f A′): linear terms are multiplied by
2^(f−u), quadratic ones by 2^(2f−u), logarithms by 2^(−u) (what log 2^f adds is a constant), and bounds and the shift
inside a logarithm by 2^(−f). So `NMF` scales extreme data without changing what is minimised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.priors.base import Coupling, Prior, SumPrior
from partwise.priors.terms import Terms

#: Beside data of size 1, a coefficient beyond these cannot be told from infinity, or from nothing.
LARGEST, SMALLEST = 2.0**100, 2.0**-100


def times_power(value: Any, exponent: float) -> Any:
    """``value · 2^exponent``; infinite, or zero, only where the result itself is out of range.

    Parameters
    ----------
    value : float or array
        What is multiplied.
    exponent : float
        Whole exponents are exact.

    Returns
    -------
    float or array
        In double precision.
    """
    whole = int(np.floor(exponent))
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.asarray(value, dtype=float) * 2.0 ** (exponent - whole), whole)[()]


def scaled(prior: Prior, factor: int, unit: float) -> Prior:
    """The prior of A / 2^factor in an objective divided by 2^unit.

    Parameters
    ----------
    prior : Prior
        The prior of A.
    factor : int
        Exponent of the factor's scale.
    unit : float
        Exponent of the objective's.

    Returns
    -------
    Prior
        The same belief, but for a constant.
    """
    if isinstance(prior, SumPrior):
        return SumPrior(tuple(scaled(part, factor, unit) for part in prior.parts))
    if isinstance(prior, Coupling):
        return ScaledCoupling(prior, factor, unit)
    return ScaledPrior(prior, factor, unit)


@dataclass(frozen=True)
class ScaledPrior(Prior):
    """A prior of single entries in other units; see `scaled`.

    Parameters
    ----------
    prior : Prior
        In the units of the user.
    factor : int
        Exponent of the factor's scale.
    unit : float
        Exponent of the objective's.
    """

    prior: Prior
    factor: int
    unit: float

    def terms(self) -> Terms:
        """Those of the prior, scaled."""
        return scaled_terms(self.prior.terms(), self.factor, self.unit)

    def rows(self, index: Any) -> Prior:
        """Some of the rows of the prior."""
        return ScaledPrior(self.prior.rows(index), self.factor, self.unit)


@dataclass(frozen=True)
class ScaledCoupling(Coupling):
    """A coupling in other units; see `scaled`.

    Parameters
    ----------
    coupling : Coupling
        In the units of the user.
    factor : int
        Exponent of the factor's scale.
    unit : float
        Exponent of the objective's.
    """

    coupling: Coupling
    factor: int
    unit: float

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """The coupling at 2^factor A, divided by 2^unit."""
        return float(times_power(self.coupling.value(times_power(A, self.factor), row_weight), -self.unit))

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Its derivative."""
        outer = self.coupling.gradient(times_power(A, self.factor))
        return np.asarray(times_power(outer, self.factor - self.unit))

    def majorise(self, A: np.ndarray) -> Terms:
        """Those of the coupling at 2^factor A, scaled."""
        return scaled_terms(self.coupling.majorise(times_power(A, self.factor)), self.factor, self.unit)

    def check(self, n_rows: int) -> None:
        """That of the coupling."""
        self.coupling.check(n_rows)


def scaled_terms(terms: Terms, factor: int, unit: float) -> Terms:
    """Terms of A / 2^factor in an objective divided by 2^unit.

    Parameters
    ----------
    terms : Terms
        Terms of A.
    factor : int
        Exponent of the factor's scale.
    unit : float
        Exponent of the objective's.

    Returns
    -------
    Terms
        The same but for a constant; coefficients below all rounding are left out.

    Raises
    ------
    ValueError
        If a coefficient is too strong against the data to be computed with.
    """
    parts = {
        name: times_power(getattr(terms, name), exponent)
        for name, exponent in (
            ("linear", factor - unit),
            ("quadratic", 2 * factor - unit),
            ("log", -unit),
            ("concave", -unit),
        )
    }
    for name, part in parts.items():
        sizes = np.abs(part)
        if np.max(sizes, initial=0.0) > LARGEST:
            raise ValueError(
                "The penalties or priors of W and H are beyond all measure against the data: in units in which the "
                f"largest entry of X is about 1, a {name} term is {np.max(sizes):.1g}. Divide X by a number of its "
                "size, and choose the penalties for that."
            )
        parts[name] = np.where(sizes < SMALLEST, 0.0, part)
    shift = np.maximum(
        times_power(terms.shift, -factor), np.where(np.asarray(terms.shift) > 0, 2.0**-1000, 0.0)
    )
    bounds = terms.bounds and (
        float(times_power(terms.lower, -factor)),
        float(times_power(terms.upper, -factor)),
    )
    return Terms(**parts, shift=shift, bounds=bounds)
