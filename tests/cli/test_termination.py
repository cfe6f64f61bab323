"""SIGTERM, as batch systems and containers send it, ends a verb like Ctrl-C: what was found is written."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from calling import call

import partwise
from partwise.interrupts import terminable

BEGUN = """
import sys
from partwise.cli import main
from partwise.models import nmf
inner = nmf.NMF.fit_transform
def begun(self, *a, **k):
    print("begun", flush=True)
    return inner(self, *a, **k)
nmf.NMF.fit_transform = begun
sys.argv = ["partwise", "fit", *sys.argv[1:]]
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_terminated_fit_writes_what_it_found(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((300, 200)))
    options = ["-k", "8", "--tol", "0", "--max-iter", "100000000", "-o", tmp_path / "o", "--no-report", "-q"]
    process = subprocess.Popen(
        [sys.executable, "-c", BEGUN, tmp_path / "a.npy", *map(str, options)],
        stdout=subprocess.PIPE,
        # As a shell makes programs in the background, deaf to Ctrl-C: the harder case.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert process.stdout.readline() == b"begun\n"
    # (A first result, on a machine that is busy with other tests.)
    time.sleep(2.0)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert json.loads((tmp_path / "o" / "summary.json").read_text())["interrupted"]
    assert partwise.load(tmp_path / "o" / "model.partwise").components_.shape == (8, 200)


def test_programs_keep_their_own_handlers():
    def own(number, frame):
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        with terminable():
            assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


def test_ctrl_c_after_the_end_of_a_verb_changes_nothing(tmp_path):
    """Python waits for threads at its end, and would print a traceback from there."""
    program = (
        "import atexit, signal, sys\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\n"
        "sys.argv = ['partwise', '--version']\n"
        "from partwise.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("partwise ")
    assert done.stderr == ""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    X = np.random.default_rng(0).random((3000, 5))
    np.save(folder / "many.npy", X)
    np.save(folder / "few.npy", X[:3])
    partwise.save(partwise.NMF(2, tol=0.1).fit(X), folder / "nmf.partwise")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="needs pipes as Unix has them")
@pytest.mark.parametrize(("rows", "unbuffered"), [("many", ""), ("few", ""), ("few", "1")])
def test_output_that_nobody_reads_ends_quietly(fitted, rows, unbuffered):
    """As in `partwise transform … | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    arguments = ["transform", "nmf.partwise", f"{rows}.npy"]
    done = run(fitted, arguments, writing, unbuffered)
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        ("transform nmf.partwise many.npy", ""),
        ("transform nmf.partwise few.npy", "1"),
        ("info nmf.partwise", ""),
    ],
)
def test_output_that_cannot_be_written_is_told(fitted, arguments, unbuffered):
    with open("/dev/full", "wb") as full:
        done = run(fitted, arguments.split(), full, unbuffered)
    said = done.stderr.decode()
    assert said.startswith(
        "partwise: the result cannot be written to standard output: No space left on device."
    )
    assert said.count("\n") == 1
    assert done.returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_messages_that_cannot_be_written_cost_no_result(fitted):
    """A bar, notes and warnings on a full disk: `2>log` there."""
    with open("/dev/full", "wb") as full:
        done = run(fitted, ["fit", "few.npy", "-k", "2", "-o", "kept"], subprocess.PIPE, "", full)
    assert b"Results in" in done.stdout
    assert done.returncode == 0
    assert (fitted / "kept" / "model.partwise").exists()


def run(folder, arguments, stdout, unbuffered, stderr=subprocess.PIPE):
    program = "import sys; from partwise.cli import main; main()"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(
        command, stdout=stdout, stderr=stderr, cwd=folder, env=environment, timeout=120, check=False
    )


def test_ctrl_c_before_there_is_a_result_is_said(tmp_path, monkeypatch, capsys):
    def pressed(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("partwise.compare", pressed)
    np.savetxt(tmp_path / "X.csv", np.ones((6, 4)), delimiter=",")
    assert call("compare", tmp_path / "X.csv", "-k", 2, "-o", tmp_path / "out", "-q") == 130
    assert capsys.readouterr().err == "partwise: stopped.\n"
