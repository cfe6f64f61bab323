"""Elastic net: l1 · a + ½ l2 · a², scaled as scikit-learn scales it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partwise.priors.base import Prior
from partwise.priors.terms import Terms


@dataclass(frozen=True)
class ElasticNet(Prior):
    """Exponential and half-normal beliefs: entries are small (l2) and often zero (l1).

    Parameters
    ----------
    l1, l2 : float or array of shape (n_components,)
        Strength of the linear and of the quadratic term.
    row_scale : array of shape (n_rows,), optional
        Multiplies both strengths, row by row. `NMF` puts here how many entries of X each row is
        learned from: with complete data that is scikit-learn's factor `n_features` (for W) or `n_samples`
        (for H); with missing data a row is penalised in proportion to what was seen of it.
    """

    l1: Any = 0.0
    l2: Any = 0.0
    row_scale: np.ndarray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for value in (self.l1, self.l2):
            array = np.asarray(value, dtype=float)
            if array.ndim > 1 or not (np.isfinite(array).all() and (array >= 0).all()):
                raise ValueError(
                    f"ElasticNet needs l1 ≥ 0 and l2 ≥ 0, each a number or one for each component; got l1={self.l1}, "
                    f"l2={self.l2}."
                )

    def terms(self) -> Terms:
        """Linear and quadratic."""
        scale: Any = 1.0 if self.row_scale is None else np.asarray(self.row_scale, float)[:, None]
        linear, quadratic = (
            np.atleast_2d(np.asarray(value, float)) * scale if np.any(value) else 0.0
            for value in (self.l1, self.l2)
        )
        return Terms(linear=linear, quadratic=quadratic)

    def rows(self, index: Any) -> ElasticNet:
        """The same with the scale of these rows."""
        return self if self.row_scale is None else replace(self, row_scale=self.row_scale[index])
