"""The coverage experiment, on a small scale: what it says of intervals is what the intervals do."""

import json

import numpy as np
import pytest

from partwise.reproduce import coverage


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_coverage_is_measured_on_simulated_data(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "SIZES", ((20, 15, 2),))
    found = coverage.reproduce_coverage(tmp_path, n_sets=2, n_draws=150, n_chains=2)
    kept = json.loads((tmp_path / "coverage.json").read_text())
    assert kept["level"] == 0.9
    for kind in found["coverage"]:
        assert 0.7 < np.mean([one["covered"] for one in kind["sets"]]) <= 1.0
    assert len(found["lines"]) == 3


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
def test_data_come_from_the_model(likelihood):
    rng = np.random.default_rng(0)
    X, clean = coverage.simulated(likelihood, 300, 200, 3, rng)
    assert (X - clean).mean() == pytest.approx(0.0, abs=0.02)
    if likelihood == "poisson":
        assert np.mean((X - clean) ** 2 / np.maximum(clean, 1e-3)) == pytest.approx(1.0, rel=0.1)
