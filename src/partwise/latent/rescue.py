"""Moves that bring back components that died or merged.

EM cannot undo two parts that became one: every step that would part them first loses likelihood. So where samples are
explained worse than Poisson noise can be blamed for, and always where the noise is Gaussian, two moves are tried, and
kept if a few EM steps later the likelihood is higher: the worst fitting component is split in two, or what the worst
samples leave over is made a component. In both, the new one takes the place of the component that explains least.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import gammaln, xlogy

from partwise.core import Session
from partwise.latent.binary_start import cut_nmf
from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, Outcome, learn
from partwise.latent.inference import Inference
from partwise.latent.noise import POISSON, Noise
from partwise.latent.statistics import Statistics, log_prior
from partwise.matrix import Dense

#: Steps after which a move must have paid.
TRIAL = 10
#: Components that are tried to be split, in each round.
SPLITS = 3
#: Samples that are looked at to find a move.
LOOK = 2000


def rescue(
    session: Session,
    counts: Counts,
    found: Outcome,
    method: ExpectationMaximization,
    rng: np.random.Generator,
    name: str,
) -> Iterator[Outcome]:
    """Move components as long as that raises the log-likelihood.

    Parameters
    ----------
    session : Session
        Ctrl-C and its time limit end the search.
    counts : Counts
    found : Outcome
        Of an EM that converged.
    method : ExpectationMaximization
        How it was found; `max_iter` holds for all steps together.
    rng : Generator
    name : str
        Under which a checkpoint keeps the runs.

    Yields
    ------
    Outcome
        Each more likely than the one before it; none if no move pays. Where time ran out, the last one says so.
    """
    plain = replace(method, temperatures=(), perturb=(), widen=0)
    for i in range(len(found.W)):
        better = next(improvements(session, counts, found, plain, rng, f"{name}-rescue{i}"), None)
        if better is None:
            break
        found = better
        yield found
    if session.stopped:
        yield replace(found, reason="max_time")


def improvements(
    session: Session,
    counts: Counts,
    found: Outcome,
    method: ExpectationMaximization,
    rng: np.random.Generator,
    name: str,
) -> Iterator[Outcome]:
    """What EM makes of those moves that have paid after `TRIAL` steps."""
    if session.stopped or found.n_iter >= method.max_iter:
        return
    size = method.noise.nats(counts) or abs(found.log_likelihood)
    enough = found.log_likelihood + 10 * method.tol * size
    for j, W in enumerate(moves(counts, found, method.inference, rng, method.noise.at(found.variance))):
        # The NMF behind this move was cut short; a checkpoint must not keep a run that begins there.
        if session.stopped:
            return
        steps = min(found.n_iter + TRIAL, method.max_iter)
        begin = method.init(W, found.activation, found.n_iter, found.variance)
        trial = learn(counts, method, begin, rng, steps, f"{name}-trial{j}")
        if trial.log_likelihood > enough:
            better = found.followed_by(trial)
            if not session.stopped:
                rest = learn(counts, method, trial.state, rng, name=f"{name}-rest{j}")
                better = better.followed_by(rest)
            yield better
        if session.stopped:
            return


def moves(
    counts: Counts,
    found: Outcome,
    inference: Inference,
    rng: np.random.Generator,
    noise: Noise = POISSON,
) -> Iterator[np.ndarray]:
    """Components with one of them moved, the most promising first; none where the fit is as good as it can be.

    Gaussian noise of a σ² that is learned takes every misfit over, so that the moves are always tried.
    """
    H = len(found.W)
    if H < 2:
        return
    stats = inference(counts, found.W, found.activation, noise=noise)
    shortfall = noise.saturated(counts) - stats.evidence
    r = counts.row_weight
    if not noise.squared and r @ shortfall <= 1.05 * r.sum() * fair_shortfall(counts, found, stats):
        return
    on = r @ stats.means
    useless = int(np.argmin(on * found.W.sum(axis=1)))
    misfit = np.where(on > 1.0, (r * shortfall) @ stats.means / np.maximum(on, 1e-300), -np.inf)
    yield from (
        W
        for h in np.argsort(-misfit)[:SPLITS]
        if h != useless and on[h] > 2.0
        for W in [split(counts, found.W, stats, int(h), useless, rng)]
        if W is not None
    )
    W = replant(counts, found.W, stats, shortfall, useless)
    if W is not None:
        yield W


def fair_shortfall(counts: Counts, found: Outcome, stats: Statistics) -> float:
    """What a true model falls short of perfect reproduction, on average: noise, and the bits that had to be named."""
    rows = np.linspace(0, counts.n_rows - 1, min(counts.n_rows, LOOK)).astype(int)
    bits = stats.best[rows].astype(float)
    noise = np.interp(bits @ found.W, *noise_cost()).sum(axis=1)
    return float((noise - log_prior(found.activation, bits)).mean())


@functools.cache
def noise_cost() -> tuple[np.ndarray, np.ndarray]:
    """For rates a: E[y log(y / a) − y + a], y Poisson of mean a; from 0 it rises to about ½ and stays there."""
    rates = np.concatenate([[0.0], np.geomspace(1e-3, 200.0, 200)])
    k = np.arange(400)[:, None]
    log_rates = np.log(np.maximum(rates, 1e-300))
    chance = np.exp(k * log_rates - rates - gammaln(k + 1.0))
    cost = chance * (xlogy(k, k) - k * log_rates - k + rates)
    return rates, np.where(rates > 0, cost.sum(axis=0), 0.0)


def left_over(counts: Counts, W: np.ndarray, bits: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What the given bits leave of the given rows, negative values cut off."""
    left = np.empty((len(rows), counts.n_features))
    for k, i in enumerate(rows):
        y, omega = counts.rows(int(i), int(i) + 1)
        observed = y if omega is None else np.divide(y, omega, out=np.zeros_like(y), where=omega > 0)
        left[k] = np.maximum(observed[0] - bits[k] @ W, 0.0)
    return left


def split(
    counts: Counts, W: np.ndarray, stats: Statistics, h: int, useless: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Component h as two, found in what the others leave of the samples where it is on."""
    rows = np.flatnonzero(stats.best[:, h])[:LOOK]
    if len(rows) < 2:
        return None
    bits = stats.best[rows].astype(float)
    bits[:, [h, useless]] = 0.0
    left = left_over(counts, W, bits, rows)
    if left.max() == 0:
        return None
    two, _ = cut_nmf(Counts(Dense.of(left)), 2, rng)
    out = W.copy()
    out[[h, useless]] = two
    return out


def replant(
    counts: Counts, W: np.ndarray, stats: Statistics, shortfall: np.ndarray, useless: int
) -> np.ndarray | None:
    """What the worst explained samples leave over, where they agree, as a component."""
    rows = np.argsort(-shortfall, kind="stable")[: min(200, max(2, len(shortfall) // 10))]
    left = left_over(counts, W, stats.best[rows].astype(float), rows)
    size = np.linalg.norm(left, axis=1)
    if size.max() == 0:
        return None
    alike = left @ left.T / np.maximum(np.outer(size, size), 1e-300)
    seed = int(np.argmax(np.where(size > 0, (alike > 0.7).sum(axis=1), -1)))
    out = W.copy()
    out[useless] = left[alike[seed] > 0.7].mean(axis=0) + 1e-3 * counts.mean
    return out
