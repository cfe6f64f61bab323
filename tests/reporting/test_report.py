"""What a report says: every kind of model, folders, bounds on its size, bad input."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from calling import call
from reporting.cases import HOSTILE, KINDS, case, words

import partwise
from partwise import NMF, TopicTree, report
from partwise.io import write_csv
from partwise.reporting import limits
from partwise.reporting.content import content
from partwise.reporting.kept import keep, kept_labels, table_rows, top_samples
from partwise.reporting.page import embedded, page
from partwise.reporting.source import Source, from_folder, from_model


def section_of(shown, name):
    return next(one for one in shown["sections"] if one["id"] == name)


def block_of(shown, name, kind):
    return next(one for one in section_of(shown, name)["blocks"] if one["block"] == kind)


class Seen(HTMLParser):
    """The elements of a page, its attributes, and the texts outside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.inside = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attributes]
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, text):
        if not self.inside or self.inside[-1] not in ("script", "style"):
            self.texts.append(text)


@pytest.mark.parametrize("name", KINDS)
def test_every_model_has_a_page_from_plain_data(name):
    model, given = case(name)
    shown = report(model, **given).content
    assert json.loads(json.dumps(shown, allow_nan=True)) == shown
    ids = [one["id"] for one in shown["sections"]]
    assert ids[:3] == ["done", "convergence", "parts"]
    cards = block_of(shown, "parts", "cards")["cards"]
    parts = getattr(model, getattr(model, "parts_attribute", "components_"))
    assert len(cards) == len(parts)
    assert all(card["picture"] if name == "digits" else card["bars"] for card in cards)
    assert {"data_hash", "seed"} <= set(model.summary()) | {"data_hash", "seed"}
    facts = {one["label"]: one["value"] for one in block_of(shown, "done", "facts")["items"]}
    assert f"partwise {partwise.__version__}" in facts["versions"]
    assert "scikit-learn" in facts["versions"]


def test_sections_for_what_only_some_models_have():
    boolean, given = case("boolean")
    shown = report(boolean, **given).content
    codes = np.array(block_of(shown, "tiles", "figure")["data"][0]["z"])
    wrong = int(((codes == 1) | (codes == 2)).sum())
    covered = (boolean.transform(given["X"]).astype(int) @ boolean.components_.astype(int)) > 0
    assert wrong == int((covered != (given["X"] == 1)).sum()) == boolean.reconstruction_err_
    binary, given = case("binary")
    cards = block_of(report(binary, **given).content, "parts", "cards")["cards"]
    on = (binary.transform(given["X"]) > 0.5).mean(axis=0)
    assert [card["on"]["share"] for card in cards] == pytest.approx(on.tolist())
    mixture, given = case("mixture")
    cards = block_of(report(mixture, **given).content, "parts", "cards")["cards"]
    assert {card["sentence"].split(",")[0] for card in cards} == {
        "of class red",
        "of class green",
        "of class blue",
    }


def test_checks_are_shown_where_they_were_computed_and_said_where_not():
    model, given = case("nmf")
    plain = section_of(report(model, **given).content, "checks")["blocks"]
    assert [one["block"] for one in plain] == ["heading", "text"] * 4
    more = {
        "comparison": [{"method": "NMF", "error": 1.0}, {"method": "PCA", "error": 0.5}],
        "rank_curve": {"parts": [1, 2, 3], "error": [3.0, 2.0, 1.5]},
        "uncertainty": {"interval": 0.9},
    }
    found = section_of(report(model, **given, **more).content, "checks")["blocks"]
    assert [one["block"] for one in found[1::2]] == ["table", "figure", "text", "facts"]
    assert found[3]["data"][0]["y"] == [3.0, 2.0, 1.5]


def test_samples_are_sorted_by_use_and_a_large_table_is_thinned_and_said_so(monkeypatch):
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (400, 5))
    for j, chosen in enumerate(top_samples(W, 7)):
        assert chosen == np.argsort(-W[:, j], kind="stable")[:7].tolist()
    assert top_samples(np.zeros((3, 2))) == [[], []]
    monkeypatch.setattr("partwise.reporting.kept.SAMPLES", 100)
    monkeypatch.setattr("partwise.reporting.sections.samples.SAMPLES", 100)
    rows = table_rows(W)
    assert len(rows) == len(set(rows.tolist())) <= 100
    assert {one for chosen in top_samples(W, 10) for one in chosen} <= set(rows.tolist())
    model = NMF(5, max_iter=5, tol=0).fit(W @ rng.random((5, 8)))
    shown = report(model, W @ rng.random((5, 8)), W=W).content
    made = block_of(shown, "samples", "table")
    assert len(made["rows"]) <= 100
    assert "of 400 samples" in made["note"]


def test_a_hundred_thousand_samples_stay_small():
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (100_000, 8))
    model = NMF(8, max_iter=2, tol=0).fit(rng.random((50, 30)))
    shown = report(model, W=W, row_names=[f"sample {i}" for i in range(len(W))], y=rng.integers(0, 4, len(W)))
    assert len(shown.html) < 6.5e6
    assert len(block_of(shown.content, "samples", "table")["rows"]) == limits.SAMPLES
    assert len(block_of(shown.content, "usage", "figure")["data"][0]["z"]) == limits.HEAT_ROWS


def test_names_are_text_everywhere():
    model, given = case("hostile")
    made = report(model, **given)
    seen = Seen(made.html)
    assert seen.tags.count("script") == 6  # theme, data, tables, plotly, charts, tree; and none besides
    assert not [one for one in seen.attributes if one[1].startswith("on")]
    assert "i" not in seen.tags
    links = [value for _, name, value in seen.attributes if name in ("href", "src") and value]
    assert all(value.startswith(("#", "data:")) for value in links)
    text = "".join(seen.texts)
    for name in (HOSTILE[0], HOSTILE[3], "שלום עולם", "🦉🧬 emoji", "{{ 7 * 7 }}"):
        assert name in text, name
    assert "x" * 700 not in text
    data = re.search(r'id="page-data">(.*?)</script>', made.html, re.S).group(1)
    assert not set("<>&") & set(data)
    assert json.loads(data)["tables"]["samples"]["rows"]


def test_json_in_a_page_cannot_end_its_script():
    for text in HOSTILE:
        made = embedded({"a": text})
        assert "<" not in made
        assert json.loads(made) == {"a": text}


def test_texts_and_pictures_of_the_leading_samples():
    model, given = case("texts")
    shown = report(model, **given).content
    W = model.transform(given["X"])
    first = block_of(shown, "parts", "cards")["cards"][0]["samples"][0]
    assert first["name"] == f"row{W[:, 0].argmax()}"
    assert given["texts"][W[:, 0].argmax()].split()[0] in first["text"]
    model, given = case("digits")
    cards = block_of(report(model, **given).content, "parts", "cards")["cards"]
    assert cards[0]["samples"][0]["picture"].startswith("data:image/png;base64,")


def test_folder_and_memory_show_the_same(tmp_path, capsys):
    X, names, _ = words()
    write_csv(tmp_path / "d.csv", X, [f"d{i}" for i in range(len(X))], names, corner="id")
    assert call("fit", tmp_path / "d.csv", "-k", 4, "-o", tmp_path / "o", "-q") == 0
    first = (tmp_path / "o" / "report.html").read_text()
    assert call("report", tmp_path / "o", "-o", tmp_path / "again.html") == 0
    assert (tmp_path / "again.html").read_text() == first
    capsys.readouterr()
    assert call("report", tmp_path / "o", "--title", "<i>T</i>", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["title"] == "<i>T</i>"
    assert "&lt;i&gt;T&lt;/i&gt;" in (tmp_path / "o" / "report.html").read_text()
    kept = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert {"versions", "seed", "data_hash", "finished", "seconds"} <= set(kept)


def test_no_report_where_it_is_not_wanted_or_cannot_be_made(tmp_path, capsys, monkeypatch):
    X, names, _ = words()
    write_csv(tmp_path / "d.csv", X, None, names)
    assert call("fit", tmp_path / "d.csv", "-k", 2, "-o", tmp_path / "o", "-q", "--no-report") == 0
    assert not list((tmp_path / "o").glob("report*"))
    assert "report" not in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    assert call("fit", tmp_path / "d.csv", "-k", 2, "-o", tmp_path / "p", "-q") == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Note: report.html not written. A report needs plotly, jinja2 and pillow: pip install" in said
    assert not list((tmp_path / "p").glob("report*"))
    assert call("report", tmp_path / "p") == 2
    assert 'pip install "partwise[report]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("nowhere", "is no folder of results"),
        (".", "holds no summary.json"),
    ],
)
def test_a_folder_that_is_no_result(what, sentence, tmp_path, capsys):
    assert call("report", tmp_path / what) == 2
    assert sentence in capsys.readouterr().err


def test_damaged_results_are_one_sentence(tmp_path, capsys):
    for text in ("{", "[]", "\xff"):
        (tmp_path / "summary.json").write_text(text, encoding="latin-1")
        assert call("report", tmp_path) == 2
        assert "is no JSON that partwise wrote" in capsys.readouterr().err


def test_a_folder_of_other_results_has_a_page_too(tmp_path):
    summary = {"kind": "other", "figures": {"a": 1}, "comparison": [{"m": "x", "e": 1.0}]}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    shown = content(from_folder(tmp_path))
    assert "no parts" in block_of(shown, "parts", "text")["text"]
    assert "<h1>" in page(shown)


def test_bad_input_is_a_sentence():
    from sklearn.preprocessing import StandardScaler

    X = words()[0]
    with pytest.raises(ValueError, match="has no components to report on"):
        report(StandardScaler().fit(X), X)
    with pytest.raises(TypeError, match="a fitted model or a folder"):
        report(X)
    with pytest.raises(ValueError, match="not fitted"):
        report(NMF(2), X)
    model = NMF(2, max_iter=20).fit(X)
    with pytest.raises(ValueError, match="has 12 pixels; samples have 24"):
        report(model, X, shape=(3, 4))
    with pytest.raises(ValueError, match="3 labels were given for 60 samples"):
        report(model, X, y=[1, 2, 3])
    with pytest.raises(ValueError, match="2 row_names were given for 60"):
        report(model, X, row_names=["a", "b"])
    with pytest.raises(ValueError, match="1 texts were given for 60"):
        report(model, X, texts=["a"])


def test_single_identical_and_empty_parts_are_said():
    X = words()[0]
    one = section_of(report(NMF(1, max_iter=20).fit(X), X).content, "tree")
    assert "single part" in one["blocks"][0]["text"]
    model = NMF(3, max_iter=20).fit(X)
    model.components_ = np.tile(model.components_[:1], (3, 1))
    assert section_of(report(model, X, W=np.ones((60, 3))).content, "tree")["blocks"][0]["block"] == "tree"
    model.components_ = np.zeros_like(model.components_)
    shown = report(model, W=np.zeros((60, 3))).content
    assert "empty" in section_of(shown, "tree")["blocks"][0]["text"]
    assert block_of(shown, "parts", "cards")["cards"][0]["bars"] == []
    assert page(shown)


def test_class_sunbursts_are_the_tree_with_the_weights_of_their_documents():
    model, given = case("semisupervised")
    W, y = model.transform(given["X"]), given["y"]
    shown = report(model, **given).content
    block = block_of(shown, "tree", "tree")
    assert block["by_importance"]
    assert [one["name"] for one in block["classes"]] == ["blue", "green", "red"]
    tree = TopicTree().fit(model, W=W, feature_names=given["feature_names"])
    for one in block["classes"]:
        chosen = np.array([label == one["name"] for label in y])
        own = tree.reweighted(W[chosen])
        assert one["weights"] == pytest.approx([node.weight for node in own.nodes_], abs=1e-6)
        assert one["size"] == chosen.sum()


def test_keep_is_bounded_whatever_the_data():
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (20_000, 6))
    texts = ["word " * 2000] * len(W)
    made = keep(None, None, W, y=np.arange(len(W)) % 7, texts=texts)
    assert len(json.dumps(made)) < 3e6
    assert len(made["class_usage"]) == 7
    assert np.allclose(np.sum(made["class_usage"], axis=0), W.sum(axis=0))


def test_source_without_w_shows_parts_only():
    model, given = case("nmf")
    shown = content(from_model(model, feature_names=given["feature_names"]))
    assert "does not say" in block_of(shown, "samples", "text")["text"]
    assert "usage" not in [one["id"] for one in shown["sections"]]
    assert Source(None, {}).word == "part"


@pytest.mark.parametrize("unknown", [None, np.nan, pd.NA, "", "NA"])
def test_labels_that_are_not_known_are_no_class(unknown):
    found = kept_labels(np.eye(3), np.array(["a", unknown, "b"], dtype=object))
    assert found["classes"] == ["a", "b"]
    assert found["labels"]["1"] == ""
