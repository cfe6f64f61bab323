"""Compiled pieces of expectation truncation, each for one sample; `preselected` puts them together."""

from __future__ import annotations

import numpy as np

from partwise.jit import leaf, njit, piece

_FAST = {"reassoc", "contract", "nsz", "arcp"}
_LN2 = float(np.log(2.0))
_SQRT2 = float(np.sqrt(2.0))


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


@piece(fastmath=_FAST)
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


@leaf(forceinline=True)
def read_sample(
    values: np.ndarray,
    columns: np.ndarray,
    W: np.ndarray,
    totals: np.ndarray,
    y: np.ndarray,
    part: np.ndarray,
    score: np.ndarray,
) -> None:
    """Positive counts of one sample, the components there, and how plausible each component is."""
    n = values.shape[0]
    for j in range(n):
        y[j] = values[j]
    for h in range(W.shape[0]):
        inside = 0.0
        for j in range(n):
            w = W[h, columns[j]]
            part[h, j] = w
            inside += w
        score[h] = plausibility(y, part[h], n, totals[h] - inside)


@leaf(forceinline=True)
def choose(score: np.ndarray, chosen: np.ndarray, is_chosen: np.ndarray) -> None:
    """The components of the highest scores, as many as `chosen` has places."""
    H = score.shape[0]
    for h in range(H):
        is_chosen[h] = False
    for c in range(chosen.shape[0]):
        k = -1
        for h in range(H):
            if not is_chosen[h] and (k < 0 or score[h] > score[k]):
                k = h
        chosen[c] = k
        is_chosen[k] = True


@leaf(forceinline=True)
def visit_states(
    n: int,
    y: np.ndarray,
    part: np.ndarray,
    totals: np.ndarray,
    logit: np.ndarray,
    log_off: float,
    background: float,
    level: np.ndarray,
    added: np.ndarray,
    chosen: np.ndarray,
    is_chosen: np.ndarray,
    stack: np.ndarray,
    stack_total: np.ndarray,
    stack_prior: np.ndarray,
    buffer: np.ndarray,
    log_likelihood: np.ndarray,
    log_prior: np.ndarray,
) -> None:
    """Log-likelihood and log-prior of each state: none, combinations of candidates, other components alone."""
    n_walk = level.shape[0]
    for j in range(n):
        stack[0, j] = background
    stack_total[0] = 0.0
    stack_prior[0] = log_off
    log_likelihood[0] = weighted_log_sum(y, stack[0], buffer, n)
    log_prior[0] = log_off
    for t in range(n_walk):
        g, h = level[t], chosen[added[t]]
        above, below = stack[g], stack[g - 1]
        for j in range(n):
            above[j] = below[j] + part[h, j]
        stack_total[g] = stack_total[g - 1] + totals[h]
        stack_prior[g] = stack_prior[g - 1] + logit[h]
        log_likelihood[1 + t] = weighted_log_sum(y, above, buffer, n) - stack_total[g]
        log_prior[1 + t] = stack_prior[g]
    for h in range(part.shape[0]):
        s = 1 + n_walk + h
        if is_chosen[h] and n_walk > 0:
            log_likelihood[s] = -np.inf
            log_prior[s] = 0.0
            continue
        for j in range(n):
            stack[1, j] = background + part[h, j]
        log_likelihood[s] = weighted_log_sum(y, stack[1], buffer, n) - totals[h]
        log_prior[s] = log_off + logit[h]


@leaf(forceinline=True)
def normalise(log_likelihood: np.ndarray, log_prior: np.ndarray, beta: float) -> tuple[float, int]:
    """Overwrite log-likelihoods by posteriors at the inverse temperature `beta`.

    Returns the log-evidence and the most probable state, both at temperature 1.
    """
    n_states = log_likelihood.shape[0]
    top, best = -np.inf, 0
    hot = -np.inf
    for s in range(n_states):
        if log_likelihood[s] + log_prior[s] > top:
            top, best = log_likelihood[s] + log_prior[s], s
        hot = max(hot, beta * log_likelihood[s] + log_prior[s])
    total, total_hot = 0.0, 0.0
    for s in range(n_states):
        total += np.exp(log_likelihood[s] + log_prior[s] - top)
        log_likelihood[s] = np.exp(beta * log_likelihood[s] + log_prior[s] - hot)
        total_hot += log_likelihood[s]
    for s in range(n_states):
        log_likelihood[s] /= total_hot
    return top + np.log(total), best


@leaf(forceinline=True)
def members_of(s: int, bits: np.ndarray, chosen: np.ndarray, members: np.ndarray) -> int:
    """Write the components that are on in state s, and return how many they are."""
    n_walk = bits.shape[0]
    size = 0
    if s > n_walk:
        members[0] = s - 1 - n_walk
        size = 1
    elif s > 0:
        for c in range(chosen.shape[0]):
            if bits[s - 1] >> c & 1:
                members[size] = chosen[c]
                size += 1
    return size


@leaf(forceinline=True)
def add_state(
    members: np.ndarray,
    size: int,
    q: float,
    weight: float,
    y: np.ndarray,
    part: np.ndarray,
    columns: np.ndarray,
    background: float,
    buffer: np.ndarray,
    means: np.ndarray,
    num: np.ndarray,
    pairs: np.ndarray,
) -> None:
    """Add a state of posterior q, in a sample of weight r, to the sums."""
    n = columns.shape[0]
    for j in range(n):
        a = background
        for c in range(size):
            a += part[members[c], j]
        buffer[j] = q * weight * y[j] / a
    for c in range(size):
        h = members[c]
        means[h] += q
        for d in range(size):
            pairs[h, members[d]] += q * weight
        for j in range(n):
            num[h, columns[j]] += buffer[j] * part[h, j]
