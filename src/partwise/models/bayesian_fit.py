"""The fit of `BayesianNMF`: where chains start, what is recorded, and how chains become one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.core import Problem, RelativeProgress, Session, run
from partwise.initial import start_factors
from partwise.matrix import InMemory
from partwise.models.base import as_generator
from partwise.models.inputs import check_start
from partwise.samplers import Chains, Draws, Moments, Trace, align, match, sample_chains
from partwise.samplers.alignment import unit_columns
from partwise.samplers.convergence import Convergence, convergence
from partwise.samplers.nmf_posterior import Likelihood
from partwise.solvers import best_solver

#: Entries of the reconstruction that are watched for convergence, at most.
MARKED_ENTRIES = 200
#: Iterations of NMF that a start is worth.
_START_ITERATIONS = 200
#: Standard deviation of the logarithm of the random change of each entry of a start.
_SPREAD = 0.3
#: Temperature at which an annealed warm-up begins.
_HOTTEST = 10.0
#: Points kept of the traces of each chain.
_TRACE = 2000


@dataclass(frozen=True)
class Fitted:
    """What came of the chains, components in one order.

    Parameters
    ----------
    W, H, noise : Moments
        Of all chains; H stands for Hᵀ, and noise is None for counts.
    draws : dict of str to array
        Kept draws "W", "H" (Hᵀ), "noise" and "log_posterior", chain by chain.
    convergence : Convergence
        R̂ and effective sample sizes.
    reason : str
        Why the chains ended.
    log_posterior, log_likelihood : float
        Means over the draws.
    n_draws, n_iter : int
        Draws of all chains, steps of the shortest.
    history : dict of arrays
        The log-posterior along the chains.
    seed : int
        Seed of what is drawn after the fit.
    """

    W: Moments
    H: Moments
    noise: Moments | None
    draws: dict[str, np.ndarray]
    convergence: Convergence
    reason: str
    log_posterior: float
    log_likelihood: float
    n_draws: int
    n_iter: int
    history: dict[str, np.ndarray]
    seed: int


def sample_posterior(model: Any, problem: Problem, likelihood: Likelihood, session: Session) -> Fitted:
    """Start, run and merge the chains of a model.

    Parameters
    ----------
    model : BayesianNMF
        Its parameters are read.
    problem : Problem
        Data and priors.
    likelihood : Likelihood
        How data come from W H.
    session : Session
        The session of the fit.

    Returns
    -------
    Fitted
        What was found.
    """
    X = problem.X
    assert isinstance(X, InMemory)
    first, marks, *rngs = as_generator(model.random_state).spawn(2 + model.n_chains)
    seed = int(marks.integers(2**31))
    hot = model.n_warmup // 2 if model.anneal else 0
    temperatures = _HOTTEST ** (1.0 - np.arange(hot) / max(hot, 1))
    kernel = likelihood.kernel(X, model.noise_prior, [float(t) for t in temperatures])
    starts = make_starts(model, problem, likelihood, kernel, session, first, rngs)
    # Chains that begin where an unfinished start has led are not those that a later call would continue.
    name = "" if session.stopped else "chain"
    rows, columns = _marked(X.shape, marks)
    ratio = size_ratio(problem)

    def prepare(states: Any) -> dict[str, Any]:
        best = max(states, key=lambda state: np.nan_to_num(state.objective, nan=-np.inf))
        return {"W": unit_columns(best.W), "H": unit_columns(best.Ht)}

    def observe(prepared: dict[str, Any], draw: Any) -> dict[str, Any]:
        W, H = draw["W"], draw["H"]
        order = match((prepared["W"], prepared["H"]), (W, H))
        if not np.array_equal(order, np.arange(len(order))):
            W, H = W[:, order], H[:, order]
        if ratio is not None:
            share = np.sqrt(
                ratio * H.sum(axis=0, dtype=float) / np.maximum(W.sum(axis=0, dtype=float), 1e-300)
            )
            share = np.where(share > 0.0, share, 1.0).astype(W.dtype)
            W, H = W * share, H / share
        entries = np.einsum("ij,ij->i", W[rows], H[columns], dtype=float)
        return {"noise": 1.0, **draw, "W": W, "H": H, "entries": entries}

    kept = max(2, int(np.ceil(model.n_draws)))
    recorders = {
        "W": Moments("W"),
        "H": Moments("H"),
        "noise": Moments("noise"),
        "trace": Trace(["log_posterior", "log_likelihood", "noise", "entries"], _TRACE),
        "draws": Draws(["W", "H", "noise", "log_posterior"], kept, model.memory / model.n_chains),
        "levels": Moments("log_posterior"),
        "fits": Moments("log_likelihood"),
    }
    chains = sample_chains(
        kernel,
        problem,
        starts,
        n_draws=model.n_draws,
        n_warmup=model.n_warmup,
        thin=model.thin,
        recorders=recorders,
        rngs=rngs,
        prepare=prepare,
        observe=observe,
        name=name,
    )
    return session.completed(lambda: merge(chains, likelihood, seed))


def merge(chains: Chains, likelihood: Likelihood, seed: int) -> Fitted:
    """One answer of all chains: components aligned between them, in the order of falling share.

    Parameters
    ----------
    chains : Chains
        What was sampled.
    likelihood : Likelihood
        How data come from W H.
    seed : int
        Seed of what is drawn after the fit.

    Returns
    -------
    Fitted
        What was found.
    """
    by_chain: list[dict[str, Any]] = [chain.recorders for chain in chains.chains]
    orders, _ = align([(one["W"].mean, one["H"].mean) for one in by_chain])

    def merged(name: str) -> Moments:
        one, *others = (held[name].permuted(order) for held, order in zip(by_chain, orders))
        return one.merged(others)

    W, H = merged("W"), merged("H")
    falling = np.argsort(-W.mean.sum(axis=0) * H.mean.sum(axis=0), kind="stable")
    draws = {name: chains.stacked("draws", name) for name in ("W", "H", "noise", "log_posterior")}
    for name in ("W", "H"):
        for c, order in enumerate(orders):
            draws[name][c] = draws[name][c][..., order[falling]]
    traces = {
        "log-posterior": chains.stacked("trace", "log_posterior"),
        "reconstruction": chains.stacked("trace", "entries"),
    }
    if likelihood.has_noise:
        traces["noise variance"] = chains.stacked("trace", "noise")
    return Fitted(
        W.permuted(falling),
        H.permuted(falling),
        chains.merged("noise") if likelihood.has_noise else None,
        draws,
        convergence(traces),
        chains.reason,
        float(chains.merged("levels").mean),
        float(chains.merged("fits").mean),
        sum(chain.n_draws for chain in chains.chains),
        min(chain.iteration for chain in chains.chains),
        _history(chains),
        seed,
    )


def make_starts(
    model: Any,
    problem: Problem,
    likelihood: Likelihood,
    kernel: Any,
    session: Session,
    first: np.random.Generator,
    rngs: list[np.random.Generator],
) -> list[Any]:
    """The states that chains begin with.

    Parameters
    ----------
    model : BayesianNMF
        Its `init` is read.
    problem : Problem
        Data and priors.
    likelihood : Likelihood
        How data come from W H.
    kernel : Kernel
        The sampler.
    session : Session
        The session of the fit.
    first : Generator
        For what all chains share.
    rngs : list of Generator
        One for each chain.

    Returns
    -------
    list of RunState
        One state for each chain.
    """
    X, k = problem.X, model.n_components
    (n, m), shared = X.shape, None
    if not isinstance(model.init, str):
        W, H = model.init
        W = check_start(W, (n, k), "BayesianNMF (init W)", np.asarray(W).dtype)
        H = check_start(H, (k, m), "BayesianNMF (init H)", np.asarray(H).dtype)
        shared = W.astype(float), np.ascontiguousarray(H.T, float)
    elif model.init == "nmf":
        found = session.stage("start", lambda: dict(zip(("W", "Ht"), nmf_start(problem, k, first))))
        shared = found["W"], found["Ht"]
    sizes = _mean_of(problem.terms_W), _mean_of(problem.terms_H)

    def start(rng: np.random.Generator) -> Any:
        if shared is None:
            W, Ht = (size * rng.exponential(1.0, (rows, k)) for size, rows in zip(sizes, (n, m)))
        else:
            W, Ht = (A * np.exp(_SPREAD * rng.standard_normal(A.shape)) for A in shared)
            # Entries at zero are not to stay there.
            W, Ht = (A + 0.01 * A.mean() * rng.exponential(1.0, A.shape) for A in (W, Ht))
            share = np.sqrt(sizes[0] / sizes[1] * Ht.mean(axis=0) / W.mean(axis=0))
            W, Ht = W * share, Ht / share
        W, Ht = (np.clip(A, t.lower, t.upper) for A, t in ((W, problem.terms_W), (Ht, problem.terms_H)))
        if not likelihood.has_noise:
            return kernel.init(problem, W, Ht)
        dtype = X.dtype
        squares = 2.0 * problem.data_loss(W.astype(dtype), Ht.astype(dtype))
        return kernel.init(
            problem, W, Ht, max(squares / max(problem.n_observed(), 1.0), 1e-12 * kernel.noise_scale)
        )

    return [start(rng) for rng in rngs]


def nmf_start(problem: Problem, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ of NMF without priors, in double precision.

    Parameters
    ----------
    problem : Problem
        The data.
    k : int
        Number of components.
    rng : Generator
        For the start.

    Returns
    -------
    W : array of shape (n, k)
        The first factor.
    Ht : array of shape (m, k)
        The transpose of the second.
    """
    X = problem.X
    plain = Problem(X, problem.loss, shift=problem.loss.shift(X.mean(), X.dtype))
    low = min(
        float(slab.u.min(initial=0.0)) for _, block in X.blocks() for slab in block.packed(0, block.shape[0])
    )
    if low < 0.0:
        size = np.sqrt(np.sqrt(problem.squared_norm() / max(problem.n_observed(), 1.0)) / k)
        W, Ht = ((size * rng.exponential(1.0, (rows, k))).astype(X.dtype) for rows in X.shape)
    else:
        W, Ht = start_factors(X, k, None, rng)
    solver = best_solver(plain)
    state = solver.init(plain, W, Ht)
    stopping = RelativeProgress(1e-4)
    found = run(plain, solver, state, stopping=stopping, max_iter=_START_ITERATIONS, rng=rng).state
    W, Ht = (np.maximum(np.nan_to_num(A.astype(float)), 0.0) for A in (found.W, found.Ht))
    # A component that NMF has given up begins anew, small.
    for A in (W, Ht):
        A[:, A.max(axis=0) <= 0.0] = 0.01 * max(A.mean(), 1e-12)
    return W, Ht


def start_rows(problem: Problem, Ht: np.ndarray) -> np.ndarray:
    """The most probable W for given components, where draws for new rows begin.

    Parameters
    ----------
    problem : Problem
        The rows and the prior of W.
    Ht : array of shape (m, k)
        Components.

    Returns
    -------
    array of shape (n, k)
        W, positive.
    """
    plain = Problem(problem.X, problem.loss, update_H=False, shift=problem.loss.shift(1.0, problem.X.dtype))
    W = best_solver(plain).solve_rows(plain, np.maximum(Ht, 0), 50, 1e-4)
    return np.clip(W + 0.01 * _mean_of(problem.terms_W), problem.terms_W.lower, problem.terms_W.upper).astype(
        W.dtype
    )


def size_ratio(problem: Problem) -> float | None:
    """The share of a component's size that draws are brought to before they are averaged.

    The data do not say how a component's size is shared between W and H. It drifts from draw to draw, so that the
    mean of W times the mean of H would be larger than the mean of W H. All draws are therefore brought to the ratio
    of the prior means.

    Parameters
    ----------
    problem : Problem
        Data and priors.

    Returns
    -------
    float or None
        Sum of a column of W over the sum of a row of H; None where bounds forbid it.
    """
    if any(terms.upper < np.inf for terms in (problem.terms_W, problem.terms_H)):
        return None
    n, m = problem.X.shape
    return n * _mean_of(problem.terms_W) / (m * _mean_of(problem.terms_H))


def _mean_of(terms: Any) -> float:
    """About how large an entry is under its prior."""
    linear, quadratic = float(np.mean(terms.linear)), float(np.mean(terms.quadratic))
    shape = 1.0 + float(np.mean(terms.log)) - float(np.mean(terms.concave))
    if linear > 0.0:
        return shape / linear
    if quadratic > 0.0:
        return 1.0 / np.sqrt(quadratic)
    return 0.5 * terms.upper if terms.upper < np.inf else 1.0


def _marked(shape: tuple[int, int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A fixed random set of entries of the reconstruction."""
    n, m = shape
    flat = rng.choice(n * m, min(MARKED_ENTRIES, n * m), replace=False) if n * m < 2**40 else None
    if flat is None:
        return rng.integers(n, size=MARKED_ENTRIES), rng.integers(m, size=MARKED_ENTRIES)
    return flat // m, flat % m


def _history(chains: Chains) -> dict[str, np.ndarray]:
    traces = [chain.trace for chain in chains.chains]
    coarsest = max(one.stride for one in traces)
    levels = [one["log_posterior"][:: coarsest // one.stride] if len(one) else np.empty(0) for one in traces]
    shortest = min(len(one) for one in levels)
    values = np.stack([one[:shortest] for one in levels])
    return {
        "step": 1 + coarsest * np.arange(shortest),
        "log_posterior": values.mean(axis=0),
        "lowest": values.min(axis=0),
        "highest": values.max(axis=0),
    }
