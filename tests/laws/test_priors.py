"""Laws of priors."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sweeps import COUPLED, GRAPH, without_example

from partwise.priors import REGISTRY, Bounds, Direction, ElasticNet, Gamma, Graph, Terms

EXAMPLES = [
    ElasticNet(0.5, 0.0),
    ElasticNet(0.0, 2.0),
    ElasticNet(0.3, 0.7),
    Gamma(1.0, 1.3),
    Gamma(3.0, 0.5),
    Gamma(0.5, 1.0, shift=0.01),
    Gamma(2.0, 1.0) + ElasticNet(0.5, 0.5),
    Bounds(0.0, 1.0),
    Bounds(-np.inf, np.inf),
    Bounds(0.0, 0.7) + ElasticNet(0.3, 0.7),
    Bounds(0.0, 1.0) + Gamma(3.0, 0.5),
    Bounds(-1.0, 1.0) + ElasticNet(0.0, 0.7),
]
EXAMPLES += without_example(REGISTRY, EXAMPLES).values()


def clipped(prior, *values):
    """Values cut to the inside of the prior's bounds."""
    return [float(np.clip(value, prior.terms().lower, prior.terms().upper)) for value in values]


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
@given(a=st.floats(-3, 5), step=st.floats(0.01, 10))
def test_prox_beats_a_fine_grid(prior, a, step):
    def cost(z):
        return (z - a) ** 2 / (2 * step) + prior.value(np.array([[z]]))

    low, high = prior.terms().lower, prior.terms().upper
    z = float(prior.prox(np.array([[a]]), step)[0, 0])
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 20, 400), -np.geomspace(1e-6, 20, 400), [low, high]])
    grid = np.concatenate([grid, z + np.linspace(-1e-3, 1e-3, 21)])
    best = min(cost(g) for g in grid if low <= g <= high and np.isfinite(g))
    assert low <= z <= high
    assert cost(z) <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
@given(a=st.floats(0.05, 5), b=st.floats(0.05, 5))
def test_log_density_is_minus_value_up_to_a_constant(prior, a, b):
    a, b = clipped(prior, a, b)
    A, B = np.array([[a]]), np.array([[b]])
    assert prior.log_density(A) - prior.log_density(B) == pytest.approx(
        prior.value(B) - prior.value(A), abs=1e-9
    )


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
@given(a=st.floats(0.05, 5))
def test_gradient_matches_finite_differences(prior, a):
    slope = (prior.value(np.array([[a + 1e-6]])) - prior.value(np.array([[a - 1e-6]]))) / 2e-6
    assert prior.terms().gradient(np.array([[a]]))[0, 0] == pytest.approx(slope, rel=1e-4, abs=1e-6)


@given(shape=st.floats(1.0, 5), rate=st.floats(0.1, 5), a=st.floats(0.01, 10))
def test_gamma_is_the_gamma_density(shape, rate, a):
    ours = Gamma(shape, rate).log_density(np.array([[a]]))
    assert ours == pytest.approx(stats.gamma.logpdf(a, shape, scale=1 / rate), rel=1e-9, abs=1e-9)


@given(a=st.floats(0.1, 10))
def test_shifted_gamma_agrees_with_the_density_away_from_zero(a):
    prior = Gamma(0.4, 2.0)
    assert prior.log_density(np.array([[a]])) == pytest.approx(
        stats.gamma.logpdf(a, 0.4, scale=0.5), rel=1e-4, abs=1e-4
    )
    assert np.isfinite(prior.value(np.array([[0.0]])))


def test_row_scale_multiplies_row_by_row():
    A = np.array([[1.0, 2.0], [3.0, 0.5]])
    scaled = ElasticNet(0.5, 0.2, row_scale=np.array([2.0, 3.0]))
    by_hand = sum(s * ElasticNet(0.5, 0.2).value(A[i : i + 1]) for i, s in enumerate((2.0, 3.0)))
    assert scaled.value(A) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gamma(0.0, 1.0), "shape > 0"),
        (lambda: Gamma(1.0, -1.0), "rate ≥ 0"),
        (lambda: Gamma(np.ones((6, 2)), 1.0), "one for each component; got an array of shape \\(6, 2\\)"),
        (lambda: Gamma(np.ones(3), np.ones(4)), "shape has 3, rate 4"),
        (lambda: Gamma(np.ones(3), np.ones((6, 4))), "shape has 3, rate 4"),
        (
            lambda: Gamma(np.ones(3), 1.0).terms().for_kernels(6, 2),
            "3 numbers, and the factor has 2 components",
        ),
        (lambda: Gamma(0.5, 1.0, shift=0.0), "shift must be positive"),
        (lambda: ElasticNet(-1.0), "l1 ≥ 0"),
        (lambda: (Gamma(0.5, 1.0) + Gamma(2.0, 1.0)).terms(), "Two Gamma priors"),
    ],
)
def test_impossible_priors_say_why(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_prior_for_each_component_is_that_prior_on_each_column():
    A = np.random.default_rng(0).random((5, 3)) + 0.1
    shapes, rates = np.array([0.5, 1.0, 3.0]), np.array([1.0, 0.2, 2.0])
    whole = Gamma(shapes, rates, shift=0.01)
    parts = [Gamma(a, b, shift=0.01) for a, b in zip(shapes, rates)]
    columns = [A[:, [t]] for t in range(3)]
    assert whole.value(A) == pytest.approx(sum(p.value(c) for p, c in zip(parts, columns)))
    assert whole.log_density(A) == pytest.approx(sum(p.log_density(c) for p, c in zip(parts, columns)))
    assert np.allclose(whole.gradient(A), np.hstack([p.gradient(c) for p, c in zip(parts, columns)]))
    assert np.allclose(whole.prox(A, 0.3), np.hstack([p.prox(c, 0.3) for p, c in zip(parts, columns)]))


@pytest.mark.parametrize("shape", [(), (5,), (5, 1), (1, 3), (5, 3)])
def test_terms_of_every_shape_are_the_full_array(shape):
    rng = np.random.default_rng(1)
    A, linear, quadratic = rng.random((5, 3)), rng.random(shape), rng.random(shape)
    full = [np.broadcast_to(x[:, None] if x.ndim == 1 else x, (5, 3)) for x in (linear, quadratic)]
    terms, whole = Terms(linear, quadratic), Terms(*full)
    assert terms.value(A, np.arange(5.0)) == pytest.approx(whole.value(A, np.arange(5.0)))
    assert np.allclose(terms.gradient(A), whole.gradient(A))
    assert np.allclose(terms.rows([3, 1]).gradient(A[[3, 1]]), whole.gradient(A)[[3, 1]])
    added = (terms + Terms(np.ones(5), np.ones((1, 3)))).gradient(A)
    assert np.allclose(added, whole.gradient(A) + 1 + A)


@pytest.mark.parametrize("name", COUPLED)
@given(seed=st.integers(0, 10**6))
def test_couplings_are_majorised_and_their_gradient_is_right(name, seed):
    coupling = COUPLED[name]
    rng = np.random.default_rng(seed)
    A, Z = rng.normal(size=(2, 4, 3))
    terms = coupling.majorise(A)
    gained = terms.value(Z) - terms.value(A)
    assert gained >= coupling.value(Z) - coupling.value(A) - 1e-9
    assert np.allclose(terms.gradient(A), coupling.gradient(A))
    step = 1e-6 * rng.normal(size=A.shape)
    slope = (coupling.value(A + step) - coupling.value(A - step)) / 2
    assert np.vdot(coupling.gradient(A), step) == pytest.approx(slope, abs=1e-12)


def test_a_graph_dense_or_sparse_is_the_sum_over_its_edges():
    A = np.random.default_rng(2).random((4, 2))
    by_hand = 0.35 * sum(GRAPH[i, j] * ((A[i] - A[j]) ** 2).sum() for i in range(4) for j in range(4))
    for adjacency in (GRAPH, sp.csr_array(GRAPH), sp.coo_matrix(GRAPH), GRAPH + np.eye(4)):
        assert Graph(adjacency, 0.7).value(A) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Graph(np.ones((2, 3))), "square"),
        (lambda: Graph(np.array([[0, 1], [0, 0]])), "symmetric"),
        (lambda: Graph(-GRAPH), "nonnegative"),
        (lambda: Graph(GRAPH, -1), "weight of at least 0"),
        (lambda: COUPLED["Direction"].check(7), "4 entries.*7 rows"),
        (lambda: Direction(np.zeros((4, 1))), "column 0 is zero"),
        (lambda: Direction(-np.ones((4, 1))), "nonnegative"),
        (lambda: Direction(np.ones((4, 1)), -1), "weight of at least 0"),
        (lambda: COUPLED["Graph"].check(7), "4 nodes.*7 rows"),
        (lambda: COUPLED["Graph"].rows([0]), "minibatches"),
        (lambda: Bounds(0.5, 1.0), "lower ≤ 0 < upper"),
        (lambda: (Gamma(2.0, 1.0) + Bounds(-1.0, 1.0)).terms(), "signed bounds"),
        (lambda: Terms(np.ones((3, 3))).for_kernels(5, 3), r"shape \(3, 3\).*5 rows and 3 components"),
        (lambda: Terms(log=np.ones(2)).for_kernels(5, 3), "2 numbers.*3 components"),
        (lambda: Terms(linear=np.ones((2, 2, 2))), "at most two dimensions"),
    ],
)
def test_terms_and_couplings_that_do_not_fit_say_why(make, words):
    with pytest.raises(ValueError, match=words):
        make()
