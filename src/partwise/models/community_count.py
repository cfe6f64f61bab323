"""How many communities a graph has: counted by its spectrum, and judged by description length."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

#: Vectors at first; twice as many as long as the eigenvalues beyond the bulk fill them.
_FIRST = 16
#: Weights may reach this share of the bulk's radius; heavier edges count as much as that.
_HEAVIEST = 0.7
#: Precision of the eigenvalues: those nearer to 1 than this are not told from the bulk.
_PRECISION = 1e-3
#: Power iterations, at most.
_POWERS = 500
#: Chebyshev filters: products in all, products after which a count that has not changed stands, products of one
#: filter, and by how much (as a logarithm) one filter may raise the strongest vector.
_DEGREES, _STABLE, _LONGEST, _DIGITS = 240, 60, 20, 14.0
#: How much more modularity joined groups must have. (Joining gained 0.24 and more in graphs of nearest neighbours of
#: three to six clouds of points; 0.00 to 0.03 in the karate club, football and Cora.)
JOINED = 0.1


def count_communities(A: sp.csr_matrix, rng: np.random.Generator, most: int = 512) -> int:
    r"""The number of communities of a graph that stand out from one without any, by its Bethe-Hessian.

    Of the non-backtracking matrix of a sparse graph without communities all eigenvalues but the largest lie in a
    disk of radius r, the root of the largest; each community that can be detected at all adds one outside (Krzakala,
    Moore, Mossel, Neeman, Sly, Zdeborová & Zhang 2013). They are counted by the negative eigenvalues of the
    Bethe-Hessian :math:`(r^2 - 1) I - r A + D` (Saade, Krzakala & Zdeborová 2014; Le & Levina 2022), which by
    Sylvester's law are as many as the eigenvalues above 1 of its scaled form

    .. math:: r\,(D + (r^2 - 1) I)^{-1/2} A\, (D + (r^2 - 1) I)^{-1/2}.

    With weights w, :math:`r^2` is that of squared weights, and the matrices have :math:`r w / (r^2 - w^2)` in place
    of A and :math:`1 + \sum_j w_{ij}^2 / (r^2 - w_{ij}^2)` on the diagonal (Watanabe & Fukumizu 2009). These need
    r above all weights: heavier ones are cut.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Nonnegative and symmetric; loops are left out.
    rng : Generator
        Draws the vectors that the eigenvalues are found from.
    most : int
        The largest number returned.

    Returns
    -------
    int
        At least 1.
    """
    B, radius = _tempered(A)
    n = B.shape[0]
    if radius <= 1e-12 or n < 3:
        return 1
    squared = B.data**2
    off = B.copy()
    off.data = radius * B.data / (radius**2 - squared)
    B.data = squared / (radius**2 - squared)
    scale = sp.diags(1.0 / np.sqrt(1.0 + np.asarray(B.sum(axis=1)).ravel()))
    operator = sp.csr_matrix(scale @ off @ scale)
    width = min(_FIRST, n)
    while True:
        found, all_found = _count_above_one(operator, width, rng)
        if all_found or width >= min(2 * most, n):
            return max(1, min(found, most))
        width = min(2 * width, 2 * most, n)


def _tempered(A: sp.csr_matrix) -> tuple[sp.csr_matrix, float]:
    """The graph without loops, heavy edges cut so that none is near the radius of the bulk; and that radius."""
    B = sp.csr_matrix(A, dtype=float, copy=True)
    B.setdiag(0)
    B.eliminate_zeros()
    if not B.nnz:
        return B, 0.0
    B.data /= B.data.max()
    while True:
        radius = _bulk_radius(B)
        heaviest, lightest = B.data.max(), B.data.min()
        if heaviest <= _HEAVIEST * radius:
            return B, radius
        if heaviest == lightest:
            # All edges weigh the same: below a mean degree of about three there is no bulk to speak of.
            return B, max(radius, 1.0001 * heaviest)
        B.data = np.minimum(B.data, max(lightest, 0.8 * heaviest))


def _bulk_radius(B: sp.csr_matrix) -> float:
    """The root of the spectral radius of the non-backtracking matrix with squared weights, by power iterations.

    They run on the directed edges i → j: each passes to j → k, for all k but i.
    """
    B.sort_indices()
    n = B.shape[0]
    tail, head = np.repeat(np.arange(n), np.diff(B.indptr)), B.indices
    edges = sp.csr_matrix((np.arange(B.nnz), B.indices, B.indptr), B.shape)
    back = sp.csr_matrix(edges.T).data
    weight = B.data**2
    # The shift keeps the iterations from oscillating where the graph is bipartite.
    shift = float(weight.mean())
    flow, radius = np.ones(B.nnz), 0.0
    for _ in range(_POWERS):
        sent = weight * flow
        arrived = np.bincount(head, sent, n)
        flow, before = arrived[tail] - sent[back] + shift * flow, flow
        total, found = float(flow.sum()), float(flow.sum() / before.sum()) - shift
        flow /= total
        if abs(found - radius) <= _PRECISION * 0.1 * found:
            return float(np.sqrt(max(found, 0.0)))
        radius = found
    return float(np.sqrt(max(radius, 0.0)))


def _count_above_one(operator: sp.csr_matrix, width: int, rng: np.random.Generator) -> tuple[int, bool]:
    """Eigenvalues above 1, and whether `width` vectors had room for all beyond ±1.

    Subspace iterations, filtered by Chebyshev polynomials, which are at most 1 on the bulk and grow beyond it (Zhou,
    Saad, Tiago & Chelikowsky 2006). Ritz values lie below the eigenvalues, so that none is counted that is not there.
    """
    V = np.linalg.qr(rng.standard_normal((operator.shape[0], width)))[0]
    degree, done, since, before = 2, 0, 0, -1
    while done < _DEGREES and since < _STABLE:
        V = np.linalg.qr(_chebyshev(operator, V, degree))[0]
        done += degree
        values = np.linalg.eigvalsh(V.T @ (operator @ V))
        found = int((values > 1.0 + _PRECISION).sum())
        since = since + degree if found == before else 0
        before = found
        # So that the weakest vector keeps its digits beside the strongest.
        degree = max(1, int(_DIGITS / np.arccosh(max(float(np.abs(values).max()), 1.0 + _PRECISION))))
        degree = min(degree, _LONGEST)
    return before, bool((np.abs(values) > 1.0 + _PRECISION).sum() < width)


def _chebyshev(operator: sp.csr_matrix, V: np.ndarray, degree: int) -> np.ndarray:
    """T_degree(operator) V, by T_{k+1} = 2 x T_k − T_{k−1}."""
    before, now = V, operator @ V
    for _ in range(degree - 1):
        before, now = now, 2.0 * (operator @ now) - before
    return np.asarray(now)


def description_length(A: sp.csr_matrix, labels: np.ndarray) -> float:
    r"""Nats that it takes to write down a graph by its communities: the fewer, the better they explain it.

    That of a degree-corrected stochastic block model whose groups have any number of edges inside, while edges
    between groups are spread evenly (Zhang & Peixoto 2020, non-uniform planted partition, after Peixoto 2017). With
    :math:`m_r` edges inside group r, :math:`e_r` ends of edges at its :math:`n_r` nodes, M edges in all, of which
    :math:`m_o` go between the k groups, and N nodes,

    .. math::

        -\log \frac{\prod_r 2^{m_r} m_r!}{\left(\!\binom{k}{M - m_o}\!\right)}
        \frac{m_o!}{\binom{k}{2}^{m_o} (M+1)} \prod_r \frac{1}{e_r!} \left(\!\binom{n_r}{e_r}\!\right)^{-1}
        \frac{\prod_r n_r!}{N!} \binom{N-1}{k-1}^{-1} \frac1N

    up to a constant of the graph; double brackets count multisets. Weights do not count, nor nodes without edges.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Symmetric; loops are left out.
    labels : array of int of shape (n,)
        The community of each node.

    Returns
    -------
    float
        To be compared with that of other communities of the same graph.
    """
    edges = sp.coo_matrix(sp.triu(A, 1))
    first, second = edges.row, edges.col
    joined = np.zeros(A.shape[0], dtype=bool)
    joined[first] = joined[second] = True
    known, group = np.unique(np.asarray(labels)[joined], return_inverse=True)
    place = np.cumsum(joined) - 1
    first, second = group[place[first]], group[place[second]]
    k, n, total = len(known), len(group), len(first)
    if not total:
        return 0.0
    size = np.bincount(group, minlength=k)
    inside = np.bincount(first[first == second], minlength=k)
    ends = np.bincount(first, minlength=k) + np.bincount(second, minlength=k)
    between = total - int(inside.sum())
    bits = -_log_factorial(inside).sum() - inside.sum() * np.log(2.0) + _log_multisets(k, inside.sum())
    if k > 1:
        bits += between * np.log(k * (k - 1) / 2) - _log_factorial(between) + np.log(total + 1.0)
    bits += (_log_factorial(ends) + _log_multisets(size, ends)).sum()
    bits += _log_factorial(n) - _log_factorial(size).sum() + _log_binomial(n - 1, k - 1) + np.log(n)
    return float(bits)


def joined_count(A: sp.csr_matrix, labels: np.ndarray) -> int:
    """How many groups are left when those are joined that split what belongs together.

    Where edges follow distances, as in graphs of nearest neighbours, the description is shortest with many small
    groups, each a stretch of a larger one. Then joining groups, the pair that adds most first (Clauset, Newman &
    Moore 2004), raises modularity by much; groups of a block model gain next to nothing.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Nonnegative and symmetric.
    labels : array of int of shape (n,)
        The group of each node.

    Returns
    -------
    int
        The number of groups of largest modularity on the way; all of them, where that is not `JOINED` more.
    """
    edges = A.tocoo()
    groups, group = np.unique(labels, return_inverse=True)
    total = float(edges.data.sum())
    if total <= 0:
        return len(groups)
    E = np.zeros((len(groups), len(groups)))
    np.add.at(E, (group[edges.row], group[edges.col]), edges.data / total)
    gained, most, fewest = 0.0, 0.0, len(groups)
    while len(E) > 1:
        degree = E.sum(axis=1)
        gain = E - np.outer(degree, degree)
        np.fill_diagonal(gain, -np.inf)
        i, j = np.unravel_index(int(gain.argmax()), gain.shape)
        gained += 2.0 * float(gain[i, j])
        E[i] += E[j]
        E[:, i] += E[:, j]
        E = np.delete(np.delete(E, j, axis=0), j, axis=1)
        if gained > most:
            most, fewest = gained, len(E)
    return fewest if most > JOINED else len(groups)


def _log_factorial(n: Any) -> Any:
    return gammaln(np.asarray(n, dtype=float) + 1.0)


def _log_binomial(n: Any, k: Any) -> Any:
    return _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)


def _log_multisets(kinds: Any, size: Any) -> Any:
    return _log_binomial(kinds + size - 1, size)
