"""The bundled 8 × 8 digits: needs no download."""

from __future__ import annotations

import numpy as np

from partwise.datasets import load_digits


def load() -> np.ndarray:
    """1,797 × 64."""
    return load_digits().data.astype(np.float32)
