"""Rejection sampling of relaxed factors (Gonsior 2019, algorithm 2.1): exact, and for small problems only.

Factors are proposed from their prior and accepted with probability exp(−‖X − W Hᵀ‖² / (2σ²)), the likelihood over its
upper bound 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.core import Info, State
from partwise.samplers.relaxed import RelaxedKernel, RelaxedPosterior


@dataclass(frozen=True)
class Rejection(RelaxedKernel):
    """Rejection sampler of relaxed factors.

    Parameters
    ----------
    n_proposals : int, default=1000
        Proposals made at once.
    max_tries : int, default=10_000_000
        Proposals without success after which it gives up.
    """

    name = "rejection"
    remedy = "Look for data that are not finite."

    n_proposals: int = 1000
    max_tries: int = 10_000_000

    def step(self, problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """A draw that is independent of the state.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            Where the chain stands; only its shape matters.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : State
            The draw.
        info : Info
            Its log-density; notes have the number of proposals ("tries").
        """
        (n, k), m, tries = state.W.shape, len(state.Ht), 0
        while tries < self.max_tries:
            W, Ht = (problem.prior.sample((self.n_proposals, side, k), rng) for side in (n, m))
            error = problem.X - W @ Ht.transpose(0, 2, 1)
            if problem.observed is not None:
                error = np.where(problem.observed, error, 0.0)
            fit = -0.5 * (error * error).sum(axis=(1, 2)) / problem.noise
            accepted = np.flatnonzero(np.log(1.0 - rng.random(self.n_proposals)) < fit)
            if accepted.size:
                first = accepted[0]
                iteration = state.iteration + 1
                objective = problem.log_density(W[first], Ht[first])
                after = State(W[first], Ht[first], state.extra, iteration=iteration, objective=objective)
                return after, Info(iteration, objective, notes={"tries": float(tries + first + 1)})
            tries += self.n_proposals
        raise ValueError(
            f"Rejection sampling found nothing in {tries} proposals; it is for problems of a few entries. "
            'Take sampler="relaxed-gibbs".'
        )
