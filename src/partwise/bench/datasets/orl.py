"""ORL faces, pixels × images, 10304 × 400."""

from __future__ import annotations

import numpy as np

from partwise.datasets import fetch_orl


def load() -> np.ndarray:
    """Grey values, dense."""
    return np.ascontiguousarray(fetch_orl(dtype=np.float32).data.T)
