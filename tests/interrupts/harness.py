"""Ctrl-C at random moments of every fit and every verb: is it heard at once, and is what was found kept?

    python tests/interrupts/harness.py --moments 20 [--only PATTERN] [--seed 0]

Each try is a process that gets a real SIGINT at a moment drawn uniformly from the time that the case takes when it is
left alone. A fit must end within two seconds, fitted, with the warning `Interrupted` (and `ended_by_` "interrupted",
unless its run had ended by itself before the signal), or with KeyboardInterrupt if nothing had been found yet. A verb
must end within two seconds with exit code 130, without a traceback, and with all of its files or none.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from interrupts.cases import FITS, VERBS, write_data

#: Seconds after which Ctrl-C must have been heard, and after which a process is given up.
HEARD, GIVEN_UP = 2.0, 20.0
#: A signal in the last moments of a fit may be delivered after it.
LAST_MOMENTS = 0.1


class Children:
    """The process of child.py; see there."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root, self.options = root, options
        if not (root / "data").exists():
            (root / "data").mkdir()
            write_data(root / "data")
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "child.py"), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self.number = 0
        #: Seconds that each case takes when it is left alone.
        self.seconds: dict[str, float] = {}

    def line(self, seconds: float) -> list[str] | None:
        """The next line as words, None if there is none in time."""
        stream = self.process.stdout
        if not select.select([stream], [], [], max(0.0, seconds))[0]:
            return None
        text = b""
        while not text.endswith(b"\n"):
            piece = os.read(stream.fileno(), 1)
            if not piece:
                raise RuntimeError("The process that forks the children has ended.")
            text += piece
        return text.decode().split()

    def attempt(self, case: str, delay: float | None) -> Attempt:
        """Run a case, with SIGINT after `delay` seconds if given."""
        self.number += 1
        folder = self.root / f"{self.number}{''.join(self.options)}"
        folder.mkdir()
        asked = {"case": case, "folder": str(folder), "data": str(self.root / "data")}
        self.process.stdin.write(f"{json.dumps(asked)}\n".encode())
        self.process.stdin.flush()
        first = self.line(300.0)
        begin = time.monotonic()
        if first is None or first[0] != "begun":
            raise RuntimeError(f"{case} did not begin: {(folder / 'stderr').read_text()}")
        pid, sent = int(first[1]), float("inf")
        last = self.line(delay if delay is not None else 300.0)
        if last is None:
            sent = time.monotonic()
            os.kill(pid, signal.SIGINT)
            last = self.line(GIVEN_UP)
        ended = time.monotonic()
        hung = last is None
        if hung:
            os.kill(pid, signal.SIGUSR1)
            time.sleep(1.0)
            os.kill(pid, signal.SIGKILL)
            last = self.line(30.0)
        return Attempt(case, folder, begin, sent, ended, int(last[1]), hung)

    def alone(self, case: str) -> float:
        """Seconds that a case takes without Ctrl-C."""
        if case not in self.seconds:
            # The first run compiles what has to be, the second one counts.
            for _ in range(2):
                attempt = self.attempt(case, None)
                if attempt.code:
                    raise RuntimeError(f"{case} fails without Ctrl-C: {attempt.errors}")
                attempt.judged()
                shutil.rmtree(attempt.folder)
            self.seconds[case] = attempt.ended - attempt.begin
        return self.seconds[case]

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


class Attempt:
    """One run of a case, and what there is to say of it."""

    def __init__(
        self, case: str, folder: Path, begin: float, sent: float, ended: float, code: int, hung: bool
    ) -> None:
        self.case, self.folder, self.begin, self.sent, self.ended = case, folder, begin, sent, ended
        self.code, self.hung = code, hung
        self.errors = (folder / "stderr").read_text()
        self.heard = False

    def judged(self) -> str:
        """ "kept", "nothing" (found yet), "late" (the work was done), or what is wrong."""
        if self.hung:
            return f"hung: {self.errors[-3000:]}"
        verdict = self._of_verb() if self.case in VERBS else self._of_fit()
        if self.code in (0, 130, -signal.SIGINT) and (
            "Traceback" in self.errors or "Exception ignored" in self.errors
        ):
            return f"traceback: {self.errors[-3000:]}"
        if verdict in ("kept", "nothing"):
            self.heard = self.ended - self.sent <= HEARD
            if not self.heard:
                return f"ended {self.ended - self.sent:.1f} s after the signal"
        return verdict

    def _of_fit(self) -> str:
        if self.code:
            return f"exit code {self.code}: {self.errors[-3000:]}"
        outcome: dict[str, Any] = json.loads((self.folder / "outcome.json").read_text())
        self.ended = outcome["ended"]
        if self.sent == float("inf"):
            return "late"
        if not outcome["found"]:
            return "nothing"
        if not outcome["warned"]:
            if self.ended - self.sent < LAST_MOMENTS:
                return "late"
            return f"not heard, {self.ended - self.sent:.2f} s before the end"
        # A run that had ended by itself before the signal, and was only being described, says truly what ended it.
        return "kept" if outcome["wrong"].startswith("ended by") else outcome["wrong"] or "kept"

    def _of_verb(self) -> str:
        out = self.folder / "out"
        files = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
        others = {file.name for file in self.folder.iterdir()} - {"out", "stdout", "stderr"}
        if others:
            return f"left {sorted(others)}"
        for folder in {folder_of(name) for name in files} - {"data"}:
            found = {name for name in files if folder_of(name) == folder}
            if found not in whole(VERBS[self.case].files, folder, found):
                return f"some files only: {sorted(found)}"
        for name in files:
            try:
                load(self.folder / "out" / name)
            except Exception as error:
                return f"{name} cannot be read: {error}"
        # Python's last acts are to put the signal's own action back, which ends the process, and to be done; to
        # take down all libraries that a report needs takes half a second, more where other work goes on.
        if self.code in (0, -signal.SIGINT) and files and self.ended - self.sent < 10 * LAST_MOMENTS:
            return "late"
        if self.code != 130:
            return f"exit code {self.code}: {self.errors[-3000:]}"
        return "kept" if files else "nothing"


def folder_of(name: str) -> str:
    """The folder of a file below the results: each is written whole or not at all."""
    return str(Path(name).parent)


def whole(expected: frozenset[str], folder: str, found: set[str]) -> tuple[set[str], ...]:
    """What may lie in a folder of results; after Ctrl-C no pictures are drawn, and no report is made.

    Recordings whose names tell what was heard in them are taken as they are, where the case names none.
    """
    own = {name for name in expected if folder_of(name) == folder}
    if not any(name.endswith(".wav") for name in own):
        own |= {name for name in found if name.endswith(".wav")}
    page = {name for name in own if Path(name).name.startswith("report.")}
    drawn = {name for name in own if name.endswith(".png")}
    return own, own - page, own - page - drawn


def load(file: Path) -> None:
    """Read a result; raises whatever its reader raises."""
    from matplotlib.image import imread
    from scipy.io import wavfile

    import partwise
    from partwise.io import DataError

    def read(path: Path) -> None:
        try:
            partwise.io.read(path)
        except DataError as error:
            # Nothing found as yet is a table without rows, or with their names alone.
            if "no rows of data" not in str(error) and "no column of numbers" not in str(error):
                raise

    readers = {
        ".csv": read,
        ".png": imread,
        ".partwise": partwise.load,
        ".html": Path.read_text,
        ".wav": wavfile.read,
        ".jsonl": Path.read_text,
    }
    readers.get(file.suffix, lambda path: json.loads(path.read_text()))(file)


def tried(servers: list[Children], name: str, moments: int, seed: int) -> Counter[str]:
    """Interrupt a case at so many moments, by the servers in turn; how often what happened. Failures are printed."""
    draw = random.Random(f"{seed} {name}")
    seen: Counter[str] = Counter()
    while seen["tries"] < moments and seen["late"] < 5 * moments:
        server = servers[seen["tries"] % len(servers)]
        delay = draw.uniform(0.0, server.alone(name))
        attempt = server.attempt(name, delay)
        verdict = attempt.judged()
        if verdict == "late":
            seen["late"] += 1
        else:
            seen["tries"] += 1
            seen["heard"] += attempt.heard
            seen[verdict if verdict in ("kept", "nothing") else "failures"] += 1
            if verdict not in ("kept", "nothing"):
                print(f"{name}, {delay:.3f} s of {server.alone(name):.2f}: {verdict}", flush=True)
        shutil.rmtree(attempt.folder)
    return seen


def survey(names: list[str], moments: int, seed: int, root: Path) -> dict[str, Counter[str]]:
    """Interrupt each case at so many moments; how often what happened.

    Fits are interrupted in turn where their kernels are loaded already, and where they have yet to be read from disk.
    """
    cold, warm = Children(root), Children(root, "warm")
    table = {}
    for name in names:
        servers = [warm, cold] if name in FITS else [cold]
        seen = table[name] = tried(servers, name, moments, seed)
        lengths = ", ".join(f"{server.alone(name):.1f} s" for server in servers[:moments])
        print(f"{row(name, seen)}   ({lengths})", flush=True)
    cold.close()
    warm.close()
    return table


COLUMNS = ("tries", "heard", "kept", "nothing", "failures")


def row(name: str, seen: Any) -> str:
    """A line of the table."""
    return f"{name:34s}" + "".join(f"{seen[column]!s:>14s}" for column in COLUMNS)


def main() -> int:
    """The table of all cases; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=20, help="tries of each case")
    parser.add_argument(
        "--only", default="", help="cases whose name has this pattern in it, as '*' and '?' match"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    names = [name for name in (*FITS, *VERBS) if fnmatch(name, f"*{given.only}*")]
    root = Path(tempfile.mkdtemp(prefix="partwise-interrupts-"))
    try:
        table = survey(names, given.moments, given.seed, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    heads = ("tries", f"heard in {HEARD:g} s", "kept", "nothing yet", "failures")
    print("", row("case", dict(zip(COLUMNS, heads))), *(row(*one) for one in table.items()), sep="\n")
    total = sum(table.values(), Counter())
    print(row("all", total))
    return int(total["failures"] > 0)


if __name__ == "__main__":
    sys.exit(main())
