"""Attempts in processes of their own, so that a crash is one more failure, named by its seed.

A module with attempts has `KINDS`, names of what is tried, and `attempt(kind, seed, folder)`, which returns "" or
what went wrong. Attempt number i is of the kind `KINDS[i % len(KINDS)]`.
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
#: Attempts of one process, and seconds after which one is taken to hang.
BATCH, PATIENCE = 200, 120
#: What reading may take, and what the process may in all.
MAX_BYTES, MEMORY = 32 * 2**20, 8 * 10**9


def run(module: str, tries: int, seed: int) -> tuple[int, list[str]]:
    """Try `tries` times; return how often, and a line for each failure."""
    counts = tally(module, tries, seed)
    return sum(count for count, _ in counts.values()), [
        line for _, failures in counts.values() for line in failures
    ]


def tally(module: str, tries: int, seed: int) -> dict[str, tuple[int, list[str]]]:
    """The number of tries and the failures of each kind."""
    counts: dict[str, tuple[int, list[str]]] = {}
    for kind, number, trouble in _outcomes(module, seed, seed + tries):
        count, failures = counts.get(kind, (0, []))
        line = [f"{module} {kind}, seed {number}: {trouble}"] if trouble else []
        counts[kind] = count + 1, failures + line
    return counts


def _outcomes(module: str, first: int, last: int) -> Iterator[tuple[str, int, str]]:
    """(kind, seed, what went wrong) of each attempt; a new process goes on behind one that crashed."""
    while first < last:
        stop = min(first + BATCH, last)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, module, str(first), str(stop), folder]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment())
            kind = ""
            for line in child.stdout:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "begin":
                    kind = rest
                elif word == "end":
                    yield kind, first, rest
                    first, kind = first + 1, ""
            code = child.wait()
        if first < stop:
            yield kind or "start", first, f"the process ended with code {code}"
            first += 1


def _environment() -> dict[str, str]:
    paths = [str(TESTS), *(path for path in sys.path if path)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PARTWISE_MAX_BYTES": str(MAX_BYTES),
        "MPLBACKEND": "Agg",
        "PARTWISE_QUIET": "1",
    }


def _child(module: str, first: int, stop: int, folder: Path) -> None:
    import faulthandler

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # What is tried may print; the outcomes go to where the parent reads.
    said = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tried = importlib.import_module(f"fuzz.{module}")
    for seed in range(first, stop):
        kind = tried.KINDS[seed % len(tried.KINDS)]
        said.write(f"begin {kind}\n")
        place = folder / str(seed)
        place.mkdir()
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        trouble = " ".join(tried.attempt(kind, seed, place).split())
        faulthandler.cancel_dump_traceback_later()
        said.write(f"end {trouble[:300]}\n")


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
