"""Reuters-21578, 8,293 documents × 18,933 words, sparse counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.datasets import fetch_reuters


def load() -> Any:
    """Word counts."""
    return sp.csr_matrix(fetch_reuters().data, dtype=np.float32)
