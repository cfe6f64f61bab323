"""A process that imports everything once and then forks a child for every case it is told of on stdin.

It answers on stdout: "begun PID" from the child when its work begins, "ended CODE" when the child is gone. A child
runs in the folder it was given, writes there what it prints and, for a fit, `outcome.json`; and it ends as any Python
program does. With the argument "warm" each fit is first made here, so that its children find all kernels loaded.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
import warnings
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from interrupts.cases import FITS, VERBS, Fit

import partwise.cli.app
import partwise.plot.classes_picture
import partwise.plot.tiles_picture


def serve() -> None:
    """Read lines of JSON with the arguments of `run`, until there are no more."""
    made = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if "warm" in sys.argv and asked["case"] in FITS and asked["case"] not in made:
            make(FITS[asked["case"]])
            made.add(asked["case"])
        pid = os.fork()
        if pid == 0:
            sys.exit(run(**asked))
        _, status = os.waitpid(pid, 0)
        tell(f"ended {os.waitstatus_to_exitcode(status)}")


def make(fit: Fit) -> None:
    """A fit without Ctrl-C."""
    with warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        fit.work(*fit.begin())


def tell(text: str, stream: int = 1) -> None:
    """A line for the harness, in one piece."""
    os.write(stream, f"{text}\n".encode())


def run(case: str, folder: str, data: str) -> int:
    """One case, in a process of its own; the exit code."""
    harness = os.dup(1)
    os.chdir(folder)
    for name, stream in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if case in VERBS:
        Path("out").mkdir()
        tell(f"begun {os.getpid()}", harness)
        # As it is typed: the program itself, with what it does at its end.
        sys.argv = ["partwise", *VERBS[case].arguments(Path(data))]
        partwise.cli.app.main()
        return 0
    fit = FITS[case]
    model, X = fit.begin()
    outcome = {"found": False}
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            tell(f"begun {os.getpid()}", harness)
            fit.work(model, X)
        outcome["found"] = True
    except KeyboardInterrupt:
        pass
    outcome["ended"] = time.monotonic()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outcome["warned"] = any(warning.category.__name__ == "Interrupted" for warning in said)
    outcome["wrong"] = fit.check(model, X) if outcome["warned"] else ""
    Path("outcome.json").write_text(json.dumps(outcome))
    return 0


if __name__ == "__main__":
    serve()
