"""Masks of `numpy.ma`: an entry that is masked was not observed."""

from __future__ import annotations

from typing import Any

import numpy as np


def without_mask(X: Any) -> Any:
    """X with NaN where a mask hides entries, which conversion to an array would show; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else float), np.nan)
