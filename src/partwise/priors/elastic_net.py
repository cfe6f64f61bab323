"""Elastic net: l1 · a + ½ l2 · a², scaled as scikit-learn scales it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from partwise.priors.base import Prior, Terms


@dataclass(frozen=True)
class ElasticNet(Prior):
    """Exponential and half-normal beliefs: entries are small (l2) and often zero (l1).

    Parameters
    ----------
    l1, l2 : float
        Strength of the linear and of the quadratic term.
    row_scale : array of shape (n_rows,), optional
        Multiplies both strengths, row by row. `NMF` puts here how many entries of X each row is
        learned from: with complete data that is scikit-learn's factor `n_features` (for W) or `n_samples`
        (for H); with missing data a row is penalised in proportion to what was seen of it.
    """

    l1: float = 0.0
    l2: float = 0.0
    row_scale: np.ndarray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not (self.l1 >= 0 and self.l2 >= 0 and np.isfinite(self.l1) and np.isfinite(self.l2)):
            raise ValueError(f"ElasticNet needs l1 ≥ 0 and l2 ≥ 0; got l1={self.l1}, l2={self.l2}.")

    def terms(self) -> Terms:
        """Linear and quadratic."""
        scale: float | np.ndarray = 1.0 if self.row_scale is None else np.asarray(self.row_scale, float)
        return Terms(
            linear=self.l1 * scale if self.l1 else 0.0, quadratic=self.l2 * scale if self.l2 else 0.0
        )
