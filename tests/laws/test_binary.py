"""Laws of binary latents: every sum is what brute force over the states says; EM never lowers the likelihood."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import binom

from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, learn, log_likelihood
from partwise.latent.enumerated import enumerated
from partwise.latent.inference import Inference
from partwise.latent.m_step import UNUSED, activation_update, em_update, least_squares_update
from partwise.latent.one_sample import weighted_log_sum
from partwise.latent.preselected import preselected
from partwise.latent.states import all_states, count_up_to, size_distribution, states_up_to, walk
from partwise.latent.statistics import Statistics
from partwise.matrix import Dense, Sparse

sizes = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))


def draw(size, weighted=False, repeated=False):
    n, d, H, seed = size
    rng = np.random.default_rng(seed)
    W = rng.gamma(1.0, 3.0, (H, d)) + 0.05
    pi = rng.uniform(0.05, 0.8, H)
    X = rng.poisson((rng.random((n, H)) < pi) @ W).astype(float)
    X.flat[0] += 1
    weights = rng.integers(0, 3, (n, d)).astype(float) if weighted else None
    r = rng.integers(1, 4, n).astype(float) if repeated else None
    return Counts(Dense.of(X, weights, r)), X, W, pi, np.ones((n, d)) if weights is None else weights


def brute(X, omega, r, W, pi, delta, limit=None, denominator=None, beta=1.0):
    """Loops over samples and states, one number at a time."""
    n, H = len(X), len(W)
    evidence, means, pairs, num = np.zeros(n), np.zeros((n, H)), np.zeros((H, H)), np.zeros_like(W)
    for i in range(n):
        joint, hot = {}, {}
        for s in product((0, 1), repeat=H):
            if denominator is not None and sum(s) > denominator:
                continue
            a = np.array(s) @ W + delta
            log_prior = sum(np.log(p) if bit else np.log(1 - p) for bit, p in zip(s, pi))
            lik = (omega[i] * (X[i] * np.log(a) - (a - delta))).sum()
            joint[s], hot[s] = lik + log_prior, beta * lik + log_prior
        top = max(joint.values())
        evidence[i] = top + np.log(sum(np.exp(v - top) for v in joint.values()))
        hot_top = max(hot.values())
        total = sum(np.exp(v - hot_top) for v in hot.values())
        for s, v in hot.items():
            if limit is not None and sum(s) > limit:
                continue
            q, bits = np.exp(v - hot_top) / total, np.array(s)
            means[i] += q * bits
            pairs += r[i] * q * np.outer(bits, bits)
            num += r[i] * q * bits[:, None] * omega[i] * X[i] * W / (bits @ W + delta)
    return evidence, means, pairs, num


def same(stats, expected, W):
    evidence, means, pairs, num = expected
    assert np.allclose(stats.evidence, evidence, rtol=1e-9, atol=1e-9)
    assert np.allclose(stats.means, means, rtol=1e-9, atol=1e-9)
    assert np.allclose(stats.pairs, pairs, rtol=1e-9, atol=1e-9)
    assert np.allclose(stats.numerator(W), num, rtol=1e-9, atol=1e-9)


def em(counts, method, W, pi):
    return learn(counts, method, method.init(W, pi), np.random.default_rng(0))


@given(size=sizes, weighted=st.booleans(), repeated=st.booleans(), beta=st.sampled_from([1.0, 0.3]))
def test_the_exact_posterior_is_brute_force(size, weighted, repeated, beta):
    counts, X, W, pi, omega = draw(size, weighted, repeated)
    stats = enumerated(counts, W, pi, all_states(len(W)), None, beta)
    same(stats, brute(X, omega, counts.row_weight, W, pi, counts.background, beta=beta), W)


@given(size=sizes, weighted=st.booleans(), repeated=st.booleans(), beta=st.sampled_from([1.0, 0.3]))
def test_preselection_of_everything_is_exact(size, weighted, repeated, beta):
    counts, X, W, pi, omega = draw(size, weighted, repeated)
    H = len(W)
    stats = preselected(counts, W, pi, H, H, beta)
    same(stats, brute(X, omega, counts.row_weight, W, pi, counts.background, beta=beta), W)
    assert np.array_equal(stats.best, enumerated(counts, W, pi, all_states(H)).best)


@given(size=sizes, gamma=st.integers(1, 3))
def test_truncation_without_preselection_has_one_more_bit_in_the_denominator(size, gamma):
    counts, X, W, pi, omega = draw(size)
    H = len(W)
    stats = enumerated(counts, W, pi, states_up_to(H, gamma + 1), count_up_to(H, gamma))
    expected = brute(
        X, omega, counts.row_weight, W, pi, counts.background, limit=gamma, denominator=gamma + 1
    )
    same(stats, expected, W)


@given(size=sizes, gamma=st.integers(1, 3))
def test_all_candidates_and_few_active_is_truncation(size, gamma):
    counts, X, W, pi, omega = draw(size)
    expected = brute(X, omega, counts.row_weight, W, pi, counts.background, limit=gamma, denominator=gamma)
    same(preselected(counts, W, pi, gamma, len(W)), expected, W)


@given(size=sizes, weighted=st.booleans())
def test_updates_are_what_their_equations_say(size, weighted):
    counts, X, W, pi, omega = draw(size, weighted)
    _, means, pairs, num = brute(X, omega, counts.row_weight, W, pi, counts.background)
    exposure = means.T @ omega
    one = preselected(counts, W, pi, len(W), len(W))
    expected = np.where(exposure > UNUSED, num / np.maximum(exposure, 1e-300), W)
    assert np.allclose(em_update(counts, W, one), expected, rtol=1e-9, atol=1e-9)
    if not weighted:
        solved = np.maximum(np.linalg.pinv(pairs, hermitian=True) @ (means.T @ X), 0.0)
        assert np.allclose(least_squares_update(counts, W, one), solved, rtol=1e-6, atol=1e-8)


@given(size=sizes, weighted=st.booleans(), per_component=st.booleans())
def test_exact_em_never_lowers_the_likelihood(size, weighted, per_component):
    counts, _, W, pi, _ = draw(size, weighted)
    start = np.random.default_rng(size[3] + 1).gamma(1.0, 2.0, W.shape) + 0.01
    method = ExpectationMaximization(per_component=per_component, max_iter=25, tol=0.0)
    pi = pi if per_component else np.full(len(W), pi.mean())
    L = np.array(em(counts, method, start, pi).history["log_likelihood"])
    assert len(L) == 26
    assert (np.diff(L) >= -1e-8 * np.maximum(np.abs(L[1:]), 1e-6)).all()


@given(size=sizes, weighted=st.booleans(), exact=st.booleans())
def test_every_likelihood_is_that_of_the_parameters_beside_it(size, weighted, exact):
    counts, _, W, pi, _ = draw(size, weighted)
    method = ExpectationMaximization(
        Inference(exact),
        temperatures=(5.0, 2.0),
        perturb=(0.5,) * 3,
        per_component=True,
        max_iter=6,
        tol=0.0,
        record_components=True,
    )
    history = em(counts, method, W, pi).history
    assert np.array_equal(history["components"][0], W)
    for L, parts, activation in zip(*(history[k] for k in ("log_likelihood", "components", "activation"))):
        assert log_likelihood(counts, method.inference(counts, parts, activation)) == pytest.approx(L)


def falling(**options):
    """A start at the truth, and an update that leaves it: the likelihood falls."""
    counts, _, W, pi, _ = draw((40, 6, 3, 1))
    return counts, W, pi, ExpectationMaximization(tol=0.0, record_components=True, **options)


@pytest.mark.parametrize(
    "options", [{"update": "least-squares"}, {"perturb": (3.0,) * 8}, {"temperatures": (20.0,) * 8}]
)
def test_the_best_point_seen_is_returned(options):
    counts, W, pi, method = falling(max_iter=8, **options)
    found = em(counts, method, W, pi)
    L = found.history["log_likelihood"]
    best = int(np.argmax(L))
    assert best < 8, "the likelihood did not fall"
    assert found.log_likelihood == L[best]
    assert np.array_equal(found.W, found.history["components"][best])
    assert np.array_equal(found.activation, found.history["activation"][best])


def test_what_was_perturbed_or_annealed_gives_way_to_what_was_not():
    counts, W, pi, method = falling(perturb=(3.0,) * 4, temperatures=(3.0,) * 2, max_iter=8)
    found = em(counts, method, W, pi)
    L = np.array(found.history["log_likelihood"])
    assert L[0] > L[5:].max(), "the start was no better"
    assert found.log_likelihood == L[5:].max()


def test_likelihoods_over_other_states_are_not_compared():
    counts, W, pi, method = falling(
        inference=Inference(False, 1, "all"), update="least-squares", widen=3, max_iter=8
    )
    found = em(counts, method, W, pi)
    exact = [
        log_likelihood(counts, Inference()(counts, *one))
        for one in zip(found.history["components"], found.history["activation"])
    ]
    # The E-step of step 5 is the first over all states, step 6 the first that is made from one.
    assert np.allclose(exact[5:], found.history["log_likelihood"][5:])
    assert found.log_likelihood == pytest.approx(max(exact[6:]))


def test_the_likelihood_has_its_constants():
    counts, X, W, pi, omega = draw((4, 3, 2, 5), weighted=True)
    evidence = brute(X, omega, counts.row_weight, W, pi, counts.background)[0]
    stats = enumerated(counts, W, pi, all_states(2))
    assert np.isclose(log_likelihood(counts, stats), (evidence - (omega * gammaln(X + 1)).sum(axis=1)).sum())


def test_temperature_one_is_plain_em():
    counts, _, W, pi, _ = draw((6, 5, 3, 3))
    one, two = (
        em(counts, ExpectationMaximization(temperatures=t, max_iter=8, tol=0), W, pi)
        for t in ((), (1.0,) * 8)
    )
    assert one.history["log_likelihood"] == two.history["log_likelihood"]
    assert np.array_equal(one.history["activation"], two.history["activation"])


@given(H=st.integers(2, 30), pi=st.floats(0.01, 0.6), data=st.data())
def test_the_correction_is_that_of_the_literature_and_has_the_truth_as_fixed_point(H, pi, data):
    gamma = data.draw(st.integers(1, H - 1))
    g = np.arange(gamma + 1)
    p = binom.pmf(g, H, pi)
    A, B = p.sum(), (g * p).sum()
    share = size_distribution(np.full(H, pi))[: gamma + 1].sum()
    assert np.isclose(share, A)
    n = 1000
    counts = Counts(Dense.of(np.ones((n, 1))))
    # Samples that truncation explains have on average B/A bits; the others, known by their evidence, may have any.
    kept = int(np.searchsorted(np.arange(1, n + 1), share * n)) + 1
    means = np.full((n, H), 0.99)
    means[:kept] = B / A / H
    evidence = np.where(np.arange(n) < kept, 0.0, -100.0)
    stats = Statistics(evidence, means, means > 0.5, np.eye(H), lambda W: W, False, (gamma, gamma))
    for per_component in (False, True):
        new = activation_update(counts, np.full(H, pi), stats, True, per_component)
        assert np.allclose(new, pi * H * A / B * (B / A) / H)
        assert np.allclose(new, pi)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=40))
def test_the_fast_logarithm_is_the_logarithm(values):
    a = np.array(values)
    for i, x in enumerate(values):
        y = np.zeros(len(a))
        y[i] = 1.0
        assert np.isclose(weighted_log_sum(y, a, np.empty(len(a)), len(a)), np.log(x), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("candidates", "gamma"), [(5, 3), (4, 4), (1, 1), (6, 2)])
def test_the_walk_visits_every_combination_once(candidates, gamma):
    level, added, bits = walk(candidates, gamma)
    assert len(set(bits)) == len(bits) == count_up_to(candidates, gamma) - 1
    last = {0: 0}
    for g, c, mask in zip(level, added, bits):
        assert mask == last[g - 1] | 1 << c
        last[g] = mask


def test_sparse_counts_are_dense_counts():
    import scipy.sparse as sp

    counts, X, W, pi, _ = draw((6, 5, 3, 11))
    other = Counts(Sparse.of(sp.csr_array(X)))
    for a, b in zip(counts.positives, other.positives):
        assert np.array_equal(a, b)
    one, two = (enumerated(c, W, pi, all_states(3)) for c in (counts, other))
    assert np.allclose(one.evidence, two.evidence)
    assert np.allclose(counts.cross(one.means), other.cross(two.means))
