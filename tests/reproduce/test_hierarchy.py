"""The experiment on topic trees, on a small corpus with planted families."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from partwise.reproduce import hierarchy


@pytest.fixture
def corpus(monkeypatch):
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(6), 40)
    names = np.array(["comp.a", "comp.b", "rec.a", "rec.b", "alt.a", "talk.b"])
    H = np.kron(np.eye(6), np.ones((1, 6))) + np.kron(np.eye(3), np.ones((2, 12))) * 0.3
    counts = sp.csr_array(rng.poisson(3 * H[target]).astype(float))
    words = np.array([f"word{j}" for j in range(36)])
    data = Bunch(data=counts, target=target, target_names=names, feature_names=words)
    monkeypatch.setattr(hierarchy, "fetch_20newsgroups", lambda: data)


def test_every_method_is_measured_and_the_tree_is_written(corpus, tmp_path):
    summary = hierarchy.reproduce_hierarchy(tmp_path, components=6, seeds=1)
    assert len(summary["table"]) == 9
    best = summary["table"][0]
    assert best["purity"] > best["purity_by_chance"]
    flare = json.loads((tmp_path / "tree.json").read_text())
    assert sorted(flare["topics"]) == list(range(6))
    lines = (tmp_path / "tree.txt").read_text().splitlines()
    assert sum("[" in line for line in lines) == 6
    divided = next(row for row in summary["table"] if row["method"].startswith("divisive"))
    assert divided["purity"] > divided["purity_by_chance"]
    assert len(summary["labelled"]["importance"]) == 6
    for name in ("importance_range.png", "importance_rank.png", "classes.png", "report.html"):
        assert (tmp_path / name).stat().st_size > 1000
    assert (tmp_path / "topics.csv").read_text().startswith("rank,topic 0,topic 1")
