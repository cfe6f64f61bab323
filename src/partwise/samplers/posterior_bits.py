"""Which bits to name: those with the smallest expected number of wrong entries under the posterior.

Where P_ij is the probability that entry ij of the noise-free table is one, tiles with the product B have
Σ_ij |B_ij − P_ij| entries wrong on average. That is the error of B on the table P > ½ with weights |2P − 1|, plus
Σ min(P, 1 − P), which no tiles avoid; so the search for the best bits is a Boolean factorization with weights. For
relaxed factors, P is the posterior mean of the reconstruction, and the sum is the expected squared error but for a
constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.tiles import Tiles, alternate

#: Expected wrong entries above what no tiles avoid, up to which the likeliest bits are taken as they are.
ENOUGH = 0.5


@dataclass(frozen=True)
class PosteriorBits:
    """The bits named, and what to expect of them.

    Parameters
    ----------
    usage : array of bool of shape (n, k)
        Which rows use each tile.
    tiles : array of bool of shape (k, m)
        Which columns each tile has.
    expected_wrong : float
        Entries of the noise-free table that they get wrong, on average over the posterior; NaN where the
        probabilities of the entries are not known.
    """

    usage: np.ndarray
    tiles: np.ndarray
    expected_wrong: float


def posterior_bits(
    on_W: np.ndarray, on_Ht: np.ndarray, cells: np.ndarray | None, max_rounds: int = 20
) -> PosteriorBits:
    """The bits that minimise the posterior expected error.

    Parameters
    ----------
    on_W, on_Ht : arrays of shapes (n, k) and (m, k)
        Probability of each bit; bits above ½ are where the search begins.
    cells : array of shape (n, m), optional
        Probability of each entry of the noise-free table. Without it, the bits above ½ are the answer.
    max_rounds : int
        Most rounds of rows and columns in turn.

    Returns
    -------
    PosteriorBits
        The bits; never worse in expectation than those above ½.
    """
    usage, tiles = on_W > 0.5, np.ascontiguousarray((on_Ht > 0.5).T)
    if cells is None:
        return PosteriorBits(usage, tiles, float("nan"))
    wrong, least = expected_wrong(usage, tiles, cells), float(np.minimum(cells, 1.0 - cells).sum(dtype=float))
    if wrong > least + ENOUGH and tiles.size:
        table = BitTable.of(cells > 0.5, weights=np.abs(2.0 * cells - 1.0).astype(float))
        found = alternate(table, Tiles(usage.copy(), tiles.copy(), float("inf")), max_rounds=max_rounds)
        better = expected_wrong(found.usage, found.columns, cells)
        if better < wrong:
            return PosteriorBits(found.usage, found.columns, better)
    return PosteriorBits(usage, tiles, wrong)


def expected_wrong(usage: np.ndarray, tiles: np.ndarray, cells: np.ndarray) -> float:
    """Entries that a Boolean product gets wrong on average.

    Parameters
    ----------
    usage : array of bool of shape (n, k)
        Which rows use each tile.
    tiles : array of bool of shape (k, m)
        Which columns each tile has.
    cells : array of shape (n, m)
        Probability of each entry.

    Returns
    -------
    float
        Σ |B − P|.
    """
    cover = usage.astype(np.float32) @ tiles.astype(np.float32) > 0.5
    return float(np.where(cover, 1.0 - cells, cells).sum(dtype=float))


def calibration_error(
    cells: np.ndarray, truth: np.ndarray, low: float = 0.02, bins: int = 10
) -> tuple[float, int]:
    """How far probabilities of entries are from the shares of ones among them, where they are in doubt.

    Parameters
    ----------
    cells : array of shape (n, m)
        Probability of each entry.
    truth : array of bool of shape (n, m)
        The noise-free table.
    low : float
        Entries with a probability between this and 1 − this are in doubt.
    bins : int
        Number of bins of equal width.

    Returns
    -------
    error : float
        Expected calibration error: mean of |share of ones − mean probability| over bins, weighted by their entries;
        NaN where no entry is in doubt.
    count : int
        Number of entries in doubt.
    """
    doubt = (cells > low) & (cells < 1.0 - low)
    p, y = cells[doubt].astype(float), truth[doubt].astype(float)
    if not p.size:
        return float("nan"), 0
    where = np.minimum((p * bins).astype(int), bins - 1)
    gaps = np.abs(np.bincount(where, y, bins) - np.bincount(where, p, bins))
    return float(gaps.sum() / p.size), int(p.size)
