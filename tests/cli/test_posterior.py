"""partwise posterior: tables of means and doubt, the picture, the section of the report, bad input."""

import json

import numpy as np
import pytest
from calling import call

from partwise import load
from partwise.datasets import make_boolean
from partwise.io import read

QUICK = ("--n-draws", 60, "--n-warmup", 60, "--n-chains", 2, "-q")


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(12, 2)) @ rng.exponential(size=(2, 6)) + 0.1
    path = tmp_path / "numbers.csv"
    rows = "\n".join(f"r{i}," + ",".join(f"{v:.4f}" for v in row) for i, row in enumerate(X))
    path.write_text("name," + ",".join(f"c{j}" for j in range(6)) + "\n" + rows + "\n")
    return path


@pytest.fixture
def yes_no(tmp_path):
    table = make_boolean(40, 30, 2, 0.3, noise_add=0.02, noise_drop=0.05, random_state=0)
    path = tmp_path / "yes.csv"
    lines = ["," + ",".join(f"c{j}" for j in range(30))]
    lines += [f"r{i}," + ",".join(str(int(v)) for v in row) for i, row in enumerate(table.data)]
    path.write_text("\n".join(lines) + "\n")
    return path, table


def test_numbers_have_means_deviations_and_intervals(numbers, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("posterior", numbers, "-k", 2, *QUICK, "--entry", "1,c3", "-o", out) == 0
    said = capsys.readouterr().out
    assert "R-hat, in brackets the effective number of draws" in said
    model = load(out / "model.partwise")
    for name, array in (("W", model.W_mean_), ("W_std", model.W_std_), ("H_std", model.components_std_)):
        assert np.allclose(read(out / f"{name}.csv").data, array, rtol=1e-5)
    low, high = read(out / "low.csv"), read(out / "high.csv")
    mean = model.W_mean_ @ model.components_
    assert low.column_names == [f"c{j}" for j in range(6)]
    assert (low.data <= high.data).all()
    assert ((low.data <= mean) & (mean <= high.data)).mean() > 0.9
    summary = json.loads((out / "summary.json").read_text())
    assert {row["quantity"] for row in summary["uncertainty"]} == {
        "log-posterior",
        "noise variance",
        "reconstruction",
    }
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Uncertainty" in page
    assert "point estimates without intervals" not in page
    assert (out / "posterior.png").stat().st_size > 10_000


def test_tiles_have_probabilities(yes_no, tmp_path):
    path, table = yes_no
    out = tmp_path / "o"
    assert call("posterior", path, "-k", 2, "--model", "boolean", *QUICK, "-o", out) == 0
    chance, named = read(out / "probability.csv").data, read(out / "named.csv").data
    assert ((chance >= 0) & (chance <= 1)).all()
    assert (named != table.clean).sum() <= 3
    assert "share of draws that have it" in (out / "report.html").read_text(encoding="utf-8")
    # A report made again from the folder has the section too, though model files keep no draws.
    assert call("report", out) == 0
    assert "share of draws that have it" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-k", 2, "--model", "tree"), "--model must be one of nmf, boolean"),
        (("-k", 2, "--level", 1.5), "--level must lie between 0 and 1"),
        (("-k", 2, "--entry", "c3"), "--entry takes the number of a part and a column"),
        (("-k", 2, "--entry", "0,c9"), "no column is called 'c9'; the first are c0"),
        (("-k", 2, "--entry", "2,c0"), "there are 2 parts, numbered from 0"),
        (("-k", 2, "--entry", "0,17"), "there are 6 columns, numbered from 0"),
        (("-k", 2, "--sampler", "gibbs"), "--sampler does not apply to --model bayesian-nmf"),
        ((), "how many parts?"),
    ],
)
def test_bad_options_are_said(numbers, tmp_path, capsys, options, sentence):
    assert call("posterior", numbers, *options, "-q", "-o", tmp_path / "o") == 2
    assert sentence in capsys.readouterr().err


def test_too_few_draws_are_said_without_numbers(numbers, tmp_path, capsys):
    out = tmp_path / "o"
    few = ("--n-draws", 2, "--n-warmup", 2, "--n-chains", 2, "-q", "--no-report")
    assert call("posterior", numbers, "-k", 2, *few, "-o", out) == 0
    said = capsys.readouterr().out
    assert "nan (" not in said
    assert "have not converged" in said
    rows = json.loads((out / "summary.json").read_text())["uncertainty"]
    assert all(row["R-hat"] is None for row in rows)
