"""The horse race on bundled data: written, taken up again, and summed up by what is in its table."""

import json

import pytest
from calling import call

from partwise.reproduce.horserace import against, cell, kept


def test_it_runs_on_bundled_data_and_goes_on_from_what_is_there(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    arguments = ["reproduce", "horserace", "--quick", "--only", "digits", "-o", tmp_path]
    assert call(*arguments) == 0
    shown = capsys.readouterr()
    assert "on two idle cores" in shown.err
    assert "relative error (NMF, SVD), ahead: SVD on digits" in shown.out
    assert "sparse bases (NMF, SVD), ahead: NMF on digits" in shown.out
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"digits.json", "digits.csv", "digits.png", "horserace.json", "horserace.md"}
    first = json.loads((tmp_path / "digits.json").read_text())
    assert call(*arguments, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["races"] == [first]
    assert "from an earlier call" in again["lines"][0]
    assert "| NMF |" in (tmp_path / "horserace.md").read_text()
    # Other settings are another race, and a file that was cut short is none.
    path = tmp_path / "digits.json"
    assert kept(path, first["settings"]) == first
    assert kept(path, first["settings"] | {"seeds": 1}) is None
    path.write_text(path.read_text()[:100])
    assert kept(path, first["settings"]) is None


def test_unknown_data_are_refused(tmp_path, capsys):
    assert call("reproduce", "horserace", "--only", "digits,mnist", "-o", tmp_path) == 2
    assert "--only knows no 'mnist'; there are digits, CBCL" in capsys.readouterr().err


def rows(nmf, svd, svd_u, sd=0.0):
    names = {"nmf": nmf, "svd": svd, "svd-u": svd_u}
    methods = [{"method": m, "accuracy": v, "sd": {"accuracy": sd}} for m, v in names.items()]
    return {"data": "these", "methods": methods}


def test_the_sentences_follow_from_the_figures():
    assert against([rows(0.8, 0.7, 0.75)]) == ["accuracy (NMF, SVD), ahead: NMF on these (0.800, 0.750)."]
    assert against([rows(0.7, 0.7, 0.75)]) == ["accuracy (NMF, SVD), ahead: SVD on these (0.700, 0.750)."]
    near = against([rows(0.74, 0.7, 0.75, sd=0.01)])
    assert near == ["accuracy (NMF, SVD), ahead: neither on these (0.740, 0.750)."]
    assert cell(None, None, 3) == "–"
    assert cell(0.5, 0.0004, 3) == "0.500"
    assert cell(0.5, 0.0006, 3) == "0.500 ± 0.001"
