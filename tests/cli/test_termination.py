"""SIGTERM, as batch systems and containers send it, ends a verb like Ctrl-C: what was found is written."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

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
    time.sleep(0.5)
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
