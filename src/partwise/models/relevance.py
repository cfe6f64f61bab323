"""Components whose relevance is learned: what an `ARD` prior adds to the fit of an `NMF`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from partwise.core import Problem, run
from partwise.matrix import Dense
from partwise.models.units import Units, outside
from partwise.priors import ARD, Prior, Relevance, SumPrior
from partwise.priors.elastic_net import ElasticNet
from partwise.priors.scaled import times_power
from partwise.solvers.base import AlternatingSolver

#: Components leave slowly: the tolerance of the fit is multiplied by this.
SHARPER = 0.01
#: Iterations without the prior, at most, that a fit begins with.
WARM = 50
#: The share of the observations that must be left over for an estimate of the dispersion.
LEFT_OVER = 0.05


def ard_of(model: Any) -> ARD | None:
    """The ARD prior of a model, the same on both factors; None where it has none.

    Raises
    ------
    ValueError
        If it stands on one factor only, in a sum, or beside fixed components.
    """
    priors = [getattr(model, name, None) for name in ("prior_W", "prior_H")]
    if any(_within(prior) for prior in priors):
        raise ValueError(
            "ARD learns how strong the prior of each component is, so it stands alone: give ARD(...) as prior_W and "
            "prior_H without adding another prior; alpha_W and alpha_H may go with it."
        )
    found = [prior for prior in priors if isinstance(prior, ARD)]
    if not found:
        return None
    if len(found) == 1 or found[0] != found[1]:
        raise ValueError(
            "ARD ties column k of W to row k of H: prior_W and prior_H must be the same ARD prior; got "
            f"prior_W={priors[0]!r}, prior_H={priors[1]!r}."
        )
    if getattr(model, "fixed_components", None) is not None:
        raise ValueError(
            "ARD decides which components stay, and fixed_components are to stay; use one of them."
        )
    return found[0]


def _within(prior: Prior | None) -> bool:
    """Whether an ARD prior is part of a sum."""
    return isinstance(prior, SumPrior) and any(isinstance(part, ARD) or _within(part) for part in prior.parts)


def relevance_of(problem: Problem) -> Relevance | None:
    """The pairing of a problem that learns relevances."""
    return next((one for one in problem.pairings if isinstance(one, Relevance)), None)


def warmed(
    problem: Problem,
    solver: AlternatingSolver,
    W: np.ndarray,
    Ht: np.ndarray,
    rng: np.random.Generator,
    name: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Factors after some iterations without relevances: from a poor start, parts that matter would be removed too."""
    plain = replace(problem, pairings=())
    result = run(
        plain,
        solver,
        solver.init(plain, W, Ht),
        stopping=solver.stopping(1e-4),
        max_iter=WARM,
        rng=rng,
        name=name,
    )
    return result.state.W, result.state.Ht


def with_relevance(
    prior: ARD, problem: Problem, units: Units, warm: tuple[np.ndarray, np.ndarray]
) -> Problem:
    """The problem with the penalty of `prior`; `warm` are factors fitted without it."""
    weights, k = problem.X.row_weight, warm[0].shape[1]
    rows = float(problem.X.shape[0] if weights is None else np.sum(weights))
    dispersion = prior.dispersion
    if dispersion == "auto" or (dispersion is None and not problem.loss.likelihood):
        dispersion = units.loss(estimated_dispersion(problem, *warm))
        warn_of_weights(problem)
    pairing = prior.pairing(
        float(outside(problem.X.mean(), units.data)), k, rows, problem.X.shape[1], float(dispersion or 1.0)
    )
    power = 1 if prior.norm == "l1" else 2
    pairing = replace(
        pairing,
        row_weight=None if weights is None else np.asarray(weights, dtype=float),
        weight=float(times_power(pairing.weight, -units.degree * units.data)),
        size_W=float(times_power(1.0, power * units.W)),
        size_H=float(times_power(1.0, power * units.H)),
    )
    return replace(problem, pairings=(*problem.pairings, pairing))


def warn_of_weights(problem: Problem) -> None:
    """Say that weights count as repetitions, where they add up to far more, or less, than there are entries."""
    X, r = problem.X, problem.X.row_weight
    mean = 1.0 if r is None else float(np.mean(np.asarray(r, dtype=float)))
    if isinstance(X, Dense) and X.weighted:
        mean *= float(X.weights.sum(dtype=float)) / max(1, int(np.count_nonzero(X.weights)))
    if not 0.5 <= mean <= 2.0:
        warnings.warn(
            f"The weights are {mean:.3g} on average, and ARD takes a weight of 2 for two observations, each with its "
            "own noise: how many components stay depends on it. If weights only say how rows or entries compare, "
            "divide them by their mean.",
            UserWarning,
            stacklevel=2,
        )


def estimated_dispersion(problem: Problem, W: np.ndarray, Ht: np.ndarray) -> float:
    """``2 D / (observations − parameters)`` of a fit: the noise variance, for the Frobenius loss.

    Parameters are counted as entries of the factors that are not zero, less one for the scale of each component. A
    row of weight w counts as w rows, each with its own row of W.

    Raises
    ------
    ValueError
        If there are hardly more observations than parameters.
    """
    observed = problem.n_observed()
    r = problem.X.row_weight
    of_W = float(np.sum(np.count_nonzero(W, axis=1) * (1.0 if r is None else np.asarray(r, dtype=float))))
    left = observed - (of_W + np.count_nonzero(Ht) - W.shape[1])
    if left < LEFT_OVER * observed:
        raise ValueError(
            f"{W.shape[1]} components leave nothing of {observed:.0f} observed entries to estimate the noise "
            "from: choose fewer components to begin with, or say how large the noise is, as ARD(dispersion=variance)."
        )
    found = 2.0 * problem.data_loss(W, Ht) / left
    # Data without any noise: what rounding leaves of them.
    least = 1e-12 * problem.squared_norm() / observed if problem.loss.gram else 1e-12
    return float(max(found, least, np.finfo(float).tiny))


def pruned(
    problem: Problem, W: np.ndarray, Ht: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The factors without the components that are not used, and the relevances of the others.

    Raises
    ------
    ValueError
        If none is used.
    """
    relevance = relevance_of(problem)
    if relevance is None:
        return W, Ht, None
    kept = relevance.relevant(W, Ht)
    if not len(kept):
        raise ValueError(
            f"ARD removed all {W.shape[1]} components: by its measure the data are noise. If they are not, the "
            f"dispersion is too large ({relevance.weight:.3g} here) or the data are too few; give a smaller "
            "ARD(dispersion=...), or norm='l2', or fit NMF without ARD."
        )
    W, Ht = (np.ascontiguousarray(A[:, kept]) for A in (W, Ht))
    return W, Ht, relevance.relevance(W, Ht)


def prior_of_rows(prior: ARD, dispersion: float, relevance: np.ndarray) -> Prior:
    """What the relevances learned say of new rows of W."""
    strength = dispersion / relevance
    return ElasticNet(l1=strength) if prior.norm == "l1" else ElasticNet(l2=strength)
