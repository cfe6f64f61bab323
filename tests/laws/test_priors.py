"""Laws of priors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from partwise.priors import REGISTRY, ElasticNet, Gamma, SumPrior

EXAMPLES = [
    ElasticNet(0.5, 0.0),
    ElasticNet(0.0, 2.0),
    ElasticNet(0.3, 0.7),
    Gamma(1.0, 1.3),
    Gamma(3.0, 0.5),
    Gamma(0.5, 1.0, shift=0.01),
    Gamma(2.0, 1.0) + ElasticNet(0.5, 0.5),
]


def test_every_registered_prior_is_among_the_examples():
    assert {type(p) for p in EXAMPLES} >= set(REGISTRY.values()) | {SumPrior}


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
@given(a=st.floats(-3, 5), step=st.floats(0.01, 10))
def test_prox_beats_a_fine_grid(prior, a, step):
    def cost(z):
        return (z - a) ** 2 / (2 * step) + prior.value(np.array([[z]]))

    z = float(prior.prox(np.array([[a]]), step)[0, 0])
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 20, 400), z + np.linspace(-1e-3, 1e-3, 21)])
    best = min(cost(g) for g in grid if g >= 0)
    assert z >= 0
    assert cost(z) <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
@given(a=st.floats(0.05, 5), b=st.floats(0.05, 5))
def test_log_density_is_minus_value_up_to_a_constant(prior, a, b):
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
        (lambda: Gamma(0.5, 1.0, shift=0.0), "shift must be positive"),
        (lambda: ElasticNet(-1.0), "l1 ≥ 0"),
        (lambda: (Gamma(0.5, 1.0) + Gamma(2.0, 1.0)).terms(), "Two Gamma priors"),
    ],
)
def test_impossible_priors_say_why(make, words):
    with pytest.raises(ValueError, match=words):
        make()
