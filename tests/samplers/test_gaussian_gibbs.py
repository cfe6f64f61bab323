"""Gibbs sampling with Gaussian noise: against quadrature, sparse and dense alike, threads, missing entries."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from partwise.core import Problem
from partwise.losses import FROBENIUS
from partwise.matrix import Dense, Sparse
from partwise.parallel import thread_limit
from partwise.priors import Bounds, ElasticNet, Gamma
from partwise.samplers import Moments, mcse_mean, sample_chains
from partwise.samplers.gaussian_gibbs import GaussianGibbs, draw_factor

EXPONENTIAL = Gamma(1.0, 1.0)


def chain(kernel, problem, n_steps, k=1, noise=0.5, seed=0, n_warmup=100):
    rng = np.random.default_rng(seed)
    n, m = problem.X.shape
    state = kernel.init(problem, np.ones((n, k)), np.ones((m, k)), noise)
    seen = []
    for step in range(n_warmup + n_steps):
        state, info = kernel.step(problem, state, rng)
        if step >= n_warmup:
            seen.append(np.concatenate([state.W.ravel(), state.Ht.ravel(), [state.noise, info.objective]]))
    return np.array(seen), state


def agrees(draws, exact):
    """Whether means of draws are those given, to five standard errors."""
    error = np.array([mcse_mean(column[None]) for column in draws.T])
    return np.all(np.abs(draws.mean(axis=0) - exact) < 5.0 * error)


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize(
    ("prior", "quantile"),
    [
        (EXPONENTIAL, stats.expon.ppf),
        (ElasticNet(l2=1.0), stats.halfnorm.ppf),
        (Bounds(0.0, 2.0), lambda p: 2.0 * p),
    ],
)
def test_moments_are_those_of_quadrature(hold, prior, quantile):
    X = np.array([[0.4, 2.0]])
    grid = quantile((np.arange(120) + 0.5) / 120)
    w, a, b = np.meshgrid(grid, grid, grid, indexing="ij")
    squares = (X[0, 0] - w * a) ** 2 + (X[0, 1] - w * b) ** 2
    weight = np.exp(-0.5 * squares / 0.5) if hold else (1.5 + 0.5 * squares) ** -(3.0 + 1.0)
    weight /= weight.sum()
    quantities = [w, a, b, w * a, w * b, w * w * a * a]
    exact = [float((weight * q).sum()) for q in quantities]
    kernel = GaussianGibbs(3.0, 1.5, hold_noise=hold)
    draws, _ = chain(kernel, Problem(Dense.of(X), FROBENIUS, prior, prior), 4000)
    w, a, b = draws[:, :3].T
    assert agrees(np.stack([w, a, b, w * a, w * b, (w * a) ** 2], axis=1), exact)


def setting(n=25, m=18, k=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    clean = rng.exponential(1.0, (n, k)) @ rng.exponential(1.0, (k, m))
    return (clean + 0.2 * rng.standard_normal((n, m))).astype(dtype)


def steps(X, n_steps=5, seed=1, k=3):
    kernel = GaussianGibbs()
    problem = Problem(X, FROBENIUS, EXPONENTIAL, EXPONENTIAL)
    rng = np.random.default_rng(seed)
    state = kernel.init(problem, np.ones((X.shape[0], k)), np.ones((X.shape[1], k)), 1.0)
    for _ in range(n_steps):
        state, info = kernel.step(problem, state, rng)
    return problem, state, info


def test_sparse_and_dense_data_give_the_same_draws():
    X = np.maximum(setting() - 2.0, 0.0)
    _, dense, _ = steps(Dense.of(X))
    _, sparse, _ = steps(Sparse.of(sp.csr_matrix(X)))
    assert np.allclose(dense.W, sparse.W, rtol=1e-7)
    assert np.allclose(dense.Ht, sparse.Ht, rtol=1e-7)


def test_a_weight_of_one_everywhere_changes_nothing_and_missing_entries_are_not_looked_at():
    X = setting()
    _, plain, _ = steps(Dense.of(X))
    _, weighted, _ = steps(Dense.of(X, np.ones_like(X)))
    assert np.allclose(plain.W, weighted.W, rtol=1e-6)
    hidden = np.random.default_rng(2).random(X.shape) < 0.3
    seen = (~hidden).astype(float)
    _, one, _ = steps(Dense.of(np.where(hidden, 7.0, X), seen))
    _, other, _ = steps(Dense.of(np.where(hidden, -90.0, X), seen))
    assert np.array_equal(one.W, other.W)
    stored = sp.csr_matrix(np.ones_like(X))
    stored.data = np.where(hidden, 0.0, X).ravel()
    _, sparse, _ = steps(Sparse.of(stored, seen.ravel()))
    assert np.allclose(one.W, sparse.W, rtol=1e-6)


@pytest.mark.parametrize("weights", [False, True])
def test_threads_change_no_bit(weights):
    X = setting(600, 300)
    matrix = Dense.of(X, np.ones_like(X) if weights else None)
    with thread_limit(1):
        _, alone, _ = steps(matrix, 2)
    with thread_limit(4):
        _, together, _ = steps(matrix, 2)
    assert np.array_equal(alone.W, together.W)
    assert np.array_equal(alone.Ht, together.Ht)


@pytest.mark.parametrize("weights", [False, True])
def test_the_log_posterior_of_a_step_is_the_value_of_its_state(weights):
    X = setting()
    problem, state, info = steps(Dense.of(X, np.ones_like(X) if weights else None))
    kernel = GaussianGibbs()
    assert info.objective == pytest.approx(kernel.value(problem, state), rel=1e-9)
    law = stats.norm(state.W @ state.Ht.T, np.sqrt(state.noise))
    assert info.notes["log_likelihood"] == pytest.approx(law.logpdf(X).sum(), rel=1e-9)


def test_residuals_far_below_the_data_are_not_lost_to_cancellation():
    rng = np.random.default_rng(0)
    W, Ht = rng.exponential(1.0, (40, 2)), rng.exponential(1.0, (30, 2))
    X = (W @ Ht.T + 1e-6 * rng.standard_normal((40, 30))).astype(np.float32)
    problem = Problem(Dense.of(X), FROBENIUS, EXPONENTIAL, EXPONENTIAL)
    kernel = GaussianGibbs(1.0, 1e-14)
    state = kernel.init(problem, W, Ht, 1e-12)
    for _ in range(3):
        state, _ = kernel.step(problem, state, rng)
    assert 0.0 < state.noise < 1e-12 * 1e3


def test_float32_follows_float64():
    _, one, _ = steps(Dense.of(setting()), 1)
    _, other, _ = steps(Dense.of(setting(dtype=np.float32)), 1)
    assert other.W.dtype == np.float32
    assert np.median(np.abs(one.W - other.W)) < 1e-4


def test_a_component_that_explains_nothing_falls_back_to_its_prior():
    X = Dense.of(setting(4000, 6))
    W, Ht = np.ones((4000, 2)), np.ones((6, 2))
    Ht[:, 1] = 0.0
    draw_factor(X, W, Ht, Gamma(1.0, 2.5).terms(), 4.0, np.random.default_rng(0))
    assert stats.kstest(W[:, 1], stats.expon(scale=0.4).cdf).pvalue > 1e-3
    draw_factor(X, W, Ht, Bounds(0.0, 3.0).terms(), 4.0, np.random.default_rng(0))
    assert stats.kstest(W[:, 1], stats.uniform(0.0, 3.0).cdf).pvalue > 1e-3


def test_a_hot_chain_is_wider_and_cools_to_the_same_posterior():
    problem = Problem(Dense.of(setting()), FROBENIUS, EXPONENTIAL, EXPONENTIAL)
    kernel = GaussianGibbs(temperatures=(50.0,) * 30)
    rng = np.random.default_rng(0)
    state = kernel.init(problem, np.ones((25, 3)), np.ones((18, 3)), 1.0)
    levels = [kernel.step(problem, state, rng)[1].objective for _ in range(80)]
    assert np.mean(levels[60:]) > np.mean(levels[20:30]) + 100.0


def test_chains_of_the_kernel_find_planted_reconstructions():
    X = setting(40, 30, 2)
    problem = Problem(Dense.of(X), FROBENIUS, EXPONENTIAL, EXPONENTIAL)
    kernel = GaussianGibbs()
    rng = np.random.default_rng(5)
    starts = [
        kernel.init(problem, rng.exponential(1, (40, 3)), rng.exponential(1, (30, 3)), 1.0) for _ in range(2)
    ]
    made = sample_chains(
        kernel,
        problem,
        starts,
        n_draws=100,
        n_warmup=100,
        recorders={"noise": Moments("noise")},
        rngs=rng.spawn(2),
    )
    assert made.merged("noise").mean == pytest.approx(0.04, rel=0.15)
