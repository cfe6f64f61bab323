"""Gibbs sampling for counts: against quadrature, splits of counts, threads, sparse and missing data."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from scipy import stats

from partwise.core import Problem
from partwise.losses import KL
from partwise.matrix import Dense, Sparse
from partwise.parallel import thread_limit
from partwise.priors import Gamma
from partwise.samplers import mcse_mean
from partwise.samplers.binomial import draw_binomial, split_count
from partwise.samplers.poisson_gibbs import PoissonGibbs, draw_gamma_factor, split_counts
from partwise.samplers.streams import begin_stream, draw_keys, row_numbers

KEYS = draw_keys(np.random.default_rng(0))


@njit
def binomials(n, p, keys, out):
    stream = np.empty(2, np.uint64)
    for i in range(len(out)):
        begin_stream(keys, i, stream)
        out[i] = draw_binomial(n, p, stream)


@njit
def splits(x, rates, keys, out):
    stream = np.empty(2, np.uint64)
    for i in range(len(out)):
        begin_stream(keys, i, stream)
        split_count(x, rates, rates.sum(), out[i], stream)


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (5, 0.3),
        (20, 0.05),
        (20, 0.5),
        (40, 0.9),
        (1000, 0.3),
        (10**6, 0.5),
        (10**9, 0.99999),
        (7, 0.0),
        (7, 1.0),
    ],
)
def test_binomials_have_their_law(n, p):
    out = np.empty(20_000, np.int64)
    binomials(n, p, KEYS, out)
    law = stats.binom(n, p)
    if law.std() == 0:
        assert (out == law.mean()).all()
        return
    values, seen = np.unique(out, return_counts=True)
    expected = law.pmf(values) * len(out)
    many = expected > 20
    if many.any():
        chi = ((seen - expected) ** 2 / expected)[many].sum()
        assert stats.chi2.sf(chi, max(many.sum() - 1, 1)) > 1e-4
    assert out.mean() == pytest.approx(law.mean(), abs=4.5 * law.std() / np.sqrt(len(out)))
    assert out.var() == pytest.approx(law.var(), rel=0.06)


@pytest.mark.parametrize("x", [0, 1, 7, 100, 100_000])
def test_splits_are_multinomial(x):
    rates = np.array([0.5, 0.0, 2.0, 0.1, 0.0])
    out = np.empty((20_000, 5))
    splits(x, rates, KEYS, out)
    assert (out.sum(axis=1) == x).all()
    assert (out[:, rates == 0] == 0).all()
    share = rates / rates.sum()
    spread = np.sqrt(x * share * (1 - share) / len(out))
    assert np.all(np.abs(out.mean(axis=0) - x * share) <= 4.5 * spread + 1e-12)
    if x > 0:
        assert np.cov(out.T)[0, 2] == pytest.approx(-x * share[0] * share[2], rel=0.1)


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 30.0])
def test_gamma_factors_have_their_law(shape):
    A = np.empty((20_000, 1))
    draw_gamma_factor(
        A, Gamma(shape, 2.0), 1.0, np.full((20_000, 1), 3.0), np.array([[4.0]]), np.random.default_rng(0)
    )
    assert stats.kstest(A[:, 0], stats.gamma(shape + 3.0, scale=1.0 / 6.0).cdf).pvalue > 1e-4


def test_moments_are_those_of_quadrature():
    shape, rate, x = 1.5, 0.8, 4.0
    grid = stats.gamma(shape, scale=1 / rate).ppf((np.arange(40) + 0.5) / 40)
    w1, w2, h1, h2 = np.meshgrid(grid, grid, grid, grid, indexing="ij", sparse=True)
    y = w1 * h1 + w2 * h2
    weight = np.exp(x * np.log(y) - y)
    weight /= weight.sum()
    exact = [float((weight * q).sum()) for q in (y, y * y, np.log(y), w1 + w2, (w1 + w2) ** 2)]
    kernel, prior = PoissonGibbs(), Gamma(shape, rate)
    problem = Problem(Dense.of(np.array([[x]])), KL, prior, prior)
    rng = np.random.default_rng(1)
    state = kernel.init(problem, np.ones((1, 2)), np.ones((1, 2)))
    seen = []
    for _ in range(6000):
        state, _ = kernel.step(problem, state, rng)
        y, total = (state.W @ state.Ht.T).item(), state.W.sum()
        seen.append((y, y * y, np.log(y), total, total**2))
    draws = np.array(seen[100:])
    error = np.array([mcse_mean(column[None]) for column in draws.T])
    # The grid leaves out the last eightieth of the prior's tails.
    assert np.all(np.abs(draws.mean(axis=0) - exact) < 5.0 * error + 0.02 * np.abs(exact))


def counts(n=30, m=20, mean=2.0, seed=0):
    return np.random.default_rng(seed).poisson(mean, (n, m)).astype(float)


def steps(X, n_steps=4, k=3):
    kernel, prior = PoissonGibbs(), Gamma(0.8, 1.0)
    problem = Problem(X, KL, prior, prior)
    rng = np.random.default_rng(1)
    state = kernel.init(problem, np.ones((X.shape[0], k)), np.ones((X.shape[1], k)))
    for _ in range(n_steps):
        state, info = kernel.step(problem, state, rng)
    return problem, state, info


def test_sparse_dense_and_threads_give_the_same_draws():
    X = counts(400, 150, 0.3)
    with thread_limit(1):
        _, alone, _ = steps(Dense.of(X))
    with thread_limit(4):
        _, together, _ = steps(Dense.of(X))
        _, sparse, _ = steps(Sparse.of(sp.csr_matrix(X)))
        _, narrow, _ = steps(Sparse.of(sp.csr_matrix(X.astype(np.float32))))
    for other in (together, sparse, narrow):
        assert np.array_equal(alone.W, other.W)
        assert np.array_equal(alone.Ht, other.Ht)


def test_every_count_is_split_and_missing_ones_are_not():
    X = counts()
    rng = np.random.default_rng(0)
    W, Ht = rng.random((30, 3)), rng.random((20, 3))
    of_rows, of_columns, logs = split_counts(Dense.of(X), W, Ht, KEYS)
    assert np.array_equal(of_rows.sum(axis=1), X.sum(axis=1))
    assert np.array_equal(of_columns.sum(axis=1), X.sum(axis=0))
    assert np.array_equal(of_rows.sum(axis=0), of_columns.sum(axis=0))
    assert logs == pytest.approx((X * np.log(W @ Ht.T)).sum())
    hidden = rng.random(X.shape) < 0.3
    seen = (~hidden).astype(float)
    _, one, _ = steps(Dense.of(np.where(hidden, 0.0, X), seen))
    _, other, _ = steps(Dense.of(np.where(hidden, 50.0, X), seen))
    assert np.array_equal(one.W, other.W)
    assert not np.array_equal(one.W, steps(Dense.of(np.where(hidden, 0.0, X)))[1].W)


@pytest.mark.parametrize("masked", [False, True])
def test_the_log_posterior_of_a_step_is_the_value_of_its_state(masked):
    X = counts()
    seen = np.ones_like(X)
    seen[2, 3] = seen[5, :4] = 0.0 if masked else 1.0
    problem, state, info = steps(Dense.of(X, seen if masked else None))
    assert info.objective == pytest.approx(PoissonGibbs().value(problem, state), rel=1e-7)
    exact = (stats.poisson(state.W @ state.Ht.T).logpmf(X) * seen).sum()
    assert info.notes["log_likelihood"] == pytest.approx(exact, rel=1e-9)


def test_rows_are_numbered_by_their_entries():
    X = counts(12, 6)
    numbers = row_numbers(Dense.of(X))
    assert len(set(numbers.tolist())) == 12
    order = np.random.default_rng(0).permutation(12)
    assert np.array_equal(row_numbers(Dense.of(X[order])), numbers[order])
    assert np.array_equal(row_numbers(Sparse.of(sp.csr_matrix(X))), numbers)
    assert np.array_equal(row_numbers(Dense.of(X.astype(np.float32))), numbers)
