"""Verbs where matplotlib is not installed: results without pictures, or one sentence before the work."""

import json
import sys

import numpy as np
import pytest
from calling import call


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_results_are_whole_without_their_picture(without_matplotlib, tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    np.savetxt(tmp_path / "bits.csv", rng.integers(0, 2, (8, 5)), delimiter=",")
    np.savez(tmp_path / "classes.npz", X=rng.random((40, 4)) + 3 * y[:, None], y=y)
    for verb, data, options, picture in (
        ("tiles", "bits.csv", ("-k", "1", "--max-time", "1"), "tiles.png"),
        ("classify", "classes.npz", ("--labels", "y", "-k", "0", "--mixtures", "1"), "classes.png"),
        ("compare", "classes.npz", ("--labels", "y", "-k", "1", "--methods", "svd"), "compare.png"),
    ):
        folder = tmp_path / verb
        assert call(verb, tmp_path / data, *options, "-o", folder, "-q") == 0
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert f"Note: {picture} not drawn" in said
        assert 'pip install "partwise[report]"' in said
        files = json.loads((folder / "summary.json").read_text())["files"]
        assert picture not in files
        assert sorted(files) == sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("verb", [("demo",), ("bench",), ("reproduce", "bars"), ("reproduce", "tiling")])
def test_verbs_that_draw_ask_before_the_work(verb, without_matplotlib, tmp_path, capsys):
    assert call(*verb, "-o", tmp_path / "out") == 2
    assert capsys.readouterr().err == 'partwise: Drawing needs matplotlib: pip install "partwise[report]"\n'
    assert not (tmp_path / "out").exists()
