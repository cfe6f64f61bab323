"""Laws of binary latents under Gaussian noise: brute force, gradients, EM that never falls, truncation of nothing."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.stats import norm

from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, learn, log_likelihood
from partwise.latent.inference import Inference
from partwise.latent.m_step import nonnegative_update
from partwise.latent.noise import GaussianNoise, least_variance, starting_noise
from partwise.matrix import Dense, Sparse

sizes = st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
#: Exact, by each sample's own states, and by those states with weights.
EVERYTHING = [Inference(), Inference(False, 4, 4)]


def draw(size, weighted=False, repeated=False):
    n, d, H, seed = size
    rng = np.random.default_rng(seed)
    W = rng.gamma(1.0, 2.0, (H, d))
    pi = rng.uniform(0.05, 0.8, H)
    noise = GaussianNoise(rng.uniform(0.2, 3.0))
    bits = rng.random((n, H)) < pi
    X = np.abs(bits @ W + np.sqrt(noise.variance) * rng.standard_normal((n, d)))
    omega = rng.integers(0, 3, (n, d)).astype(float) if weighted else None
    if weighted:
        omega[0] = 1.0
    r = rng.integers(1, 4, n).astype(float) if repeated else None
    counts = Counts(Dense.of(X, omega, r))
    return counts, X, np.ones((n, d)) if omega is None else omega, W, pi, noise


def brute(X, omega, r, W, pi, variance, beta=1.0, limit=None):
    """Loops over samples and states, one number at a time."""
    n, H = len(X), len(W)
    value, means, pairs = np.zeros(n), np.zeros((n, H)), np.zeros((H, H))
    cross, fitted, bound, left = np.zeros_like(W), np.zeros_like(W), np.zeros_like(W), 0.0
    for i in range(n):
        joint, hot = {}, {}
        for s in product((0, 1), repeat=H):
            if limit is not None and sum(s) > limit:
                continue
            a = np.array(s) @ W
            prior = sum(np.log(p) if bit else np.log(1 - p) for bit, p in zip(s, pi))
            density = (omega[i] * norm.logpdf(X[i], a, np.sqrt(variance))).sum()
            joint[s], hot[s] = density + prior, beta * density + prior
        value[i] = np.logaddexp.reduce(list(joint.values()))
        total = np.logaddexp.reduce(list(hot.values()))
        for s, v in hot.items():
            q, bits = r[i] * np.exp(v - total), np.array(s)
            a = bits @ W
            means[i] += q / r[i] * bits
            pairs += q * np.outer(bits, bits)
            cross += q * bits[:, None] * omega[i] * X[i]
            fitted += q * bits[:, None] * omega[i] * a
            bound += q * bits[:, None] * omega[i] * bits.sum()
            left += q * (omega[i] * (X[i] - a) ** 2).sum()
    return value, means, pairs, cross, fitted, bound, left


def same(counts, stats, noise, expected, W):
    value, means, pairs, cross, fitted, bound, _ = expected
    close = {"rtol": 1e-8, "atol": 1e-8}
    assert np.allclose(stats.evidence - noise.constant(counts), value, **close)
    assert np.allclose(stats.means, means, **close)
    assert np.allclose(stats.pairs, pairs, **close)
    assert np.allclose(stats.cross, cross, **close)
    if stats.fitted is None:
        assert np.allclose(stats.pairs @ W, fitted, **close)
    else:
        assert np.allclose(stats.fitted(W)[0], fitted, **close)
        assert np.allclose(stats.fitted(W)[1], bound, **close)


@settings(max_examples=25)
@given(size=sizes, weighted=st.booleans(), repeated=st.booleans(), beta=st.sampled_from([1.0, 0.3]))
def test_posteriors_over_all_states_are_brute_force(size, weighted, repeated, beta):
    counts, X, omega, W, pi, noise = draw(size, weighted, repeated)
    expected = brute(X, omega, counts.row_weight, W, pi, noise.variance, beta)
    exact, own = (inference(counts, W, pi, beta, noise) for inference in EVERYTHING)
    same(counts, exact, noise, expected, W)
    same(counts, own, noise, expected, W)
    assert np.array_equal(exact.best, own.best)


@settings(max_examples=15)
@given(size=sizes, weighted=st.booleans(), gamma=st.integers(1, 3))
def test_few_active_of_all_candidates_is_truncation(size, weighted, gamma):
    counts, X, omega, W, pi, noise = draw(size, weighted)
    expected = brute(X, omega, counts.row_weight, W, pi, noise.variance, limit=gamma)
    same(counts, Inference(False, gamma, 4)(counts, W, pi, 1.0, noise), noise, expected, W)


@settings(max_examples=20)
@given(size=sizes, weighted=st.booleans(), own=st.booleans())
def test_em_never_lowers_the_likelihood(size, weighted, own):
    counts, _, _, W, pi, _ = draw(size, weighted)
    # Data of which one number was observed have no variance to learn; the model refuses them.
    assume(least_variance(counts) > 1e-12)
    start = np.random.default_rng(size[3] + 1).gamma(1.0, 2.0, W.shape)
    method = ExpectationMaximization(
        EVERYTHING[own],
        per_component=True,
        correct=False,
        max_iter=20,
        tol=0.0,
        noise=starting_noise("gaussian", counts),
    )
    found = learn(counts, method, method.init(start, pi), np.random.default_rng(0))
    L = np.array(found.history["log_likelihood"])
    # At the floor of σ² the squares of all entries cancel but for a millionth.
    assert (np.diff(L) >= -1e-7 * np.maximum(np.abs(L[1:]), 1.0)).all()
    assert found.variance >= least_variance(counts)


@settings(max_examples=15)
@given(size=sizes, weighted=st.booleans())
def test_the_sums_are_the_gradient(size, weighted):
    counts, _, _, W, pi, noise = draw(size, weighted)
    stats = Inference()(counts, W, pi, 1.0, noise)
    fitted = stats.pairs @ W if stats.fitted is None else stats.fitted(W)[0]

    def value(W, variance):
        at = GaussianNoise(variance)
        return log_likelihood(counts, Inference()(counts, W, pi, 1.0, at), at)

    step = 1e-5
    for h, d in ((0, 0), (len(W) - 1, W.shape[1] - 1)):
        move = np.zeros_like(W)
        move[h, d] = step
        slope = (value(W + move, noise.variance) - value(W - move, noise.variance)) / (2 * step)
        assert slope == pytest.approx((stats.cross - fitted)[h, d] / noise.variance, rel=1e-4, abs=1e-5)
    slope = (value(W, noise.variance + step) - value(W, noise.variance - step)) / (2 * step)
    wanted = noise.learned(counts, W, W, stats).variance
    entries = counts.row_weight @ counts.observed
    expected = 0.5 * entries * (wanted - noise.variance) / noise.variance**2
    assert slope == pytest.approx(expected, rel=1e-4, abs=1e-5)


@settings(max_examples=15)
@given(size=sizes, weighted=st.booleans())
def test_the_variance_is_the_mean_square_that_is_left(size, weighted):
    counts, X, omega, W, pi, noise = draw(size, weighted, repeated=True)
    expected = brute(X, omega, counts.row_weight, W, pi, noise.variance)[-1]
    for inference in EVERYTHING:
        stats = inference(counts, W, pi, 1.0, noise)
        found = noise.learned(counts, W, W, stats).variance
        assert found == pytest.approx(expected / (counts.row_weight @ omega.sum(axis=1)), rel=1e-8)


def test_the_update_is_nonnegative_least_squares():
    counts, _, _, W, pi, noise = draw((60, 7, 3, 5))
    stats = Inference()(counts, W, pi, 1.0, noise)
    root = np.linalg.cholesky(stats.pairs)
    wanted = np.array([nnls(root.T, np.linalg.solve(root, c))[0] for c in stats.cross.T]).T
    assert np.allclose(nonnegative_update(counts, W, stats), wanted, atol=1e-6)


def test_sparse_data_are_dense_data():
    import scipy.sparse as sp

    _, X, _, W, pi, noise = draw((6, 5, 3, 11))
    X = np.where(X > 1.0, X, 0.0)
    for inference in EVERYTHING:
        one, two = (
            inference(Counts(kind), W, pi, 1.0, noise) for kind in (Dense.of(X), Sparse.of(sp.csr_array(X)))
        )
        assert np.allclose(one.evidence, two.evidence)
        assert np.allclose(one.cross, two.cross)


def test_gamma_that_follows_pi_and_widening_to_all():
    assert Inference(False, None, "all", mean_active=True).gamma(np.full(8, 0.3)) == 3
    assert Inference(False, None, "all", mean_active=True).gamma(np.full(8, 0.01)) == 1
    rng = np.random.default_rng(0)
    counts = Counts(Dense.of(rng.poisson(3.0, (20, 4)).astype(float)))
    W, pi = rng.gamma(1.0, 2.0, (4, 4)), np.full(4, 0.3)
    traces = []
    for to in (None, 4, 2):
        method = ExpectationMaximization(
            Inference(False, 1, "all"), correct=False, widen=3, max_iter=6, tol=0.0, widen_to=to
        )
        traces.append(learn(counts, method, method.init(W, pi), rng).history["log_likelihood"])
    assert traces[0] == pytest.approx(traces[1], rel=1e-12)
    assert traces[0][:3] == pytest.approx(traces[2][:3], rel=1e-12)
    assert traces[2][-1] < traces[0][-1], "states of up to 3 bits are not all states"
