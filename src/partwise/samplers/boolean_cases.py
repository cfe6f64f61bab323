"""Small problems on which the samplers of Boolean factors are calibrated; see `calibration`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.core import State
from partwise.samplers.boolean_gibbs import BooleanGibbs
from partwise.samplers.boolean_posterior import BitState, BooleanPosterior
from partwise.samplers.calibration import CalibrationCase
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS, UnitPrior


def bits_case() -> CalibrationCase:
    """The OR model: 6 × 5, two tiles, everything unknown.

    Returns
    -------
    CalibrationCase
        Bits, flips and densities from their priors.
    """
    n, m, k = 6, 5, 2
    flip_prior, density_prior = (2.0, 4.0), (2.0, 2.0)

    def data(state: BitState, rng: np.random.Generator) -> BooleanPosterior:
        cover = state.W @ state.Ht.T
        flip = rng.random((n, m)) < np.where(cover, state.flips[1], state.flips[0])
        return BooleanPosterior(BitTable.of(cover ^ flip), flip_prior, density_prior)

    def simulate(rng: np.random.Generator) -> tuple[Any, Any]:
        flips = rng.beta(*flip_prior, 2)
        while flips.sum() >= 1.0:
            flips = rng.beta(*flip_prior, 2)
        densities = rng.beta(*density_prior, (2, k))
        W, Ht = (rng.random((side, k)) < q for side, q in zip((n, m), densities))
        state = BitState(W, Ht, flips, densities)
        return data(state, rng), state

    def start(problem: BooleanPosterior, rng: np.random.Generator) -> BitState:
        return BooleanGibbs().init(problem, rng.random((n, k)) < 0.5, rng.random((m, k)) < 0.5, rng)

    def resimulate(problem: BooleanPosterior, state: BitState, rng: np.random.Generator) -> tuple[Any, Any]:
        return data(state, rng), state

    def quantities(problem: BooleanPosterior, state: BitState) -> dict[str, float]:
        cover = state.W @ state.Ht.T
        return {
            "covered": float(cover.sum()),
            "covered in row 0": float(cover[0].sum()),
            "bits of W": float(state.W.sum()),
            "bits of H": float(state.Ht.sum()),
            "p+": float(state.flips[0]),
            "p-": float(state.flips[1]),
            "mean density": float(state.densities.mean()),
            "log-likelihood": problem.log_likelihood(state),
        }

    return CalibrationCase(BooleanGibbs(), simulate, start, resimulate, quantities, n_warmup=60, thin=4)


def relaxed_case(prior: UnitPrior = UNIT_PRIORS["laplace"]) -> CalibrationCase:
    """Relaxed factors: 6 × 5, two components, the noise unknown.

    Parameters
    ----------
    prior : UnitPrior
        Of the entries.

    Returns
    -------
    CalibrationCase
        Factors and noise from their priors.
    """
    n, m, k = 6, 5, 2
    noise_prior = (5.0, 0.5)

    def data(state: State, rng: np.random.Generator) -> RelaxedPosterior:
        noise = float((state.extra or {})["noise"])
        X = state.W @ state.Ht.T + np.sqrt(noise) * rng.standard_normal((n, m))
        return RelaxedPosterior(X, prior, noise, noise_prior=noise_prior)

    def simulate(rng: np.random.Generator) -> tuple[Any, Any]:
        noise = noise_prior[1] / rng.gamma(noise_prior[0])
        state = State(prior.sample((n, k), rng), prior.sample((m, k), rng), {"noise": np.array(noise)})
        return data(state, rng), state

    def start(problem: RelaxedPosterior, rng: np.random.Generator) -> State:
        # The noise that the data were drawn with is not known to the chain.
        return replace(problem, noise=0.2).start(k, rng)

    def resimulate(problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[Any, Any]:
        return data(state, rng), state

    def quantities(problem: RelaxedPosterior, state: State) -> dict[str, float]:
        product = state.W @ state.Ht.T
        noise = float((state.extra or {})["noise"])
        return {
            "entry 0, 0": float(product[0, 0]),
            "entry 5, 4": float(product[5, 4]),
            "sum of W": float(state.W.sum()),
            "sum of squares": float(np.vdot(product, product)),
            "log of the noise": float(np.log(noise)),
            "residual": problem.residual(state.W, state.Ht) / noise,
        }

    kernel = RelaxedGibbs(sample_noise=True)
    return CalibrationCase(kernel, simulate, start, resimulate, quantities, n_warmup=200, thin=10)


def beta_case() -> CalibrationCase:
    """Relaxed factors under a Beta(½, ½) prior, which is met by slice sampling.

    Returns
    -------
    CalibrationCase
        As `relaxed_case`.
    """
    return relaxed_case(UNIT_PRIORS["beta"])
