"""Laws of the mixture classifier: gradients, monotone training, agreement of optimizers, logistic regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression

from partwise.core import run
from partwise.mixture.components import Components, log_posterior
from partwise.mixture.contrastive import Contrastive, Labelled, sums
from partwise.mixture.generative import (
    GaussianEM,
    Gaussians,
    bounded,
    posterior_components,
    start_gaussians,
)
from partwise.mixture.lbfgs import Lbfgs, direction
from partwise.mixture.multiplicative import AtOnce, Multiplicative, theta_step
from partwise.mixture.penalty import RISING, PenaltyChoice, held_out, too_strong
from partwise.mixture.spread import at_least, least_covariance
from partwise.mixture.start import class_counts, clustered, start_from_clusters
from partwise.mixture.training import Trained, train
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


def trained(data, start, method, penalty=0.0, max_iter=500, tol=0.0, held=None):
    problem = Contrastive(data, start.starts, penalty, held)
    return train(problem, method, start, max_iter=max_iter, tol=tol, name="")


@given(seed=seeds, penalty=st.sampled_from([0.0, 1e-3, 0.1]), method=st.sampled_from([Multiplicative, Lbfgs]))
def test_contrastive_training_never_lowers_the_objective(seed, penalty, method):
    data, start = problem(seed)
    found = trained(data, start, method(), penalty, max_iter=30)
    trace = found.history["objective"]
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1])).all()
    assert trace[-1] > trace[0]
    value = sums(data, found.components)[0] / data.total - penalty / 2 * (found.components.exponents**2).sum()
    assert value == pytest.approx(found.objective, rel=1e-9), (
        "the objective reported is that of the components"
    )


@given(seed=seeds)
def test_the_two_loop_recursion_solves_a_quadratic(seed):
    """With as many conjugate moves as dimensions, the direction is the Newton step."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4))
    A = A @ A.T + 0.5 * np.eye(4)
    moves = np.linalg.eigh(A)[1].T * rng.uniform(0.5, 2.0, (4, 1))
    gradient = rng.normal(size=4)
    assert np.allclose(A @ direction(gradient, moves, moves @ A), -gradient)


def test_lbfgs_ends_as_well_as_the_one_of_scipy():
    data, start = problem(11, n=300, d=6, counts=(2, 2, 2))
    calls = []

    def cost(x):
        value, gradient = Contrastive(data, start.starts, 1e-3).value_and_gradient(x)
        calls.append(-value)
        return -value, -gradient

    options = {"maxiter": 500, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-9}
    theirs = minimize(cost, Contrastive.vector(start), jac=True, method="L-BFGS-B", options=options)
    ours = trained(data, start, Lbfgs(), 1e-3, tol=1e-9)
    assert ours.reason == "converged"
    assert -ours.objective <= theirs.fun + 1e-5
    assert ours.n_iter < 1.5 * theirs.nit


def test_a_failed_line_search_is_followed_by_steepest_descent():
    """Curvature from elsewhere gives a direction in which the cost rises; the step goes down all the same."""
    data, start = problem(2)
    setting, method = Contrastive(data, start.starts, 0.01), Lbfgs()
    state = method.init(setting, start)
    before = state.objective = method.value(setting, state)
    state.moves = np.eye(len(state.x))[:3]
    state.bends = -state.moves
    after, info = method.step(setting, state, None)
    assert info.objective > before
    assert len(after.moves) <= 1, "what was remembered is forgotten"


def test_at_the_optimum_training_stops_where_it_is():
    data, start = problem(4, counts=(1, 1, 1))
    found = trained(data, start, Lbfgs(), 0.1)
    assert found.reason == "converged"
    again = trained(data, found.components, Lbfgs(), 0.1)
    assert again.reason == "converged"
    assert again.n_iter <= 3
    assert np.allclose(again.components.exponents, found.components.exponents, atol=1e-6)


@pytest.mark.parametrize("method", [Multiplicative, Lbfgs])
def test_early_stopping_keeps_the_components_that_did_best_on_held_out_samples(method):
    data, start = problem(6, n=400, d=8, counts=(4, 4, 4))
    rng = np.random.default_rng(0)
    noise = Labelled(data.X[300:], rng.integers(3, size=100), data.weight[300:])
    found = trained(data.rows(np.arange(300)), start, method(), max_iter=300, held=noise)
    trace = found.history["validation"]
    assert len(trace) == len(found.history["objective"])
    assert found.reason == "converged"
    assert len(trace) - 1 == trace.argmin() + 20 or trace.argmin() == 0
    assert Contrastive(data, start.starts, held=noise).validation(
        Contrastive.vector(found.components)
    ) == pytest.approx(trace.min(), rel=1e-12)
    assert found.objective == found.history["objective"][trace.argmin()]


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
    ends = [
        trained(data, start, method, 0.05, max_iter=4000, tol=1e-14) for method in (Lbfgs(), Multiplicative())
    ]
    assert ends[1].objective == pytest.approx(ends[0].objective, abs=1e-7)
    fast, slow = (end.components for end in ends)
    assert np.allclose(fast.class_scores(data.X).argmax(axis=1), slow.class_scores(data.X).argmax(axis=1))
    assert np.allclose(
        log_posterior(fast.class_scores(data.X)), log_posterior(slow.class_scores(data.X)), atol=1e-3
    )


def test_one_component_for_each_class_is_logistic_regression():
    data, start = problem(5, n=300, counts=(1, 1, 1))
    data = Labelled(data.X, data.y, np.ones(300))
    found = trained(data, start, Lbfgs(), 0.01, max_iter=2000, tol=1e-15).components
    model = LogisticRegression(C=1 / (0.01 * 300), tol=1e-10, max_iter=5000).fit(data.X, data.y)
    ours = np.exp(log_posterior(found.class_scores(data.X)))
    assert np.allclose(ours, model.predict_proba(data.X), atol=1e-4)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "tied"])
def test_em_never_lowers_the_likelihood_and_its_posterior_has_the_form_of_equation_1(covariance):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(m, 1.0, (80, 2)) for m in ((0, 0), (3, 1), (0, 4), (5, 5))])
    y = np.repeat([0, 0, 1, 1], 80)
    data = Labelled(X, y, rng.uniform(0.5, 1.5, len(X)))
    counts = np.array([2, 2])
    start = start_gaussians(data, clustered(data, counts, "random", rng))
    result = run(Gaussians(data, counts, covariance), GaussianEM(), start, max_iter=60)
    trace = np.array(result.history.objective)
    assert len(trace) == 61
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1])).all()
    components, means = posterior_components(result.state, counts), result.state.means
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


@given(seed=seeds)
def test_updates_made_at_once_are_those_printed(seed):
    """Equations 4 and 5 from the sums of one and the same classifier."""
    data, start = problem(seed)
    _, (plus, minus) = sums(data, start, apart=True)
    found = trained(data, start, AtOnce(), max_iter=1).components
    theta = start.exponents + np.log(plus[:, :-1] / minus[:, :-1]) / data.X.sum(axis=1).max()
    weight = start.log_weight + np.log(plus[:, -1] / minus[:, -1])
    assert np.allclose(found.exponents, theta)
    assert np.allclose(found.log_weight, weight - weight.max())


def test_updates_made_at_once_may_lower_the_objective_and_those_in_turn_may_not():
    """A feature that is always 1 acts as W does: steps of both go twice as far, to the other side of the optimum."""
    data = Labelled(np.ones((30, 1)), (np.arange(30) < 8).astype(np.int64), np.ones(30))
    gains = {Multiplicative: [], AtOnce: []}
    for method, found in gains.items():
        for off in (-1.5, 1.5):
            log_weight = np.log([22 / 30, 8 / 30]) + np.array([0.0, off])
            start = Components.of(np.zeros((2, 1)), log_weight, np.array([1, 1]))
            found.append(np.diff(trained(data, start, method(), max_iter=1).history["objective"])[0])
    assert min(gains[Multiplicative]) > 0.1
    assert min(gains[AtOnce]) < -0.01


@given(seed=seeds)
def test_a_covariance_with_a_least_one_is_the_likeliest_above_it(seed):
    """−log|Σ| − tr Σ⁻¹S, against other covariances above the least; one above it already stays as it is."""
    rng = np.random.default_rng(seed)
    S, least, *others = (A @ A.T + 1e-3 * np.eye(3) for A in rng.normal(size=(6, 3, 3)))

    def likelihood(sigma):
        return -np.linalg.slogdet(sigma)[1] - np.trace(np.linalg.solve(sigma, S))

    found = at_least(S, least)
    scale = np.abs(least).max()
    assert np.linalg.eigvalsh(found - least).min() > -1e-9 * scale
    for other in others:
        assert likelihood(found) >= likelihood(least + other) - 1e-9
        assert likelihood(found) >= likelihood(found + 1e-3 * other) - 1e-9
    assert at_least(least + S, least).tobytes() == (least + S).tobytes()


def copies(seed, dtype=float):
    """Samples that are copies of one or two rows a class, and a feature that never changes."""
    rng = np.random.default_rng(seed)
    rows, y = rng.gamma(1.0, 1.0, (6, 4)).astype(dtype), np.repeat(np.arange(3), 20)
    X = rows[2 * y + rng.integers(2, size=60)]
    X[:, 0] = 1.0
    return Labelled(X, y, np.ones(60))


@given(seed=seeds, unit=st.sampled_from([1e-6, 1.0, 1e6]), heavy=st.sampled_from([1e-6, 1.0, 1e6]))
def test_the_start_at_copies_of_a_few_rows_has_a_width(seed, unit, heavy):
    """The same posterior in every unit and for weights in any unit, not far below what one component gives."""
    data = copies(seed)
    counts = class_counts(data, 3, 8)
    assert (counts <= 2).all()

    def start(X, weight, counts):
        rng = np.random.default_rng(0)
        return start_from_clusters(Labelled(X, data.y, weight), counts, "kmeans", rng).class_scores(X)

    here = log_posterior(start(data.X, data.weight, counts))
    there = log_posterior(start(unit * data.X, heavy * data.weight, counts))
    assert np.allclose(np.exp(here), np.exp(there), atol=1e-6)
    one = log_posterior(start(data.X, data.weight, np.ones(3, int)))
    mine = np.arange(60), data.y
    assert here[mine].mean() > one[mine].mean() - 0.5


@given(seed=seeds, covariance=st.sampled_from(["spherical", "diagonal", "tied"]))
def test_em_of_copies_climbs_and_its_covariance_stays_above_the_least(seed, covariance):
    data = copies(seed)
    counts = class_counts(data, 3, 8)
    problem = Gaussians(data, counts, covariance)
    start = start_gaussians(data, clustered(data, counts, "kmeans", np.random.default_rng(0)))
    result = run(problem, GaussianEM(), bounded(problem, start), max_iter=10)
    assert (np.diff(result.history.objective) >= -1e-7).all()
    sigma = result.state.root @ result.state.root.T
    if covariance == "tied":
        assert np.linalg.eigvalsh(sigma - problem.least).min() > -1e-9
    elif covariance == "diagonal":
        assert (np.diag(sigma - problem.least) > -1e-9).all()
    else:
        assert np.diag(sigma).mean() > np.diag(problem.least).mean() - 1e-9


def test_the_least_covariance_follows_the_units_of_the_features():
    rng = np.random.default_rng(0)
    data = Labelled(rng.normal(size=(50, 3)), np.arange(50) % 2, np.ones(50))
    units = np.array([1e-5, 1.0, 1e5])
    least = least_covariance(data, 4, 1e-6)
    scaled = least_covariance(Labelled(data.X * units, data.y, data.weight), 4, 1e-6)
    assert np.allclose(scaled, least * np.outer(units, units), rtol=1e-6, atol=0.0)


def test_on_few_samples_penalties_end_only_when_several_in_a_row_are_worse():
    """A loss that rises and falls again is followed; one that goes on rising is not."""
    data, _ = problem(0)
    splits = held_out(data, 0.3, np.random.default_rng(0), 2, least=1)
    for losses, ends in (
        ([1.0, 2.0, 2.0], False),
        ([1.0, 2.0, 2.0, 0.9], False),
        ([1.0, 2.0, 0.5, 2.0, 2.0], False),
        ([1.0, 2.0, 1.05, 2.0], False),
        ([3.0, 1.0, 2.0, 2.0, 2.0], True),
    ):
        choice = PenaltyChoice(Trained(None), losses=[np.full(len(splits), one) for one in losses])
        assert too_strong(choice, splits, RISING) == ends
    assert too_strong(PenaltyChoice(Trained(None), losses=[np.ones(2), np.full(2, 1.2)]), splits)
    assert not too_strong(PenaltyChoice(Trained(None), losses=[np.ones(2)]), splits)
