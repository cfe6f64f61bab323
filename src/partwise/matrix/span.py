"""The least and the largest entry of data, and whether any is NaN."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Span(NamedTuple):
    """What the entries that are stored lie between.

    Parameters
    ----------
    low, high : float
        The least and the largest entry that is not NaN; NaN where there is none.
    nan : bool
        Whether any entry is NaN.
    """

    low: float
    high: float
    nan: bool

    @property
    def largest(self) -> float:
        """The largest absolute value, 0 if there is none."""
        return max(self.high, -self.low, 0.0) if self.high == self.high else 0.0


def span_of(array: Any) -> Span:
    """The span of an array of floats, or of what a sparse matrix stores.

    Parameters
    ----------
    array : array or sparse matrix
        Of single or double precision.

    Returns
    -------
    Span
        Where its entries lie.
    """
    values = array.data if sp.issparse(array) else np.asarray(array)
    if values.size == 0:
        return Span(np.nan, np.nan, False)
    # (The least with NaN counting as less than everything: one quick pass, and no array of truth values.)
    nan = bool(np.isnan(np.minimum.reduce(values, axis=None)))
    low, high = (float(reduce(values, axis=None)) for reduce in (np.fmin.reduce, np.fmax.reduce))
    return Span(low, high, nan)
