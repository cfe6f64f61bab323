"""Could a tile be chance? An upper bound on the probability that noise contains one like it.

In an n × m table of independent ones of probability p, a given choice of a rows and b columns has a density of
at least δ > p with probability at most exp(−2 a b (δ − p)²) (Hoeffding 1963); there are C(n, a) · C(m, b) such
choices. So the chance that *any* a × b tile is that dense is at most

    C(n, a) · C(m, b) · exp(−2 a b (δ − p)²)

(Hess, Piatkowski & Morik 2018 reject tiles whose bound exceeds a level). The bound is generous: a tile that passes is
hardly chance, a tile that fails may still be real.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.boolean.noise import noise_rates


def log_choices(total: np.ndarray | float, chosen: np.ndarray | float) -> np.ndarray:
    """Natural logarithm of the binomial coefficient C(total, chosen)."""
    total, chosen = np.asarray(total, float), np.asarray(chosen, float)
    return np.asarray(gammaln(total + 1.0) - gammaln(chosen + 1.0) - gammaln(total - chosen + 1.0))


def log10_chance(
    n: int, m: int, rows: np.ndarray, columns: np.ndarray, density: np.ndarray, background: float
) -> np.ndarray:
    """log₁₀ of the bound above, at most 0, for each tile of an n × m table.

    Takes the number of rows and of columns and the density of each tile, and the probability of a one in the noise.
    """
    excess = np.maximum(np.asarray(density, float) - background, 0.0)
    area = np.asarray(rows, float) * np.asarray(columns, float)
    bound = log_choices(n, rows) + log_choices(m, columns) - 2.0 * area * excess**2
    return np.minimum(bound, 0.0) / np.log(10.0)


def densities(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Share of ones among the observed entries of each tile, by weight."""
    side = table.by_row
    tiles, seen = side.spread(pack(columns)), side.seen
    out = np.zeros(len(columns))
    for t in range(len(columns)):
        inside = seen[usage[:, t]] & tiles[t]
        out[t] = side.total(inside & side.bits[usage[:, t]]) / max(side.total(inside), 1e-300)
    return out


def chances(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """log₁₀ of the bound for each tile, where the noise is the share of ones outside of all tiles."""
    if len(columns) == 0:
        return np.zeros(0)
    background = noise_rates(table, usage, columns)[0]
    density = densities(table, usage, columns)
    return log10_chance(table.n, table.m, usage.sum(axis=0), columns.sum(axis=1), density, background)
