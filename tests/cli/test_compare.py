"""partwise compare as a person or a program meets it."""

import json

import numpy as np
import pytest
from calling import call

from partwise.datasets import load_digits
from partwise.io import read, write_csv


@pytest.fixture
def digits(tmp_path):
    bunch = load_digits()
    path = tmp_path / "digits.npz"
    np.savez(path, X=bunch.data[:150], y=bunch.target[:150])
    return path


def test_a_table_a_picture_and_a_summary(digits, tmp_path, capsys):
    out = tmp_path / "out"
    code = call(
        "compare", digits, "--key", "X", "--labels", "y", "-k", 5, "--seeds", 2, "--shape", "8x8", "-o", out
    )
    assert code == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0].endswith("150 × 64, 5 basis vectors each, 2 random starts")
    assert [line.split()[0] for line in lines[3:8]] == ["NMF", "SVD", "SVD", "PCA", "VQ"]
    assert "seconds: of one fit" in shown
    pages = {"report.html", "report.json"}
    assert {file.name for file in out.iterdir()} == {"compare.csv", "compare.png", "summary.json"} | pages
    table = read(out / "compare.csv")
    assert table.row_names == ["nmf", "svd", "svd-u", "pca", "vq"]
    assert table.column_names[:2] == ["relative_error", "relative_error_sd"]
    summary = json.loads((out / "summary.json").read_text())
    errors = [row["relative_error"] for row in summary["methods"]]
    np.testing.assert_allclose(table.data[:, 0], errors)
    assert errors[1] == pytest.approx(errors[2])
    assert min(errors[0], errors[4]) > errors[1]
    assert len(summary["top_features"]["nmf"]) == 5


def test_json_methods_and_quiet(digits, tmp_path, capsys):
    arguments = [
        "--key",
        "X",
        "-k",
        3,
        "--methods",
        "pca,vq",
        "--seeds",
        1,
        "-q",
        "--json",
        "-o",
        tmp_path / "o",
    ]
    assert call("compare", digits, *arguments) == 0
    shown = capsys.readouterr()
    assert [row["method"] for row in json.loads(shown.out)["methods"]] == ["pca", "vq"]
    assert shown.err == ""


def test_text_from_a_table_with_labels_in_a_column(tmp_path, capsys):
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.repeat(np.eye(2), 6, axis=1)[np.arange(40) % 2] * 2 + 0.05)
    path = tmp_path / "words.csv"
    lines = [",".join([*(f"word{j}" for j in range(12)), "subject"])]
    lines += [",".join([*map(str, row), "ab"[i % 2]]) for i, row in enumerate(counts)]
    path.write_text("\n".join(lines))
    arguments = ["--labels", "subject", "-k", 2, "--text", "--seeds", 1, "-q", "-o", tmp_path / "o"]
    assert call("compare", path, *arguments) == 0
    shown = capsys.readouterr().out
    assert "LDA           counts" in shown
    assert "NPMI" in shown
    assert "compare it within one such matrix only" in shown
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["methods"][0]["nmi_argmax"] > 0.8
    assert any(w["weight"] < 0 for part in summary["top_features"]["svd"] for w in part)


def test_what_methods_cannot_do_is_a_note(tmp_path, capsys):
    X = np.random.default_rng(0).random((12, 5))
    X[0, 0] = np.nan
    write_csv(tmp_path / "gaps.csv", X, column_names=list("abcde"))
    assert call("compare", tmp_path / "gaps.csv", "-k", 2, "--seeds", 1, "-q", "-o", tmp_path / "o") == 0
    said = capsys.readouterr().err
    assert "Note: PCA left out: it takes no missing entries." in said
    assert "methods that take them: NMF, NMF (KL)." in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-k", "65", "--key", "X"], "n_components=65 is more than the 64 dimensions"),
        (["-k", "2", "--key", "X", "--labels", "FOLDER/two.txt"], "has 150 rows, but there are 2 labels"),
        (["-k", "2", "--key", "X", "--methods", "nfm"], "'nfm' is no method; did you mean 'nmf'?"),
        (["-k", "2", "--key", "X", "--shape", "8x9"], "--shape 8x9 has 72 pixels, but"),
        (["-k", "2", "--key", "X", "--shape", "8"], "--shape must be height x width"),
        (["-k", "2", "--key", "X", "--shape", "8x8", "--example", "150"], "--example 150 is no row"),
        (["-k", "2", "--key", "X", "--methods", "lda"], "No method is left to compare"),
        (["--key", "X"], "Missing option '-k'"),
    ],
)
def test_bad_input_is_one_sentence(digits, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.txt").write_text("a\nb\n")
    assert call("compare", digits, *[a.replace("FOLDER", str(tmp_path)) for a in arguments], "-q") == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_columns_without_data_are_left_out(tmp_path, capsys):
    path = tmp_path / "en.csv"
    path.write_text("id,a,b,c,leer\n1,1,0,3,\n2,0,2,1,\n3,1,0,1,\n4,0,1,1,\n5,1,1,0,\n")
    assert call("compare", path, "-k", 2, "--seeds", 1, "-o", tmp_path / "out", "--quiet") == 0
    said = capsys.readouterr()
    assert "'leer' has no data at all, and was left out" in said.err
    assert "takes no missing entries" not in said.err
    assert "5 × 3" in said.out
