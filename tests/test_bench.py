"""The race's own rules, on curves made by hand and on a short real run."""

import json
import sys

import pytest

from partwise.bench.matching import peer_target, time_to, time_with_restarts
from partwise.bench.segment import race
from partwise.cli import main

PEER = {"seconds": [0, 1, 2, 3, 4], "objective": [1001.0, 101.0, 3.0, 1.9, 1.0]}


def test_target_is_where_the_peer_has_made_its_progress():
    assert peer_target(PEER) == (3.0, 1.9)
    assert peer_target(PEER, gap=0.2) == (1.0, 101.0)


def test_time_to_a_target():
    assert time_to(PEER, 50.0) == 2
    assert time_to(PEER, 0.5) is None


def test_a_run_that_ends_too_high_costs_its_time():
    bad = {"seconds": [0, 5], "objective": [1001.0, 4.0]}
    good = {"seconds": [0, 0.5, 1], "objective": [1001.0, 1.5, 0.9]}
    assert time_with_restarts([bad, good], 0, 1.9) == 5.5
    assert time_with_restarts([bad, good], 1, 1.9) == 0.5
    assert time_with_restarts([bad], 0, 1.9) is None


@pytest.mark.parametrize("solver", ["partwise", "sklearn-mu"])
def test_racers_start_together_and_go_down(solver):
    curve = race("digits-kl", solver, 0, 0.3)
    assert curve["objective"][0] == pytest.approx(race("digits-kl", "partwise", 0, 0.0)["objective"][0])
    assert curve["objective"][-1] < 0.5 * curve["objective"][0]
    assert curve["seconds"] == sorted(curve["seconds"])


def test_a_racer_that_cannot_run_says_why():
    assert race("digits-kl", "sklearn-cd", 0, 0.1)["skipped"] == "minimises only the Frobenius loss"


def test_bench_from_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "bench",
                "digits-frobenius",
                "--seeds",
                "1",
                "--seconds",
                "0.5",
                "--peer",
                "sklearn-cd",
                "-o",
                str(tmp_path),
            ]
        )
    assert stop.value.code == 0
    assert "digits-frobenius         sklearn-cd" in capsys.readouterr().out
    assert json.loads((tmp_path / "bench.json").read_text())["table"][0]["ratio"] > 0
    assert (tmp_path / "bench.png").stat().st_size > 5000
    with pytest.raises(SystemExit) as stop:
        main(["bench", "no-such-case", "-o", str(tmp_path)])
    assert stop.value.code == 2
    assert "no case is called 'no-such-case'" in capsys.readouterr().err


def test_the_cost_of_structured_models_is_measured_and_missing_peers_say_so(monkeypatch, tmp_path, capsys):
    import scipy.sparse as sp

    from partwise.bench import structure

    rng = structure.np.random.default_rng(0)
    X, y = rng.random((40, 12)), structure.np.arange(40) % 3
    table = structure.Table(X, structure.neighbour_graph(X, 3), y, 2)
    monkeypatch.setattr(structure, "CASES", {"dense": lambda: table})
    absent = structure.Racer("absent", structure.peer_labels, structure.nmf(), package="no_such_package")
    monkeypatch.setattr(structure, "RACERS", (structure.RACERS[0], structure.RACERS[2], absent))
    assert sp.issparse(table.graph)
    with pytest.raises(SystemExit) as stop:
        main(["bench", "--structure", "--seeds", "1", "-o", str(tmp_path)])
    assert stop.value.code == 0
    assert "no_such_package cannot be imported" in capsys.readouterr().out
    rows = json.loads((tmp_path / "structure.json").read_text())["rows"]
    assert all(row["ratio"] > 0 for row in rows[:2])
    with pytest.raises(SystemExit) as stop:
        main(["bench", "nowhere", "--structure", "-o", str(tmp_path)])
    assert stop.value.code == 2
    assert "with --structure there are" in capsys.readouterr().err


def test_the_cost_of_samplers_is_measured_beside_what_they_are_compared_with(monkeypatch, tmp_path, capsys):
    from partwise.bench import sampling

    small = {"dense": sampling.Size(30, 20, 2), "sparse": sampling.Size(40, 30, 2, 0.1)}
    monkeypatch.setattr(sampling, "CASES", small)
    monkeypatch.setattr(sampling, "WARMUP", 2)
    monkeypatch.setattr(sampling, "STEPS", 3)
    with pytest.raises(SystemExit) as stop:
        main(["bench", "--sampling", "--seeds", "1", "-o", str(tmp_path)])
    assert stop.value.code == 0
    assert "60,000 steps" in capsys.readouterr().out
    rows = json.loads((tmp_path / "sampling.json").read_text())["rows"]
    assert [row["case"] for row in rows] == 10 * ["dense"] + 4 * ["sparse"]
    assert all(row["ratio"] == pytest.approx(row["seconds"] / row["beside"]) for row in rows)
    assert {row["limit"] for row in rows} == {None, 2.0, 3.0}
    with pytest.raises(SystemExit) as stop:
        main(["bench", "nowhere", "--sampling", "-o", str(tmp_path)])
    assert stop.value.code == 2
    assert "with --sampling there are" in capsys.readouterr().err


def test_peers_of_structured_models_stand_beside_ours(monkeypatch, tmp_path, capsys):
    from types import SimpleNamespace

    import numpy as np

    from partwise.bench import structure_peers

    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.random((40, 6)) + 3.0 * np.eye(2)[y] @ rng.random((2, 6))

    class Peer:
        def __init__(self, X, k, *, Y, L, modelNum, A, S, B):
            assert Y.shape == L.shape == (2, 40)
            self.B, self.S = np.eye(2, k), np.eye(k, 40)

        def mult(self, numiters):
            pass

    monkeypatch.setitem(sys.modules, "ssnmf", SimpleNamespace(SSNMF=Peer))
    monkeypatch.setitem(sys.modules, "karateclub", None)
    monkeypatch.setattr(structure_peers, "TABLES", {"made": lambda: (X, y)})
    options = ["--structure", "--peer", "ssnmf", "--peer", "karateclub", "--seeds", "1"]
    with pytest.raises(SystemExit) as stop:
        main(["bench", *options, "-o", str(tmp_path)])
    assert stop.value.code == 0
    assert "karateclub is left out, it cannot be imported" in capsys.readouterr().out
    rows = json.loads((tmp_path / "structure_peers.json").read_text())["rows"]
    assert [row.get("model") for row in rows] == ["SemiSupervisedNMF", "SSNMF", None]
    assert rows[0]["merit"] > 0.8
    with pytest.raises(SystemExit) as stop:
        main(["bench", "--structure", "--peer", "nobody", "-o", str(tmp_path)])
    assert stop.value.code == 2
    assert "nothing is called 'nobody'" in capsys.readouterr().err


def test_default_fits_missing_entries_and_transform_are_measured(tmp_path, monkeypatch, capsys):
    import numpy as np

    from partwise.bench import transforms
    from partwise.bench.datasets import DATASETS

    monkeypatch.setitem(DATASETS, "digits", lambda: np.random.default_rng(0).random((60, 20), np.float32))
    monkeypatch.setattr(transforms, "SIZES", (1, 70))

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["bench", "digits-frobenius", "-o", str(tmp_path), "--seeds", "1", "--json", *arguments])
        return ended.value.code

    assert call("--defaults") == 0
    (row,) = json.loads((tmp_path / "defaults.json").read_text())["rows"]
    assert row["ratio"] == pytest.approx(row["theirs_seconds"] / row["ours_seconds"])
    assert row["higher"] == pytest.approx(row["ours_objective"] / row["theirs_objective"] - 1)
    assert call("--missing", "0.1,0.8") == 0
    solvers = [row["solver"] for row in json.loads((tmp_path / "missing.json").read_text())["rows"]]
    assert solvers == ["filled", "scd"]
    assert call("--transform") == 0
    assert [row["rows"] for row in json.loads((tmp_path / "transforms.json").read_text())["rows"]] == [1, 70]
    capsys.readouterr()
    assert call("--missing", "30 %") == 2
    assert "shares between 0 and 1" in capsys.readouterr().err


def test_the_roofline_stands_beside_an_iteration(tmp_path):
    from partwise.bench.roofline import race_roofline

    summary = race_roofline(tmp_path, ["digits-frobenius", "digits-kl"], 1)
    rows = json.loads((tmp_path / "roofline.json").read_text())["rows"]
    assert [row["case"] for row in rows] == ["digits-frobenius", "digits-kl"]
    for row in rows:
        assert min(row["seconds"], row["arithmetic"], row["memory"]) > 0
        assert row["ratio"] == pytest.approx(row["seconds"] / max(row["arithmetic"], row["memory"]))
    assert len(summary["lines"]) == 3
