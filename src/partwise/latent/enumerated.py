"""The E-step over a list of states shared by all samples: all of them (exact), or those with few bits.

The sum over d in equation 3.9 of Yus López (2015) is a matrix product, Y · log Aᵀ with one row of A for each state
(Y · Aᵀ / σ² for Gaussian noise); so are the statistics. Between the two stands one fused pass that turns log-joints
into posteriors, row by row, by log-sum-exp (section 3.2.1 there).
"""

from __future__ import annotations

import numpy as np

from partwise.jit import njit
from partwise.latent.counts import Counts
from partwise.latent.noise import POISSON, Noise
from partwise.latent.statistics import Statistics, log_prior
from partwise.parallel import matmul, over_rows

#: Log-posteriors this far below the largest are zero to double precision.
NEGLIGIBLE = 60.0


def enumerated(
    counts: Counts,
    W: np.ndarray,
    activation: np.ndarray,
    states: np.ndarray,
    n_counted: int | None = None,
    inverse_temperature: float = 1.0,
    noise: Noise = POISSON,
) -> Statistics:
    """Posterior sums over `states`; those from `n_counted` on enter the normalisation only (3.2.3).

    The likelihood is raised to the power `inverse_temperature` where posteriors are formed; `evidence` is always
    that of temperature 1.
    """
    n_states, H = states.shape
    counted = n_states if n_counted is None else n_counted
    A = noise.rates(counts, states, W)
    natural, cost = noise.natural(A), noise.cumulant(A)
    prior = log_prior(activation, states)
    evidence, means = np.empty(counts.n_rows), np.zeros((counts.n_rows, H))
    best = np.empty(counts.n_rows, np.int64)
    # The last column counts: Σ_n q beside Σ_n q y, for the price of one more feature.
    sums = np.zeros((n_states, counts.n_features + 1))
    exposure = np.zeros((n_states, counts.n_features if counts.weighted and noise.squared else 0))
    rates = np.zeros(n_states) if counts.weighted else cost.sum(axis=1)
    for rows, y, omega in counts.blocks(n_states):
        L = matmul(y, natural.T)
        if omega is not None:
            L -= matmul(omega, cost.T)
        ev, top, mean = evidence[rows], best[rows], means[rows]
        over_rows(
            lambda a, b, L=L, ev=ev, top=top, mean=mean: posterior_rows(  # type: ignore[misc]
                L[a:b], rates, prior, inverse_temperature, counted, states, ev[a:b], top[a:b], mean[a:b]
            ),
            len(L),
            grain=16,
        )
        r = counts.row_weight[rows, None]
        sums += matmul(L.T, np.concatenate([r * y, r], axis=1))
        if omega is not None and noise.squared:
            exposure += matmul(L.T, r * omega)
    weight, sums = sums[:, -1], sums[:, :-1]
    pairs = (states * weight[:, None]).T @ states

    def numerator(at: np.ndarray) -> np.ndarray:
        # Σ_n q y per state is all that is asked of the data, whatever W is.
        return at * (states.T @ (sums / (states @ at + counts.background)))

    stats = Statistics(evidence, means, states[best] > 0, pairs, numerator, repeatable=True)
    if noise.squared:
        stats.cross = states.T @ sums
        if counts.weighted:
            bound = states.T @ (exposure * states.sum(axis=1)[:, None])
            stats.fitted = lambda at: (states.T @ (exposure * (states @ at)), bound)
    return stats


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz", "reassoc", "contract"})
def largest(row: np.ndarray, rates: np.ndarray, prior: np.ndarray, inverse_temperature: float) -> float:
    """The largest log-joint; a loop of its own, so that it runs in vector instructions."""
    top = -1e300
    for s in range(row.shape[0]):
        top = max(top, inverse_temperature * (row[s] - rates[s]) + prior[s])
    return top


@njit(cache=True, nogil=True, error_model="numpy")
def posterior_rows(
    L: np.ndarray,
    rates: np.ndarray,
    prior: np.ndarray,
    inverse_temperature: float,
    counted: int,
    states: np.ndarray,
    evidence: np.ndarray,
    best: np.ndarray,
    means: np.ndarray,
) -> None:
    """Overwrite Σ_d y log a by posteriors; write each row's log-evidence, most probable state, and mean bits.

    Nearly all states are negligible, so exponentials and sums over bits are for the few that are not.
    """
    n_states, H = states.shape
    for i in range(L.shape[0]):
        row = L[i]
        top = largest(row, rates, prior, 1.0)
        total, highest = 0.0, -1e300
        for s in range(n_states):
            gap = row[s] - rates[s] + prior[s] - top
            if gap > -NEGLIGIBLE:
                total += np.exp(gap)
                if gap > highest:
                    highest = gap
                    best[i] = s
        evidence[i] = top + np.log(total)
        if inverse_temperature != 1.0:
            top, total = largest(row, rates, prior, inverse_temperature), 0.0
            for s in range(n_states):
                gap = inverse_temperature * (row[s] - rates[s]) + prior[s] - top
                if gap > -NEGLIGIBLE:
                    total += np.exp(gap)
        for s in range(n_states):
            gap = inverse_temperature * (row[s] - rates[s]) + prior[s] - top
            row[s] = 0.0
            if gap > -NEGLIGIBLE and s < counted:
                q = np.exp(gap) / total
                row[s] = q
                for h in range(H):
                    means[i, h] += q * states[s, h]
