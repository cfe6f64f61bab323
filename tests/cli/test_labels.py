"""Labels of rows, as verbs take them: words beside numbers, labels that are missing, labels that are no classes."""

import json

import numpy as np
import pandas as pd
import pytest
from calling import call

from partwise.io import read, take_labels


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    groups = np.arange(40) % 2
    return rng.poisson(np.where(np.eye(2)[groups].repeat(3, axis=1) > 0, 9.0, 1.0)).astype(float)


def table(path, rows, labels, name="kind"):
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    frame[name] = labels
    frame.to_csv(path, index=False)
    return path


def classes(out):
    return json.loads((out / "summary.json").read_text())["classes"]


@pytest.fixture
def leiden():
    """Clusters by number, and a few that have a word."""
    return ["doublet" if i in (30, 32, 34, 36) else str(i % 2) for i in range(40)]


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_few_words_beside_numbers_are_labels(ending, rows, leiden, tmp_path):
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(6)]).assign(leiden=leiden)
    path = tmp_path / f"cells.{ending}"
    {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[ending](path, index=False)
    out = tmp_path / "out"
    assert call("classify", path, "--labels", "leiden", "-k", 2, "--mixtures", 1, "-o", out, "-q") == 0
    assert classes(out) == ["0", "1", "doublet"]
    found, labels = take_labels(read(path, aside="leiden"), "leiden")
    assert labels.tolist() == leiden
    assert found.column_names == [f"x{j}" for j in range(6)]


def test_a_few_words_beside_numbers_for_other_verbs(rows, leiden, tmp_path, capsys):
    path, out = table(tmp_path / "a.csv", rows, leiden, "leiden"), tmp_path / "out"
    given = ("--labels", "leiden", "-k", 2, "-o", out, "-q")
    assert call("fit", path, "--model", "semisupervised", *given) == 0
    assert call("compare", path, "--methods", "nmf", "--seeds", 1, *given) == 0
    test = table(tmp_path / "b.csv", rows[:6], leiden[:6], "leiden")
    assert call("classify", path, "--test", test, "--mixtures", 1, *given) == 0
    assert json.loads((out / "summary.json").read_text())["test_error"] is not None
    capsys.readouterr()
    assert call("fit", path, "-k", 2, "-o", out, "-q") == 2
    assert "column 'leiden' (7th) holds text" in capsys.readouterr().err


@pytest.mark.parametrize("unknown", ["-1", "NA", "nan", ""])
@pytest.mark.parametrize("in_file", [True, False])
def test_labels_that_are_not_known(unknown, in_file, rows, tmp_path):
    names = [f"type{i % 2}" if i < 10 else unknown for i in range(40)]
    path, labels, out = tmp_path / "a.csv", "kind", tmp_path / "out"
    if in_file:
        labels = tmp_path / "labels.txt"
        labels.write_text("".join(f"{name}\n" for name in names))
        np.savetxt(path, rows, delimiter=",", header="a,b,c,d,e,f", comments="")
    else:
        table(path, rows, names)
    given = ("--labels", labels, "-k", 2, "-o", out, "-q")
    assert call("fit", path, "--model", "semisupervised", *given) == 0
    assert call("predict", out / "model.partwise", path, "-o", tmp_path / "new.csv", "-q") == 0
    predicted = [line.split(",")[1] for line in (tmp_path / "new.csv").read_text().splitlines()[1:]]
    assert predicted == [f"type{i % 2}" for i in range(40)]


@pytest.mark.parametrize("word", ["NA", "nan", ""])
def test_classify_refuses_rows_without_a_label(word, rows, tmp_path, capsys):
    names = [word if i == 7 else f"type{i % 2}" for i in range(40)]
    path = table(tmp_path / "a.csv", rows, names)
    assert call("classify", path, "--labels", "kind", "-o", tmp_path / "out", "-q") == 2
    said = capsys.readouterr().err
    assert "1 row has no label in 'kind'; the first is row 8 of the data" in said
    assert ("which reads 'NA'" in said) == (word == "NA")
    assert "remove these rows" in said


def test_labels_that_are_no_classes(rows, tmp_path, capsys):
    path, out = table(tmp_path / "a.csv", rows, [f"id{i}" for i in range(40)]), tmp_path / "out"
    given = ("--labels", "kind", "-k", 2, "-o", out, "-q")
    assert call("classify", path, *given) == 2
    said = capsys.readouterr().err
    assert "a.csv" in said
    assert "40 different labels" in said
    assert "y_true" not in said
    # No class of the rows that are held out may be left among the others.
    path = table(tmp_path / "b.csv", rows[:4], ["a", "a", "b", "c"])
    for seed in range(4):
        assert call("classify", path, *given, "--mixtures", 1, "--seed", seed) in (0, 2)
        assert "y_true" not in capsys.readouterr().err


VERBS = [
    ("classify", "--mixtures", 1),
    ("fit", "--model", "semisupervised"),
    ("fit", "--model", "manifold", "--graph", "knn"),
    ("compare", "--methods", "nmf", "--seeds", 1),
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_sheet_of_names_and_labels_is_matched_by_name(verb, rows, tmp_path, capsys):
    data = pd.DataFrame(rows, index=[f"s{i}" for i in range(40)])
    data.columns = [f"x{j}" for j in range(6)]
    data.to_csv(tmp_path / "a.csv")
    groups = pd.DataFrame({"sample": data.index, "group": ["ab"[i % 2] for i in range(40)]})
    groups.sample(frac=1, random_state=0).to_csv(tmp_path / "groups.csv", index=False)
    (tmp_path / "l.txt").write_text("\n".join(groups["group"]))
    found = []
    for labels in ("groups.csv", "l.txt"):
        out = tmp_path / labels.split(".")[0]
        given = (tmp_path / "a.csv", "--labels", tmp_path / labels, "-k", 2, "-o", out, "-q", "--no-report")
        assert call(verb[0], *given, *verb[1:]) == 0
        summary = json.loads((out / "summary.json").read_text())
        found.append({key: summary.get(key) for key in ("classes", "train_error", "test_error", "loss")})
    assert found[0] == found[1]
    capsys.readouterr()
    groups["sample"] = "x" + groups["sample"]
    groups.to_csv(tmp_path / "groups.csv", index=False)
    given = (tmp_path / "a.csv", "--labels", tmp_path / "groups.csv", "-k", 2, "-o", tmp_path / "o", "-q")
    assert call(verb[0], *given, *verb[1:]) == 2
    assert "holds no name of a row" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_one_label_too_many_asks_about_a_header(verb, rows, tmp_path, capsys):
    np.save(tmp_path / "a.npy", rows)
    (tmp_path / "l.txt").write_text("group\n" + "a\nb\n" * 20)
    given = (tmp_path / "a.npy", "--labels", tmp_path / "l.txt", "-k", 2, "-o", tmp_path / "o", "-q")
    assert call(verb[0], *given, *verb[1:]) == 2
    assert "Is its first line a header? Remove it." in capsys.readouterr().err
