"""Gamma prior: p(a) ∝ a^(shape−1) exp(−rate · a), for MAP estimation (Ben Baccar 2018, section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from partwise.priors.base import Prior
from partwise.priors.terms import Terms


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma density with mean shape / rate (Ben Baccar 2018: α and β of W, and of H).

    With shape ≥ 1 the negative log-density (1 − shape) log a + rate · a is convex. With shape < 1 it falls to
    −∞ at a = 0, where no minimum exists; what is optimised then is the shifted
    (1 − shape) log(a + shift) + rate · a, which agrees with it for a ≫ shift and is finite at 0.

    Parameters
    ----------
    shape : float or array of shape (n_components,)
        Shape (> 0), for all components or one for each.
    rate : float or array of shape (n_components,) or (n_rows, n_components)
        Rate (≥ 0), for all components, one for each, or one for each entry of the factor: of W, or of the transpose
        of H. A rate of 0 gives an improper prior.
    shift : float, optional
        The ε of the shifted prior; by default 1e-6 times the prior mean. Used only where shape < 1.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.priors import Gamma
    >>> round(Gamma(shape=2.0, rate=3.0).log_density(np.array([[0.5]])), 4)
    0.0041
    """

    shape: Any = 1.0
    rate: Any = 0.0
    shift: float | None = None

    def __post_init__(self) -> None:
        shape, rate = np.asarray(self.shape, float), np.asarray(self.rate, float)
        if shape.ndim > 1:
            # A rate adds to the slope, which every kernel has for each entry. A shape bends the objective: kernels
            # choose by column between a division and a root, and find the floor of a column once.
            raise ValueError(
                f"Gamma takes one shape, or one for each component; got an array of shape {shape.shape}. Shapes for "
                "single entries are not supported; rates are: give shape as (n_components,) and let the rate differ."
            )
        if shape.size > 1 and rate.ndim and rate.shape[-1] not in (1, shape.size):
            raise ValueError(
                f"Gamma's shape and rate are for different numbers of components: shape has {shape.size}, rate "
                f"{rate.shape[-1]}. Give one number, or one for each component, to both."
            )
        right = ((shape > 0) & (shape < np.inf)).all() and ((rate >= 0) & (rate < np.inf)).all()
        if not right or rate.ndim > 2:
            raise ValueError(
                f"Gamma needs shape > 0 and rate ≥ 0, each a number or one for each component (the rate also one "
                f"for each entry); got shape={self.shape}, rate={self.rate}."
            )
        if self.shift is not None and not 0 < self.shift < float("inf"):
            raise ValueError(f"Gamma's shift must be positive; got {self.shift}.")

    @property
    def epsilon(self) -> Any:
        """The shift in use, for each component where these differ."""
        if self.shift is not None:
            return self.shift
        rate = np.asarray(self.rate, float)
        if rate.ndim == 2:
            # One shift for each component: that of its smallest mean.
            rate = rate.max(axis=0)
        return 1e-6 * np.where(rate > 0, self.shape / np.where(rate > 0, rate, 1.0), 1.0)

    def terms(self) -> Terms:
        """Linear and logarithmic; the logarithm is shifted for shape < 1."""
        shape, rate = np.asarray(self.shape, float), np.asarray(self.rate, float)
        return Terms(
            linear=rate[None] if rate.ndim == 1 else rate,
            log=np.maximum(shape - 1.0, 0.0),
            concave=np.maximum(1.0 - shape, 0.0),
            shift=np.where(shape < 1, self.epsilon, 0.0),
        )

    def rows(self, index: Any) -> Gamma:
        """The same with the rates of these rows."""
        return self if np.ndim(self.rate) < 2 else replace(self, rate=np.asarray(self.rate)[index])

    def normaliser(self) -> Any:
        """Shape · log rate − log Γ(shape); 0 for an improper prior."""
        rate = np.asarray(self.rate, float)
        return np.where(rate > 0, xlogy(self.shape, np.where(rate > 0, rate, 1.0)) - gammaln(self.shape), 0.0)
