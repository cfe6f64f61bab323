"""Expectation truncation under Gaussian noise: a few likely states for each sample, from scalar products alone.

‖y − a‖² = ‖y‖² − 2 Σ_h y·W_h + Σ_hk W_h·W_k over the active components: with the products y·W_h of a sample and
the Gram matrix of the components, a state costs a sum over its members, whatever the number of features. Where
entries are missing each sample has a Gram matrix of its own, found for its candidates.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import leaf, njit
from partwise.latent.counts import BLOCK_ENTRIES, Counts
from partwise.latent.one_sample import members_of, normalise
from partwise.latent.preselected import NEGLIGIBLE, RANGES
from partwise.latent.states import walk
from partwise.latent.statistics import Statistics
from partwise.parallel import over_rows


def gram_preselected(
    counts: Counts,
    W: np.ndarray,
    activation: np.ndarray,
    max_active: int,
    n_candidates: int,
    inverse_temperature: float,
    variance: float,
) -> Statistics:
    """Posterior sums over each sample's own states."""
    n, H = counts.n_rows, len(W)
    held = min(n_candidates, H)
    route = walk(held, min(max_active, held))
    off = np.log1p(-activation)
    logit = np.log(activation) - off
    # Precision first: products of tiny numbers must not vanish before they are divided by a tiny σ².
    V = W / np.sqrt(variance)
    gram = V @ V.T
    products = counts.product(V / np.sqrt(variance))
    own = counts.totals(V * V)
    evidence, means, best = np.empty(n), np.zeros((n, H)), np.zeros((n, H), np.bool_)
    size = -(-n // RANGES)
    ranges = -(-n // size)
    pairs = np.zeros((ranges, H, H))
    width = counts.n_features if counts.weighted else 0
    sums = np.zeros((ranges, 2, H, width))
    height = max(1, BLOCK_ENTRIES // max(1, counts.n_features)) if counts.weighted else n

    def task(first: int, last: int) -> None:
        for t in range(first, last):
            end = min((t + 1) * size, n)
            for start in range(t * size, end, height):
                stop = min(start + height, end)
                omega = counts.rows(start, stop)[1] if counts.weighted else None
                gram_rows(
                    products[start:stop],
                    own[start:stop] if counts.weighted else own,
                    gram,
                    V,
                    np.zeros((0, 0)) if omega is None else omega,
                    logit,
                    float(off.sum()),
                    inverse_temperature,
                    route,
                    held,
                    counts.row_weight[start:stop],
                    evidence[start:stop],
                    means[start:stop],
                    best[start:stop],
                    pairs[t],
                    sums[t],
                )

    over_rows(task, ranges, grain=1)
    cross = counts.summed(means)
    found = sums.sum(axis=0)
    scale = np.sqrt(variance)
    fitted = (lambda _: (found[0] * scale, found[1])) if counts.weighted else None
    return Statistics(
        evidence,
        means,
        best,
        pairs.sum(axis=0),
        lambda _: cross,
        repeatable=not counts.weighted,
        cross=cross,
        fitted=fitted,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def gram_rows(
    products: np.ndarray,
    own: np.ndarray,
    gram: np.ndarray,
    V: np.ndarray,
    omega: np.ndarray,
    logit: np.ndarray,
    log_off: float,
    beta: float,
    route: tuple[np.ndarray, np.ndarray, np.ndarray],
    n_candidates: int,
    row_weight: np.ndarray,
    evidence: np.ndarray,
    means: np.ndarray,
    best: np.ndarray,
    pairs: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Samples one after the other; `V` are the components over σ, as `gram` is that of V."""
    level, added, bits = route
    n, H = products.shape
    n_states = 1 + level.shape[0] + H
    deepest = 1
    for g in level:
        deepest = max(deepest, g)
    weighted = omega.shape[0] > 0
    left, is_chosen, chosen = np.empty(H), np.empty(H, np.bool_), np.empty(n_candidates, np.int64)
    local, together = np.empty((n_candidates, n_candidates)), np.empty((n_candidates, n_candidates))
    posterior, prior = np.empty(n_states), np.empty(n_states)
    members, stack, path = (
        np.empty(deepest, np.int64),
        np.empty((deepest + 1, 2)),
        np.empty(deepest + 1, np.int64),
    )
    for i in range(n):
        norm = own[i] if own.shape[0] > 1 else own[0]
        choose_by_pursuit(products[i], norm, gram, left, chosen, is_chosen)
        local_gram(gram, V, omega[i] if weighted else V[0, :0], chosen, local)
        visit_gram_states(
            products[i],
            norm,
            local,
            logit,
            log_off,
            level,
            added,
            chosen,
            is_chosen,
            stack,
            path,
            posterior,
            prior,
        )
        evidence[i], top = normalise(posterior, prior, beta)
        for c in range(members_of(top, bits, chosen, members)):
            best[i, members[c]] = True
        together[:] = 0.0
        for s in range(n_states):
            q = posterior[s]
            if q < NEGLIGIBLE and s != top:
                continue
            size = members_of(s, bits, chosen, members)
            for c in range(size):
                means[i, members[c]] += q
                for d in range(size):
                    pairs[members[c], members[d]] += q * row_weight[i]
            if weighted:
                if s > bits.shape[0]:
                    add_fitted(members[0], members[0], q * row_weight[i], omega[i], V, sums)
                elif s > 0:
                    for c in range(n_candidates):
                        for d in range(n_candidates):
                            if bits[s - 1] >> c & 1 and bits[s - 1] >> d & 1:
                                together[c, d] += q
        if weighted:
            for c in range(n_candidates):
                for d in range(n_candidates):
                    if together[c, d] > 0.0:
                        add_fitted(chosen[c], chosen[d], together[c, d] * row_weight[i], omega[i], V, sums)


@leaf(forceinline=True)
def choose_by_pursuit(
    products: np.ndarray,
    norm: np.ndarray,
    gram: np.ndarray,
    left: np.ndarray,
    chosen: np.ndarray,
    is_chosen: np.ndarray,
) -> None:
    """Candidates of a sample, in turn by pursuit and by likeness.

    Pursuit takes the component that explains most of what those before it leave, as long as one explains anything.
    Likeness takes the component of the largest y·W_h / ‖W_h‖ (Henniges et al. 2010), whatever else is there.
    """
    H = products.shape[0]
    for h in range(H):
        is_chosen[h] = False
        left[h] = products[h]
    pursuing = True
    for c in range(chosen.shape[0]):
        k = -1
        highest = 0.0
        if pursuing and c % 2 == 0:
            for h in range(H):
                gain = left[h] - 0.5 * norm[h]
                if not is_chosen[h] and gain > highest:
                    k, highest = h, gain
            pursuing = k >= 0
            if pursuing:
                for h in range(H):
                    left[h] -= gram[h, k]
        if k < 0:
            highest = -np.inf
            for h in range(H):
                alike = products[h] / np.sqrt(max(norm[h], 1e-300))
                if not is_chosen[h] and (k < 0 or alike > highest):
                    k, highest = h, alike
        chosen[c] = k
        is_chosen[k] = True


@leaf(forceinline=True)
def local_gram(
    gram: np.ndarray, V: np.ndarray, omega: np.ndarray, chosen: np.ndarray, local: np.ndarray
) -> None:
    """Scalar products of the candidates; over the observed entries where some are missing."""
    for c in range(chosen.shape[0]):
        for d in range(c + 1):
            a, b = chosen[c], chosen[d]
            total = gram[a, b]
            if omega.shape[0] > 0:
                total = 0.0
                for j in range(omega.shape[0]):
                    total += omega[j] * V[a, j] * V[b, j]
            local[c, d] = total
            local[d, c] = total


@leaf(forceinline=True)
def visit_gram_states(
    products: np.ndarray,
    norm: np.ndarray,
    local: np.ndarray,
    logit: np.ndarray,
    log_off: float,
    level: np.ndarray,
    added: np.ndarray,
    chosen: np.ndarray,
    is_chosen: np.ndarray,
    stack: np.ndarray,
    path: np.ndarray,
    log_likelihood: np.ndarray,
    log_prior: np.ndarray,
) -> None:
    """Log-likelihood and log-prior of each state: none, combinations of candidates, other components alone."""
    n_walk = level.shape[0]
    log_likelihood[0] = 0.0
    log_prior[0] = log_off
    stack[0, 0] = 0.0
    stack[0, 1] = log_off
    for t in range(n_walk):
        g, c = level[t], added[t]
        h = chosen[c]
        value = stack[g - 1, 0] + products[h] - 0.5 * local[c, c]
        for k in range(1, g):
            value -= local[c, path[k]]
        path[g] = c
        stack[g, 0] = value
        stack[g, 1] = stack[g - 1, 1] + logit[h]
        log_likelihood[1 + t] = value
        log_prior[1 + t] = stack[g, 1]
    for h in range(products.shape[0]):
        s = 1 + n_walk + h
        if is_chosen[h] and n_walk > 0:
            log_likelihood[s] = -np.inf
            log_prior[s] = 0.0
            continue
        log_likelihood[s] = products[h] - 0.5 * norm[h]
        log_prior[s] = log_off + logit[h]


@leaf(forceinline=True)
def add_fitted(h: int, k: int, q: float, omega: np.ndarray, V: np.ndarray, sums: np.ndarray) -> None:
    """Add ⟨s_h s_k⟩ = q of one sample to Σ ω ⟨s_h a⟩ and Σ ω ⟨s_h |s|⟩."""
    for j in range(omega.shape[0]):
        sums[0, h, j] += q * omega[j] * V[k, j]
        sums[1, h, j] += q * omega[j]
