"""The cells of `reproduce structured` are kept, and found again."""

import numpy as np
import pytest

from partwise.reproduce import structured
from partwise.reproduce.cells import Cells
from partwise.reproduce.structured_data import Samples


def test_cells_are_computed_once_and_survive(tmp_path):
    cells, calls = Cells(tmp_path / "cells.json"), []
    for _ in range(2):
        assert cells.get("a", lambda: calls.append(1) or 0.5) == 0.5
    assert Cells(tmp_path / "cells.json").get("a", lambda: calls.append(1)) == 0.5
    assert len(calls) == 1
    (tmp_path / "cells.json").write_text("[]")
    with pytest.raises(ValueError, match="does not hold the cells"):
        Cells(tmp_path / "cells.json")


def test_the_table_goes_on_where_it_stopped(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.poisson(rng.gamma(1.0, 3.0, (3, 15))[y]).astype(float)
    monkeypatch.setattr(structured, "all_samples", lambda only, lines: [Samples("made", X, y)])
    options = {"seeds": 2, "shares": "10"}
    first = structured.reproduce_structured(tmp_path, **options)
    assert first["classes"][0]["scores"]["ManifoldNMF"]["mean"] > 0.5
    monkeypatch.setattr(structured.Task, "accuracy", None)
    assert structured.reproduce_structured(tmp_path, **options) == first
    # A part of the table, by models, from the same cells.
    part = structured.reproduce_structured(tmp_path, **options, models="SemiSupervisedNMF, NMF")
    assert list(part["classes"][0]["scores"]) == ["SemiSupervisedNMF"]
    assert part["classes"][0]["scores"].items() <= first["classes"][0]["scores"].items()
    assert list(part["clusters"][0]["scores"]) == ["NMF"]
    with pytest.raises(ValueError, match="percents between 0 and 100"):
        structured.percents("10,x")
