"""The OR model of a yes/no table: tiles, flips, and how many bits are set; its density and its state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import count, pack, product
from partwise.core import RunState


@dataclass
class BitState(RunState):
    """A point of the posterior: bits of both factors, each long × k, and what is not known beside them.

    Parameters
    ----------
    W : array of bool of shape (n, k)
        Which rows use each tile.
    Ht : array of bool of shape (m, k)
        Which columns each tile has.
    flips : array of shape (2,)
        Probabilities p₊ that a zero was turned into a one, and p₋ that a one was turned into a zero.
    densities : array of shape (2, k)
        Probability of a set bit of each tile, in W and in Ht.
    """

    W: np.ndarray
    Ht: np.ndarray
    flips: np.ndarray
    densities: np.ndarray


@dataclass(frozen=True)
class BooleanPosterior:
    """X_ij is OR_t(w_it h_tj), flipped with probability p₊ where that is 0 and p₋ where it is 1.

    Parameters
    ----------
    table : BitTable
        The data, without weights; entries that were not observed do not count.
    flip_prior : tuple of float
        Beta prior of p₊ and of p₋, restricted to p₊ + p₋ < 1: otherwise a tile could stand for what is left out.
    density_prior : tuple of float
        Beta prior of the share of set bits of each tile, for W and for H alike.
    """

    table: BitTable
    flip_prior: tuple[float, float] = (1.0, 3.0)
    density_prior: tuple[float, float] = (1.0, 1.0)

    def counts(self, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
        """Observed entries by cover and value.

        Parameters
        ----------
        W, Ht : arrays of bool of shapes (n, k) and (m, k)
            The factors.

        Returns
        -------
        array of shape (2, 2)
            Entry [c, x] is the number of observed entries that are covered (c = 1) or not and have the value x.
        """
        side = self.table.by_row
        cover = product(np.ascontiguousarray(W), pack(Ht.T))
        covered_ones, covered_zeros = (int(count(part & cover).sum()) for part in (side.bits, side.zeros))
        ones, zeros = int(self.table.n_ones), int(self.table.n_observed - self.table.n_ones)
        return np.array([[zeros - covered_zeros, ones - covered_ones], [covered_zeros, covered_ones]], float)

    def log_likelihood(self, state: BitState, counts: np.ndarray | None = None) -> float:
        """Log-probability of the observed entries.

        Parameters
        ----------
        state : BitState
            The point.
        counts : array of shape (2, 2), optional
            What `counts` returned for it.

        Returns
        -------
        float
            The sum over observed entries.
        """
        counts = self.counts(state.W, state.Ht) if counts is None else counts
        add, drop = state.flips
        return float((counts * np.log([[1.0 - add, add], [drop, 1.0 - drop]])).sum())

    def log_density(self, state: BitState, counts: np.ndarray | None = None) -> float:
        """Log-density of the posterior, up to the data's own.

        Parameters
        ----------
        state : BitState
            The point.
        counts : array of shape (2, 2), optional
            What `counts` returned for it.

        Returns
        -------
        float
            Log-likelihood and log-priors of bits, densities and flips.
        """
        total = self.log_likelihood(state, counts)
        for A, q in zip((state.W, state.Ht), state.densities):
            on = A.sum(axis=0)
            total += float((on * np.log(q) + (len(A) - on) * np.log1p(-q)).sum())
            total += float(log_beta(q, *self.density_prior).sum())
        return total + float(log_beta(state.flips, *self.flip_prior).sum())


def log_beta(p: np.ndarray, a: float, b: float) -> np.ndarray:
    """Log-density of Beta(a, b) at p.

    Parameters
    ----------
    p : array
        Probabilities.
    a, b : float
        Parameters of the distribution.

    Returns
    -------
    array
        Of the shape of `p`.
    """
    return np.asarray((a - 1.0) * np.log(p) + (b - 1.0) * np.log1p(-p) - betaln(a, b))
