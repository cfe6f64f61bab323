"""Laws of the mixture classifier: gradients, monotone training, agreement of optimizers, logistic regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression

from partwise.mixture.components import Components, log_posterior
from partwise.mixture.contrastive import Labelled, penalised, sums
from partwise.mixture.generative import run_em
from partwise.mixture.optimise import lbfgs, multiplicative, theta_step
from partwise.mixture.start import start_from_clusters
from partwise.parallel import thread_limit

seeds = st.integers(0, 10**6)


def problem(seed, n=40, d=3, counts=(2, 3, 1), dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, 1.0, (n, d)).astype(dtype)
    y = np.concatenate([np.arange(len(counts)), rng.integers(len(counts), size=n - len(counts))])
    data = Labelled(X, y.astype(np.int64), rng.uniform(0.5, 2.0, n))
    J = sum(counts)
    return data, Components.of(rng.normal(size=(J, d)), rng.normal(size=J), np.array(counts))


def brute_value(data, components):
    """Equations 2 and 3, sample by sample."""
    scores = data.X @ components.exponents.T + components.log_weight
    own = components.owner == data.y[:, None]
    return sum(
        w * (logsumexp(s[mine]) - logsumexp(s)) for w, s, mine in zip(data.weight, scores, own, strict=True)
    )


@given(seed=seeds, n=st.integers(3, 80))
def test_the_objective_is_its_definition_and_the_sums_are_its_gradient(seed, n):
    data, components = problem(seed, n)
    value, (gradient,) = sums(data, components)
    assert value == pytest.approx(brute_value(data, components), rel=1e-10)
    _, (plus, minus) = sums(data, components, apart=True)
    assert np.allclose(plus - minus, gradient)
    rng = np.random.default_rng(seed)
    step, shift = rng.normal(size=components.exponents.shape), rng.normal(size=components.log_weight.shape)
    h = 1e-6
    ends = []
    for sign in (1, -1):
        moved = components.copy()
        moved.exponents = components.exponents + sign * h * step
        moved.log_weight = components.log_weight + sign * h * shift
        ends.append(brute_value(data, moved))
    slope = (gradient[:, :-1] * step).sum() + (gradient[:, -1] * shift).sum()
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4, abs=1e-5)


def test_far_away_samples_and_large_exponents_stay_finite():
    data, components = problem(0)
    components.exponents *= 1e3
    value, (gradient,) = sums(data, components)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert value == pytest.approx(brute_value(data, components))
    scores = components.class_scores(data.X)
    assert np.allclose(np.exp(log_posterior(scores)).sum(axis=1), 1.0)


@given(seed=seeds, penalty=st.sampled_from([0.0, 1e-3, 0.1]))
def test_multiplicative_training_never_lowers_the_objective(seed, penalty):
    data, start = problem(seed)
    trace = []
    multiplicative(data, start, penalty, 30, 0.0, lambda step, value, _: bool(trace.append(value)))
    trace = np.array(trace)
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1])).all()
    assert trace[-1] > trace[0]


@given(seed=seeds, weight=st.floats(0.01, 100.0))
def test_the_penalised_step_solves_its_equation(seed, weight):
    rng = np.random.default_rng(seed)
    plus, minus, theta = rng.gamma(0.5, 5.0, (4, 3)), rng.gamma(0.5, 5.0, (4, 3)), rng.normal(size=(4, 3))
    delta = theta_step(plus, minus, theta, 7.0, weight)
    left = plus - minus * np.exp(7.0 * delta) - weight * (theta + delta)
    assert np.abs(left).max() < 1e-7 * (1.0 + plus.max() + weight)
    assert np.allclose(theta_step(plus, minus, theta, 7.0, 0.0), np.log(plus / minus) / 7.0)


def test_both_optimizers_end_at_the_same_optimum():
    data, start = problem(3, n=200, counts=(1, 1, 1))
    quiet = lambda *_: False  # noqa: E731
    fast, _ = lbfgs(data, start, 0.05, 500, 1e-14, quiet)
    slow, _ = multiplicative(data, start, 0.05, 4000, 1e-14, quiet)
    reached = [penalised(sums(data, c)[0], data.total, c, 0.05) for c in (fast, slow)]
    assert reached[1] == pytest.approx(reached[0], abs=1e-7)
    assert np.allclose(fast.class_scores(data.X).argmax(axis=1), slow.class_scores(data.X).argmax(axis=1))
    assert np.allclose(
        log_posterior(fast.class_scores(data.X)), log_posterior(slow.class_scores(data.X)), atol=1e-3
    )


def test_one_component_for_each_class_is_logistic_regression():
    data, start = problem(5, n=300, counts=(1, 1, 1))
    data = Labelled(data.X, data.y, np.ones(300))
    found, _ = lbfgs(data, start, 0.01, 2000, 1e-15, lambda *_: False)
    model = LogisticRegression(C=1 / (0.01 * 300), tol=1e-10, max_iter=5000).fit(data.X, data.y)
    ours = np.exp(log_posterior(found.class_scores(data.X)))
    assert np.allclose(ours, model.predict_proba(data.X), atol=1e-4)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "tied"])
def test_em_never_lowers_the_likelihood_and_its_posterior_has_the_form_of_equation_1(covariance):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 1.0, (80, 2)) for m in ((0, 0), (3, 1), (0, 4), (5, 5))])
    y = np.repeat([0, 0, 1, 1], 80)
    data = Labelled(X, y, rng.uniform(0.5, 1.5, len(X)))
    trace = []
    components, means, _ = run_em(
        data, np.array([2, 2]), "random", covariance, 60, 0.0, rng, lambda _, v: bool(trace.append(v))
    )
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1])).all()
    # The shared covariance and the weights of the mixtures, from the components themselves.
    inverse, *_ = np.linalg.lstsq(
        means - means[0], components.exponents - components.exponents[0], rcond=None
    )
    sigma = np.linalg.inv(0.5 * (inverse + inverse.T))
    prior = np.exp(components.log_weight + 0.5 * (means * components.exponents).sum(axis=1))
    assert prior.sum() == pytest.approx(1.0)
    joint = np.array([p * multivariate_normal(m, sigma).pdf(X) for p, m in zip(prior, means, strict=True)])
    classes = np.stack([joint[:2].sum(axis=0), joint[2:].sum(axis=0)], axis=1)
    expected = classes / classes.sum(axis=1, keepdims=True)
    assert np.allclose(np.exp(log_posterior(components.class_scores(X))), expected, atol=1e-6)


def test_the_answer_does_not_depend_on_the_number_of_threads():
    data, components = problem(1, n=5000, dtype=np.float32)
    answers = []
    for threads in (1, 2, 4):
        with thread_limit(threads):
            value, (gradient,) = sums(data, components)
            answers.append((value, gradient.tobytes()))
    assert len(set(answers)) == 1


def test_the_start_knows_the_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 0.3, (50, 2)) for m in ((0, 0), (4, 4), (0, 4), (4, 0))])
    data = Labelled(X, np.repeat([0, 0, 1, 1], 50), np.ones(200))
    start = start_from_clusters(data, np.array([2, 2]), "kmeans", rng)
    assert (start.class_scores(X).argmax(axis=1) == data.y).mean() > 0.99
