"""How the posterior of the bits is found: over all states, over those with few bits, or over each sample's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.latent.counts import Counts
from partwise.latent.enumerated import enumerated
from partwise.latent.noise import POISSON, Noise
from partwise.latent.states import all_states, count_up_to, size_distribution, states_up_to
from partwise.latent.statistics import Statistics

#: States of more bits are left out when together they have less than this probability.
TAIL = 0.02
#: Combinations visited for each sample at most.
MOST_STATES = 600


@dataclass(frozen=True)
class Inference:
    """The E-step, and which states it visits.

    Parameters
    ----------
    exact : bool
        All 2^H states.
    max_active : int, optional
        γ; None lets it follow π.
    n_candidates : int, "all" or None
        H′; "all" visits the same states for every sample, and |s| = γ + 1 in the denominator (Yus López 2015, 3.2.3).
    mean_active : bool
        Where γ follows π, it is ⌈πH⌉, the mean number of bits (Yus López 2015), not nearly all of the prior's mass.
    """

    exact: bool = True
    max_active: int | None = None
    n_candidates: int | str | None = None
    mean_active: bool = False

    def gamma(self, activation: np.ndarray) -> int:
        """γ for this π: nearly all of the prior's mass, as far as the number of states allows."""
        H = len(activation)
        if self.max_active is not None:
            return min(self.max_active, H)
        if self.mean_active:
            return min(max(int(np.ceil(activation.sum())), 1), H)
        reach = np.cumsum(size_distribution(activation))
        wanted = int(np.searchsorted(reach, 1.0 - TAIL)) or 1
        while wanted > 2 and count_up_to(self._candidates(wanted, H), wanted) > MOST_STATES:
            wanted -= 1
        return min(max(wanted, min(2, H)), H)

    def _candidates(self, gamma: int, H: int) -> int:
        """H′ for this γ."""
        if self.n_candidates == "all":
            return H
        return min(H, gamma + 3 if self.n_candidates is None else int(self.n_candidates))

    def __call__(
        self,
        counts: Counts,
        W: np.ndarray,
        activation: np.ndarray,
        inverse_temperature: float = 1.0,
        noise: Noise = POISSON,
    ) -> Statistics:
        """Posterior sums at (W, π).

        Parameters
        ----------
        counts : Counts
        W : array of shape (H, n_features)
        activation : array of shape (H,)
            π.
        inverse_temperature : float
            Power that the likelihood is raised to where posteriors are formed.
        noise : Noise
            Poisson, or Gaussian with its variance.

        Returns
        -------
        Statistics
            Its `truncation` says how many bits were counted and visited.
        """
        H = len(W)
        if self.exact:
            return enumerated(counts, W, activation, all_states(H), None, inverse_temperature, noise)
        gamma = self.gamma(activation)
        if self.n_candidates == "all":
            states, inside = states_up_to(H, gamma + 1), count_up_to(H, gamma)
            stats = enumerated(counts, W, activation, states, inside, inverse_temperature, noise)
            stats.truncation = gamma, gamma + 1
        else:
            candidates = self._candidates(gamma, H)
            stats = noise.preselected(counts, W, activation, gamma, candidates, inverse_temperature)
            stats.truncation = gamma, gamma
        return stats
