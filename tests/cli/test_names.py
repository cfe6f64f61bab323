"""Columns are matched by name, whichever verb wrote the model and whichever applies it."""

import json

import numpy as np
import pytest
from calling import call
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

import partwise
from partwise.datasets import make_boolean
from partwise.io import read, write_csv

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
#: How each kind of model is fitted on the command line.
FITS = {
    "nmf": ("fit", "flowers.csv", "-k", 2),
    "binary": ("fit", "yes.csv", "-k", 2, "--model", "binary", "--max-iter", 5),
    "boolean": ("fit", "yes.csv", "-k", 2, "--model", "boolean", "--max-time", 0.2),
    "tiles": ("tiles", "yes.csv", "-k", 2, "--max-time", 0.2),
    "mixture": ("fit", "species.csv", "--model", "mixture", "--labels", "species", "--max-iter", 30),
    "classify": ("classify", "species.csv", "--labels", "species", "-k", 3, "--mixtures", 1),
    "classify columns": ("classify", "species.csv", "--labels", "species", "-k", 0, "--mixtures", 1),
}


def write_species(path, X, species, names):
    cells = np.column_stack([X.astype(str), species])
    write_csv(path, cells, None, [*names, "species"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    iris = load_iris()
    species = iris.target_names[iris.target]
    write_csv("flowers.csv", iris.data, None, NAMES)
    write_species("species.csv", iris.data, species, NAMES)
    yes = make_boolean(40, 6, 2, random_state=0).data
    write_csv("yes.csv", yes, None, [f"q{j}" for j in range(6)])
    return tmp_path


def columns_of(path):
    table = read(path)
    return table.data, table.column_names


@pytest.mark.parametrize("kind", FITS)
def test_columns_in_another_order_give_the_same_answers(kind, folder, capsys):
    verb, data, *options = FITS[kind]
    assert call(verb, data, *options, "-o", "o", "-q") == 0
    X, names = columns_of(data)
    assert list(partwise.load("o/model.partwise").feature_names_in_) == names
    write_csv("reversed.csv", np.column_stack([X[:, ::-1], X[:, 0]]), None, [*names[::-1], "more"])
    capsys.readouterr()
    assert call("transform", "o/model.partwise", data, "-o", "same.csv") == 0
    assert "order" not in capsys.readouterr().err
    assert call("transform", "o/model.partwise", "reversed.csv", "-o", "other.csv") == 0
    said = capsys.readouterr().err
    assert "Note: reversed.csv: its columns were put in the order of the fit, by name." in said
    assert "Note: reversed.csv: 1 column unknown to the model left out: 'more'." in said
    np.testing.assert_array_equal(read("same.csv").data, read("other.csv").data)
    write_csv("fewer.csv", X[:, 1:], None, ["other", *names[2:]])
    assert call("transform", "o/model.partwise", "fewer.csv") == 2
    assert (
        f"has not all columns of the fit; there is no '{names[0]}', '{names[1]}'" in capsys.readouterr().err
    )


def test_columns_without_names_go_by_position_and_that_is_said(folder, capsys):
    assert call("fit", "flowers.csv", "-k", 2, "-o", "o", "-q") == 0
    np.save("flowers.npy", read("flowers.csv").data)
    capsys.readouterr()
    assert call("transform", "o/model.partwise", "flowers.npy", "-o", "W.csv") == 0
    said = capsys.readouterr().err
    assert said == "Note: flowers.npy has no column names; its columns are taken in the order of the fit.\n"
    np.testing.assert_array_equal(read("W.csv").data, read("o/W.csv").data)
    assert call("fit", "flowers.npy", "-k", 2, "-o", "o", "-q") == 0
    capsys.readouterr()
    assert call("transform", "o/model.partwise", "flowers.csv", "-o", "W.csv") == 0
    assert "Note: the data of the fit had no column names" in capsys.readouterr().err


def test_names_that_occur_twice_are_not_guessed(folder, capsys):
    X = read("flowers.csv").data
    write_csv("twice.csv", X, None, ["a", "a", "b", "c"])
    write_csv("moved.csv", X, None, ["a", "b", "a", "c"])
    assert call("fit", "twice.csv", "-k", 2, "-o", "o", "-q") == 0
    assert call("transform", "o/model.partwise", "twice.csv", "-o", "W.csv") == 0
    assert call("transform", "o/model.partwise", "moved.csv", "-o", "W.csv") == 2
    assert "'a' occurs more than once" in capsys.readouterr().err


def test_a_column_of_another_spelling_is_named(folder, capsys):
    assert call("fit", "flowers.csv", "-k", 2, "-o", "o", "-q") == 0
    write_csv("spelt.csv", read("flowers.csv").data, None, ["sepal_length", *NAMES[1:]])
    assert call("transform", "o/model.partwise", "spelt.csv") == 2
    assert "Is 'sepal_length' the same as 'sepal length'? Rename it." in capsys.readouterr().err


def test_the_test_table_of_classify_is_matched_by_name(folder, capsys):
    iris = load_iris()
    species = iris.target_names[iris.target]
    write_species("moved.csv", iris.data[:, ::-1], species, NAMES[::-1])
    options = ("--labels", "species", "-k", 0, "--mixtures", 1, "--json", "-q")
    errors = []
    for test in ("species.csv", "moved.csv"):
        assert call("classify", "species.csv", *options, "--test", test, "-o", test[:-4]) == 0
        errors.append(json.loads(capsys.readouterr().out)["test_error"])
    assert errors[0] == errors[1] < 0.1


def test_predict_gives_a_class_to_each_row(folder, capsys):
    assert call(*FITS["classify columns"], "-o", "o", "-q") == 0
    X = read("flowers.csv").data
    write_csv("reversed.csv", X[:, ::-1], [f"flower {i}" for i in range(len(X))], NAMES[::-1])
    capsys.readouterr()
    assert call("predict", "o/model.partwise", "reversed.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row,predicted,probability"
    assert lines[1].startswith("flower 0,setosa,0.")
    assert call("predict", "o/model.partwise", "reversed.csv", "-o", "p.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["n_samples"] == 150
    model = partwise.load("o/model.partwise")
    del model[0].feature_names_in_
    written = read("p.csv")
    assert written.text["predicted"] == model.predict(X).tolist()
    np.testing.assert_array_equal(written.data[:, 0], model.predict_proba(X).max(axis=1))
    assert call("predict", "o/model.partwise", "reversed.csv", "--json") == 2
    assert "add -o" in capsys.readouterr().err


def test_predict_for_parts_that_are_on_or_off_and_for_models_without_it(folder, capsys):
    assert call(*FITS["binary"], "-o", "o", "-q") == 0
    capsys.readouterr()
    assert call("predict", "o/model.partwise", "yes.csv", "-o", "p.csv") == 0
    model = partwise.load("o/model.partwise")
    del model.feature_names_in_
    np.testing.assert_array_equal(read("p.csv").data, model.predict(read("yes.csv").data))
    assert call(*FITS["nmf"], "-o", "o", "-q") == 0
    assert call("predict", "o/model.partwise", "flowers.csv") == 2
    assert "`partwise transform`" in capsys.readouterr().err


def test_info_tells_the_names_of_the_columns(folder, capsys):
    for kind in ("nmf", "classify"):
        assert call(*FITS[kind], "-o", "o", "-q") == 0
        capsys.readouterr()
        assert call("info", "o/model.partwise") == 0
        assert f"columns: {', '.join(NAMES)}\n" in capsys.readouterr().out
        assert call("info", "o/model.partwise", "--json") == 0
        assert json.loads(capsys.readouterr().out)["feature_names"] == NAMES


def test_a_pipeline_saved_from_python_is_matched_too(folder, capsys):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(read("flowers.csv").data, columns=NAMES)
    model = make_pipeline(partwise.NMF(2, random_state=0), partwise.NMF(1, random_state=0)).fit(frame)
    partwise.save(model, "pipeline")
    frame[NAMES[::-1]].to_csv("moved.csv", index=False)
    assert call("transform", "pipeline.partwise", "moved.csv", "-o", "W.csv") == 0
    np.testing.assert_array_equal(read("W.csv").data, model.transform(frame))
