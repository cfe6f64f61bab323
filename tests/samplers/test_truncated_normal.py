"""Truncated normals: the law of scipy where scipy can say it, expansions far in the tails, and reproducibility."""

import numpy as np
import pytest
from numba import njit
from scipy import special, stats

from partwise.parallel import thread_limit
from partwise.samplers.streams import begin_stream
from partwise.samplers.truncated_normal import normal_quantile, truncated_normal
from partwise.samplers.ziggurat import exponential, normal

CASES = [
    (0.0, 1.0, 0.0, np.inf),
    (-1.0, 1.0, 0.0, np.inf),
    (-8.0, 1.0, 0.0, np.inf),
    (3.0, 1.0, 0.0, np.inf),
    (0.0, 1.0, -np.inf, -3.0),
    (0.0, 1.0, -np.inf, np.inf),
    (0.5, 0.1, 0.0, 1.0),
    (0.3, 10.0, 0.0, 1.0),
    (-0.5, 0.5, 0.0, 1.0),
    (1.2, 0.4, 0.0, 1.0),
    (-50.0, 1.0, 0.0, 1.0),
    (50.0, 1.0, 0.0, 1.0),
    (-3.0, 1.0, 0.0, 0.2),
    (-0.1, 1.0, 0.0, 3.0),
    (0.0, 1.0, -2.0, 0.3),
    # On both sides of where the proposals change: half a standard deviation inside, short intervals, far tails.
    (0.0, 1.0, -0.49, np.inf),
    (0.0, 1.0, -0.51, np.inf),
    (0.0, 1.0, -0.4, 0.5),
    (0.0, 1.0, -0.5, 0.4),
    (0.0, 1.0, -0.3, 1.4),
    (0.0, 1.0, -0.6, 1.8),
    (0.0, 1.0, -0.6, 2.0),
    (0.0, 1.0, 1.9, 2.5),
    (0.0, 1.0, 2.1, 2.5),
    (0.0, 1.0, -2.6, -2.1),
    (0.0, 1.0, 1.99, np.inf),
    (0.0, 1.0, 2.01, np.inf),
]


@pytest.mark.parametrize(("mean", "sd", "low", "high"), CASES)
def test_the_law_is_that_of_scipy(mean, sd, low, high):
    draws = truncated_normal(mean, sd, low, high, np.random.default_rng(1), size=(200, 200)).ravel()
    assert draws.min() >= low
    assert draws.max() <= high
    law = stats.truncnorm((low - mean) / sd, (high - mean) / sd, mean, sd)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-4
    assert draws.mean() == pytest.approx(law.mean(), abs=4.5 * law.std() / 200)
    assert draws.var() == pytest.approx(law.var(), rel=0.08)


@pytest.mark.parametrize("a", [30.0, 1e3, 1e8, 1e150])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_far_in_a_tail_the_excess_is_exponential(a, side):
    # For x ≥ a, a (x − a) has the density ∝ exp(−t − t² / (2 a²)): its mean is 1 − 2/a² + O(a⁻⁴).
    low, high = (0.0, np.inf) if side > 0 else (-np.inf, 0.0)
    draws = truncated_normal(-side * a, 1.0, low, high, np.random.default_rng(2), size=40_000)
    t = side * a * draws
    assert t.min() >= 0.0
    assert t.mean() == pytest.approx(1.0 - 2.0 / a / a, abs=4.5 / 200)
    assert stats.kstest(t, lambda s: 1.0 - np.exp(-s)).pvalue > (1e-4 if a >= 1e3 else 0.0)


def test_a_narrow_interval_in_a_tail_is_a_truncated_exponential():
    rate = 5e4  # mean −500, sd 0.1: the density on [0, 1e-5] is ∝ exp(−rate t)
    draws = truncated_normal(-500.0, 0.1, 0.0, 1e-5, np.random.default_rng(3), size=40_000)
    law = stats.truncexpon(1e-5 * rate, scale=1.0 / rate)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-4


def test_an_interval_of_one_point_gives_the_point():
    assert (truncated_normal([-3.0, 0.0, 9.0], 1.0, 0.5, 0.5, np.random.default_rng(0)) == 0.5).all()


def test_draws_do_not_depend_on_threads_and_change_with_the_generator():
    def draw(seed):
        return truncated_normal(np.linspace(-5, 5, 30_000), 1.0, 0.0, np.inf, np.random.default_rng(seed))

    with thread_limit(1):
        alone = draw(0)
    with thread_limit(4):
        assert np.array_equal(draw(0), alone)
    assert not np.any(draw(1) == alone)


def test_entries_are_independent_of_their_neighbours():
    draws = truncated_normal(0.0, 1.0, -np.inf, np.inf, np.random.default_rng(4), size=100_000)
    for lag in (1, 2, 7, 64):
        assert abs(np.mean(draws[lag:] * draws[:-lag])) < 4.5 / np.sqrt(len(draws))


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"), [(0, 0, 0, 1), (0, 1, 2, 1), (np.nan, 1, 0, 1), (np.inf, 1, 0, 1)]
)
def test_bad_parameters_are_refused(mean, sd, low, high):
    with pytest.raises(ValueError, match="finite mean, sd > 0 and low ≤ high"):
        truncated_normal(mean, sd, low, high, np.random.default_rng(0))


@pytest.mark.parametrize(("draw", "law"), [(normal, stats.norm), (exponential, stats.expon)])
def test_the_ziggurat_draws_its_law(draw, law):
    @njit
    def fill(keys, out):
        stream = np.empty(2, np.uint64)
        begin_stream(keys, 0, stream)
        for i in range(len(out)):
            out[i] = draw(stream)

    draws = np.empty(1_000_000)
    fill(np.array([1, 2], np.uint64), draws)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-4
    # The layers meet at these places, and the last bin is the tail beyond them.
    ends = np.quantile(np.abs(draws), np.linspace(0.0, 0.99, 50))[1:]
    fold = 2.0 if draw is normal else 1.0
    for place in (*ends, 3.6541528853610088, 7.69711747013104972):
        chance = fold * law.sf(place)
        seen = float((np.abs(draws) > place).mean())
        assert seen == pytest.approx(chance, abs=5.0 * np.sqrt(chance / draws.size) + 1e-9)


def test_the_normal_quantile_is_that_of_scipy():
    @njit
    def quantiles(p, out):
        for i in range(len(p)):
            out[i] = normal_quantile(p[i])

    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 5000), 10.0 ** -np.linspace(1, 300, 500)])
    out = np.empty_like(p)
    quantiles(p, out)
    assert np.allclose(out, special.ndtri(p), rtol=1e-13, atol=1e-15)
