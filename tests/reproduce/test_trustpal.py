"""The experiment about false discoveries, on a small scale."""

import json

import numpy as np

from partwise.reproduce import trustpal


def test_false_tiles_are_counted_by_method(tmp_path, monkeypatch):
    monkeypatch.setattr(trustpal, "SHAPE", (60, 50))
    monkeypatch.setattr(trustpal, "PLANTED", 3)
    monkeypatch.setattr(trustpal, "SHARES", (0.3,))
    monkeypatch.setattr(trustpal, "NOISE", ((0.02, 0.1),))
    found = trustpal.reproduce_trustpal(tmp_path, tables=2)
    assert json.loads((tmp_path / "trustpal.json").read_text())["tables"] == found["tables"]
    rows = {(row["tables"].split(",")[0], row["method"]): row for row in found["rows"]}
    assert rows["noise", "TrustPal"]["tiles"] == rows["noise", "search, tested"]["tiles"] == 0
    assert rows["noise", "search"]["tables_with_false"] == 2
    assert rows["planted", "TrustPal"]["planted_found"] == 3
    assert rows["planted", "TrustPal"]["false"] == 0


def test_a_tile_is_false_where_the_ones_it_adds_are_noise():
    clean = np.zeros((8, 6), bool)
    clean[:4, :3] = True
    noisy = clean.copy()
    noisy[5:, 4:] = True

    class Two:
        components_ = np.array([[True] * 3 + [False] * 3, [False] * 4 + [True] * 2])

        def fit_transform(self, X):
            rows = np.arange(8)
            return np.array([rows < 4, rows > 4]).T

    planted = trustpal.areas(Two().fit_transform(None)[:, :1], Two.components_[:1])
    assert trustpal.judged(Two(), noisy, clean, planted) == {"tiles": 2, "false": 1, "planted_found": 1}
