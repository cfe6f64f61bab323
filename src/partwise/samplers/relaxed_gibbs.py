"""Gibbs sampling of relaxed Boolean factors: every conditional is a normal truncated to [0, 1].

With B = HᵀH, A = X H (H long × k), σ² the noise, τ the slope of a linear prior and 1/s² the inverse variance of a
normal one, w_ik given the rest has mean (A_ik − Σ_{l≠k} w_il B_lk − σ²τ) / (B_kk + σ²/s²) and variance σ² / (B_kk +
σ²/s²). Rows are independent given H, so a sweep is one product with X and then row by row. A prior that is not
conjugate is met by slice sampling of θ with w = sin²θ, on which scale a Beta(½, ½) prior is flat. Missing entries
are drawn, once a step, from their conditional given the factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import asin, cos, exp, expm1, inf, log, log1p, pi, sin, sqrt
from typing import Any

import numpy as np

from partwise.core import Info, State
from partwise.jit import leaf, njit
from partwise.parallel import matmul, over_rows, worthwhile
from partwise.samplers.relaxed import RelaxedKernel, RelaxedPosterior
from partwise.samplers.streams import STREAM_SIZE, begin_stream, draw_keys, uniform
from partwise.samplers.truncated_normal import draw_truncated
from partwise.samplers.unit_priors import UnitPrior

#: A conditional flatter than this is drawn as an exponential: its curvature changes nothing on [0, 1].
FLAT = 1e-9


@dataclass(frozen=True)
class RelaxedGibbs(RelaxedKernel):
    """Gibbs sampler of relaxed factors.

    Parameters
    ----------
    sample_noise : bool, default=False
        Whether σ² is drawn; otherwise it stays at the noise of the problem.
    sample_prior : bool, default=False
        Whether the strength of a linear or normal prior is drawn, from a posterior under an Exponential(1) prior.
    """

    name = "relaxed-gibbs"
    remedy = "Look for data that are not finite."

    sample_noise: bool = False
    sample_prior: bool = False

    def value(self, problem: RelaxedPosterior, state: State) -> float:
        """Log-density at a state.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            The point.

        Returns
        -------
        float
            Up to a constant of the data.
        """
        extra = state.extra or {}
        return self._drawn(problem, extra).log_density(state.W, state.Ht, float(extra["noise"]))

    def step(self, problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """Every entry of W, then of H, then σ² and the prior's strength where they are drawn.

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
            Its log-density, and σ² among the notes.
        """
        extra = dict(state.extra or {})
        noise = float(extra["noise"])
        drawn = self._drawn(problem, extra)
        X = imputed(problem, state.W, state.Ht, noise, rng)
        W, Ht = state.W.copy(), state.Ht.copy()
        draw_factor(X, W, Ht, noise, drawn.prior, rng)
        pull = draw_factor(X.T, Ht, W, noise, drawn.prior, rng)
        if problem.observed is None:
            cross, gram = float(np.vdot(Ht, pull)), float(np.vdot(W.T @ W, Ht.T @ Ht))
            residual = max(0.0, problem.squares - 2.0 * cross + gram)
        else:
            residual = problem.residual(W, Ht)
        if self.sample_noise:
            shape, scale = problem.noise_prior
            noise = (scale + 0.5 * residual) / rng.gamma(shape + 0.5 * problem.size)
            extra["noise"] = np.array(noise)
        if self.sample_prior and drawn.prior.conjugate:
            drawn = replace(drawn, prior=draw_strength(drawn.prior, W, Ht, rng))
            extra["strength"] = np.array([drawn.prior.linear, drawn.prior.quadratic])
        fit = -0.5 * residual / noise - 0.5 * problem.size * np.log(noise)
        objective = float(fit) + drawn.prior.log_density(W) + drawn.prior.log_density(Ht)
        after = State(W, Ht, extra, iteration=state.iteration + 1, objective=objective)
        return after, Info(after.iteration, objective, notes={"log_likelihood": float(fit), "noise": noise})

    def _drawn(self, problem: RelaxedPosterior, extra: dict[str, Any]) -> RelaxedPosterior:
        """The problem with the prior's strength of the state."""
        if "strength" not in extra:
            return problem
        linear, quadratic = (float(value) for value in extra["strength"])
        return replace(problem, prior=replace(problem.prior, linear=linear, quadratic=quadratic))


def imputed(
    problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """The data with missing entries drawn from their conditional.

    Parameters
    ----------
    problem : RelaxedPosterior
        Data and priors.
    W, Ht : arrays of shapes (n, k) and (m, k)
        The factors.
    noise : float
        σ².
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    array of shape (n, m)
        The data themselves where nothing is missing.
    """
    if problem.observed is None:
        return problem.X
    guess = W @ Ht.T + sqrt(noise) * rng.standard_normal(problem.X.shape)
    return np.where(problem.observed, problem.X, guess)


def draw_factor(
    X: np.ndarray,
    W: np.ndarray,
    Ht: np.ndarray,
    noise: float,
    prior: UnitPrior,
    rng: np.random.Generator,
    same: bool = False,
) -> np.ndarray:
    """Draw every entry of W from its conditional, component by component in each row; in place.

    Parameters
    ----------
    X : array of shape (n, m)
        The data.
    W, Ht : arrays of shapes (n, k) and (m, k)
        The factors; W is changed.
    noise : float
        σ².
    prior : UnitPrior
        Of the entries of W.
    rng : Generator
        Where random numbers are drawn from.
    same : bool
        Whether all rows see the same random numbers, so that a row's draw depends on its data alone.

    Returns
    -------
    array of shape (n, k)
        X Ht.
    """
    pull, gram = np.asarray(matmul(X, Ht.astype(X.dtype, copy=False)), dtype=float), Ht.T @ Ht
    left = pull - W @ gram
    keys, numbers, conjugate = draw_keys(rng), prior.numbers, prior.conjugate

    def task(start: int, stop: int) -> None:
        draw_rows(W, left, gram, noise, numbers, conjugate, keys, same, start, stop)

    over_rows(task, len(W), worthwhile(40.0 * W.shape[1] + W.shape[1] ** 2))
    return pull


@njit(cache=True, nogil=True, error_model="numpy")
def draw_rows(
    W: np.ndarray,
    left: np.ndarray,
    gram: np.ndarray,
    noise: float,
    prior: np.ndarray,
    conjugate: bool,
    keys: np.ndarray,
    same: bool,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop` of a factor, each entry from its conditional; every row has its own stream of numbers,
    or all the `same`.
    """
    k = W.shape[1]
    stream = np.empty(STREAM_SIZE, np.uint64)
    for i in range(start, stop):
        begin_stream(keys, 0 if same else i, stream)
        for c in range(k):
            before = W[i, c]
            slope = (left[i, c] + before * gram[c, c]) / noise - prior[0]
            curvature = gram[c, c] / noise + prior[1]
            if conjugate:
                W[i, c] = draw_conditional(slope, curvature, stream)
            else:
                W[i, c] = slice_draw(before, slope, curvature, prior, stream)
            change = W[i, c] - before
            for other in range(k):
                left[i, other] -= change * gram[c, other]


@leaf()
def draw_conditional(slope: float, curvature: float, stream: np.ndarray) -> float:
    """A number in [0, 1] whose log-density is slope · a − ½ curvature · a²."""
    if curvature > FLAT:
        return draw_truncated(slope / curvature, 1.0 / sqrt(curvature), 0.0, 1.0, stream)
    u = uniform(stream)
    if abs(slope) < 1e-9:
        return u
    # Inversion of the exponential, from the end where it is large.
    steep = -abs(slope)
    a = log1p(u * expm1(steep)) / steep
    return a if slope < 0.0 else 1.0 - a


@leaf()
def log_conditional(theta: float, slope: float, curvature: float, prior: np.ndarray) -> float:
    """Log-density of θ, where a = sin²θ has the conditional of an entry; the linear and quadratic prior are in it."""
    s, c = sin(theta) ** 2, cos(theta) ** 2
    out = slope * s - 0.5 * curvature * s * s - 2.0 * prior[4] * min(s, c)
    # The Jacobian 2 sin θ cos θ adds ½ to both exponents.
    left, right = prior[2] + 0.5, prior[3] + 0.5
    if left != 0.0:
        out += left * log(s) if s > 0.0 else -inf * left
    if right != 0.0:
        out += right * log(c) if c > 0.0 else -inf * right
    return out


@leaf()
def slice_draw(a: float, slope: float, curvature: float, prior: np.ndarray, stream: np.ndarray) -> float:
    """One slice-sampling step for an entry (Neal 2003): the whole range first, shrunk towards where it stands."""
    theta = asin(sqrt(min(max(a, 1e-300), 1.0)))
    low, high = 0.0, 0.5 * pi
    level = log_conditional(theta, slope, curvature, prior) + log(uniform(stream))
    for _ in range(200):
        trial = low + (high - low) * uniform(stream)
        if log_conditional(trial, slope, curvature, prior) >= level:
            return sin(trial) ** 2
        if trial < theta:
            low = trial
        else:
            high = trial
    return a


def draw_strength(prior: UnitPrior, W: np.ndarray, Ht: np.ndarray, rng: np.random.Generator) -> UnitPrior:
    """The prior with its strength drawn by a slice step on the log scale, under an Exponential(1) prior.

    Parameters
    ----------
    prior : UnitPrior
        A conjugate prior; the quadratic strength is drawn if it has one, else the linear one.
    W, Ht : arrays
        The factors.
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    UnitPrior
        The prior at the strength drawn; a uniform prior has none, and comes back as it is.
    """
    which = "quadratic" if prior.quadratic else "linear"
    now = float(getattr(prior, which))
    if now <= 0.0:
        return prior

    def log_posterior(t: float) -> float:
        trial = replace(prior, **{which: exp(t)})
        return trial.log_density(W) + trial.log_density(Ht) - exp(t) + t

    place = log(now)
    level = log_posterior(place) + log(1.0 - rng.random())
    low = place - rng.random()
    high = low + 1.0
    while log_posterior(low) > level:
        low -= 1.0
    while log_posterior(high) > level:
        high += 1.0
    while True:
        trial = low + (high - low) * rng.random()
        if log_posterior(trial) >= level:
            return replace(prior, **{which: exp(trial)})
        low, high = (trial, high) if trial < place else (low, trial)
