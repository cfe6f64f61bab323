"""Components in one order: between the draws of a chain, and between chains.

The posterior of a factorization does not know the order of its components, so a chain may swap them and two chains
may number them differently. Before anything is averaged, the components of every draw are matched to a reference:
the permutation with the largest sum of cosines, by the Hungarian algorithm (Kuhn 1955). The reference is then
replaced by the mean of the aligned draws, and the matching repeated until it no longer changes (Stephens 2000).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

#: Rounds of matching and averaging; a handful is enough, since each raises the sum of cosines.
_ROUNDS = 20


def unit_columns(A: np.ndarray) -> np.ndarray:
    """Columns scaled to length one; columns of zeros stay zeros.

    Parameters
    ----------
    A : array of shape (n, k)
        A factor.

    Returns
    -------
    array of shape (n, k)
        In double precision.
    """
    A = np.asarray(A, dtype=float)
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    return A / np.where(size > 0, size, 1.0)


def similarity(reference: Sequence[np.ndarray], factors: Sequence[np.ndarray]) -> np.ndarray:
    """How alike the components of two factorizations are.

    Parameters
    ----------
    reference : sequence of arrays of shape (n_i, k)
        The factors of one: W and Hᵀ, or one of them, columns of length one (`unit_columns`).
    factors : sequence of arrays of shape (n_i, k)
        Those of the other, at any scale.

    Returns
    -------
    array of shape (k, k)
        Sum over the factors of the cosine between component i of the reference and component j of the other.
    """
    return np.asarray(sum(U.T @ unit_columns(A) for U, A in zip(reference, factors)))


def best_order(alike: np.ndarray) -> np.ndarray:
    """The order of components that makes the sum of similarities largest.

    Parameters
    ----------
    alike : array of shape (k, k)
        Similarity of component i of a reference to component j.

    Returns
    -------
    array of int of shape (k,)
        Which component belongs in each place of the reference.
    """
    # Where every component of the reference is most like its own namesake, no other order can be better.
    if (alike.max(axis=1) <= np.diagonal(alike)).all():
        return np.arange(len(alike))
    return np.asarray(linear_sum_assignment(alike, maximize=True)[1])


def match(reference: Sequence[np.ndarray], factors: Sequence[np.ndarray]) -> np.ndarray:
    """The order in which components of a draw agree best with those of a reference.

    Parameters
    ----------
    reference : sequence of arrays of shape (n_i, k)
        Factors with columns of length one; see `unit_columns`.
    factors : sequence of arrays of shape (n_i, k)
        Factors of the draw.

    Returns
    -------
    array of int of shape (k,)
        Place c of the reference is taken by component ``order[c]`` of the draw: ``A[:, order]`` is aligned.
    """
    return best_order(similarity(reference, factors))


def align(
    draws: Sequence[Sequence[np.ndarray]], reference: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Orders for many draws, and the reference that they agree on.

    Parameters
    ----------
    draws : sequence of sequences of arrays of shape (n_i, k)
        The factors of each draw.
    reference : sequence of arrays of shape (n_i, k), optional
        Where to begin; by default the first draw.

    Returns
    -------
    orders : array of int of shape (n_draws, k)
        For every draw the order of its components.
    reference : list of arrays of shape (n_i, k)
        Mean of the aligned draws, each component of each draw at length one; columns of length one.
    """
    units = [[unit_columns(A) for A in factors] for factors in draws]
    held = units[0] if reference is None else [unit_columns(A) for A in reference]
    orders = np.zeros((0, held[0].shape[1]), int)
    for _ in range(_ROUNDS):
        found = np.stack([match(held, factors) for factors in units])
        if np.array_equal(found, orders):
            break
        orders = found
        sums = [np.zeros_like(U) for U in held]
        for order, factors in zip(orders, units):
            for total, U in zip(sums, factors):
                total += U[:, order]
        held = [unit_columns(total) for total in sums]
    return orders, held
