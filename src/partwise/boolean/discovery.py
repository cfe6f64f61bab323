"""Could a tile be chance? A bound on the probability that noise holds one like it.

In an n × m table of independent ones of probability p, a given choice of a rows and b columns has a density of
at least δ > p with probability at most exp(−2 a b (δ − p)²) (Hoeffding); there are C(n, a) · C(m, b) such
choices. So the chance that *any* a × b tile is that dense is at most

    C(n, a) · C(m, b) · exp(−2 a b (δ − p)²)

(Hess, Piatkowski & Morik 2018 reject tiles whose bound exceeds a level). It is an upper bound, and a generous
one: a tile that passes is hardly chance, a tile that fails may still be real.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def log_choices(total: np.ndarray | float, chosen: np.ndarray | float) -> np.ndarray:
    """Log C(total, chosen)."""
    total, chosen = np.asarray(total, float), np.asarray(chosen, float)
    return np.asarray(gammaln(total + 1.0) - gammaln(chosen + 1.0) - gammaln(total - chosen + 1.0))


def log10_chance(
    n: int, m: int, rows: np.ndarray, columns: np.ndarray, density: np.ndarray, background: float
) -> np.ndarray:
    """log₁₀ of the bound for each tile of so many rows and columns, at most 0."""
    excess = np.maximum(np.asarray(density, float) - background, 0.0)
    area = np.asarray(rows, float) * np.asarray(columns, float)
    bound = log_choices(n, rows) + log_choices(m, columns) - 2.0 * area * excess**2
    return np.minimum(bound, 0.0) / np.log(10.0)
