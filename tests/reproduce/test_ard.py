"""The experiments on priors and sparse codes, on a small scale."""

import json

import numpy as np
import pytest

from partwise.reproduce import ard
from partwise.reproduce.digits import zeros
from partwise.reproduce.map import PAIRS, complete_faces


def test_planted_ranks_are_counted(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(ard, "RANKS", (2,))
    monkeypatch.setattr(ard, "SHAPE", (40, 30))
    monkeypatch.setattr(ard, "PLANTED", (("counts", 0.5, 20.0),))
    found = ard.reproduce_ard(tmp_path, n_seeds=2, largest=6, quick=True)
    kept = json.loads((tmp_path / "ard.json").read_text())
    assert [row["norm"] for row in kept["planted"]] == ["l1", "l2"]
    for row in found["planted"]:
        assert row["exact"] == np.mean(np.array(row["found"]) == 2) == 1.0
    assert "rank 2 100 %" in found["lines"][1]
    assert (tmp_path / "ard.png").exists()


def test_shapes_below_one_have_more_zeros_in_the_factor_they_are_on():
    X = np.random.default_rng(0).poisson(4.0, (30, 20)).astype(float)
    rows = {(row["shape_W"], row["shape_H"]): row for row, _ in complete_faces(X, 4, 1.0, 60, 0)}
    assert set(rows) == set(PAIRS)
    assert rows[0.5, 1.0]["zeros_W"] > rows[4.0, 1.0]["zeros_W"] == 0.0
    assert rows[1.0, 0.5]["zeros_H"] > rows[1.0, 4.0]["zeros_H"] == 0.0


def test_zeros_are_counted():
    assert zeros(np.array([[0.0, 1.0, 0.005, 1.0]])) == {"zero": 0.25, "negligible": 0.5}
