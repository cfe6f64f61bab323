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

from partwise.boolean.bits import pack
from partwise.boolean.noise import noise_rates
from partwise.boolean.table import Table


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


def densities(table: Table, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Share of ones among the observed entries of each tile."""
    side = table.by_row
    tiles, seen = side.spread(pack(columns)), side.seen
    out = np.zeros(len(columns))
    for t in range(len(columns)):
        inside = seen[usage[:, t]] & tiles[t]
        out[t] = side.total(inside & side.bits[usage[:, t]]) / max(side.total(inside), 1e-300)
    return out


def chances(table: Table, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The bound of each tile, log₁₀; the noise is what is seen outside of all tiles."""
    if len(columns) == 0:
        return np.zeros(0)
    background = noise_rates(table, usage, columns)[0]
    density = densities(table, usage, columns)
    return log10_chance(table.n, table.m, usage.sum(axis=0), columns.sum(axis=1), density, background)
