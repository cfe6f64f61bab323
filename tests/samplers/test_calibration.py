"""Calibration: an exact sampler passes, a wrong one fails, in both tests."""

from dataclasses import replace

import numpy as np
import pytest
from walks import case

from partwise.samplers.calibration import CASES, calibrate, corrected, make_case, report_table, uniformity


def test_an_exact_sampler_passes_and_a_wrong_one_fails():
    good = calibrate("right", case(), n_simulations=200, n_draws=39, n_steps=4000)
    assert good.passed
    bad = calibrate("wrong", case(wrong=0.7), n_simulations=200, n_draws=39, n_steps=4000)
    ranks, moments = bad.smallest
    assert ranks < 0.01
    assert moments < 0.01
    assert not bad.passed
    table = report_table([good, bad])
    assert "| `right` | 200 × 39 | 2 |" in table
    assert table.endswith("FAILS |")


def test_uniform_ranks_have_uniform_pvalues():
    rng = np.random.default_rng(0)
    found = [uniformity(rng.integers(0, 100, 200), 99) for _ in range(300)]
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.06)
    assert uniformity(np.full(200, 3), 99) < 1e-10
    assert (
        uniformity(np.arange(7).repeat(30), 6, bins=3) > 0.5
    )  # bins of unequal width are expected to differ


def test_correction_is_for_the_number_of_quantities():
    assert corrected({"a": 0.02, "b": 0.5}) == pytest.approx(0.04)
    assert corrected({}) == 1.0


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_registered_sampler_passes_a_small_calibration(name):
    # Geweke's chain needs thousands of steps (`make calibration`); here only that it runs.
    quick = replace(make_case(name), n_warmup=60, thin=5)
    found = calibrate(name, quick, n_simulations=20, n_draws=19, n_steps=40)
    assert (found.n_simulations, len(found.joint_pvalues)) == (20, 2 * len(found.rank_pvalues))
    assert corrected(found.rank_pvalues) > 1e-3
