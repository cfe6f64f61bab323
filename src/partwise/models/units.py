"""Data far from 1 are divided by a power of two inside a fit, and all that is reported is multiplied by it.

Squares of 1e30 do not fit into float32, and squares of 1e-30 vanish there. A β-divergence is homogeneous,
d(cx | cy) = c^β d(x | y), and division by a power of two is exact, so that a fit of X / 2^e is the fit of X. Data of
ordinary size are left as they are, to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.core import Callback, Info
from partwise.priors import Prior, Terms
from partwise.priors.scaled import scaled, times_power

#: Data whose largest entry lies between 2^−30 and 2^30, about 1e-9 and 1e9, are of ordinary size.
ORDINARY = 30
#: How far, in powers of two, new rows may exceed the data of the fit in single and in double precision.
ROOM = {np.dtype(np.float32): 60, np.dtype(np.float64): 400}


def exponent_of(largest: float) -> int:
    """The power of two to divide data by, given their largest entry; 0 for data of ordinary size."""
    if not 0 < largest < np.inf or 2.0**-ORDINARY <= largest <= 2.0**ORDINARY:
        return 0
    return int(np.frexp(largest)[1])


def divided(array: Any, exponent: int, largest: float) -> Any:
    """An array or sparse matrix divided by 2^exponent, in its own type; itself where the exponent is 0.

    `largest` is the largest absolute value of its entries (see `partwise.matrix.span`).

    Raises
    ------
    ValueError
        If entries exceed what `ROOM` allows.
    """
    if largest and np.frexp(largest)[1] - exponent > ROOM[array.dtype]:
        raise ValueError(
            f"X has entries up to {largest:g}; here, in {array.dtype}, entries may be up to "
            f"{times_power(1.0, exponent + ROOM[array.dtype]):.2g}. Divide X by a number of its size."
        )
    if not exponent:
        return array
    if sp.issparse(array):
        array = array.copy()
        array.data = np.ldexp(array.data, -exponent)
        return array
    return np.ldexp(array, -exponent)


@dataclass(frozen=True)
class Units:
    """Powers of two by which data and factors are divided inside a fit.

    Parameters
    ----------
    data : int
        Exponent for X; 0 leaves everything as it is.
    H : int
        Exponent for H; that of W is the rest.
    degree : float
        Degree of the loss: D(cX | cY) = c^degree D(X | Y).
    constant : float
        What the logarithms of priors add to the objective; see `partwise.priors.scaled`.
    """

    data: int = 0
    H: int = 0
    degree: float = 0.0
    constant: float = 0.0

    @property
    def W(self) -> int:
        """Exponent for W."""
        return self.data - self.H

    def prior(self, prior: Prior, factor: int) -> Prior:
        """A prior of the user on a factor with this exponent, for the fit."""
        return scaled(prior, factor, self.degree * self.data) if self.data else prior

    def loss(self, value: Any, power: float = 1.0) -> Any:
        """A loss (or its power) of the fit, for the user."""
        return times_power(value, power * self.degree * self.data) if self.data else value

    def objective(self, value: Any) -> Any:
        """Loss plus penalties of the fit, for the user."""
        return self.loss(value) + self.constant if self.data else value


def inside(A: np.ndarray, exponent: int) -> np.ndarray:
    """A factor of the user, for the fit."""
    return np.ldexp(A, -exponent) if exponent else A


def outside(A: Any, exponent: int) -> Any:
    """A factor of the fit, for the user; the smallest may vanish, and what is too large is infinite."""
    with np.errstate(under="ignore", over="ignore"):
        return np.ldexp(A, exponent) if exponent else A


def in_units(callback: Callback, units: Units) -> Callback:
    """A callback of the user, who is shown the objective and copies of the factors in the units of the data."""
    if not units.data:
        return callback

    def told(info: Info, state: Any) -> Any:
        state = replace(state, W=outside(state.W, units.W), Ht=outside(state.Ht, units.H))
        state.objective = float(units.objective(state.objective))
        return callback(replace(info, objective=float(units.objective(info.objective))), state)

    return told


def logarithm_constant(terms: Terms, shape: tuple[int, int], row_weight: Any, exponent: int) -> float:
    """What the logarithms of a prior of A exceed those of A / 2^exponent by, for a factor A of this shape."""
    per_row = float(np.broadcast_to(np.asarray(terms.concave) - np.asarray(terms.log), shape[1]).sum())
    rows = float(shape[0] if row_weight is None else np.sum(row_weight))
    return exponent * float(np.log(2.0)) * rows * per_row
