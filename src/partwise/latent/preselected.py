"""Expectation truncation with preselection (Lücke & Eggert 2010): a few likely states for each sample.

For each sample some components are chosen as candidates; the states visited are none, every component alone, and
all combinations of at most γ candidates. Only pixels with a count are visited: the others enter through
Σ_d a_d, which is a sum over components.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import njit
from partwise.latent.counts import Counts
from partwise.latent.states import walk
from partwise.latent.statistics import Statistics
from partwise.parallel import over_rows

_FAST = {"reassoc", "contract", "nsz", "arcp"}
_LN2 = float(np.log(2.0))
_SQRT2 = float(np.sqrt(2.0))
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def weighted_log_sum(y: np.ndarray, a: np.ndarray, mantissa: np.ndarray, n: int) -> float:
    """Σ y log a over the first n entries, a > 0, to double precision and in vector instructions.

    a = 2^e m with √½ ≤ m < √2, and log m = 2 artanh((m − 1)/(m + 1)) by its series.
    """
    bits = a.view(np.int64)
    parts = mantissa.view(np.int64)
    for i in range(n):
        parts[i] = (bits[i] & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000
    total = 0.0
    for i in range(n):
        m = mantissa[i]
        high = m > _SQRT2
        m = 0.5 * m if high else m
        e = np.float64((bits[i] >> 52) - 1023) + (1.0 if high else 0.0)
        f = (m - 1.0) / (m + 1.0)
        z = f * f
        series = 1.0 / 17.0 + z * (1.0 / 19.0 + z / 21.0)
        series = 1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * series))
        series = 1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * series))))
        total += y[i] * (e * _LN2 + 2.0 * f * series)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def plausibility(y: np.ndarray, part: np.ndarray, n: int, elsewhere: float) -> float:
    """How well a component may belong to a sample, if others fill up what it leaves.

    What it explains, Σ min(y, w), less what it would put where there is nothing: in pixels where w exceeds y the
    best that any state containing it can do is fall short of a perfect fit by about (w − y)² / (w + y).
    """
    score = -elsewhere
    for i in range(n):
        w = part[i]
        score += min(y[i], w)
        over = max(w - y[i], 0.0)
        score -= over * over / (w + y[i])
    return score


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
    n_walk = level.shape[0]
    n_states = 1 + n_walk + H
    part = np.empty((H, widest))
    y = np.empty(widest)
    buffer = np.empty(widest)
    top_level = 1
    for t in range(n_walk):
        top_level = max(top_level, level[t])
    stack = np.empty((top_level + 1, widest))
    stack_total = np.empty(top_level + 1)
    stack_prior = np.empty(top_level + 1)
    score = np.empty(H)
    chosen = np.empty(n_candidates, np.int64)
    is_chosen = np.empty(H, np.bool_)
    lik = np.empty(n_states)
    pri = np.empty(n_states)
    members = np.empty(max(top_level, 1), np.int64)
    for i in range(start, stop):
        low = indptr[i]
        n = indptr[i + 1] - low
        total_of = totals[i] if totals.shape[0] > 1 else totals[0]
        for j in range(n):
            y[j] = values[low + j]
        for h in range(H):
            inside = 0.0
            for j in range(n):
                w = W[h, indices[low + j]]
                part[h, j] = w
                inside += w
            score[h] = plausibility(y, part[h], n, total_of[h] - inside)
            is_chosen[h] = False
        for c in range(n_candidates):
            k = -1
            for h in range(H):
                if not is_chosen[h] and (k < 0 or score[h] > score[k]):
                    k = h
            chosen[c] = k
            is_chosen[k] = True
        # None.
        for j in range(n):
            stack[0, j] = background
        stack_total[0] = 0.0
        stack_prior[0] = log_off
        lik[0] = weighted_log_sum(y, stack[0], buffer, n)
        pri[0] = log_off
        # Combinations of candidates.
        for t in range(n_walk):
            g, h = level[t], chosen[added[t]]
            above, below = stack[g], stack[g - 1]
            for j in range(n):
                above[j] = below[j] + part[h, j]
            stack_total[g] = stack_total[g - 1] + total_of[h]
            stack_prior[g] = stack_prior[g - 1] + logit[h]
            lik[1 + t] = weighted_log_sum(y, above, buffer, n) - stack_total[g]
            pri[1 + t] = stack_prior[g]
        # Components that are no candidates, alone.
        for h in range(H):
            s = 1 + n_walk + h
            if is_chosen[h] and n_walk > 0:
                lik[s] = -np.inf
                pri[s] = 0.0
                continue
            for j in range(n):
                stack[1, j] = background + part[h, j]
            lik[s] = weighted_log_sum(y, stack[1], buffer, n) - total_of[h]
            pri[s] = log_off + logit[h]
        top, where = -np.inf, 0
        hot = -np.inf
        for s in range(n_states):
            if lik[s] + pri[s] > top:
                top, where = lik[s] + pri[s], s
            hot = max(hot, beta * lik[s] + pri[s])
        total, total_hot = 0.0, 0.0
        for s in range(n_states):
            total += np.exp(lik[s] + pri[s] - top)
            lik[s] = np.exp(beta * lik[s] + pri[s] - hot)
            total_hot += lik[s]
        evidence[i] = top + np.log(total)
        for s in range(n_states):
            q = lik[s] / total_hot
            if q < NEGLIGIBLE and s != where:
                continue
            size = 0
            if s > n_walk:
                members[0] = s - 1 - n_walk
                size = 1
            elif s > 0:
                for c in range(n_candidates):
                    if bits[s - 1] >> c & 1:
                        members[size] = chosen[c]
                        size += 1
            if s == where:
                for c in range(size):
                    best[i, members[c]] = True
            q_row = q * row_weight[i]
            for j in range(n):
                a = background
                for c in range(size):
                    a += part[members[c], j]
                buffer[j] = q_row * y[j] / a
            for c in range(size):
                h = members[c]
                means[i, h] += q
                for d in range(size):
                    pairs[h, members[d]] += q_row
                for j in range(n):
                    num[h, indices[low + j]] += buffer[j] * part[h, j]
