"""Surveys on the command line: what is read as what, in every verb alike."""

import csv
import io
import json
import sys

import numpy as np
import pytest
from calling import call


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    return (rng.random((12, 2)) < 0.5).astype(int).repeat([3, 2], axis=1)


def write(path, answers, yes, no, start="", encoding="utf-8"):
    lines = [";".join((["lfdn"] if start else []) + [f"Größe, {i}" for i in range(answers.shape[1])])]
    for i, row in enumerate(answers):
        lines.append(";".join(([f"{start}{i}"] if start else []) + [yes if cell else no for cell in row]))
    path.write_text("\n".join(lines), encoding=encoding)
    return path


def usage(folder):
    with open(folder / "usage.csv", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def test_tiles_of_every_coding_are_the_same(answers, tmp_path, capsys, monkeypatch):
    found = []
    for name, yes, no, encoding, options in (
        ("numbers", "1", "0", "utf-8", ()),
        ("words", "Ja", "nein", "utf-8", ()),
        ("codes", "1", "2", "latin-1", ("--encoding", "latin-1")),
        ("ticks", "x", "", "utf-8", ()),
        ("own", "oft", "nie", "utf-8", ("--yes", "oft", "--no", "nie")),
    ):
        path = write(tmp_path / f"{name}.csv", answers, yes, no, "10", encoding)
        folder = tmp_path / name
        with path.open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            data = "-" if name == "words" else path
            assert call("tiles", data, "-k", "2", "--max-time", "1", "-o", folder, "-q", *options) == 0
        said = capsys.readouterr().err
        assert "column 'lfdn' names the rows" in said
        assert (name == "numbers") != (f"read as yes and no: {answers.sum()} yes" in said)
        found.append(usage(folder))
        assert found[-1] == found[0]
    assert found[0][0][0] == "100"
    model = tmp_path / "words" / "model.partwise"
    assert call("transform", model, tmp_path / "ticks.csv") == 2
    assert "holds 'x' in row" in capsys.readouterr().err
    assert call("transform", model, tmp_path / "ticks.csv", "--yes", "x", "--no", "") == 0
    out = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(out)))[1:] == found[0]


def test_every_verb_takes_the_options_of_reading(answers, tmp_path, capsys):
    path = tmp_path / "a.csv"
    lines = ["who;kind;a;b;c"] + [f"{i};{'uv'[i % 2]};{i % 3},5;9;{i % 2}" for i in range(12)]
    path.write_text("\n".join(lines), encoding="utf-8")
    options = ("--decimal", ",", "--id", "who", "--missing", "9", "--drop", "b")
    assert call("fit", path, "-k", "1", "-o", tmp_path / "fit", "-q", "--drop", "kind", *options) == 0
    assert json.loads((tmp_path / "fit" / "summary.json").read_text())["n_features"] == 2
    capsys.readouterr()
    assert call("transform", tmp_path / "fit" / "model.partwise", path, "--drop", "kind", *options) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("1,")
    few = ("-k", "0", "--mixtures", "1", "--labels", "kind", "-q")
    assert call("classify", path, *few, "-o", tmp_path / "c", "--columns", "a,c", *options[:4]) == 0
    assert json.loads((tmp_path / "c" / "summary.json").read_text())["classes"] == ["u", "v"]


def test_missing_words_and_missing_entries(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,99\n2,3\n0,1\n")
    options = ("-k", "1", "-o", tmp_path / "out", "-q", "--missing", "99")
    assert call("fit", path, *options, "--missing", "zero") == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["parameters"]["missing_values"] == 0.0
    assert call("fit", path, *options, "--missing", "none") == 2
    assert "contains NaN" in capsys.readouterr().err
    assert call("fit", path, *options, "--missing", "none", "--missing", "nan") == 2
    assert "contradict" in capsys.readouterr().err


def test_counts_are_not_taken_for_answers(tmp_path, capsys):
    """On/off parts are learned from counts, where 1 and 2 are numbers if there are others, or if that is said."""
    path = tmp_path / "a.csv"
    few = ("-k", "1", "--model", "binary", "-o", tmp_path / "out", "-q", "--no-report")
    for last, options in (("3", ()), ("1", ("--numbers",))):
        path.write_text(f"a,b,c\n1,2,yes\n2,2,no\n1,1,yes\n2,{last},no\n")
        assert call("fit", path, *few, *options) == 0
        said = capsys.readouterr().err
        assert "column 'c' was read as yes and no: 2 yes ('yes'), 2 no ('no'), 0 missing" in said


def test_an_answer_that_cannot_be_told(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nyes,no\nno,yes\nno,perhaps\n")
    assert call("tiles", path, "-o", tmp_path / "out") == 2
    assert "--yes, --no or --missing 'perhaps'" in capsys.readouterr().err


def test_a_single_row_is_told_in_the_singular(caplog):
    from partwise.cli.predict import say_missing

    with caplog.at_level("INFO", logger="partwise"):
        say_missing(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    said = caplog.text
    assert "1 row has missing cells; what is predicted for it rests on the others." in said
    assert "1 row has no cells at all" in said


def test_a_tree_can_be_asked_to_be_quiet(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{i % 3},{i % 2},{i % 5}" for i in range(12)))
    assert call("fit", path, "-k", "2", "-o", tmp_path / "o", "-q", "--no-report") == 0
    assert call("tree", tmp_path / "o", "-o", tmp_path / "t", "-q") == 0


@pytest.mark.parametrize("verb", ["transform", "predict"])
def test_verbs_that_apply_a_model_can_be_asked_to_be_quiet(tmp_path, verb):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{i % 3},{i % 2},{i % 2}" for i in range(12)))
    few = ("-k", "1", "--model", "binary", "--max-iter", "3", "-o", tmp_path / "o", "-q", "--no-report")
    assert call("fit", path, *few) == 0
    assert call(verb, tmp_path / "o" / "model.partwise", path, "-q", "-o", tmp_path / "w.csv") == 0


def test_a_tile_of_many_columns_says_that_there_are_more(tmp_path, capsys):
    for count, more in ((8, False), (9, True)):
        X = np.zeros((30, 12), int)
        X[:15, :count] = 1
        path = tmp_path / "a.csv"
        header = ",".join(f"q{i}" for i in range(12))
        np.savetxt(path, X, "%d", delimiter=",", header=header, comments="")
        assert call("tiles", path, "-k", "1", "-o", tmp_path / "out", "-q", "--no-report") == 0
        (line,) = [line for line in capsys.readouterr().out.splitlines() if "tile 0" in line]
        assert line.endswith(": q0, q1, q2, q3, q4, q5, q6, q7" + ", …" * more)


def test_a_table_without_any_data_is_refused(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("id,a,b\n1,,\n2,,NA\n3,?,\n")
    for verb in (("tiles",), ("fit", "-k", "1")):
        assert call(verb[0], path, *verb[1:], "-o", tmp_path / "out", "-q", "--no-report") == 2
        assert "all 6 cells of its 2 columns are missing" in capsys.readouterr().err


def test_a_header_of_numbers_is_said_and_can_be_overruled(tmp_path, capsys):
    data = tmp_path / "m.csv"
    data.write_text("1001,1004,1019\n" + "5,3,2\n0,1,7\n2,2,1\n" * 4)
    out = tmp_path / "out"
    assert call("fit", data, "-k", "2", "-o", out, "-q", "--no-report") == 0
    assert "--no-header" in capsys.readouterr().err
    assert (out / "H.csv").read_text().splitlines()[0] == "part,1001,1004,1019"
    assert call("fit", data, "-k", "2", "-o", out, "-q", "--no-report", "--no-header") == 0
    assert "is taken for the names" not in capsys.readouterr().err
    assert len((out / "W.csv").read_text().splitlines()) == 1 + 13
    assert call("transform", out / "model.partwise", data, "-o", tmp_path / "t.csv") == 0
    assert "--no-header" in capsys.readouterr().err
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1 + 13
