"""Laws of losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import BETAS

from partwise.losses import BetaDivergence, as_loss

positive = st.floats(1e-3, 1e3)
betas = st.one_of(st.sampled_from(BETAS), st.floats(-2.0, 4.0))


@given(x=positive, y=positive, beta=betas)
def test_divergence_is_nonnegative_and_zero_only_at_equality(x, y, beta):
    loss = BetaDivergence(beta)
    beta = loss.beta
    scale = max(x, y) ** beta + min(x, y) ** beta
    if beta not in (0, 1):
        scale *= 1 + 1e-3 / abs(beta * (beta - 1))
    assert loss.value(x, x) == pytest.approx(0.0, abs=1e-12 * scale)
    assert loss.value(x, y) >= -1e-12 * scale
    if abs(x - y) > 0.01 * max(x, y):
        assert loss.value(x, y) > 0


@given(x=st.one_of(st.just(0.0), positive), y=positive, beta=betas)
def test_derivative_matches_finite_differences(x, y, beta):
    if x == 0.0 and BetaDivergence(beta).needs_positive_data:
        return
    loss = BetaDivergence(beta)
    step = 1e-5 * y
    slope = (loss.value(x, y + step) - loss.value(x, y - step)) / (2 * step)
    scale = y ** (beta - 1) + x * y ** (beta - 2)
    # What the difference quotient itself loses: digits of d, which near β = 0 and 1 is divided by β (β − 1).
    beta = loss.beta
    terms = x**beta + y**beta + x * y ** (beta - 1) if x > 0 else y**beta
    lost = 1e-15 * terms / step / (1.0 if beta in (0, 1) else min(1.0, abs(beta * (beta - 1))))
    assert loss.gradient(np.array([[x]]), np.array([[y]]))[0, 0] == pytest.approx(
        slope, abs=2e-5 * scale + lost
    )


@pytest.mark.parametrize("special", [0.0, 1.0, 2.0])
@given(x=positive, y=positive)
def test_family_is_continuous_in_beta(special, x, y):
    at, near = BetaDivergence(special).value(x, y), BetaDivergence(special + 1e-6).value(x, y)
    assert near == pytest.approx(at, rel=1e-3, abs=1e-6 * (x + y) ** 2 + 1e-6)


def test_kl_keeps_precision_where_data_and_reconstruction_almost_agree():
    # Σ x log(x/y) − x + y would cancel to nothing here; d ≈ (x − y)² / (2 x).
    assert BetaDivergence(1.0).value(1e6, 1e6 + 1e-3) == pytest.approx(0.5e-12, rel=1e-3)


def test_names_are_scikit_learns():
    assert [as_loss(n).beta for n in ("frobenius", "kullback-leibler", "itakura-saito")] == [2, 1, 0]
    assert as_loss(1).name == "kullback-leibler"
    for wrong in ("poisson", np.nan, None, [1]):
        with pytest.raises(ValueError, match="beta_loss must be"):
            as_loss(wrong)
