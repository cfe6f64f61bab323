"""The scale move: W H stays, and the priors alone decide how a component's size is shared."""

import numpy as np
import pytest

from partwise.samplers import mcse_mean
from partwise.samplers.scale_move import scale_move


def move(A, B, rng, upper=(np.inf, np.inf), quadratic=0.0):
    zero = np.zeros(A.shape[1])
    sums = [(F.sum(axis=0), quadratic * (F * F).sum(axis=0) + zero) for F in (A, B)]
    return scale_move(A, B, float(len(A) - len(B)), *sums, upper, rng)


def test_the_product_does_not_change():
    rng = np.random.default_rng(0)
    A, B = rng.exponential(1.0, (9, 3)), rng.exponential(1.0, (5, 3))
    product = A @ B.T
    shares = move(A, B, rng, quadratic=0.5)
    assert np.any(shares != 1.0)
    assert np.allclose(A @ B.T, product)


@pytest.mark.parametrize("quadratic", [0.0, 0.7])
def test_the_share_has_the_density_that_the_priors_give_it(quadratic):
    rng = np.random.default_rng(1)
    A, B = 3.0 * rng.exponential(1.0, (4, 1)), rng.exponential(1.0, (2, 1))
    s = np.linspace(-6.0, 6.0, 4001)
    level = (
        2.0 * s
        - A.sum() * np.exp(s)
        - B.sum() * np.exp(-s)
        - 0.5 * quadratic * ((A**2).sum() * np.exp(2 * s) + (B**2).sum() * np.exp(-2 * s))
    )
    weight = np.exp(level - level.max())
    weight /= weight.sum()
    start, seen = np.log(A[0, 0]), []
    for _ in range(4000):
        move(A, B, rng, quadratic=quadratic)
        seen.append(np.log(A[0, 0]) - start)
    draws = np.array(seen)
    for power in (1, 2):
        error = mcse_mean(draws[None] ** power)
        assert abs((draws**power).mean() - (weight * s**power).sum()) < 5.0 * error


def test_bounds_are_kept_and_what_has_no_mode_is_left_alone():
    rng = np.random.default_rng(2)
    A, B = rng.random((50, 2)), rng.random((4, 2))
    for _ in range(50):
        move(A, B, rng, upper=(1.0, 1.0))
        assert max(A.max(), B.max()) <= 1.0 + 1e-12
    none = np.zeros(2), np.zeros(2)
    assert (scale_move(A, B, 46.0, none, none, (np.inf, np.inf), rng) == 1.0).all()
