"""Random-walk Metropolis for relaxed factors (Gonsior 2019, algorithm 2.2), all rows of a factor at once.

Given the other factor, rows are independent: each row has its own proposal, a normal step reflected at 0 and 1, which
is symmetric, and its own acceptance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.core import Info, State
from partwise.samplers.boundaries import fold
from partwise.samplers.relaxed import RelaxedKernel, RelaxedPosterior


@dataclass(frozen=True)
class Metropolis(RelaxedKernel):
    """Metropolis sampler of relaxed factors.

    Parameters
    ----------
    scale : float, default=0.1
        Standard deviation of the proposed changes.
    """

    name = "metropolis"
    remedy = "Look for data that are not finite."

    scale: float = 0.1

    def step(self, problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """A proposal for every row of W, then of H.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            Where the chain stands; not changed.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : State
            Where it stands next.
        info : Info
            Its log-density; notes have the share of accepted rows.
        """
        W, moved_W = self._rows(problem, state.W, state.Ht, rng)
        Ht, moved_H = self._rows(problem.T, state.Ht, W, rng)
        objective = problem.log_density(W, Ht)
        after = State(W, Ht, state.extra, iteration=state.iteration + 1, objective=objective)
        share = float(np.concatenate([moved_W, moved_H]).mean())
        return after, Info(after.iteration, objective, notes={"accepted": share})

    def _rows(
        self, problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The factor after one proposal for each row, and which rows moved."""
        trial = fold(W + self.scale * rng.standard_normal(W.shape))
        gain = row_densities(problem, trial, Ht) - row_densities(problem, W, Ht)
        accepted = np.log(1.0 - rng.random(len(W))) < gain
        return np.where(accepted[:, None], trial, W), accepted


def row_densities(problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray) -> np.ndarray:
    """Log-density of every row of W given H, up to a constant.

    Parameters
    ----------
    problem : RelaxedPosterior
        Data and priors.
    W, Ht : arrays of shapes (n, k) and (m, k)
        The factors.

    Returns
    -------
    array of shape (n,)
        Sums over the row.
    """
    error = problem.X - W @ Ht.T
    if problem.observed is not None:
        error = np.where(problem.observed, error, 0.0)
    return np.asarray(
        -0.5 * (error * error).sum(axis=1) / problem.noise + problem.prior.log_kernel(W).sum(axis=1)
    )
