"""MNIST training images: dense, most pixels zero."""

from __future__ import annotations

import numpy as np

from partwise.datasets import fetch_mnist


def load(count: int = 20_000) -> np.ndarray:
    """The first `count` images, 784 pixels each."""
    return np.ascontiguousarray(fetch_mnist(dtype=np.float32).data[:count])


def load_10k() -> np.ndarray:
    """The first 10,000 images."""
    return load(10_000)
