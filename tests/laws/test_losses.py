"""Laws of losses: every registered one, and any β."""

import decimal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sweeps import LOSSES

from partwise import NMF
from partwise.losses import REGISTRY, Bernoulli, BetaDivergence, NegativeBinomial, as_loss

positive = st.floats(1e-3, 1e3)
betas = st.floats(-2.0, 4.0)
every_loss = pytest.mark.parametrize("loss", [*LOSSES, "any β"])


def loss_of(name, beta):
    return BetaDivergence(beta) if name == "any β" else LOSSES[name]


def in_range(loss, x):
    """A datum that the loss takes: x, or where it has an upper end, x scaled into its inside."""
    return x if np.isinf(loss.highest) else loss.highest * x / (1.0 + x)


def scale_of(loss, x, y):
    """How large the terms are whose difference the loss is."""
    if not isinstance(loss, BetaDivergence):
        return 1.0 + x * (1.0 + abs(np.log(x))) + (x + loss.parameter) * (1.0 + np.log1p(y + 1 / y))
    beta = loss.beta
    scale = max(x, y) ** beta + min(x, y) ** beta
    return scale if beta in (0, 1) else scale * (1 + 1e-3 / abs(beta * (beta - 1)))


@every_loss
@given(x=positive, y=positive, beta=betas)
def test_divergence_is_nonnegative_and_zero_only_where_y_fits(loss, x, y, beta):
    loss = loss_of(loss, beta)
    x = in_range(loss, x)
    fitting = float(loss.fitting(np.array(x)))
    assert loss.value(x, fitting) == pytest.approx(0.0, abs=1e-12 * scale_of(loss, x, fitting))
    assert loss.value(x, y) >= -1e-12 * scale_of(loss, x, y)
    if abs(fitting - y) > 0.05 * max(fitting, y) and min(x, y) > 0.01 and max(x, y) < 100:
        assert loss.value(x, y) > 0


@every_loss
@given(x=st.one_of(st.just(0.0), positive), y=positive, beta=betas)
def test_derivative_matches_finite_differences(loss, x, y, beta):
    loss = loss_of(loss, beta)
    assume(x > 0 or not loss.needs_positive_data)
    x = in_range(loss, x)
    step = 1e-5 * y
    slope = (loss.value(x, y + step) - loss.value(x, y - step)) / (2 * step)
    f, p = loss.functions, loss.parameter
    scale = f.push(1.0, y, p) + f.pull(x, y, p)
    # What the difference quotient itself loses: digits of d.
    lost = 1e-14 * (scale_of(loss, x, y) if x > 0 else loss.value(0.0, y) + 1) / step
    assert loss.gradient(np.array([[x]]), np.array([[y]]))[0, 0] == pytest.approx(
        slope, abs=2e-5 * scale + lost
    )


@every_loss
@given(x=positive, y=positive, beta=betas, factor=st.floats(0.0, 5.0))
def test_pull_and_drag_are_proportional_to_the_datum(loss, x, y, beta, factor):
    loss = loss_of(loss, beta)
    f, p = loss.functions, loss.parameter
    for part in (f.pull, f.drag):
        if part is not None:
            assert part(factor * x, y, p) == pytest.approx(factor * part(x, y, p), rel=1e-12)
    assert f.push(1.0, y, p) >= 0


@pytest.mark.parametrize("special", [0.0, 1.0, 2.0])
@given(x=positive, y=positive)
def test_family_is_continuous_in_beta(special, x, y):
    at, near = BetaDivergence(special).value(x, y), BetaDivergence(special + 1e-6).value(x, y)
    assert near == pytest.approx(at, rel=1e-3, abs=1e-6 * (x + y) ** 2 + 1e-6)


def test_precision_is_kept_where_data_and_reconstruction_almost_agree():
    # Σ x log(x/y) − x + y would cancel to nothing here; d ≈ (x − y)² / (2 x).
    assert BetaDivergence(1.0).value(1e6, 1e6 + 1e-3) == pytest.approx(0.5e-12, rel=1e-3)
    # d ≈ (x − y)² / 2 · (1 / x − 1 / (x + r)).
    assert NegativeBinomial(1e-6).value(1e6, 1e6 + 1e-3) == pytest.approx(0.25e-12, rel=1e-3)


@given(x=st.integers(0, 50), y=positive)
def test_negative_binomial_is_kullback_leibler_without_dispersion(x, y):
    poisson = BetaDivergence(1.0).value(x, y)
    assert NegativeBinomial(1e-9).value(x, y) == pytest.approx(poisson, rel=1e-4, abs=1e-3)


@given(x=st.integers(0, 30), y=st.floats(0.1, 50), z=st.floats(0.1, 50), dispersion=st.floats(0.05, 5))
def test_negative_binomial_is_its_log_likelihood(x, y, z, dispersion):
    r, loss = 1 / dispersion, NegativeBinomial(dispersion)
    apart = stats.nbinom.logpmf(x, r, r / (r + z)) - stats.nbinom.logpmf(x, r, r / (r + y))
    assert loss.value(x, y) - loss.value(x, z) == pytest.approx(apart, rel=1e-8, abs=1e-8)


@given(x=st.booleans(), y=st.floats(0.01, 50))
def test_bernoulli_is_its_log_likelihood(x, y):
    p = float(Bernoulli().mean(np.array(y)))
    assert Bernoulli().value(float(x), y) == pytest.approx(-np.log(p if x else 1 - p), rel=1e-9)


def test_dispersion_is_estimated_from_counts():
    rng = np.random.default_rng(0)
    means = rng.gamma(2.0, 3.0, 20_000)
    for dispersion in (0.1, 0.5, 2.0):
        counts = rng.negative_binomial(1 / dispersion, 1 / (1 + dispersion * means))
        found = NegativeBinomial().estimate(counts, means, np.ones(len(counts)))
        assert found.dispersion == pytest.approx(dispersion, rel=0.1)
    counts = rng.poisson(means)
    assert NegativeBinomial().estimate(counts, means, np.ones(len(counts))).dispersion < 0.01


def test_dispersion_of_weighted_counts_is_that_of_repeated_ones():
    rng = np.random.default_rng(0)
    means = rng.gamma(2.0, 3.0, 2000)
    dispersions = np.repeat([0.1, 2.0], 1000)
    counts = rng.negative_binomial(1 / dispersions, 1 / (1 + dispersions * means))
    times = np.repeat([5, 1], 1000)
    weighted = NegativeBinomial().estimate(counts, means, times)
    repeated = NegativeBinomial().estimate(
        np.repeat(counts, times), np.repeat(means, times), np.ones(times.sum())
    )
    assert weighted.dispersion == pytest.approx(repeated.dispersion, rel=1e-6)
    X = counts[:600].reshape(60, 10).astype(float)
    times = np.repeat([3, 1], 30)
    settings = {"beta_loss": "nb", "tol": 1e-7, "max_iter": 5000}
    by_weight = NMF(2, **settings).fit(X, sample_weight=times).loss_.dispersion
    by_entry = NMF(2, **settings).fit(X, weights=np.repeat(times[:, None], 10, axis=1)).loss_.dispersion
    by_copies = NMF(2, **settings).fit(np.repeat(X, times, axis=0)).loss_.dispersion
    assert by_weight == pytest.approx(by_copies, rel=0.05)
    assert by_entry == pytest.approx(by_copies, rel=0.05)


def test_names_are_scikit_learns_and_ours():
    assert [as_loss(n).beta for n in ("frobenius", "kullback-leibler", "itakura-saito")] == [2, 1, 0]
    assert as_loss(1).name == "kullback-leibler"
    assert as_loss("kl") == as_loss(1)
    assert all(as_loss(name).name == name for name in REGISTRY)
    for wrong in ("gaussian", np.nan, None, [1]):
        with pytest.raises(ValueError, match="beta_loss must be"):
            as_loss(wrong)
    with pytest.raises(ValueError, match="dispersion above 0"):
        NegativeBinomial(0.0)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1e-3, 1e22),
    st.floats(-8.0, 8.0).filter(lambda power: abs(power) > 1e-6),
    st.floats(-4.0, 6.0),
)
def test_the_negative_binomial_deviance_keeps_its_digits_at_any_count(x, power, size):
    """Large counts differ from their means by numbers that the printed form rounds away."""
    y, r = x * 10.0**power, 10.0**size
    with decimal.localcontext(decimal.Context(prec=80)):
        a, b, c = decimal.Decimal(x), decimal.Decimal(y), 1 / decimal.Decimal(1 / r)
        exact = a * (a / b).ln() - (a + c) * ((a + c) / (b + c)).ln()
    found = NegativeBinomial(dispersion=1 / r).value(np.array([x]), np.array([y]))
    # (y itself is rounded, and d is as flat as its minimum there.)
    near = 1e-14 / min(1.0, abs(y / x - 1.0))
    assert found == pytest.approx(float(exact), rel=1e-12 + near)
