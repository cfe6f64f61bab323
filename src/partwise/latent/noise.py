"""What stands between the sum of the active components and the data: Poisson counts or Gaussian noise.

Both have log p(y | a) = y η(a) − κ(a) + terms without a, so that one E-step serves both: η is what y is multiplied
with (`natural`), κ what each observed entry pays (`cumulant`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from partwise.latent.counts import Counts
from partwise.latent.gram_preselected import gram_preselected
from partwise.latent.m_step import em_update, nonnegative_update
from partwise.latent.preselected import preselected
from partwise.latent.statistics import Statistics

#: σ² stays above this share of the variance of the data: below it, parts reproduce single samples and the
#: likelihood has no bound.
LEAST_VARIANCE = 1e-6


class Noise(ABC):
    """A noise model with its parameters.

    Attributes
    ----------
    variance : float
        σ² of a Gaussian; NaN where the noise has no parameter.
    squared : bool
        Whether the M-step is one of least squares: Gaussian noise.
    """

    variance: float = float("nan")
    squared: bool = False

    @abstractmethod
    def at(self, variance: float) -> Noise:
        """The same noise with another σ²."""

    @abstractmethod
    def rates(self, counts: Counts, states: np.ndarray, W: np.ndarray) -> np.ndarray:
        """The mean a of each state."""

    @abstractmethod
    def natural(self, A: np.ndarray) -> np.ndarray:
        """η(a)."""

    @abstractmethod
    def cumulant(self, A: np.ndarray) -> np.ndarray:
        """κ(a)."""

    @abstractmethod
    def constant(self, counts: Counts) -> np.ndarray:
        """What the log-likelihood of each row lacks: it is evidence − constant."""

    @abstractmethod
    def saturated(self, counts: Counts) -> np.ndarray:
        """The evidence that a model has which reproduces each row exactly."""

    @abstractmethod
    def preselected(
        self,
        counts: Counts,
        W: np.ndarray,
        activation: np.ndarray,
        max_active: int,
        n_candidates: int,
        inverse_temperature: float,
    ) -> Statistics:
        """Posterior sums over each sample's own states."""

    @abstractmethod
    def updated(self, counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
        """New W that does not lower the likelihood."""

    def learned(self, counts: Counts, W: np.ndarray, new: np.ndarray, stats: Statistics) -> Noise:
        """The noise for the W that was found; Poisson noise has nothing to learn."""
        return self

    def nats(self, counts: Counts) -> float | None:
        """The size of a log-likelihood against which a gain is judged; None for its own."""
        return None


@dataclass(frozen=True)
class PoissonNoise(Noise):
    """Counts with the variance of their mean (Yus López 2015, equation 2.2)."""

    def at(self, variance: float) -> Noise:
        """Itself: there is no σ²."""
        return self

    def rates(self, counts: Counts, states: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Sums of components above the background."""
        return np.asarray(states @ W + counts.background)

    def natural(self, A: np.ndarray) -> np.ndarray:
        """Log a."""
        return np.log(A)

    def cumulant(self, A: np.ndarray) -> np.ndarray:
        """The mean itself."""
        return A

    def constant(self, counts: Counts) -> np.ndarray:
        """Σ log y!."""
        return counts.log_factorials

    def saturated(self, counts: Counts) -> np.ndarray:
        """Σ y log y − y."""
        return counts.saturated

    def preselected(
        self,
        counts: Counts,
        W: np.ndarray,
        activation: np.ndarray,
        max_active: int,
        n_candidates: int,
        inverse_temperature: float,
    ) -> Statistics:
        """Positive counts are visited, state by state."""
        return preselected(counts, W, activation, max_active, n_candidates, inverse_temperature)

    def updated(self, counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
        """The exact EM rule."""
        return em_update(counts, W, stats)


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Noise of one variance in all entries: binary sparse coding (Henniges et al. 2010) with W ≥ 0.

    Parameters
    ----------
    variance : float
        σ².
    """

    variance: float = 1.0
    squared = True

    def at(self, variance: float) -> Noise:
        """The same with another σ²."""
        return GaussianNoise(float(variance))

    def rates(self, counts: Counts, states: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Sums of components."""
        return np.asarray(states @ W)

    def natural(self, A: np.ndarray) -> np.ndarray:
        """Mean over σ²."""
        return A / self.variance

    def cumulant(self, A: np.ndarray) -> np.ndarray:
        """a² / 2σ²."""
        return A * A / (2.0 * self.variance)

    def constant(self, counts: Counts) -> np.ndarray:
        """Σ y² / 2σ² + ½ log 2πσ² over the observed entries."""
        return self.saturated(counts) + 0.5 * np.log(2.0 * np.pi * self.variance) * counts.observed

    def saturated(self, counts: Counts) -> np.ndarray:
        """Σ y² / 2σ²."""
        return counts.squares / (2.0 * self.variance)

    def preselected(
        self,
        counts: Counts,
        W: np.ndarray,
        activation: np.ndarray,
        max_active: int,
        n_candidates: int,
        inverse_temperature: float,
    ) -> Statistics:
        """Only scalar products of samples and components are needed."""
        return gram_preselected(
            counts, W, activation, max_active, n_candidates, inverse_temperature, self.variance
        )

    def updated(self, counts: Counts, W: np.ndarray, stats: Statistics) -> np.ndarray:
        """Nonnegative least squares under the posterior."""
        return nonnegative_update(counts, W, stats)

    def learned(self, counts: Counts, W: np.ndarray, new: np.ndarray, stats: Statistics) -> Noise:
        """σ² = mean of ⟨(y − a)²⟩ under the posterior.

        It is taken at the new W. Where entries are missing and the sums per state were not kept it is taken
        at the W of the E-step, which raises the same bound.
        """
        known = stats.fitted is None or stats.repeatable
        at = new if known else W
        fitted = stats.pairs @ at if stats.fitted is None else stats.fitted(at)[0]
        r = counts.row_weight
        left = float(r @ counts.squares) - 2.0 * float((stats.cross * at).sum()) + float((fitted * at).sum())
        variance = left / max(float(r @ counts.observed), 1e-300)
        return GaussianNoise(max(variance, least_variance(counts)))

    def nats(self, counts: Counts) -> float:
        """One for each entry: a density has any value, 0 among them, by the unit of the data."""
        return float(counts.row_weight @ counts.observed)


def least_variance(counts: Counts) -> float:
    """The floor of σ², relative to the variance of the observed entries."""
    return max(LEAST_VARIANCE * counts.variance, 1e-290)


POISSON = PoissonNoise()


def starting_noise(name: str, counts: Counts) -> Noise:
    """Noise by its name; σ² begins with the variance of the data, of which parts explain some.

    Parameters
    ----------
    name : {"poisson", "gaussian"}
    counts : Counts
    """
    return POISSON if name == "poisson" else GaussianNoise(max(counts.variance, 1e-290))
