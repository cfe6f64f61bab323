"""Laws of the bars test."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.datasets import make_bars


def test_defaults_are_the_published_test() -> None:
    bars = make_bars(random_state=0)
    assert bars.data.shape == (1000, 16)
    assert bars.components.shape == (8, 16)
    assert bars.latent.shape == (1000, 8)
    assert set(np.unique(bars.components)) == {0.0, 10.0}
    assert np.all(np.count_nonzero(bars.components, axis=1) == 4)
    assert bars.latent.sum(axis=1).mean() == pytest.approx(2.4, abs=0.2)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_horizontal_bars_come_first(size: int) -> None:
    bars = make_bars(3, size, value=2.0, random_state=0)
    images = bars.components.reshape(2 * size, size, size)
    for k in range(size):
        assert np.all(images[k, k] == 2.0)
        assert np.all(images[size + k, :, k] == 2.0)
        assert images[k].sum() == images[size + k].sum() == 2.0 * size


def test_bars_superpose_linearly() -> None:
    bars = make_bars(200, random_state=1)
    np.testing.assert_array_equal(bars.mean, bars.latent @ bars.components)
    assert bars.mean.max() == 20.0
    full = make_bars(1, 4, activation=1.0, noise=None, random_state=0)
    assert np.all(full.data == 20.0)


def test_without_noise_data_is_the_mean_but_not_the_same_array() -> None:
    bars = make_bars(20, noise=None, random_state=0)
    np.testing.assert_array_equal(bars.data, bars.mean)
    assert not np.shares_memory(bars.data, bars.mean)


def test_poisson_data_are_counts_with_the_right_mean_and_spread() -> None:
    bars = make_bars(20_000, random_state=2)
    assert bars.data.dtype == np.float64
    assert np.all(bars.data == np.round(bars.data))
    assert np.all(bars.data[bars.mean == 0] == 0)
    for level in (10.0, 20.0):
        drawn = bars.data[bars.mean == level]
        assert drawn.mean() == pytest.approx(level, rel=0.01)
        assert drawn.var() == pytest.approx(level, rel=0.03)


def test_random_state_decides_everything() -> None:
    first, second, other = (make_bars(50, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.latent, second.latent)
    assert not np.array_equal(first.data, other.data)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1, but 0 was given"),
        ({"n_samples": 2.5}, TypeError, "n_samples must be a whole number"),
        ({"size": 1}, ValueError, "size must be at least 2"),
        ({"activation": 1.5}, ValueError, r"activation must lie in \[0, 1\]"),
        ({"activation": float("nan")}, ValueError, "activation must lie in"),
        ({"value": 0.0}, ValueError, r"value must lie in \(0, inf\)"),
        ({"value": "much"}, TypeError, "value must be a number"),
        ({"noise": "gaussian"}, ValueError, "noise must be one of 'poisson', None"),
    ],
)
def test_bad_parameters_are_named(given: dict, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        make_bars(**given)
