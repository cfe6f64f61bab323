"""The command line as a person or a program meets it."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from calling import call

import partwise
from partwise.core import ProgressBar
from partwise.datasets import load_digits, make_bars, make_boolean, make_low_rank
from partwise.io import read, write_csv


@pytest.fixture
def table(tmp_path):
    planted = make_low_rank(30, 8, 3, random_state=0)
    path = tmp_path / "data.csv"
    write_csv(path, planted.data, [f"s{i}" for i in range(30)], [f"f{j}" for j in range(8)], corner="id")
    return path, planted.data


def test_fit_writes_factors_model_and_summary(table, tmp_path, capsys):
    path, X = table
    out = tmp_path / "out"
    assert call("fit", path, "-k", 3, "-o", out, "--max-iter", 2000) == 0
    shown = capsys.readouterr()
    assert "Results in" in shown.out
    W, H = read(out / "W.csv"), read(out / "H.csv")
    assert W.row_names[:2] == ["s0", "s1"]
    assert W.column_names == ["nmf0", "nmf1", "nmf2"]
    assert H.column_names == [f"f{j}" for j in range(8)]
    assert np.linalg.norm(W.data @ H.data - X) < 0.05 * np.linalg.norm(X)
    model = partwise.load(out / "model.partwise")
    assert np.array_equal(model.components_, H.data)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_components"] == 3
    assert [part["name"] for part in summary["parts"]] == W.column_names
    heaviest = summary["parts"][0]["top_features"][0]
    assert heaviest == {"name": f"f{H.data[0].argmax()}", "weight": H.data[0].max()}
    pictures = {"parts.png", "usage.png"}
    page = {"report.html", "report.json"}
    assert set(summary["files"]) == {"W.csv", "H.csv", *pictures, *page, "model.partwise", "summary.json"}
    assert all((out / name).stat().st_size > 5000 for name in pictures)
    assert summary["seconds"] > 0
    assert summary["interrupted"] is False


def test_json_goes_to_stdout_and_progress_to_stderr(table, tmp_path, capsys):
    assert call("fit", table[0], "-k", 2, "-o", tmp_path / "o", "--json", "--loss", "kl", "--seed", 3) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["parameters"] == {
        "n_components": 2,
        "beta_loss": "kullback-leibler",
        "random_state": 3,
    }
    assert summary["chosen"] == {"solver": "scd"}


def test_transform_matches_python(table, tmp_path, capsys):
    path, X = table
    call("fit", path, "-k", 3, "-o", tmp_path / "o", "-q")
    capsys.readouterr()
    model = tmp_path / "o" / "model.partwise"
    assert call("transform", model, path, "-o", tmp_path / "W2.csv") == 0
    expected = partwise.load(model)
    del expected.feature_names_in_
    assert np.array_equal(read(tmp_path / "W2.csv").data, expected.transform(X))
    capsys.readouterr()
    assert call("transform", model, path) == 0
    assert capsys.readouterr().out.splitlines()[0] == "row,nmf0,nmf1,nmf2"


def test_info_tells_what_is_inside(table, tmp_path, capsys):
    call("fit", table[0], "-k", 2, "-o", tmp_path / "o", "--alpha-w", 0.01, "-q")
    capsys.readouterr()
    assert call("info", tmp_path / "o" / "model.partwise") == 0
    shown = capsys.readouterr().out
    assert "NMF with 2 parts over 8 features" in shown
    assert "alpha_W=0.01" in shown
    call("info", tmp_path / "o" / "model.partwise", "--json")
    assert json.loads(capsys.readouterr().out)["parameters"]["alpha_W"] == 0.01


@pytest.mark.parametrize("form", ["npy", "npz", "sparse npz", "mtx", "tsv"])
def test_every_format_gives_the_same_model(table, tmp_path, form, capsys):
    path, X = table
    other = tmp_path / ("other." + form.split()[-1])
    if form == "npy":
        np.save(other, X)
    elif form == "npz":
        np.savez(other, X=X)
    elif form == "sparse npz":
        sp.save_npz(other, sp.csr_matrix(X))
    elif form == "mtx":
        scipy.io.mmwrite(other, sp.coo_matrix(X))
    else:
        write_csv(other, X)
    for source, folder in ((path, "a"), (other, "b")):
        assert call("fit", source, "-k", 3, "-o", tmp_path / folder, "-q") == 0
    a, b = (read(tmp_path / f / "H.csv").data for f in "ab")
    assert np.allclose(a, b, rtol=1e-5, atol=1e-9)


def test_missing_cells(tmp_path, capsys):
    (tmp_path / "holes.csv").write_text("a,b,c\n1,2,3\n2,,6\n3,6,NA\n4,8,12\n")
    assert call("fit", tmp_path / "holes.csv", "-k", 1, "-o", tmp_path / "o", "-q", "--tol", "1e-10") == 0
    W, H = read(tmp_path / "o" / "W.csv").data, read(tmp_path / "o" / "H.csv").data
    assert np.allclose((W @ H)[1, 1], 4, rtol=1e-3)
    assert call("fit", tmp_path / "holes.csv", "-k", 1, "-o", tmp_path / "o", "--missing", "none", "-q") == 2
    assert "contains NaN: X[1, 1]" in capsys.readouterr().err


def text(name, content):
    def write(folder):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


BAD = {
    "stray word": (text("d.csv", "a,b,c\n1,5,2\n3,Rome,4\n"), "column 'b'"),
    "only text": (text("d.csv", "a,b\nF,Paris\nI,Rome\n"), "no column of numbers"),
    "ragged": (text("d.csv", "a,b\n1,2\n3\n4,5\n"), "row 3"),
    "negative": (text("d.csv", "a,b\n1,2\n3,-4\n"), "X[1, 1] = -4"),
    "zeros": (text("d.csv", "a,b\n0,0\n0,0\n"), "no observed entry above zero"),
    "empty": (text("d.csv", ""), "empty"),
    "not npy": (text("d.npy", "hello"), "d.npy"),
    "not npz": (text("d.npz", "hello"), "d.npz"),
    "not mtx": (text("d.mtx", "hello"), "d.mtx"),
    "not parquet": (text("d.parquet", "hello"), "d.parquet"),
    "not h5ad": (text("d.h5ad", "hello"), "d.h5ad"),
    "unknown": (text("d.xlsx", "hello"), ".xlsx"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_end_with_one_sentence_and_code_2(case, tmp_path, capsys):
    make, words = BAD[case]
    if case in ("not parquet", "not h5ad"):
        pytest.importorskip("pyarrow" if "parquet" in case else "anndata")
    assert call("fit", make(tmp_path), "-k", 2, "-o", tmp_path / "o", "-q") == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert shown.out == ""


def test_bad_options_end_with_code_2(table, tmp_path, capsys):
    path, _ = table
    for more, words in (
        (["--loss", "hinge"], "--loss must be a number or one of"),
        (["--solver", "adam"], "solver must be one of"),
        (["--tol", "-1"], "tol must be"),
    ):
        assert call("fit", path, "-k", 2, "-o", tmp_path / "o", "-q", *more) == 2
        assert words in capsys.readouterr().err
    assert call("fit", path, "-k", 99, "-o", tmp_path / "o", "-q") == 2
    assert "exceeds both sides" in capsys.readouterr().err
    assert call("fit", path, "-k", 2, "-o", path, "-q") == 2
    assert "is a file" in capsys.readouterr().err
    assert call("fit", tmp_path / "dta.csv", "-k", 2, "-o", tmp_path / "o") == 2
    assert "Did you mean data.csv?" in capsys.readouterr().err
    assert call("fit", path, "-o", tmp_path / "o") == 2
    assert "-k 10" in capsys.readouterr().err
    assert call("frobnicate") == 2


def test_a_dash_is_standard_output_and_no_name(table, tmp_path, monkeypatch, capsys):
    path, _ = table
    monkeypatch.chdir(tmp_path)
    assert call("fit", path, "-k", 2, "-o", "r", "-q", "--no-report") == 0
    printed = []
    for more in ([], ["-o", "-"]):
        capsys.readouterr()
        assert call("transform", "r/model.partwise", path, *more) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""
    for verb in (["fit", path, "-k", 2], ["report", "r"]):
        assert call(*verb, "-o", "-") == 2
        assert "no place on standard output" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "-").exists()


def test_wrong_columns_in_transform(table, tmp_path, capsys):
    path, X = table
    call("fit", path, "-k", 2, "-o", tmp_path / "o", "-q")
    model = tmp_path / "o" / "model.partwise"
    np.save(tmp_path / "narrow.npy", X[:, :5])
    assert call("transform", model, tmp_path / "narrow.npy") == 2
    assert "narrow.npy has 5 columns, but the fit had 8" in capsys.readouterr().err
    assert call("transform", path, path) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_ctrl_c_leaves_the_best_factors_on_disk(table, tmp_path, monkeypatch, capsys):
    def press(self, place, objective):
        if place == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "update", press)
    assert call("fit", table[0], "-k", 3, "-o", tmp_path / "o", "--tol", 0, "--max-iter", 10_000) == 130
    assert "the best found so far is kept" in capsys.readouterr().err
    assert partwise.load(tmp_path / "o" / "model.partwise").n_iter_ == 3
    assert read(tmp_path / "o" / "W.csv").shape == (30, 3)


@pytest.mark.parametrize("arguments", [["--help"], ["reproduce", "--help"], ["fit", "--help"]])
def test_help_needs_no_numerical_library(arguments):
    code = f"import sys; from partwise.cli import main\ntry: main({arguments})\nexcept SystemExit: pass\n"
    code += "print(sorted(m for m in ('numpy', 'scipy', 'sklearn', 'numba') if m in sys.modules))"
    begin = time.perf_counter()
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"
    assert time.perf_counter() - begin < 30, "something is very slow"


def test_demo_says_where_the_results_are(tmp_path, capsys):
    assert call("demo", "-o", tmp_path / "demo") == 0
    shown = capsys.readouterr().out
    assert f"Open {tmp_path / 'demo' / 'index.html'} first" in shown
    page = (tmp_path / "demo" / "index.html").read_text()
    linked = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert {"digits/parts.png", "topics/topics.png", "sound/separation.png", "network/graph.png"} <= set(
        linked
    )
    assert all((tmp_path / "demo" / name).is_file() for name in linked)
    assert "http" not in page
    nodes = (tmp_path / "demo" / "network" / "nodes.csv").read_text().splitlines()
    assert len(nodes) == 35


def test_map_experiment_runs_on_the_bundled_digits(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("PARTWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("partwise.reproduce.map.SHAPES", (1.0, 2.0))
    assert call("reproduce", "map", "-k", 4, "--iterations", 15, "-o", tmp_path / "m", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    for trace in summary["log_posterior"].values():
        assert np.all(np.diff(trace) >= 0)
    assert (tmp_path / "m" / "map.png").stat().st_size > 10_000


def test_binary_parts_from_the_command_line(tmp_path, capsys):
    bars = make_bars(200, random_state=0)
    path, out = tmp_path / "bars.csv", tmp_path / "out"
    write_csv(path, bars.data, [f"s{i}" for i in range(200)], [f"p{j}" for j in range(16)], corner="id")
    assert call("fit", path, "-k", 8, "--model", "binary", "-o", out, "-q", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["figures"]["activation"] == pytest.approx(bars.latent.mean(), abs=0.03)
    assert call("info", out / "model.partwise") == 0
    assert "exact EM" in capsys.readouterr().out
    assert call("transform", out / "model.partwise", path, "-o", tmp_path / "W.csv") == 0
    assert np.allclose(read(tmp_path / "W.csv").data, read(out / "W.csv").data, atol=1e-6)
    assert call("fit", path, "-k", 8, "--model", "ternary", "-o", out) == 2
    assert call("fit", path, "-k", 30, "--model", "binary", "--inference", "exact", "-o", out) == 2
    assert "1,073,741,824 states" in capsys.readouterr().err


def test_bars_and_digits17_experiments(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    assert call("reproduce", "bars", "--runs", 2, "-o", tmp_path) == 0
    assert "exact      all bars in 100" in capsys.readouterr().out
    assert call("reproduce", "bars", "--runs", 2, "--paper", "--inference", "truncated", "-o", tmp_path) == 0
    assert (tmp_path / "bars.png").stat().st_size > 10_000
    assert call("reproduce", "digits17", "-k", 6, "--iterations", 8, "-o", tmp_path) == 0
    summary = json.loads((tmp_path / "digits17.json").read_text())
    assert summary["test"] > summary["independent_pixels"]
    assert call("reproduce", "bars", "--inference", "some", "-o", tmp_path) == 2


def test_communities_experiment(tmp_path, monkeypatch, capsys):
    from partwise.reproduce import communities

    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("PARTWISE_CACHE", str(tmp_path / "cache"))
    graphs = [communities.planted("football", [30, 20, 20], 12, 0.3, even) for even in (True, False)]
    monkeypatch.setattr(communities, "graphs", lambda lines: iter(graphs))
    assert call("reproduce", "communities", "--seeds", 2, "-o", tmp_path) == 0
    assert "the groups given" in capsys.readouterr().out
    found = json.loads((tmp_path / "communities.json").read_text())["graphs"][0]["methods"]
    assert found["SymmetricNMF"]["nmi"]["mean"] > 0.8
    assert found["the groups given"]["nmi"]["mean"] == pytest.approx(1)
    assert (tmp_path / "communities.png").stat().st_size > 10_000


def test_layers_experiment(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    assert call("reproduce", "layers", "--first", 12, "--second", 4, "-o", tmp_path) == 0
    assert "DeepNMF((12, 4), semi=False)" in capsys.readouterr().out
    errors = {
        row["model"]: row["relative_error"]
        for row in json.loads((tmp_path / "layers.json").read_text())["table"]
    }
    # Without an activation, layers are a factored basis: they fit as well as one layer, and no better.
    assert errors["DeepNMF((12, 4))"] == pytest.approx(errors["SemiNMF(4)"], rel=1e-2)
    assert (tmp_path / "layers.png").stat().st_size > 10_000


def test_ctrl_c_in_the_first_step_of_a_pipeline_ends_the_steps_after_it(tmp_path, monkeypatch, capsys):
    digits = load_digits()
    np.savez(tmp_path / "digits.npz", X=digits.data[:400], y=digits.target[:400])
    steps = []

    def press(self, place, objective):
        steps.append(place)
        if place == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "update", press)
    given = ("--key", "X", "--labels", "y", "-k", 5, "--mixtures", 2, "-o", tmp_path / "o")
    assert call("classify", tmp_path / "digits.npz", *given) == 130
    said = capsys.readouterr().err
    assert "the best found so far is kept" in said
    assert "classes.png not drawn. The fit was interrupted." in said
    assert steps == [0, 1, 2, 3]
    model = partwise.load(tmp_path / "o" / "model.partwise")
    assert [step.ended_by_ for _, step in model.steps] == ["interrupted", "interrupted"]
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["interrupted"]
    assert "classes.png" not in summary["files"]
    assert {file.name for file in (tmp_path / "o").iterdir()} == set(summary["files"])


@pytest.mark.parametrize("verb", [("demo",), ("reproduce", "bars", "--runs", 2)])
def test_ctrl_c_in_one_of_many_fits_ends_them_all(verb, tmp_path, monkeypatch, capsys):
    steps = []

    def press(self, info, state):
        steps.append(info.iteration)
        if len(steps) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("partwise.core.progress.History.__call__", press)
    assert call(*verb, "-o", tmp_path / "o") == 130
    assert "Traceback" not in capsys.readouterr().err
    assert len(steps) == 5
    assert not list((tmp_path / "o").iterdir())


def test_ctrl_c_while_results_are_written_comes_after_the_last_file(table, tmp_path, monkeypatch, capsys):
    def pressed(*args, **more):
        signal.raise_signal(signal.SIGINT)
        return write_csv(*args, **more)

    monkeypatch.setattr("partwise.io.write_csv", pressed)
    assert call("fit", table[0], "-k", 3, "-o", tmp_path / "o") == 130
    assert "Traceback" not in capsys.readouterr().err
    assert {file.name for file in (tmp_path / "o").iterdir()} == {
        "W.csv",
        "H.csv",
        "parts.png",
        "usage.png",
        "model.partwise",
        "summary.json",
        "report.html",
        "report.json",
    }


def test_ctrl_c_leaves_the_best_tiles_on_disk(tmp_path, monkeypatch, capsys):
    from partwise.boolean import climb

    # Not noise, so that the search has something to do: everything at random.
    np.save(tmp_path / "coins.npy", np.random.default_rng(0).random((60, 30)) < 0.4)
    pressed = []

    def press(self, *arguments):
        pressed.append(True)
        if len(pressed) == 40:
            raise KeyboardInterrupt
        return segment(self, *arguments)

    segment = climb.Chain.segment
    monkeypatch.setattr(climb.Chain, "segment", press)
    out = tmp_path / "o"
    assert call("tiles", tmp_path / "coins.npy", "-k", 5, "-o", out, "--trust", 3, "-q") == 130
    assert "the best found so far is kept" in capsys.readouterr().err
    summary = json.loads((out / "summary.json").read_text())
    assert summary["interrupted"]
    assert summary["n_components"] == 5
    assert len(pressed) == 40
    assert partwise.load(out / "model.partwise").components_.shape == (5, 30)


def test_tiling_experiments(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setattr("partwise.reproduce.tiling.RANKS", (10,))
    assert call("reproduce", "tiling", "--seeds", 1, "--levels", 1, "-o", tmp_path) == 0
    assert "none wrong in 1 of 1" in capsys.readouterr().out
    assert (tmp_path / "tiling.png").stat().st_size > 10_000
    planted = json.loads((tmp_path / "tiling.json").read_text())
    assert planted["auto_rank"][0]["found"] == [30]
    monkeypatch.setattr("partwise.boolean.methods.EFFORT", 1.0)
    assert call("reproduce", "tiling-scale", "--rows", 1000, "--rank", 4, "-o", tmp_path) == 0
    large = json.loads((tmp_path / "tiling-scale.json").read_text())
    assert (large["found"], large["wrong"]) == (4, 0)
    assert 0.008 < large["density"] < 0.012


def test_tiles_from_the_command_line(tmp_path, capsys):
    planted = make_boolean(80, 60, 3, random_state=0)
    path, out = tmp_path / "votes.csv", tmp_path / "out"
    write_csv(
        path,
        planted.data.astype(int),
        [f"r{i}" for i in range(80)],
        [f"c{j}" for j in range(60)],
        corner="id",
    )
    assert call("tiles", path, "-o", out, "--max-time", 30) == 0
    assert "3 tiles" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["figures"]["wrong"] == (planted.data != planted.clean).sum()
    tile = summary["parts"][0]
    assert len(tile["column_names"]) == tile["columns"]
    assert len(tile["row_names"]) == tile["rows"]
    assert tile["row_names"][0].startswith("r")
    assert (out / "tiles.png").stat().st_size > 5000
    assert call("info", out / "model.partwise") == 0
    assert "entries wrong" in capsys.readouterr().out
    assert call("transform", out / "model.partwise", path, "-o", tmp_path / "U.csv") == 0
    assert np.array_equal(read(tmp_path / "U.csv").data, read(out / "usage.csv").data)
    assert call("tiles", path, "-k", "many", "-o", out) == 2
    write_csv(path, 2.0 * planted.data, corner="id")
    assert call("tiles", path, "-o", out) == 2
    assert "yes and no are 1 and 0" in capsys.readouterr().err


def test_classify_from_the_command_line(tmp_path, capsys):
    digits = load_digits()
    X, y = digits.data[:400], digits.target[:400]
    train, out = tmp_path / "train.csv", tmp_path / "out"
    write_csv(train, X, None, None)
    (tmp_path / "labels.txt").write_text("\n".join(f"digit {v}" for v in y))
    options = ("-k", 15, "--mixtures", 1, "-q")
    assert (
        call("classify", train, "--labels", tmp_path / "labels.txt", "-o", out, "--shape", "8x8", *options)
        == 0
    )
    assert "wrong on the 80 test rows" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["test_error"] < 0.2
    assert np.sum(summary["confusion"]) == 80
    assert (out / "classes.png").stat().st_size > 5000
    proba = read(out / "predictions.csv")
    assert proba.column_names[0] == "digit 0"
    assert np.allclose(proba.data.sum(axis=1), 1.0)
    model = partwise.load(out / "model.partwise")
    assert (model.predict(X) == [f"digit {v}" for v in y]).mean() > 0.9
    np.savez(tmp_path / "all.npz", X=X, y=y)
    new = tmp_path / "new.npz"
    np.savez(new, X=digits.data[400:450], y=digits.target[400:450])
    arguments = ("classify", tmp_path / "all.npz", "--labels", "y", "--test", new, "-o", out, *options)
    assert call(*arguments, "--test-labels", "y", "--json") == 0
    assert json.loads(capsys.readouterr().out)["n_test"] == 50
    for wrong, sentence in (
        (("--labels", "nobody"), "has no array 'nobody'"),
        (("--labels", "y", "--shape", "28"), "--shape must be"),
        (("--labels", "y", "--deslant"), "--deslant needs --shape"),
    ):
        assert call("classify", tmp_path / "all.npz", *wrong, "-o", out, *options) == 2
        assert sentence in capsys.readouterr().err
    np.savez(new, X=X[:3], y=np.array([0, 1, 77]))
    assert call(*arguments, "--test-labels", "y") == 2
    assert "77" in capsys.readouterr().err


def test_classify_finds_its_labels_in_any_table(tmp_path, capsys):
    digits = load_digits()
    X, y = digits.data[:200], digits.target[:200]
    names = [["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"][v] for v in y]
    options = ("-k", 0, "--mixtures", 1, "-q", "-o", tmp_path / "out")
    lines = [",".join([*map(repr, row.tolist()), name, "x"]) for row, name in zip(X, names)]
    header = ",".join([*(f"p{j}" for j in range(64)), "species", "remark"])
    for name, part in (("train.csv", lines[:150]), ("test.csv", lines[150:])):
        (tmp_path / name).write_text("\n".join([header, *part]))
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    assert call("classify", train, "--labels", "species", "--test", test, "--json", *options) == 0
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert summary["classes"] == sorted(set(names[:150]))
    assert summary["test_error"] < 0.3, "the labels of the test rows were found, too"
    assert f"Note: {train}: column 'remark' holds text and was set aside." in shown.err
    assert "species" not in shown.err
    (tmp_path / "known.txt").write_text("\n".join(["one"] * 50))
    assert (
        call(
            *("classify", train, "--labels", "species", "--test", test),
            *("--test-labels", tmp_path / "known.txt", "--json", *options),
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["test_error"] > 0.5, "the file that was named is what counts"
    np.savez(tmp_path / "stack.npz", pictures=X.reshape(-1, 8, 8).astype(np.uint8), kind=np.array(names))
    assert call("classify", tmp_path / "stack.npz", "--labels", "kind", "--json", *options) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == sorted(set(names))
    assert call("classify", train, "--labels", "specie", *options) == 2
    shown = capsys.readouterr().err
    assert "has no column 'specie'. Did you mean 'species'? There is no file 'specie' either." in shown


def test_classify_says_why_a_file_cannot_be_read(tmp_path, capsys):
    good = tmp_path / "good.npz"
    rng = np.random.default_rng(0)
    np.savez_compressed(good, X=rng.random((50, 20)), y=np.repeat([0, 1], 25))
    whole = good.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    bad = tmp_path / "bad.npz"
    for content in (b"", b"PK", whole[: len(whole) // 2], bytes(damaged)):
        bad.write_bytes(content)
        assert call("classify", bad, "--labels", "y", "-o", tmp_path / "out", "-q") == 2
        assert "bad.npz is not a readable .npz file" in capsys.readouterr().err
    (tmp_path / "labels.npy").write_bytes(b"zz")
    assert call("classify", good, "--labels", tmp_path / "labels.npy", "-o", tmp_path / "out", "-q") == 2
    assert "labels.npy is not a .npy array" in capsys.readouterr().err


def test_text_that_is_set_aside_is_told(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text("name,a,b,party,c\n" + "".join(f"m{i},{i % 2},1,left,{(i + 1) % 2}\n" for i in range(12)))
    sentence = f"Note: {path}: column 'party' holds text and was set aside."
    assert call("fit", path, "-k", 2, "-o", tmp_path / "fit", "-q") == 0
    assert sentence in capsys.readouterr().err
    assert read(tmp_path / "fit" / "H.csv").column_names == ["a", "b", "c"]
    assert call("transform", tmp_path / "fit" / "model.partwise", path, "-o", tmp_path / "W.csv") == 0
    assert "1 column unknown to the model left out: 'party'" in capsys.readouterr().err
    assert call("tiles", path, "-k", 2, "-o", tmp_path / "tiles", "-q", "--max-time", 2) == 0
    assert sentence in capsys.readouterr().err


def test_help_lists_the_formats(capsys):
    assert call("fit", "--help") == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert ".csv, .tsv, .txt, .npy, .npz, .mtx, .parquet, .h5ad, .xlsx or .sav; - for stdin" in shown


def test_files_of_an_earlier_run_do_not_stay_beside_new_results(table, tmp_path):
    out = tmp_path / "o"
    assert call("fit", table[0], "-k", 2, "-o", out, "-q") == 0
    (out / "mine.txt").write_text("kept")
    old = json.loads((out / "summary.json").read_text())
    (out / "factored.h5ad").write_text("of another file")
    old["files"] |= {"factored.h5ad": "", "../escaped.txt": ""}
    (out / "summary.json").write_text(json.dumps(old))
    (tmp_path / "escaped.txt").write_text("kept")
    assert call("fit", table[0], "-k", 3, "-o", out, "-q", "--no-report") == 0
    names = {path.name for path in out.iterdir()}
    assert "mine.txt" in names
    assert not {"factored.h5ad", "report.html", "report.json"} & names
    assert (tmp_path / "escaped.txt").exists()


def test_the_package_itself_is_a_program():
    done = subprocess.run([sys.executable, "-m", "partwise", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert partwise.__version__ in done.stdout
    failed = subprocess.run(
        [sys.executable, "-m", "partwise", "info", "gone.csv"], capture_output=True, text=True
    )
    assert (failed.returncode, failed.stdout) == (2, "")
    assert "gone.csv" in failed.stderr
