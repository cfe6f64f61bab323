"""Expectation truncation with preselection (Lücke & Eggert 2010): a few likely states for each sample.

For each sample some components are chosen as candidates; the states visited are none, every component alone, and
all combinations of at most γ candidates. Only pixels with a count are visited: the others enter through
Σ_d a_d, which is a sum over components.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import njit
from partwise.latent.counts import Counts
from partwise.latent.one_sample import add_state, choose, members_of, normalise, read_sample, visit_states
from partwise.latent.states import walk
from partwise.latent.statistics import Statistics
from partwise.parallel import over_rows

#: Posteriors below this add nothing that double precision would keep.
NEGLIGIBLE = 1e-18
#: Into how many ranges of samples sums are split; fixed, so that threads change no bit.
RANGES = 8


def preselected(
    counts: Counts,
    W: np.ndarray,
    activation: np.ndarray,
    max_active: int,
    n_candidates: int,
    inverse_temperature: float = 1.0,
) -> Statistics:
    """Posterior sums over each sample's own states."""
    n, H = counts.n_rows, len(W)
    indptr, indices, y = counts.positives
    level, added, bits = walk(min(n_candidates, H), min(max_active, n_candidates, H))
    off = np.log1p(-activation)
    logit = np.log(activation) - off
    evidence, means, best = np.empty(n), np.zeros((n, H)), np.zeros((n, H), np.bool_)
    size = -(-n // RANGES)
    ranges = -(-n // size)
    num = np.zeros((ranges, H, counts.n_features))
    pairs = np.zeros((ranges, H, H))
    totals = counts.totals(W)
    widest = int(np.diff(indptr).max(initial=1))

    def task(first: int, last: int) -> None:
        for t in range(first, last):
            preselected_rows(
                indptr,
                indices,
                y,
                W,
                totals,
                logit,
                float(off.sum()),
                counts.background,
                inverse_temperature,
                (level, added, bits),
                min(n_candidates, H),
                max(widest, 1),
                counts.row_weight,
                evidence,
                means,
                best,
                num[t],
                pairs[t],
                t * size,
                min((t + 1) * size, n),
            )

    over_rows(task, ranges, grain=1)
    total = num.sum(axis=0)
    return Statistics(evidence, means, best, pairs.sum(axis=0), lambda _: total, repeatable=False)


@njit(cache=True, nogil=True, error_model="numpy")
def preselected_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    W: np.ndarray,
    totals: np.ndarray,
    logit: np.ndarray,
    log_off: float,
    background: float,
    beta: float,
    route: tuple[np.ndarray, np.ndarray, np.ndarray],
    n_candidates: int,
    widest: int,
    row_weight: np.ndarray,
    evidence: np.ndarray,
    means: np.ndarray,
    best: np.ndarray,
    num: np.ndarray,
    pairs: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Samples `start … stop`, one after the other."""
    level, added, bits = route
    H = W.shape[0]
    n_states = 1 + level.shape[0] + H
    deepest = 1
    for g in level:
        deepest = max(deepest, g)
    y, buffer, part = np.empty(widest), np.empty(widest), np.empty((H, widest))
    stack, stack_total, stack_prior = (
        np.empty((deepest + 1, widest)),
        np.empty(deepest + 1),
        np.empty(deepest + 1),
    )
    score, is_chosen, chosen = np.empty(H), np.empty(H, np.bool_), np.empty(n_candidates, np.int64)
    posterior, prior, members = np.empty(n_states), np.empty(n_states), np.empty(deepest, np.int64)
    for i in range(start, stop):
        low, high = indptr[i], indptr[i + 1]
        columns = indices[low:high]
        total_of = totals[i] if totals.shape[0] > 1 else totals[0]
        read_sample(values[low:high], columns, W, total_of, y, part, score)
        choose(score, chosen, is_chosen)
        visit_states(
            high - low,
            y,
            part,
            total_of,
            logit,
            log_off,
            background,
            level,
            added,
            chosen,
            is_chosen,
            stack,
            stack_total,
            stack_prior,
            buffer,
            posterior,
            prior,
        )
        evidence[i], top = normalise(posterior, prior, beta)
        for c in range(members_of(top, bits, chosen, members)):
            best[i, members[c]] = True
        for s in range(n_states):
            q = posterior[s]
            if q < NEGLIGIBLE and s != top:
                continue
            size = members_of(s, bits, chosen, members)
            add_state(
                members, size, q, row_weight[i], y, part, columns, background, buffer, means[i], num, pairs
            )
