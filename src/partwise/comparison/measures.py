"""What is measured of a factorization, without making sparse data dense: error, sparseness, stability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.comparison.factors import Factors
from partwise.comparison.singular import squared_norm

#: Entries of a block of rows.
_BLOCK = 1 << 22


def relative_error(X: Any, factors: Factors) -> float:
    """‖X − X̂‖ / ‖X‖ in the Frobenius norm, over the entries that are not NaN.

    For sparse X from Gram matrices, ‖X‖² − 2⟨X, X̂⟩ + ‖X̂‖² with X̂ = C B + 1 μᵀ, at the cost of a product of X with
    the bases; what is below 1e-7 cannot be told from zero then.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The data that were factorized. NaN is not observed, stored in a sparse matrix too.
    factors : Factors
        Their factors.

    Returns
    -------
    float
        0 for an exact factorization, 1 for X̂ = 0; NaN where X is zero.
    """
    squared = _sparse_residual(sp.csr_array(X), factors) if sp.issparse(X) else _dense_residual(X, factors)
    size = squared_norm(X)
    return float(np.sqrt(max(squared, 0.0) / size)) if size > 0 else float("nan")


def _dense_residual(X: np.ndarray, factors: Factors) -> float:
    """Σ (x − x̂)², a block of rows at a time."""
    step = max(1, _BLOCK // max(1, X.shape[1]))
    total = 0.0
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        total += float(np.nansum((X[rows] - factors.reconstruction(rows)) ** 2))
    return total


def _sparse_residual(X: Any, factors: Factors) -> float:
    """Σ (x − x̂)² over all entries, then without those that are stored as NaN."""
    B = factors.bases.astype(np.float64)
    mean = np.zeros(B.shape[1]) if factors.mean is None else factors.mean.astype(np.float64)
    k = B.shape[0]
    gram, sums = np.zeros((k, k)), np.zeros(k)
    total = 0.0
    step = max(1, _BLOCK // max(k, 1))
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        block, C = X[rows].astype(np.float64), factors.sized_codes(rows)
        unseen = np.isnan(block.data)
        if unseen.any():
            line = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[unseen]
            column = block.indices[unseen]
            made = np.einsum("ij,ij->i", C[line], B[:, column].T) + mean[column]
            total -= float(made @ made)
            block.data[unseen] = 0.0
        total += float(block.data @ block.data)
        total -= 2.0 * (float(np.vdot(block @ B.T, C)) + float((block @ mean).sum()))
        gram += C.T @ C
        sums += C.sum(axis=0)
    total += float(np.vdot(gram, B @ B.T)) + 2.0 * float(sums @ (B @ mean)) + X.shape[0] * float(mean @ mean)
    return total


def hoyer(rows: Any) -> np.ndarray:
    """Sparseness of each row, (√d − ‖v‖₁ / ‖v‖₂) / (√d − 1) (Hoyer 2004).

    Parameters
    ----------
    rows : array of shape (n, d)
        Of any sign and scale.

    Returns
    -------
    array of shape (n,)
        1 for a single nonzero entry, 0 where all have the same size; NaN for a row of zeros, and for d = 1.

    Examples
    --------
    >>> from partwise.comparison import hoyer
    >>> hoyer([[0, 3, 0, 0], [1, -1, 1, 1]]).tolist()
    [1.0, 0.0]
    """
    V = np.abs(np.atleast_2d(np.asarray(rows, dtype=np.float64)))
    # Against the largest entry first, so that squares neither overflow nor vanish.
    top = V.max(axis=1, initial=0.0)
    found = np.full(len(V), np.nan)
    ok = top > 0
    d = V.shape[1]
    if d > 1 and ok.any():
        V = V[ok] / top[ok, None]
        ratio = V.sum(axis=1) / np.sqrt((V * V).sum(axis=1))
        found[ok] = np.clip((np.sqrt(d) - ratio) / (np.sqrt(d) - 1.0), 0.0, 1.0)
    return found


def mean_sparseness(rows: np.ndarray) -> float:
    """Mean of `hoyer` over the rows that have one, a block at a time.

    Parameters
    ----------
    rows : array of shape (n, d)
        Basis vectors, or codes.

    Returns
    -------
    float
        NaN where no row has any.
    """
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    total, count = 0.0, 0
    for start in range(0, len(rows), step):
        found = hoyer(rows[start : start + step])
        total += float(np.nansum(found))
        count += int(np.isfinite(found).sum())
    return total / count if count else float("nan")


def matched(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row of B that goes with each row of A, one to one, such that absolute cosines are largest in sum.

    The Hungarian method (Kuhn 1955), as scipy solves it.

    Parameters
    ----------
    A, B : array of shape (k, m) and (l, m), k ≤ l
        Basis vectors of two factorizations, in any order and of any sign and length.

    Returns
    -------
    places : int array of shape (k,)
        Rows of B.
    cosines : array of shape (k,)
        Their absolute cosines; 0 with a row of zeros.
    """
    from scipy.optimize import linear_sum_assignment

    alike = np.abs(_unit(A) @ _unit(B).T)
    rows, places = linear_sum_assignment(-alike)
    return places, np.minimum(alike[rows, places], 1.0)


def stability(bases: Sequence[np.ndarray]) -> float:
    """How alike the bases of several runs are: mean cosine of matched components over all pairs of runs.

    Parameters
    ----------
    bases : sequence of arrays of shape (k, m)
        The bases found from different seeds.

    Returns
    -------
    float
        1 where all runs found the same up to order, sign and scale; NaN for fewer than two runs.
    """
    pairs = pair_stabilities(bases)
    return float(np.mean(pairs)) if pairs else float("nan")


def pair_stabilities(bases: Sequence[np.ndarray]) -> list[float]:
    """Mean cosine of matched components of each pair of runs.

    Parameters
    ----------
    bases : sequence of arrays of shape (k, m)
        The bases found from different seeds.

    Returns
    -------
    list of float
        One for each pair.
    """
    return [float(matched(A, B)[1].mean()) for A, B in combinations(bases, 2)]


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows at length one, in double precision; rows of zeros as they are."""
    V = np.asarray(rows, dtype=np.float64)
    V = V / np.maximum(np.abs(V).max(axis=1, keepdims=True, initial=0.0), 1e-300)
    length = np.linalg.norm(V, axis=1, keepdims=True)
    return np.divide(V, length, out=np.zeros_like(V), where=length > 0)
