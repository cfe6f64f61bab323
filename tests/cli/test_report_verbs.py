"""The verbs that show results: tree, and pictures in fit."""

import csv
import inspect
import json

import numpy as np
import pytest
from calling import call

from partwise import NMF, TopicTree, load, save
from partwise.cli.app import app
from partwise.cli.options import Output
from partwise.datasets import load_digits, load_karate
from partwise.io import read, write_csv
from partwise.reporting import report


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


def test_topics_weigh_in_a_tree_by_all_that_they_explain(tmp_path, capsys):
    """Long documents count for more: shares of topics in documents do not say how long these are."""
    texts = ["ship sail tide " * 20] * 4 + ["oven flour cake"] * 8
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    folder = tmp_path / "o"
    assert call("topics", tmp_path / "x.jsonl", "-k", 2, "--vectorizer", "count", "-o", folder, "-q") == 0
    assert call("tree", folder, "-o", tmp_path / "t") == 0
    weights = [node.weight for node in TopicTree().fit(load(folder / "model.partwise"), X=texts).nodes_[1:]]
    assert weights == pytest.approx([240 / 264, 24 / 264], abs=0.01)
    with (tmp_path / "t" / "tree.csv").open() as file:
        assert [float(row["weight"]) for row in csv.DictReader(file)] == pytest.approx(weights, abs=1e-3)
    assert call("tree", folder / "model.partwise", "-o", tmp_path / "m") == 0
    assert "all weigh alike" in capsys.readouterr().err


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


FOLDERS = ("fit", "tiles", "parts", "communities", "classify", "topics", "compare", "separate", "posterior")


def test_every_verb_with_a_folder_of_results_can_leave_the_report_out():
    verbs = {one.name: inspect.signature(one.callback).parameters for one in app.registered_commands}
    folders = {name for name, own in verbs.items() if "output" in own and own["output"].annotation == Output}
    assert folders == set(FOLDERS)
    assert {name for name, own in verbs.items() if "no_report" in own} == folders


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A small table with labels, texts, a network and a recording, as files."""
    from scipy.io import wavfile

    folder = tmp_path_factory.mktemp("raw")
    digits = load_digits()
    table = np.column_stack([digits.data, digits.target])[:80]
    write_csv(folder / "digits.csv", table, None, [*digits.feature_names, "label"])
    words = ("ball goal team", "vote law party", "film actor song")
    lines = [" ".join(words[i % 3].split() * (1 + i % 4)) for i in range(30)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n")
    edges = np.argwhere(np.triu(load_karate().adjacency.toarray()))
    (folder / "karate.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in edges))
    t = np.arange(8000) / 8000
    sound = np.where(t < 0.5, np.sin(2 * np.pi * 440 * t), np.sin(2 * np.pi * 660 * t))
    wavfile.write(folder / "two.wav", 8000, (20000 * sound).astype(np.int16))
    return folder


CALLS = {
    "topics": ["texts.txt", "-k", "3", "--min-df", "1", "-q"],
    "communities": ["karate.csv", "-k", "2", "-q"],
    "classify": ["digits.csv", "--labels", "label", "-k", "4", "--mixtures", "1", "-q"],
    "compare": ["digits.csv", "--drop", "label", "-k", "2", "--seeds", "1", "--methods", "nmf,svd", "-q"],
    "separate": ["two.wav", "-k", "2", "--n-init", "1", "-q"],
}


@pytest.mark.parametrize("verb", CALLS)
def test_a_page_made_again_from_the_folder_is_the_same(verb, raw, tmp_path):
    name, *more = CALLS[verb]
    assert call(verb, raw / name, *more, "-o", tmp_path) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"report.html", "report.json"} <= set(summary["files"])
    first = (tmp_path / "report.html").read_text()
    again = report(tmp_path)
    assert again.html == first
    ids = [section["id"] for section in again.content["sections"]]
    wanted = {"compare": "compared", "separate": "usage"}.get(verb, "samples")
    assert wanted in ids
    if verb == "separate":
        (parts,) = (one for one in again.content["sections"] if one["id"] == "parts")
        cards = parts["blocks"][0]["cards"]
        assert all(card["sound"].startswith("data:audio/wav;base64,") for card in cards)
        assert all(card["spectrum"]["path"].startswith("M0") for card in cards)
    assert call(verb, raw / name, *more, "-o", tmp_path, "--no-report") == 0
    # What an earlier run wrote would belong to nothing.
    assert not (tmp_path / "report.html").exists()
    assert "report.html" not in json.loads((tmp_path / "summary.json").read_text())["files"]


def test_separation_by_a_model_and_of_sources_has_players(raw, tmp_path):
    assert (
        call("separate", raw / "two.wav", "-k", 3, "--sources", 2, "--n-init", 1, "-q", "-o", tmp_path / "a")
        == 0
    )
    shown = {one["id"]: one for one in report(tmp_path / "a").content["sections"]}
    assert len(shown["sounds"]["blocks"][0]["players"]) == 2
    assert {card["sound"] for card in shown["parts"]["blocks"][0]["cards"]} == {None}
    model = tmp_path / "a" / "model.partwise"
    assert call("separate", raw / "two.wav", "--model", model, "-o", tmp_path / "b") == 0
    assert (tmp_path / "b" / "report.html").read_text().count("<audio") == 2


def test_tree_offers_only_what_it_builds_and_counts_in_words(tmp_path, capsys):
    save(NMF(1).fit(np.outer([1.0, 2, 3], [1.0, 2])), tmp_path / "one.partwise")
    assert call("tree", tmp_path / "one.partwise", "-o", tmp_path / "o") == 0
    assert "1 part in a tree of 1 node, 0 levels deep" in capsys.readouterr().out
    assert call("tree", tmp_path / "one.partwise", "-o", tmp_path / "o", "--method", "foo") != 0
    assert "--method must be linkage or threshold; got 'foo'" in capsys.readouterr().err
