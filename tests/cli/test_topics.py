"""`partwise topics`: from raw texts to files one can read; what cannot be read is a sentence, and the run goes on."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from calling import call
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from partwise import NMF, load, save

SEA = ["wave", "sand", "boat", "fish", "salt", "harbour", "sail", "tide"]
FOOD = ["bread", "butter", "cheese", "soup", "pepper", "oven", "flour", "dinner"]


def texts(n=24, seed=0):
    rng = np.random.default_rng(seed)
    return [" and ".join(rng.choice((SEA, FOOD)[i % 2], 9)) for i in range(n)]


@pytest.fixture
def folder(tmp_path):
    """Texts in two folders, named by what they are about."""
    for i, text in enumerate(texts()):
        path = tmp_path / "texts" / ("sea", "food")[i % 2] / f"{i:02}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "texts"


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_folder_of_texts(folder, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("topics", folder, "-k", 2, "--labels", "folder", "-o", out, "-q", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert {path.name for path in out.iterdir()} == set(summary["files"])
    written = {"topics.csv", "documents.csv", "W.csv", "topics.png", "model.partwise", "summary.json"}
    assert set(summary["files"]) == written | {"report.html", "report.json"}
    assert summary["nmi"] == pytest.approx(1.0)
    assert summary["n_samples"] == 24
    words = rows((out / "topics.csv").read_text())
    assert list(words[0]) == ["topic", "rank", "word", "weight"]
    found = {frozenset(row["word"] for row in words if row["topic"] == name) for name in ("topic0", "topic1")}
    assert found == {frozenset(SEA), frozenset(FOOD)}
    shares = rows((out / "documents.csv").read_text())
    assert len(shares) == 24
    assert shares[0]["document"] == "food/01.txt"
    assert all(float(row["topic0"]) + float(row["topic1"]) == pytest.approx(1.0) for row in shares)
    assert len(summary["parts"][0]["documents"]) == 5


def test_the_model_reads_texts_again(folder, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("topics", folder, "-k", 2, "--seed-words", "meals=bread,soup", "-o", out, "-q") == 0
    assert "topic 0, meals: " in capsys.readouterr().out
    model = out / "model.partwise"
    table = tmp_path / "new.jsonl"
    table.write_text("\n".join(json.dumps({"who": f"d{i}", "what": text}) for i, text in enumerate(texts())))
    assert call("transform", model, table, "--columns", "what", "--id", "who") == 0
    made = rows(capsys.readouterr().out)
    assert list(made[0]) == ["row", "meals", "topic1"]
    assert made[3]["row"] == "d3"
    W = load(model).transform(texts())
    np.testing.assert_array_equal([[float(r["meals"]), float(r["topic1"])] for r in made], W)
    assert call("info", model) == 0
    assert "TopicModel with 2 topics" in capsys.readouterr().out
    assert call("transform", model, table, "--columns", "what", "--decimal", ",") == 2
    assert "--decimal does not apply to texts" in capsys.readouterr().err


def test_a_pipeline_that_begins_with_a_vectorizer_reads_texts_too(folder, tmp_path, capsys):
    pipeline = make_pipeline(TfidfVectorizer(), NMF(2)).fit(texts())
    save(pipeline, tmp_path / "pipe.partwise")
    assert call("transform", tmp_path / "pipe.partwise", folder) == 0
    assert len(rows(capsys.readouterr().out)) == 24


def test_documents_without_a_known_word_are_named_for_pipelines_too(tmp_path, capsys):
    kinds = ["sea" if i % 2 == 0 else "food" for i in range(24)]
    made = make_pipeline(TfidfVectorizer(), NMF(2), LogisticRegression()).fit(texts(), kinds)
    save(made, tmp_path / "pipe.partwise")
    (tmp_path / "new.txt").write_text(f"{texts()[0]}\nxylophone zeppelin\n")
    assert call("predict", tmp_path / "pipe.partwise", tmp_path / "new.txt") == 0
    said = capsys.readouterr()
    assert len(rows(said.out)) == 2
    assert (
        "Note: Documents without a word that the model knows: 1 of 2, number 1 (counted from 0)" in said.err
    )
    (tmp_path / "new.txt").write_text(texts()[0])
    assert call("predict", tmp_path / "pipe.partwise", tmp_path / "new.txt") == 0
    assert "Note" not in capsys.readouterr().err


def test_fit_with_the_model_of_topics(folder, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("fit", folder, "--model", "topics", "-k", 2, "-o", out, "-q") == 0
    header = (out / "topics.csv").read_text().splitlines()[0]
    assert set(header.split(",")[1:]) == {*SEA, *FOOD}


def test_a_column_stop_words_and_pairs(tmp_path, capsys):
    table = tmp_path / "t.csv"
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "kind"])
        writer.writerows([i, f"und {text} foo", ("sea", "food")[i % 2]] for i, text in enumerate(texts()))
    (tmp_path / "stop.txt").write_text("foo\nbar, baz")
    out = tmp_path / "o"
    options = (
        "--language",
        "german",
        "--stop-words",
        tmp_path / "stop.txt",
        "--ngrams",
        2,
        "--max-df",
        "1.0",
    )
    assert call("topics", table, "-k", 2, *options, "--labels", "kind", "--id", "id", "-o", out, "-q") == 0
    said = capsys.readouterr()
    assert "the column 'text'" in said.err
    words = {row["word"] for row in rows((out / "topics.csv").read_text())}
    assert not words & {"foo", "und"}
    assert any(" " in word for word in words)
    assert [row["document"] for row in rows((out / "documents.csv").read_text())][:2] == ["0", "1"]


def test_what_is_no_text_is_listed_and_the_run_goes_on(folder, tmp_path, capsys):
    (folder / "binary.txt").write_bytes(b"\0\1\2" * 100)
    (folder / "numbers.txt").write_text("1 2 3")
    out = tmp_path / "o"
    assert call("topics", folder, "-k", 2, "-o", out, "-q") == 0
    said = capsys.readouterr()
    assert "skipped as no text, 1 in all: binary.txt (holds binary data)" in said.err
    assert "Documents without a word of the vocabulary" in said.err
    assert "without a topic: numbers.txt" in said.out
    assert call("topics", folder, "-k", 2, "-o", out, "-q", "--strict") == 2
    assert "binary.txt is not readable text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--language", "germn"), "Did you mean german"),
        (("--min-df", "many"), "--min-df must be a number of documents"),
        (("--max-df", "1.5"), "--max-df must be a number of documents, or a share between 0 and 1"),
        (("--min-df", "500"), "no words are left of 24 documents"),
        (("--seed-words", "alone"), "--seed-words takes NAME=WORD,WORD"),
        (("--seed-words", "a=sand", "--seed-words", "a=tide"), "names 'a' twice"),
        (("--seed-words", "a=nowhere"), "None of the seed words"),
        (("--vectorizer", "bow"), "vectorizer must be 'tfidf', 'count'"),
        (("--loss", "is"), "needs positive data"),
        (("--labels", "subject"), "--labels folder takes the folder"),
        (("--stop-words", "nosuch.txt"), "--stop-words: nosuch.txt cannot be read"),
        (("--encoding", "utf-9"), "There is no encoding 'utf-9'"),
        (("--set", "alpha=1"), "no parameter alpha"),
        (("-k", "100"), "n_components=100 topics are more than 24 documents"),
    ],
)
def test_options_that_cannot_be(folder, tmp_path, capsys, options, words):
    assert call("topics", folder, "-k", 2, "-o", tmp_path / "o", "-q", *options) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_folders_without_documents(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for path, words in (
        (tmp_path / "empty", "has no texts"),
        (tmp_path / "nowhere", "no such file or folder"),
    ):
        assert call("topics", path, "-o", tmp_path / "o", "-q") == 2
        assert words in capsys.readouterr().err
    (tmp_path / "empty" / "one.txt").write_text("\n".join(texts()))
    assert call("topics", tmp_path / "empty", "-o", tmp_path / "o", "-q") == 2
    assert "give the file itself" in capsys.readouterr().err
    assert call("topics", tmp_path / "empty" / "one.txt", "-k", 2, "-o", tmp_path / "o", "-q") == 0
    assert not (tmp_path / "empty" / "o").exists()


class Piped:
    """Standard input that holds bytes."""

    def __init__(self, raw):
        self.buffer = io.BytesIO(raw)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_table_on_stdin_is_read_by_column_as_its_file_is(form, tmp_path, monkeypatch, capsys):
    made = [{"who": f"p{i}", "text": text.replace(" and ", ", ", 1)} for i, text in enumerate(texts(12))]
    path = tmp_path / f"art.{form}"
    with path.open("w", newline="") as stream:
        if form == "csv":
            writer = csv.DictWriter(stream, ["who", "text"])
            writer.writeheader()
            writer.writerows(made)
        else:
            stream.writelines(json.dumps(row) + "\n" for row in made)
    options = ("--column", "text", "--id", "who", "-k", 2, "-q", "--no-report")
    assert call("topics", path, *options, "-o", tmp_path / "file") == 0
    monkeypatch.setattr("sys.stdin", Piped(path.read_bytes()))
    assert call("topics", "-", *options, "-o", tmp_path / "pipe") == 0
    documents = [(tmp_path / one / "documents.csv").read_text() for one in ("file", "pipe")]
    assert documents[0] == documents[1]
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", Piped(path.read_bytes()))
    assert call("transform", tmp_path / "file" / "model.partwise", "-") == 0
    said = capsys.readouterr()
    assert [row[0] for row in csv.reader(io.StringIO(said.out))][1:] == [row["who"] for row in made]
    assert "stdin: read as the texts of the fit were: --columns text --id who" in said.err
    monkeypatch.setattr("sys.stdin", Piped(b"wave and sand\nsoup, bread\n"))
    assert (
        call(
            "topics",
            "-",
            "-k",
            1,
            "--min-df",
            1,
            "--max-df",
            "1.0",
            "-q",
            "--no-report",
            "-o",
            tmp_path / "lines",
        )
        == 0
    )
    assert "line1" in (tmp_path / "lines" / "documents.csv").read_text()
    monkeypatch.setattr("sys.stdin", Piped(b"wave and sand\nsoup, bread\n"))
    assert call("transform", tmp_path / "file" / "model.partwise", "-") != 0
    assert "stdin has no column 'text'" in capsys.readouterr().err


def test_numbers_in_the_column_are_told(tmp_path, capsys):
    (tmp_path / "art.csv").write_text("id,text\n" + "".join(f"{i},wave sand\n" for i in range(6)))
    assert call("topics", tmp_path / "art.csv", "--column", "id", "-k", 2, "-q", "-o", tmp_path / "o") != 0
    assert "they hold numbers or signs, but no letters" in capsys.readouterr().err


def test_a_folder_without_texts_offers_no_option_that_transform_lacks(folder, tmp_path, capsys):
    assert call("topics", folder, "-k", 2, "-o", tmp_path / "o", "-q", "--no-report") == 0
    (tmp_path / "none").mkdir()
    assert call("transform", tmp_path / "o" / "model.partwise", tmp_path / "none") != 0
    said = capsys.readouterr().err
    assert "has no texts" in said
    assert "--column" not in said


def test_blank_lines_are_told_and_their_labels_asked_for(tmp_path, capsys):
    lines = texts()
    (tmp_path / "a.txt").write_text("\n".join([*lines[:3], "", *lines[3:]]) + "\n\n")
    (tmp_path / "labels.txt").write_text("\n".join(["sea", "food"] * 12 + ["sea"]) + "\n")
    given = ("topics", tmp_path / "a.txt", "-k", 2, "-o", tmp_path / "o", "-q", "--no-report")
    assert call(*given, "--labels", tmp_path / "labels.txt") == 2
    said = capsys.readouterr().err
    assert "a.txt: line 4 is blank and was left out." in said
    assert "has 25 labels, and" in said
    assert "it has 1 blank line, which is no document: leave out the labels of such lines, too." in said


def test_documents_without_a_label_are_not_compared(tmp_path, capsys):
    table = "".join(f"{text},{('sea', 'NA', 'food', '')[i % 4]}\n" for i, text in enumerate(texts()))
    (tmp_path / "a.csv").write_text("text,kind\n" + table)
    (tmp_path / "labels.txt").write_text("sea\nNA\nfood\n\n" * 6)
    given = ("topics", tmp_path / "a.csv", "--column", "text", "-k", 2, "-o", tmp_path / "o", "-q")
    for labels in ("kind", tmp_path / "labels.txt"):
        assert call(*given, "--labels", labels) == 0
        assert "leading topics and the 2 labels of 12 documents that have one" in capsys.readouterr().out


def test_texts_of_another_column_than_the_fit_had_are_told(tmp_path, capsys):
    for name in ("text", "review"):
        (tmp_path / f"{name}.csv").write_text("\n".join([name, *texts()]) + "\n")
    assert call("topics", tmp_path / "text.csv", "-k", 2, "-o", tmp_path / "o", "-q", "--no-report") == 0
    capsys.readouterr()
    model = tmp_path / "o" / "model.partwise"
    assert call("transform", model, tmp_path / "review.csv") == 0
    said = capsys.readouterr().err
    assert "the texts are those of the column 'review'; those of the fit were in 'text'." in said
    assert call("transform", model, tmp_path / "review.csv", "--columns", "review") == 0
    assert "those of the fit" not in capsys.readouterr().err


def test_topics_that_are_one_several_times_are_told(tmp_path, capsys):
    (tmp_path / "a.txt").write_text(
        "".join(" ".join((SEA, FOOD)[i % 2] * (1 + i % 3)) + "\n" for i in range(60))
    )
    given = ("topics", tmp_path / "a.txt", "-o", tmp_path / "o", "-q", "--no-report")
    assert call(*given, "-k", 6) == 0
    said = capsys.readouterr().out
    assert "the same words in the same proportions: topic" in said
    assert re.search(r"The texts have fewer topics: try -k [2-5] or less", said)
    assert call(*given, "-k", 2) == 0
    assert "the same words" not in capsys.readouterr().out
