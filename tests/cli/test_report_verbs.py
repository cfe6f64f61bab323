"""The verbs that show results: tree, and pictures in fit."""

import csv
import json

import numpy as np
import pytest
from calling import call

from partwise import TopicTree, load
from partwise.datasets import load_digits
from partwise.io import read, write_csv


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    digits = load_digits()
    write_csv(folder / "d.csv", digits.data[:120], None, list(digits.feature_names))
    assert call("fit", folder / "d.csv", "-k", 5, "-o", folder / "o", "-q", "--shape", "8x8") == 0
    return folder / "o"


def test_tree_of_a_folder_is_that_of_python(fitted, tmp_path, capsys):
    capsys.readouterr()
    assert call("tree", fitted, "-o", tmp_path, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    model = load(fitted / "model.partwise")
    tree = TopicTree().fit(model, W=read(fitted / "W.csv").data)
    assert said["n_nodes"] == len(tree.nodes_)
    flare = json.loads((tmp_path / "tree.json").read_text())
    assert [one["word"] for one in flare["words"]] == [word for word, _ in tree.nodes_[0].words]
    with (tmp_path / "tree.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(tree.nodes_) - 1
    assert set(said["files"]) == {path.name for path in tmp_path.iterdir()}
    assert {"sunburst.html", "sunburst.png"} <= set(said["files"])


def test_tree_of_a_model_compares_words(fitted, tmp_path, capsys):
    model = fitted / "model.partwise"
    assert call("tree", model, "-o", tmp_path / "t", "--json") == 0
    assert json.loads(capsys.readouterr().out)["similarity"] == "words"
    assert call("tree", model, "-o", tmp_path / "t", "--similarity", "documents") == 2
    assert "use --similarity words" in capsys.readouterr().err
    assert call("tree", model, "-o", tmp_path / "t", "--method", "divisive") == 2
    assert "in Python" in capsys.readouterr().err
    assert call("tree", tmp_path, "-o", tmp_path / "t") == 2
    assert "holds no summary.json" in capsys.readouterr().err


def test_pictures_of_a_fit_are_in_its_report(fitted, tmp_path, capsys):
    summary = json.loads((fitted / "summary.json").read_text())
    assert summary["meta"] == {"image_shape": [8, 8]}
    kept = json.loads((fitted / "report.json").read_text())
    assert kept["shape"] == [8, 8]
    page = (fitted / "report.html").read_text()
    assert page.count('class="part"') == 5
    np.savetxt(tmp_path / "x.csv", np.ones((4, 6)), delimiter=",")
    assert call("fit", tmp_path / "x.csv", "-k", 2, "--shape", "2x2", "-o", tmp_path / "o") == 2
    assert "--shape 2x2 has 4 pixels, but rows have 6 columns" in capsys.readouterr().err
    assert call("report", fitted, "-o", tmp_path) == 2
    assert "is a folder" in capsys.readouterr().err
    assert call("report", fitted, "-o", tmp_path / "no" / "x.html") == 2
    assert "does not exist" in capsys.readouterr().err
