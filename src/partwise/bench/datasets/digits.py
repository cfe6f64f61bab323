"""The bundled 8 × 8 digits: needs no download."""

from __future__ import annotations

import numpy as np

from partwise.datasets import load_digits


def load() -> np.ndarray:
    """All 1,797 images, 64 pixels each."""
    return load_digits().data.astype(np.float32)
