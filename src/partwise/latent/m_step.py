"""New parameters from the sums of an E-step."""

from __future__ import annotations

import numpy as np

from partwise.latent.counts import Counts
from partwise.latent.states import size_distribution
from partwise.latent.statistics import Statistics

#: Rounds of the fixed point for each E-step, where the E-step kept sums per state.
ROUNDS = 4
#: A component that is on less often than this, in all samples together, keeps its place: nothing is known of it.
UNUSED = 1e-8
#: Sweeps of coordinate descent over the components, at most, for each E-step.
SWEEPS = 20


def em_update(counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
    """The exact EM rule, W_hd ← Σ q s_h y_d W_hd / a_sd  ÷  Σ q s_h.

    Yus López (2015) sets Σ_n Σ_s q s_h (y_d / a_sd − 1) = 0 (A.2) and then drops the denominator a. Nothing has to be
    dropped: a Poisson count of mean Σ_h W_hd s_h is a sum of Poisson counts, one for each active component, and EM
    over these gives the rule above. It stays nonnegative, and never lowers the likelihood.
    """
    exposure = counts.exposure(stats.means)
    for _ in range(ROUNDS if stats.repeatable else 1):
        W = np.divide(stats.numerator(W), exposure, out=W.copy(), where=exposure > UNUSED)
    return W


def least_squares_update(counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
    """Equation 3.8 of Yus López (2015), negative values set to 0.

    With missing entries each feature has its own normal equations; they are replaced by the observed share of the
    shared ones, which is what they are on average.
    """
    cross = counts.cross(stats.means)
    exposure = counts.exposure(stats.means)
    shared = (stats.means * counts.row_weight[:, None]).sum(axis=0)[:, None]
    observed = np.divide(exposure, shared, out=np.ones_like(exposure), where=shared > 0)
    right = cross / np.maximum(observed, 1e-12)
    return np.maximum(np.linalg.pinv(stats.pairs, hermitian=True) @ right, 0.0)


def nonnegative_update(counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
    """The M-step of Gaussian noise: the W ≥ 0 that minimises Σ q ‖y − a_s‖².

    Without the bound this is equation 3.8 of Yus López (2015). Where all entries are observed all features share
    Σ⟨s sᵀ⟩, and coordinate descent solves for each component in turn. Where some are missing each feature has a
    matrix of its own; a step along the gradient, as long as Σ⟨s_h |s|⟩ allows (it bounds the matrix, whose
    entries are nonnegative), needs none of them. Neither raises the sum of squares.
    """
    assert stats.cross is not None
    W = W.copy()
    if stats.fitted is None:
        size = np.diag(stats.pairs)
        for _ in range(SWEEPS):
            before = W.copy()
            for h in np.flatnonzero(size > UNUSED):
                W[h] = np.maximum(W[h] + (stats.cross[h] - stats.pairs[h] @ W) / size[h], 0.0)
            if np.abs(W - before).max() <= 1e-9 * np.abs(W).max():
                break
        return W
    for _ in range(SWEEPS if stats.repeatable else 1):
        fitted, bound = stats.fitted(W)
        step = np.divide(stats.cross - fitted, bound, out=np.zeros_like(W), where=bound > UNUSED)
        W = np.maximum(W + step, 0.0)
    return W


def activation_update(
    counts: Counts,
    activation: np.ndarray,
    stats: Statistics,
    correct: bool,
    per_component: bool,
    saturated: np.ndarray | None = None,
) -> np.ndarray:
    """New π (Yus López 2015, equation 3.7), with `correct` corrected for the states that were left out.

    States of up to v bits were visited, those of up to γ were counted (`stats.truncation`); Yus López (2015) has
    v = γ + 1, preselection v = γ. Samples with more active components than were visited are explained badly and would
    drag π towards γ / H. The mean is therefore taken over the N · P(|s| ≤ v) samples that the visited states explain
    best, and what remains is what truncation does to the mean of a bit. For independent bits

        E[s_h; |s| ≤ γ given |s| ≤ v] = π_h P(|s without h| ≤ γ − 1) / P(|s| ≤ v),

    so π_h ← mean⟨s_h⟩ · P(|s| ≤ v) / P(|s without h| ≤ γ − 1). With one π for all and v = γ this is the rule of
    Henniges et al. (2010), πH A(π) / B(π) · mean⟨|s|⟩ / H. `saturated` is the evidence of a perfect fit of each row,
    by default that of Poisson counts.
    """
    H = len(activation)
    r = counts.row_weight
    truncation = stats.truncation
    if not correct or truncation is None or truncation[0] >= H:
        mean = (r @ stats.means) / r.sum()
        new = mean if per_component else np.full(H, mean.mean())
        return np.clip(new, *limits(counts, H))
    max_active, visited = truncation
    share = size_distribution(activation)[: visited + 1].sum()
    explained = stats.evidence - (counts.saturated if saturated is None else saturated)
    order = np.argsort(-explained, kind="stable")
    reached = np.cumsum(r[order])
    # At least one sample, and no more than all of them.
    keep = order[: max(1, int(np.searchsorted(reached, share * r.sum(), side="left")) + 1)]
    mean = (r[keep] @ stats.means[keep]) / r[keep].sum()
    if not per_component:
        mean = np.full(H, mean.mean())
    others = np.empty(H)
    for h in range(H if per_component else 1):
        others[h] = size_distribution(np.delete(activation, h))[:max_active].sum()
    if not per_component:
        others[:] = others[0]
    return np.clip(mean * share / np.maximum(others, 1e-300), *limits(counts, H))


def limits(counts: Counts, n_components: int) -> tuple[float, float]:
    """π stays this far from 0 and 1: less than one activation among all samples cannot be distinguished from none."""
    edge = 0.1 / (max(1.0, float(counts.row_weight.sum())) * n_components)
    return edge, 1.0 - edge
