"""The E-step over a list of states shared by all samples: all of them (exact), or those with few bits.

The sum over d in equation 3.9 is a matrix product, Y · log Aᵀ with one row of A for each state; so are the
statistics. Between the two stands one fused pass that turns log-joints into posteriors, row by row, by
log-sum-exp (3.2.1).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from partwise.latent.counts import Counts
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
) -> Statistics:
    """Posterior sums over `states`; those from `n_counted` on enter the normalisation only (3.2.3).

    The likelihood is raised to the power `inverse_temperature` where posteriors are formed; `evidence` is always
    that of temperature 1.
    """
    n_states, H = states.shape
    counted = n_states if n_counted is None else n_counted
    A = states @ W + counts.background
    log_A = np.log(A)
    prior = log_prior(activation, states)
    evidence, means = np.empty(counts.n_rows), np.empty((counts.n_rows, H))
    best = np.empty(counts.n_rows, np.int64)
    sums, weight = np.zeros((n_states, counts.n_features)), np.zeros(n_states)
    for rows, y, omega in counts.blocks(n_states):
        L = matmul(y, log_A.T)
        if omega is None:
            L -= A.sum(axis=1)
        else:
            L -= matmul(omega, A.T)
        r = counts.row_weight[rows]
        ev, top = evidence[rows], best[rows]
        over_rows(
            lambda a, b, L=L, ev=ev, top=top: posterior_rows(  # type: ignore[misc]
                L[a:b], prior, inverse_temperature, counted, ev[a:b], top[a:b]
            ),
            len(L),
        )
        means[rows] = matmul(L, states)
        if counts.X.row_weight is not None:
            L *= r[:, None]
        weight += L.sum(axis=0)
        sums += matmul(L.T, y)
    pairs = (states * weight[:, None]).T @ states

    def numerator(at: np.ndarray) -> np.ndarray:
        # Σ_n q y per state is all that is asked of the data, whatever W is.
        return at * (states.T @ (sums / (states @ at + counts.background)))

    return Statistics(evidence, means, states[best] > 0, pairs, numerator, repeatable=True)


@njit(cache=True, nogil=True, error_model="numpy")
def posterior_rows(
    L: np.ndarray,
    prior: np.ndarray,
    inverse_temperature: float,
    counted: int,
    evidence: np.ndarray,
    best: np.ndarray,
) -> None:
    """Overwrite log-likelihoods by posteriors; write each row's log-evidence and most probable state."""
    n_states = prior.shape[0]
    for i in range(L.shape[0]):
        row = L[i]
        top, where = -np.inf, 0
        for s in range(n_states):
            value = row[s] + prior[s]
            if value > top:
                top, where = value, s
        total = 0.0
        for s in range(n_states):
            gap = row[s] + prior[s] - top
            if gap > -NEGLIGIBLE:
                total += np.exp(gap)
        evidence[i] = top + np.log(total)
        best[i] = where
        if inverse_temperature != 1.0:
            top, total = -np.inf, 0.0
            for s in range(n_states):
                top = max(top, inverse_temperature * row[s] + prior[s])
            for s in range(n_states):
                gap = inverse_temperature * row[s] + prior[s] - top
                if gap > -NEGLIGIBLE:
                    total += np.exp(gap)
        for s in range(n_states):
            gap = inverse_temperature * row[s] + prior[s] - top
            row[s] = np.exp(gap) / total if gap > -NEGLIGIBLE and s < counted else 0.0
