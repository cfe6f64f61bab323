"""The two likelihoods of `BayesianNMF`, each with its priors, start, kernel, new rows and densities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

from partwise.core import Problem
from partwise.losses import FROBENIUS, KL, Loss
from partwise.matrix import InMemory
from partwise.priors import ElasticNet, Gamma, Prior
from partwise.samplers.gaussian_gibbs import GaussianGibbs, draw_factor
from partwise.samplers.poisson_gibbs import PoissonGibbs, draw_gamma_factor, exposure, split_counts
from partwise.samplers.streams import draw_keys

#: Sweeps over new rows for each draw of H.
_SWEEPS = 3


class Likelihood(ABC):
    """What is particular to one likelihood."""

    name: str
    loss: Loss
    #: Names of priors that are chosen by the data.
    prior_names: tuple[str, ...]
    signed = False
    has_noise = False

    @abstractmethod
    def kernel(self, X: InMemory, noise_prior: Any, temperatures: Sequence[float]) -> Any:
        """The sampler.

        Parameters
        ----------
        X : InMemory
            The data, whose size a prior left open is measured by.
        noise_prior : tuple of float or None
            Shape and scale of the prior of σ².
        temperatures : sequence of float
            Of the first steps.

        Returns
        -------
        Kernel
            The kernel.
        """

    @abstractmethod
    def check_prior(self, prior: Prior, word: str) -> None:
        """Raise ValueError if the sampler is not exact under a prior.

        Parameters
        ----------
        prior : Prior
            The prior.
        word : str
            What the message calls it.
        """

    @abstractmethod
    def new_rows(
        self,
        X: InMemory,
        W: np.ndarray,
        components: np.ndarray,
        noise: np.ndarray,
        prior: Prior,
        numbers: np.ndarray,
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Draws of W for new rows, given draws of H.

        Parameters
        ----------
        X : InMemory
            The rows.
        W : array of shape (n, k)
            Where to begin; written into.
        components : array of shape (n_draws, k, m)
            Draws of H.
        noise : array of shape (n_draws,)
            Draws of σ².
        prior : Prior
            The prior of W.
        numbers : array of int64 of shape (n,)
            Numbers of the rows' streams.
        rng : Generator
            Where random numbers come from.

        Yields
        ------
        number : int
            Which draw of H.
        W : array of shape (n, k)
            A draw of W given it; changed by the next one.
        """

    @abstractmethod
    def log_density(self, X: np.ndarray, Y: np.ndarray, noise: float) -> np.ndarray:
        """Log-likelihood of every entry.

        Parameters
        ----------
        X : array
            Data.
        Y : array of the shape of X
            Noise-free reconstruction.
        noise : float
            σ².

        Returns
        -------
        array of the shape of X
            The logarithms.
        """

    @abstractmethod
    def predictive(self, Y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
        """New data for a reconstruction.

        Parameters
        ----------
        Y : array
            Noise-free reconstruction.
        noise : float
            σ².
        rng : Generator
            Where random numbers come from.

        Returns
        -------
        array of the shape of Y
            Data drawn from the likelihood.
        """

    def prior(self, chosen: Any, size: float) -> Prior:
        """A prior by its name, at the scale of the data; or the prior that was given.

        Parameters
        ----------
        chosen : str or Prior
            Name or prior.
        size : float
            Mean that entries of the factor should have.

        Returns
        -------
        Prior
            The prior.
        """
        if isinstance(chosen, Prior):
            return chosen
        if chosen == "exponential":
            return Gamma(1.0, 1.0 / size)
        # The mean of a half-normal is √(2/π) times its scale.
        return ElasticNet(l2=2.0 / np.pi / size**2)


class Gaussian(Likelihood):
    """Normal noise of unknown variance."""

    name = "gaussian"
    loss = FROBENIUS
    prior_names = ("exponential", "half-normal")
    signed = True
    has_noise = True

    def kernel(self, X: InMemory, noise_prior: Any, temperatures: Sequence[float]) -> GaussianGibbs:
        """Gibbs steps; a noise prior left open has the weight of two entries and 1 % of the data's variance."""
        if noise_prior is None:
            zero = np.zeros((X.shape[0], 1), X.dtype), np.zeros((X.shape[1], 1), X.dtype)
            total = 2.0 * float(X.row_divergence(*zero, FROBENIUS, 0.0).sum())
            observed = max(float(X.row_observed().sum()), 1.0)
            noise_prior = (1.0, max(0.01 * total / observed, 1e-300))
        shape, scale = noise_prior
        return GaussianGibbs(float(shape), float(scale), temperatures=tuple(temperatures))

    def check_prior(self, prior: Prior, word: str) -> None:
        """Linear and quadratic terms, nonnegative bounds, the same for all rows."""
        terms = prior.terms()
        ok = not (prior.couplings() or np.any(terms.log) or np.any(terms.concave)) and terms.lower == 0.0
        if not ok or any(np.ndim(part) and np.shape(part)[0] > 1 for part in (terms.linear, terms.quadratic)):
            raise ValueError(
                f"{word}={prior!r} cannot be sampled under likelihood='gaussian', whose priors are linear or "
                "quadratic on [0, upper], the same for all rows: 'exponential', 'half-normal', ElasticNet, Bounds, "
                "or Gamma with shape 1."
            )

    def new_rows(
        self,
        X: InMemory,
        W: np.ndarray,
        components: np.ndarray,
        noise: np.ndarray,
        prior: Prior,
        numbers: np.ndarray,
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Truncated normals, as in the fit."""
        terms = prior.terms()
        for d, H in enumerate(components):
            Ht = np.ascontiguousarray(H.T, X.dtype)
            for _ in range(_SWEEPS):
                draw_factor(X, W, Ht, terms, 1.0 / noise[d], rng, numbers)
                yield d, W

    def log_density(self, X: np.ndarray, Y: np.ndarray, noise: float) -> np.ndarray:
        """Of the normal."""
        return np.asarray(-0.5 * (X - Y) ** 2 / noise - 0.5 * np.log(2.0 * np.pi * noise))

    def predictive(self, Y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
        """Y plus noise."""
        return np.asarray(Y + np.sqrt(noise) * rng.standard_normal(Y.shape))


class Poisson(Likelihood):
    """Counts."""

    name = "poisson"
    loss = KL
    prior_names = ("exponential",)

    def kernel(self, X: InMemory, noise_prior: Any, temperatures: Sequence[float]) -> PoissonGibbs:
        """Gibbs steps with a split of the counts."""
        return PoissonGibbs(temperatures=tuple(temperatures))

    def check_prior(self, prior: Prior, word: str) -> None:
        """Gamma with a positive rate."""
        if not isinstance(prior, Gamma) or not np.all(np.asarray(prior.rate) > 0):
            raise ValueError(
                f"{word}={prior!r} cannot be sampled under likelihood='poisson', whose priors are 'exponential' or "
                "partwise.priors.Gamma(shape, rate) with a rate above 0."
            )

    def new_rows(
        self,
        X: InMemory,
        W: np.ndarray,
        components: np.ndarray,
        noise: np.ndarray,
        prior: Prior,
        numbers: np.ndarray,
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Splits and Gamma variables, as in the fit."""
        for d, H in enumerate(components):
            Ht = np.ascontiguousarray(H.T, float)
            of_rows = exposure(X, Ht)
            for _ in range(_SWEEPS):
                counts, _, _ = split_counts(X, W, Ht, draw_keys(rng), numbers)
                draw_gamma_factor(W, prior, 1.0, counts, of_rows, rng, numbers)
                yield d, W

    def log_density(self, X: np.ndarray, Y: np.ndarray, noise: float) -> np.ndarray:
        """Of the Poisson distribution."""
        return np.asarray(X * np.log(np.maximum(Y, 1e-300)) - Y - gammaln(X + 1.0))

    def predictive(self, Y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
        """Counts."""
        return rng.poisson(Y).astype(float)


LIKELIHOODS: dict[str, Likelihood] = {one.name: one for one in (Gaussian(), Poisson())}


def check_proper(problem: Problem) -> None:
    """Raise ValueError where priors leave a component's size between W and H without a finite total probability.

    Parameters
    ----------
    problem : Problem
        Data and priors.
    """
    n, m = problem.X.shape
    open_W, open_H = (
        not (np.all(np.asarray(t.linear) + np.asarray(t.quadratic) > 0) or t.upper < np.inf)
        for t in (problem.terms_W, problem.terms_H)
    )
    if (open_W and open_H) or (open_W and n >= m) or (open_H and m >= n):
        which = "both factors" if open_W and open_H else "W" if open_W else "H"
        raise ValueError(
            f"A flat prior of {which} leaves the posterior without a finite total for {n} × {m} data: components may "
            "grow in one factor and shrink in the other at no cost. Give prior_W and prior_H 'exponential' or "
            "'half-normal', or bounds."
        )
