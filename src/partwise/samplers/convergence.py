"""What chains say of their own convergence, in numbers and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from partwise.samplers.diagnostics import ess_bulk, ess_tail, rhat

#: Chains have converged when no R̂ is above the one and no effective sample size below the other.
RHAT = 1.05
ESS = 100.0


@dataclass(frozen=True)
class Convergence:
    """R̂ and effective sample sizes of quantities that do not depend on the order of components.

    Parameters
    ----------
    rhat : dict of str to float
        The largest R̂ of each group of quantities; NaN where it cannot be known.
    ess : dict of str to float
        The smallest of the bulk and tail effective sample sizes of each group.
    """

    rhat: dict[str, float]
    ess: dict[str, float]

    @property
    def converged(self) -> bool:
        """Whether all R̂ are at most 1.05 and all effective sample sizes at least 100."""
        small = all(value <= RHAT for value in self.rhat.values())
        return small and all(value >= ESS for value in self.ess.values())

    def sentence(self, n_draws: int, n_warmup: int, made: int | None = None) -> str:
        """What to do about chains that have not converged.

        Parameters
        ----------
        n_draws, n_warmup : int
            Draws and warm-up of each chain.
        made : int, optional
            The draws that each chain made, where it was stopped.

        Returns
        -------
        str
            One sentence with the worst figures.
        """
        if not self.rhat or any(np.isnan(value) for value in self.rhat.values()):
            if made is not None and made < n_draws:
                return (
                    f"Whether the chains have converged cannot be told: they were stopped after {made} of {n_draws} "
                    "draws each. Give them more time."
                )
            return (
                f"Whether the chains have converged cannot be told from {n_draws} draws each: raise n_draws, for "
                f"instance to {max(500, 4 * n_draws)}."
            )
        worst = max(self.rhat, key=self.rhat.__getitem__)
        least = min(self.ess, key=self.ess.__getitem__)
        said = []
        if self.rhat[worst] > RHAT:
            said.append(f"R-hat of the {worst} is {self.rhat[worst]:.3f} (wanted: at most {RHAT:g})")
        if self.ess[least] < ESS:
            size = f"{self.ess[least]:.0f} (wanted: at least {ESS:g})"
            said.append(f"the effective sample size of the {least} is {size}")
        if made is not None and made < n_draws:
            return (
                f"The chains have not converged: {' and '.join(said)}. They were stopped after {made} of {n_draws} "
                "draws each: give them more time; intervals are not to be trusted yet."
            )
        return (
            f"The chains have not converged: {' and '.join(said)}. Raise n_draws, for instance to {4 * n_draws}, and "
            f"n_warmup, for instance to {4 * max(n_warmup, 100)}; intervals are not to be trusted yet."
        )


def convergence(traces: Mapping[str, np.ndarray]) -> Convergence:
    """Diagnose the traces of several chains.

    Parameters
    ----------
    traces : mapping of str to array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Groups of quantities by name.

    Returns
    -------
    Convergence
        The worst figures of each group; quantities that never change are left out.
    """
    worst: dict[str, float] = {}
    least: dict[str, float] = {}
    for name, draws in traces.items():
        x = np.asarray(draws, float)
        x = x[:, :, None] if x.ndim == 2 else x
        x = x[:, :, np.ptp(x, axis=(0, 1)) > 0] if x.shape[1] else x
        if x.shape[2] == 0:
            continue
        worst[name] = float(np.max(rhat(x)))
        least[name] = float(min(np.min(ess_bulk(x)), np.min(ess_tail(x))))
    return Convergence(worst, least)
