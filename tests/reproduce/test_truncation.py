"""The bias of σ² under truncation is that of truncated EM itself."""

import numpy as np
import pytest

from partwise.reproduce.truncation import enumerated, reproduce_truncation, states


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_come_to_the_variance_of_an_em_over_a_table_of_states(tmp_path):
    found = reproduce_truncation(tmp_path, n_samples=500)
    for row in found["rows"][2:]:
        assert row["variance"] == pytest.approx(row["enumerated"], rel=0.02), row
    over = [row["variance"] / found["true"] for row in found["rows"]]
    assert over[2] > 2.0, "with 3 of 8 bars much is left out"
    assert over[-1] == pytest.approx(1.0, abs=0.02), "the exact E-step leaves nothing out"
    assert (np.diff(over) < 1e-3).all(), "the more states, the less is taken for noise"
    assert (tmp_path / "truncation.json").exists()


def test_where_no_sample_has_more_parts_nothing_is_added():
    rng = np.random.default_rng(0)
    W = 10.0 * np.eye(4)
    S = states(4, 2)
    X = S[rng.integers(len(S), size=800)] @ W + rng.standard_normal((800, 4))
    assert len(S) == 1 + 4 + 6
    assert enumerated(X, W, 0.4, 2, 1.0) == pytest.approx(1.0, rel=0.1)
