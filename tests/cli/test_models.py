"""`fit --model`: every model by its short name, and no option that is quietly ignored."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from calling import call
from scipy.io import mmwrite
from sklearn.base import BaseEstimator, TransformerMixin

import partwise
from partwise.datasets import load_digits, make_boolean
from partwise.io import read, registry, write_csv


@pytest.fixture
def yes_no(tmp_path):
    path = tmp_path / "votes.csv"
    write_csv(
        path, make_boolean(80, 60, 3, random_state=0).data.astype(int), None, [f"c{j}" for j in range(60)]
    )
    return path


@pytest.fixture
def digits(tmp_path):
    data = load_digits()
    path = tmp_path / "digits.npz"
    np.savez(path, X=data.data[:200], y=data.target[:200])
    return path


@pytest.fixture
def registered(monkeypatch):
    """Leave the registry as it was."""
    monkeypatch.setattr(registry, "_models", dict(registry._models))
    return registry.register_model


@pytest.mark.parametrize(
    ("option", "value", "parameter"),
    [
        ("--loss", "kl", "beta_loss"),
        ("--solver", "mu", "solver"),
        ("--alpha-w", 0.1, "alpha_W"),
        ("--alpha-h", 0.1, "alpha_H"),
        ("--l1-ratio", 0.5, "l1_ratio"),
        ("--max-time", 5, "max_time"),
    ],
)
def test_an_option_the_model_lacks_is_refused(yes_no, tmp_path, capsys, option, value, parameter):
    if parameter in partwise.BinaryNMF().get_params():
        pytest.skip("the model has it")
    out = tmp_path / "o"
    assert call("fit", yes_no, "-k", 2, "--model", "binary", option, value, "-o", out) == 2
    said = capsys.readouterr().err
    assert f"{option} does not apply to --model binary, which has no parameter {parameter}. It has: " in said
    assert "n_components" in said
    assert not out.exists()


def test_boolean_and_its_number_of_tiles_by_itself(yes_no, tmp_path, capsys):
    out = tmp_path / "o"
    arguments = ("fit", yes_no, "--model", "boolean", "-o", out, "-q", "--max-time", 1)
    assert call(*arguments, "-k", "auto") == 0
    assert "3 tiles" in capsys.readouterr().out
    assert (
        read(out / "usage.csv").column_names
        == read(out / "tiles.csv").row_names
        == ["tile0", "tile1", "tile2"]
    )
    assert call(*arguments, "-k", "several") == 2
    assert "-k must be a number or auto" in capsys.readouterr().err


def test_tiles_of_chance_are_dropped_when_asked_for(tmp_path, capsys):
    coins = tmp_path / "coins.csv"
    write_csv(coins, (np.random.default_rng(0).random((40, 30)) < 0.4).astype(int))
    arguments = ("tiles", coins, "-k", 3, "-o", tmp_path / "o", "-q", "--max-iter", 50, "--no-report")
    for extra, found in (((), "3 tiles"), (("--fdr", 0.01), "no tiles")):
        assert call(*arguments, *extra) == 0
        assert found in capsys.readouterr().out
    assert call(*arguments, "--fdr", 2) == 2
    assert "fdr must be a number of at least 0 and at most 1" in capsys.readouterr().err


def test_mixture_needs_labels_and_others_want_none(digits, yes_no, tmp_path, capsys):
    out = tmp_path / "o"
    arguments = ("fit", digits, "--model", "mixture", "-o", out, "-q", "--set", "n_mixtures=1")
    assert call(*arguments, "--labels", "y", "--set", "penalty=0.001", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["parameters"] == {"n_mixtures": 1, "penalty": 0.001}
    assert summary["parts"][3]["class"] == 3
    proba = read(out / "predictions.csv")
    assert proba.shape == (200, 10)
    assert np.allclose(proba.data.sum(axis=1), 1.0)
    assert read(out / "components.csv").shape == (10, 64)
    assert call(*arguments) == 2
    assert "learns from labels" in capsys.readouterr().err
    assert call(*arguments, "--labels", "y", "-k", 3) == 2
    assert "-k does not apply to --model mixture" in capsys.readouterr().err
    assert call("fit", yes_no, "-k", 2, "--labels", "c0", "-o", out) == 2
    assert "--labels does not apply to --model nmf" in capsys.readouterr().err


def test_set_reaches_every_parameter(yes_no, tmp_path, capsys):
    out = tmp_path / "o"
    arguments = ("fit", yes_no, "-k", 2, "-o", out, "-q")
    settings = ("--set", "shuffle=true", "--set", "init=random", "--set", "max_iter=7", "--set", "tol=0")
    assert call(*arguments, *settings) == 0
    model = partwise.load(out / "model.partwise")
    assert (model.shuffle, model.init, model.max_iter, model.n_iter_) == (True, "random", 7, 7)
    for wrong, words in (
        ("max_itr=3", "has no parameter max_itr; the nearest are max_iter"),
        ("tol", "--set takes NAME=VALUE"),
        ("n_components=3", "n_components was given twice"),
    ):
        assert call(*arguments, "--set", wrong) == 2
        assert words in capsys.readouterr().err


def test_a_model_registered_by_someone_else_is_found(yes_no, tmp_path, capsys, registered):
    @registered
    class FirstRows(TransformerMixin, BaseEstimator):
        """The first rows are the parts."""

        kind = "first-rows"

        def __init__(self, count=1):
            self.count = count

        def fit(self, X, y=None, checkpoint=None):
            if checkpoint is not None:
                Path(checkpoint).mkdir()
            self.components_ = np.asarray(X)[: self.count]
            self.n_features_in_ = X.shape[1]
            return self

        def transform(self, X):
            return np.asarray(X) @ self.components_.T

    out = tmp_path / "o"
    arguments = ("fit", yes_no, "--model", "first-rows", "--set", "count=3", "-o", out)
    assert call(*arguments, "--checkpoint", tmp_path / "kept") == 0
    shown = capsys.readouterr().out
    assert "80 × 60, 3 parts" in shown
    assert (tmp_path / "kept").is_dir()
    assert read(out / "H.csv").shape == (3, 60)
    assert call("info", out / "model.partwise") == 0
    assert "FirstRows with 3 parts over 60 features" in capsys.readouterr().out
    assert call("fit", yes_no, "--model", "first-row", "-o", out) == 2
    assert "Did you mean first-rows?" in capsys.readouterr().err


def test_a_fit_goes_on_from_its_checkpoint_and_not_from_another(digits, tmp_path, capsys):
    arguments = (
        "fit",
        digits,
        "-k",
        3,
        "--tol",
        0,
        "-q",
        "--checkpoint",
        tmp_path / "kept",
        "-o",
        tmp_path / "o",
    )
    assert call(*arguments, "--key", "X", "--max-iter", 5) == 0
    assert call(*arguments, "--key", "X", "--max-iter", 9) == 0
    assert len(partwise.load(tmp_path / "o" / "model.partwise").history_["objective"]) == 10
    assert call(*arguments, "--key", "X", "--set", "alpha_W=0.5") == 2
    assert "alpha_W was 0.0 and is now 0.5" in capsys.readouterr().err


def test_a_pipeline_can_be_looked_into_and_applied(digits, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("classify", digits, "--labels", "y", "-k", 6, "--mixtures", 1, "-o", out, "-q") == 0
    model = out / "model.partwise"
    capsys.readouterr()
    assert call("info", model) == 0
    shown = capsys.readouterr().out
    assert "Pipeline of 2 steps over 64 features" in shown
    assert "NMF with 6 parts over 64 features" in shown
    assert "MixtureClassifier with 10 components over 6 features" in shown
    assert re.search(r"of class 3, \d+ samples?: nmf", shown)
    np.save(tmp_path / "new.npy", load_digits().data[200:205])
    assert call("transform", model, tmp_path / "new.npy", "-o", tmp_path / "P.csv") == 0
    assert "class probabilities (5 × 10)" in capsys.readouterr().out
    proba = read(tmp_path / "P.csv")
    assert proba.column_names == [str(c) for c in range(10)]
    assert np.allclose(proba.data, partwise.load(model).predict_proba(load_digits().data[200:205]))
    assert call("transform", model, tmp_path / "new.npy") == 0
    assert capsys.readouterr().out.startswith("row,0,1,2,3")
    np.save(tmp_path / "narrow.npy", np.ones((2, 5)))
    assert call("transform", model, tmp_path / "narrow.npy") == 2
    assert "narrow.npy has 5 columns, but the fit had 64" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "npz", "mtx"])
def test_a_graph_in_a_file_gets_communities(tmp_path, capsys, form):
    A = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    A[4, 5] = A[5, 4] = 1
    path, out = tmp_path / f"graph.{form}", tmp_path / "o"
    if form == "csv":
        write_csv(path, A, [f"n{i}" for i in range(10)], [f"n{i}" for i in range(10)])
    elif form == "npz":
        sp.save_npz(path, sp.csr_matrix(A))
    else:
        mmwrite(path, sp.coo_matrix(A))
    assert call("fit", path, "-k", 2, "--model", "symmetric", "--set", "normalize=degree", "-o", out) == 0
    said = capsys.readouterr().out
    assert "2 groups" in said
    assert "5 nodes" in said
    labels = np.loadtxt(out / "labels.csv", delimiter=",", skiprows=1, usecols=1)
    assert sorted(labels.reshape(2, 5).tolist()) == [[0.0] * 5, [1.0] * 5]
    assert partwise.load(out / "model.partwise").normalize == "degree"


def test_a_table_that_is_no_graph_is_refused(yes_no, tmp_path, capsys):
    assert call("fit", yes_no, "-k", 2, "--model", "symmetric", "-o", tmp_path / "o") == 2
    assert (
        "a square matrix with a row and a column for each node; got shape (80, 60)" in capsys.readouterr().err
    )


def test_layers_and_data_of_any_sign(tmp_path, capsys):
    signed = tmp_path / "signed.csv"
    X = np.random.default_rng(0).standard_normal((40, 8))
    write_csv(signed, X, None, [f"c{j}" for j in range(8)])
    out = tmp_path / "o"
    assert call("fit", signed, "--model", "semi", "-k", 3, "-o", out, "-q") == 0
    assert len(read(out / "H.csv").row_names) == 3
    assert call("fit", signed, "-k", 3, "-o", tmp_path / "p", "-q") == 2
    assert "Negative values" in capsys.readouterr().err
    assert call("fit", signed, "--model", "deep", "--layers", "6,3", "-o", out, "-q") == 0
    assert "layers 6 → 3" in capsys.readouterr().out
    assert call("transform", out / "model.partwise", signed, "-o", tmp_path / "new.csv") == 0
    for options, words in (
        (("--model", "deep", "--layers", "6;3"), "--layers takes numbers separated by commas"),
        (("--model", "deep", "--layers", "3,6"), "grow"),
        (("--model", "deep", "-k", "3"), "-k does not apply to --model deep"),
        (("--model", "nmf", "--layers", "6,3", "-k", 3), "--layers does not apply to --model nmf"),
    ):
        assert call("fit", signed, *options, "-o", out, "-q") == 2
        assert words in capsys.readouterr().err


def test_rows_without_a_label_are_for_models_that_can_learn_from_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.repeat([[6, 6, 1, 1], [1, 1, 6, 6]], 15, axis=0))
    lines = ["a,b,c,d,kind"]
    for i, row in enumerate(X):
        lines.append(",".join(map(str, row)) + "," + (("left" if i < 15 else "right") if i % 5 == 0 else ""))
    path, out = tmp_path / "some.csv", tmp_path / "o"
    path.write_text("\n".join(lines) + "\n")
    assert call("fit", path, "--model", "mixture", "--labels", "kind", "-o", out, "-q") == 2
    assert "24 rows have no label" in capsys.readouterr().err
    for kind in ("semisupervised", "manifold"):
        assert call("fit", path, "--model", kind, "-k", 2, "--labels", "kind", "-o", out, "-q") == 0
        capsys.readouterr()
        assert call("predict", out / "model.partwise", path) == 0
        found = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
        assert sum(a == b for a, b in zip(found, ["left"] * 15 + ["right"] * 15)) >= 28


def test_priors_on_the_command_line(tmp_path, capsys):
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 3.0, (50, 3)) @ rng.gamma(0.5, 3.0, (3, 30)))
    data, out = tmp_path / "counts.csv", tmp_path / "out"
    write_csv(data, counts, None, [f"c{j}" for j in range(30)])
    assert call("fit", data, "-k", 8, "--loss", "kl", "--ard", "l2", "-o", out, "-q") == 0
    assert partwise.load(out / "model.partwise").n_components_ == 3
    arguments = ("fit", data, "-k", 3, "--loss", "kl", "-o", out, "-q")
    assert call(*arguments, "--gamma-w", "2,0.5", "--gamma-h", "1,0.1") == 0
    model = partwise.load(out / "model.partwise")
    assert (model.prior_W, model.prior_H) == (
        partwise.priors.Gamma(2.0, 0.5),
        partwise.priors.Gamma(1.0, 0.1),
    )
    capsys.readouterr()
    for wrong, says in (
        (("--ard", "l3"), "--ard must be l1 or l2"),
        (("--gamma-w", "2"), "a shape and a rate, as 2,0.5"),
        (("--gamma-w", "-1,2"), "Gamma needs shape > 0"),
        (("--ard", "l1", "--gamma-h", "1,1"), "both set prior_H"),
    ):
        assert call(*arguments, *wrong) == 2
        assert says in capsys.readouterr().err


def test_a_model_that_does_not_choose_how_many_parts_says_so(tmp_path, capsys):
    from calling import call

    (tmp_path / "x.csv").write_text("a,b,c\n1,2,3\n2,1,0\n0,1,4\n")
    assert call("fit", tmp_path / "x.csv", "-k", "auto", "-o", tmp_path / "o") == 2
    said = capsys.readouterr().err
    assert "--model nmf does not choose how many parts there are" in said
    assert "--ard" in said
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    "verb", [["fit", "-k", "2"], ["fit", "--model", "binary", "-k", "2"], ["tiles", "-k", "2"]]
)
def test_columns_without_data_are_left_out_and_not_asked_of_new_data(tmp_path, verb, capsys):
    rng = np.random.default_rng(0)
    X = (rng.random((30, 2)) < 0.5).astype(int) @ (rng.random((2, 4)) < 0.7).astype(int) > 0
    lines = [",".join(["" if j in (1, 4) else str(int(row[j - (j > 1)])) for j in range(5)]) for row in X]
    (tmp_path / "d.csv").write_text("a,empty,b,c,void\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out"
    assert call(verb[0], tmp_path / "d.csv", *verb[1:], "-o", out, "--no-report", "-q") == 0
    assert "'empty', 'void' have no data at all, and were left out" in capsys.readouterr().err
    assert json.loads((out / "summary.json").read_text())["n_features"] == 3
    (tmp_path / "new.csv").write_text("a,b,c\n1,0,1\n0,1,1\n")
    assert call("transform", out / "model.partwise", tmp_path / "new.csv", "-o", tmp_path / "W.csv") == 0
    assert len((tmp_path / "W.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("verb", [["fit", "-k", "1"], ["tiles", "-k", "1"]])
def test_columns_without_data_beside_answers_in_words(tmp_path, verb, capsys):
    (tmp_path / "f.csv").write_text(
        "id;a;leer;b;Kommentar\n1;ja;;nein;gut\n2;nein;;ja;so\n3;ja;;nein;\n4;ja;;;na\n"
    )
    out = tmp_path / "out"
    options = ["--drop", "Kommentar", "--no-report", "-q"]
    assert call(verb[0], tmp_path / "f.csv", *verb[1:], "-o", out, *options) == 0, capsys.readouterr().err
    (tmp_path / "new.csv").write_text("id;b;a\n7;ja;nein\n8;nein;ja\n")
    assert call("transform", out / "model.partwise", tmp_path / "new.csv", "-o", tmp_path / "W.csv") == 0
    assert partwise.load(out / "model.partwise").feature_names_in_.tolist() == ["a", "b"]
