"""Verbs without standard input, output or error, and with those that lack letters."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from partwise import NMF, save


def run(command: str, folder):
    return subprocess.run(
        ["sh", "-c", command.replace("partwise", f"{sys.executable} -m partwise", 1)],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("verb", ["fit - -k 2", "topics - -k 2"])
def test_standard_input_that_is_closed(verb, tmp_path):
    done = run(f"partwise {verb} -o out <&-", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "stdin is closed" in done.stderr


def test_standard_output_that_is_closed(tmp_path):
    rng = np.random.default_rng(0)
    save(NMF(2, max_iter=5, tol=0).fit(rng.random((9, 4))), tmp_path / "model.partwise")
    np.savetxt(tmp_path / "new.csv", rng.random((3, 4)), delimiter=",")
    done = run("partwise transform model.partwise new.csv >&-", tmp_path)
    assert done.returncode == 2
    assert "standard output: it is closed" in done.stderr


def test_without_standard_error_no_bar_stands_in_the_results(tmp_path):
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(0).random((9, 4)), delimiter=",")
    run("partwise fit x.csv -k 2 --no-report -o out --json 2>&- >printed.json", tmp_path)
    assert json.loads((tmp_path / "printed.json").read_text())["n_samples"] == 9


@pytest.mark.parametrize(
    ("encoding", "town"),
    [("", "Łódź".encode()), ("cp1252", b"\\u0141\xf3d\\u017a"), ("utf-8", "Łódź".encode())],
)
def test_letters_that_an_encoding_lacks_end_no_verb(encoding, town, tmp_path):
    """In a job without a locale results are UTF-8; where an encoding was chosen, other letters are escapes."""
    (tmp_path / "x.csv").write_text("town,a,b\nŁódź,1,2\nParis,2,3\nRoma,5,1\n", encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    program = [sys.executable, "-m", "partwise"]
    how = {"cwd": tmp_path, "env": {**os.environ, **plain}, "capture_output": True, "check": False}
    made = subprocess.run([*program, *["fit", "x.csv", "-k", "1", "--no-report", "-o", "out"]], **how)
    assert made.returncode == 0
    told = subprocess.run([*program, "transform", "out/model.partwise", "x.csv"], **how)
    assert told.returncode == 0
    assert told.stdout.splitlines()[1].startswith(town)


@pytest.mark.skipif(os.name == "nt", reason="needs limits as Unix has them")
def test_no_room_for_pictures_costs_only_the_pictures(tmp_path):
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(0).random((9, 4)), delimiter=",")
    done = run("ulimit -f 16; partwise fit x.csv -k 2 --no-report -o out", tmp_path)
    assert done.returncode == 0
    assert "not drawn" in done.stderr
    assert (tmp_path / "out" / "model.partwise").exists()
