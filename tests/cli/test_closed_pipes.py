"""Started without standard input or output, a verb says so and ends with exit code 2."""

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
