"""Killed while writing, full disks, read-only folders, processes at once: is every file whole, every answer right?

    python tests/fuzz/kills.py --tries 200 [--seed 0] [--only PATTERN]

Each try is a process of its own, forked from this one, where everything is imported and compiled already. The full
disk is a random limit on the size of files (RLIMIT_FSIZE), which fails a write in its middle as ENOSPC does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

import partwise
from partwise import NMF
from partwise.core import Checkpoint
from partwise.io import read, write_csv, write_json

X = np.random.default_rng(0).gamma(0.5, 1.0, (60, 40))
#: Enough iterations for a kill to find a fit at work, few enough to finish it a hundred times.
FIT = {"n_components": 5, "tol": 0.0, "max_iter": 120, "random_state": 0}
OTHER_USER = 65534


def must(holds: bool, text: str) -> None:
    """Fail with a text unless a condition holds."""
    if not holds:
        raise AssertionError(text)


def child(work: Callable[[], None]) -> int:
    """Fork a process that does the work and ends with 0, or with 1 after printing what went wrong; its number."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int) -> int:
    """The exit code of a child, when it has ended; negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed(work: Callable[[], None], delay: float) -> None:
    """Do the work in a child that is killed after so many seconds."""
    pid = child(work)
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    ended(pid)


class Kept:
    """A kind of file: how version 0 or 1 of it is written, and which version a file is."""

    def __init__(self, name: str, write: Callable[[Path, int], None], held: Callable[[Path], Any]) -> None:
        self.name, self.write, self.held = name, write, held

    def is_whole(self, file: Path, versions: list[Any]) -> bool:
        """Whether a file is one of the versions; raises what its reader raises."""
        return any(np.array_equal(self.held(file), version) for version in versions)


def models() -> list[Any]:
    """Two models whose files differ."""
    return [NMF(4, max_iter=3, tol=0, random_state=seed, init="random").fit(X) for seed in (0, 1)]


def kinds() -> list[Kept]:
    """Every kind of file that results are written to."""
    fitted = models()
    tables = [np.tile(X, (5, 1)) + version for version in (0, 1)]

    def data_of(file: Path) -> Any:
        return read(file).data

    return [
        Kept(
            "m.partwise",
            lambda f, i: partwise.save(fitted[i], f) and None,
            lambda f: partwise.load(f).components_,
        ),
        Kept("W.csv", lambda f, i: write_csv(f, tables[i]), data_of),
        Kept("W.tsv.gz", lambda f, i: write_csv(f, tables[i]), data_of),
        Kept("summary.json", lambda f, i: write_json(f, tables[i]), lambda f: json.loads(f.read_text())),
    ]


def files_killed(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """Each kind of file is written over and over, and the process killed."""
    every = kinds()
    for i in range(tries):
        kind = every[i % len(every)]
        file = folder / kind.name
        versions = []
        for version in (0, 1):
            kind.write(file, version)
            versions.append(kind.held(file))
        killed(lambda: [kind.write(file, j % 2) for j in range(1000)] and None, draw.uniform(0.0, 0.05))  # noqa: B023
        try:
            whole = kind.is_whole(file, versions)
            kind.write(file, 0)
            yield None if whole and kind.is_whole(file, versions[:1]) else f"{kind.name} is neither version"
        except Exception as error:
            yield f"{kind.name} after a kill: {error!r}"


def files_on_a_full_disk(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """A write that fails in its middle is told in a sentence, and leaves the old file and nothing else."""
    every = kinds()

    def limited(kind: Kept, file: Path, size: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            kind.write(file, 1)
        except ValueError as error:
            must("cannot be written" in str(error) and file.name in str(error), str(error))
        else:
            raise AssertionError("the disk is full, but nothing was said")

    for i in range(tries):
        kind = every[i % len(every)]
        file = folder / kind.name
        kind.write(file, 1)
        room = draw.randrange(file.stat().st_size)
        kind.write(file, 0)
        before = file.read_bytes()
        code = ended(child(lambda: limited(kind, file, room)))  # noqa: B023
        others = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
        if code or others or file.read_bytes() != before:
            yield f"{kind.name} with room for {room} bytes: exit code {code}, left {others}"
        else:
            yield None


def fit(folder: Path, interval: float = 0.0, **more: Any) -> Any:
    """A fit that saves its state after every step."""
    return NMF(**{**FIT, **more}).fit(X, checkpoint=Checkpoint(folder, interval))


def checkpoints_killed(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """A fit is killed three times and called again: it ends with the bits of one that never was."""
    whole = NMF(**FIT).fit(X).components_
    for i in range(tries):
        place = folder / str(i)
        for _ in range(3):
            killed(lambda: fit(place) and None, draw.uniform(0.0, 0.3))  # noqa: B023
        try:
            same = np.array_equal(fit(place, interval=1e9).components_, whole)
            yield None if same else "a resumed fit has other bits"
        except Exception as error:
            yield f"a killed fit cannot be resumed: {error!r}"
        shutil.rmtree(place)


def checkpoints_on_a_full_disk(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """A checkpoint that finds no room does not end the fit; a later call goes on from the last one that did."""
    whole = NMF(**FIT).fit(X).components_

    def limited(place: Path, size: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        checkpoint = Checkpoint(place, 0.0)
        NMF(**{**FIT, "max_iter": 2}).fit(X, checkpoint=checkpoint)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = NMF(**FIT).fit(X, checkpoint=checkpoint)
        must(any("goes on without saving" in str(one.message) for one in said), "nothing was said")
        must(np.array_equal(model.components_, whole), "other bits")

    for i in range(tries):
        place = folder / str(i)
        code = ended(child(lambda: limited(place, draw.randrange(3000))))  # noqa: B023
        same = np.array_equal(fit(place, interval=1e9).components_, whole)
        yield None if code == 0 and same else f"exit code {code}; resumed to the same bits: {same}"


def checkpoint_shared(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """Processes use one folder: of different fits one goes on, the others are refused; equal ones all end right."""
    whole = {k: NMF(**{**FIT, "n_components": k}).fit(X).components_ for k in (4, 5)}

    def work(place: Path, k: int, delay: float) -> None:
        time.sleep(delay)
        try:
            model = fit(place, interval=0.01, n_components=k)
        except ValueError as error:
            must("n_components was" in str(error), str(error))
            os._exit(3)
        must(np.array_equal(model.components_, whole[k]), "other bits")

    for i in range(tries):
        place = folder / str(i)
        ks = [5, 5, 5] if i % 2 else [4, 5, 4, 5]
        delays = [draw.uniform(0.0, 0.002) for _ in ks]
        pids = [child(lambda k=k, d=d: work(place, k, d)) for k, d in zip(ks, delays)]  # noqa: B023
        codes = [ended(pid) for pid in pids]
        finished = {k for k, code in zip(ks, codes) if code == 0}
        refused = {k for k, code in zip(ks, codes) if code == 3}
        right = set(codes) <= {0, 3} and len(finished) == 1 and not finished & refused
        yield None if right else f"parts {ks} in one folder end with {codes}"


def verb(arguments: list[str]) -> tuple[int, str]:
    """A verb of the command line: exit code, and what it said."""
    import partwise.cli.app

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            partwise.cli.app.main(arguments)
        except SystemExit as end:
            return int(end.code or 0), err.getvalue()
    return 0, err.getvalue()


def verbs_killed(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """`partwise fit` is killed: each of its files is there whole, or not at all; and it can be run again."""
    data, out = folder / "data.csv", folder / "out"
    write_csv(data, X)
    arguments = ["fit", str(data), "-k", "4", "--max-iter", "30", "-o", str(out)]
    begin = time.perf_counter()
    verb(arguments)
    length = time.perf_counter() - begin
    readers = {".csv": read, ".partwise": partwise.load, ".json": lambda path: json.loads(path.read_text())}
    for i in range(tries):
        if i % 2:
            shutil.rmtree(out)
        killed(lambda: verb(arguments) and None, draw.uniform(0.0, 1.2 * length))
        try:
            for file in out.glob("[!.]*") if out.exists() else ():
                readers.get(file.suffix, Path.read_bytes)(file)
            code, said = verb(arguments)
            yield None if code == 0 else f"fit after a kill: exit code {code}, {said}"
        except Exception as error:
            yield f"{file.name} after a kill: {error!r}"


def read_only(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """A folder that may only be read: every way to write there ends with a sentence, a verb before its work."""
    place = folder / "closed"
    place.mkdir()
    data = folder / "data.csv"
    write_csv(data, X)
    fit(place, interval=1e9)
    verb(
        ["fit", str(data), "-k", "3", "-o", str(folder / "open")]
    )  # imports what the other user may not read
    for path in (folder, *folder.iterdir(), *place.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    place.chmod(0o555)
    ways: list[Callable[[], Any]] = [
        lambda: partwise.save(models()[0], place / "m.partwise"),
        lambda: write_csv(place / "W.csv", X),
        lambda: write_json(place / "s.json", {}),
        lambda: fit(place),
        lambda: fit(place / "deeper"),
    ]

    def refused(way: Callable[[], Any]) -> None:
        if os.getuid() == 0:  # root may write anywhere
            os.setuid(OTHER_USER)
        try:
            way()
        except ValueError as error:
            must(str(place) in str(error) and "denied" in str(error), str(error))
        else:
            raise AssertionError("wrote to a folder that may only be read")

    def verb_refused(out: Path) -> None:
        if os.getuid() == 0:
            os.setuid(OTHER_USER)
        code, said = verb(
            ["fit", str(data), "-k", "3", "--max-iter", "1000000000", "--tol", "0", "-o", str(out)]
        )
        must(code == 2 and str(place) in said and said.count("\n") == 1, f"{code}: {said}")

    works = [lambda way=way: refused(way) for way in ways]
    works += [lambda out=out: verb_refused(out) for out in (place, place / "new")]
    for i in range(tries):
        code = ended(child(works[i % len(works)]))
        yield (
            None if code == 0 else f"way {i % len(works)} of writing to a read-only folder: exit code {code}"
        )
    place.chmod(0o755)


COMPILE = """
import hashlib, sys
import numpy as np
from partwise import NMF
X = np.random.default_rng(0).gamma(0.5, 1.0, (60, 40)).astype(sys.argv[1])
made = [NMF(5, beta_loss=loss, tol=0, max_iter=5).fit(X).components_ for loss in ("frobenius", "kullback-leibler")]
print(hashlib.sha256(b"".join(H.tobytes() for H in made)).hexdigest())
"""


def compiling(cache: Path, dtype: str) -> subprocess.Popen[str]:
    """A process that compiles for one type of numbers, into a folder, and prints a digest of what it fitted."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", COMPILE, dtype],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def compiled_at_once(tries: int, draw: random.Random, folder: Path) -> Iterator[str | None]:
    """Four processes compile into one empty folder and one is killed: all others end with the same bits.

    So do two later ones, which find the files damaged at random places.
    """
    expected = {dtype: compiling(folder / dtype, dtype).communicate()[0] for dtype in ("float32", "float64")}
    for i in range(tries):
        cache = folder / f"cache{i}"
        four = [compiling(cache, dtype) for dtype in ("float32", "float64", "float32", "float64")]
        time.sleep(draw.uniform(0.5, 8.0))
        four[0].kill()
        four[0].communicate()
        yield from judged_bits(four[1:], expected)
        for file in cache.rglob("*.nbc"):
            whole = file.read_bytes()
            cut = draw.randrange(len(whole))
            file.write_bytes(
                draw.choice([whole, whole[:cut], whole[:cut] + draw.randbytes(9) + whole[cut + 9 :]])
            )
        yield from judged_bits([compiling(cache, dtype) for dtype in expected], expected)
        shutil.rmtree(cache)


def judged_bits(processes: list[subprocess.Popen[str]], expected: dict[str, str]) -> Iterator[str | None]:
    """For each process, whether it printed what is expected of its type."""
    for process in processes:
        out, err = process.communicate()
        dtype = list(process.args)[-1]
        right = out == expected[str(dtype)] != ""
        yield None if right else f"{dtype}: exit code {process.returncode}, {out.strip()[:16]}, {err[-300:]}"


#: Case, and the share of the tries that it gets; compiling takes seconds, and each of its tries is five processes.
CASES: dict[str, tuple[Callable[[int, random.Random, Path], Iterator[str | None]], float]] = {
    "files, killed": (files_killed, 1.0),
    "files, full disk": (files_on_a_full_disk, 1.0),
    "checkpoints, killed": (checkpoints_killed, 0.25),
    "checkpoints, full disk": (checkpoints_on_a_full_disk, 0.25),
    "checkpoints, shared": (checkpoint_shared, 0.25),
    "verbs, killed": (verbs_killed, 0.25),
    "read-only folders": (read_only, 0.1),
    "compiling at once": (compiled_at_once, 0.02),
}


def survey(tries: int, seed: int, only: str = "") -> dict[str, list[str | None]]:
    """For each case, what failed in each of its tries; None where nothing did."""
    table: dict[str, list[str | None]] = {}
    for name, (case, share) in CASES.items():
        if not fnmatch(name, f"*{only}*"):
            continue
        with tempfile.TemporaryDirectory(prefix="partwise-kills-") as folder:
            place = Path(os.path.realpath(folder))
            table[name] = list(case(int(tries * share), random.Random(f"{seed} {name}"), place))
    return table


def run(tries: int, seed: int) -> tuple[int, list[str]]:
    """How many tries were made, and the failures in words."""
    table = survey(tries, seed)
    failures = [f"{name}: {one}" for name, each in table.items() for one in each if one is not None]
    return sum(map(len, table.values())), failures


def main() -> int:
    """A line for each case; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this pattern in their name")
    given = parser.parse_args()
    failed = False
    for name in (name for name in CASES if fnmatch(name, f"*{given.only}*")):
        each = survey(given.tries, given.seed, name)[name]
        failures = [one for one in each if one is not None]
        failed = failed or bool(failures)
        print(
            f"{name:28s}{len(each):6d} tries {len(failures):6d} failures",
            *failures[:5],
            sep="\n    ",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
