"""Networks seen through their parts: what the table says is what the network does."""

import json

import numpy as np
import pytest
from calling import call

from partwise.reproduce.activations import prepared, purity, seen_through
from partwise.reproduce.small_networks import perceptron


def test_purity_is_the_share_of_the_class_that_uses_a_part_most():
    W = np.array([[3.0, 0, 1], [1, 0, 1], [0, 0, 2]])
    shares, classes = purity(W, np.array([4, 4, 7]))
    np.testing.assert_allclose(shares, [1.0, 0.5])
    assert classes.tolist() == [4, 4]


def test_a_layer_rebuilt_from_all_its_components_is_the_layer():
    images = prepared("digits", True, 0)
    network = perceptron(*images["train"], 5, 0)
    row = seen_through(network, "layer 3: 32 units", images, [4, 12, 32], 0)
    assert row["pca_accuracy"][-1] == row["accuracy"] == network.model.score(*images["test"])
    assert row["pca_relative_error"][-1] < 1e-5
    for method in ("nmf", "pca"):
        assert np.all(np.diff(row[f"{method}_relative_error"]) < 0)
    again = seen_through(network, "layer 3: 32 units", images, [4, 12, 32], 0)
    np.testing.assert_array_equal(row.pop("drawn"), again.pop("drawn"))
    assert row == again


def test_the_experiment_writes_a_page_and_a_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("partwise.reproduce.activations.has_torch", lambda: False)
    assert call("reproduce", "activations", "--quick", "-o", tmp_path, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert [row["layer"].split(":")[0] for row in summary["table"]] == [
        "pixels",
        "layer 1",
        "layer 2",
        "layer 3",
    ]
    assert all(0 <= share <= 1 for row in summary["table"] for share in row["nmf_accuracy"] + row["purities"])
    assert "ConvNet left out" in summary["lines"][-1]
    assert (tmp_path / "activations.png").stat().st_size > 10_000
    assert json.loads((tmp_path / "activations.json").read_text())["table"] == summary["table"]
    assert call("reproduce", "activations", "--data", "faces", "-o", tmp_path) == 2
    assert "--data must be digits or mnist" in capsys.readouterr().err


def test_a_convnet_is_seen_too():
    pytest.importorskip("torch")
    from partwise.reproduce.small_networks import convnet

    images = prepared("digits", True, 0)
    network = convnet(*images["train"], 3, 0)
    row = seen_through(network, "convolution 2: 32 maps of 2 × 2", images, [12, 64], 0)
    assert row["accuracy"] > 0.8
    assert row["pca_accuracy"][-1] == pytest.approx(row["accuracy"], abs=0.02)
    assert len(row["purities"]) == 12
