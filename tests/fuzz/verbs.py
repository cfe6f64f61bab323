"""Verbs of the command line on damaged files: they end with exit code 0, or with 2 and one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from fuzz import batches
from fuzz.damage import WRITERS, damaged, damaged_file

KINDS = ["fit", "tiles", "classify", "topics", "compare", "transform", "info", "report", "tree"]


def run(tries: int, seed: int) -> tuple[int, list[str]]:
    """Run `tries` verbs; return how many, and a line for each failure."""
    return batches.run("verbs", tries, seed)


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Run one verb on a damaged file; "" or what went wrong."""
    from partwise.cli import main

    suffixes = list(WRITERS)
    path = damaged_file(suffixes[seed // len(KINDS) % len(suffixes)], seed, folder)
    arguments = _ARGUMENTS[kind](path, folder, random.Random(seed))
    said = io.StringIO()
    code: object = 0
    # Files are named as a user would name them, and what is written by default stays in the folder.
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            main([kind, *arguments])
    except SystemExit as end:
        code = end.code
    except Exception as error:
        return f"{path.name}: {type(error).__name__}: {error}"
    text = said.getvalue()
    if code not in (0, None, 2) or "Traceback" in text or (code == 2 and not text.strip()):
        return f"{path.name}: exit code {code}: {text[-200:]}"
    return f"{path.name}: {text[-200:]}" if "RuntimeWarning" in text or "encountered in" in text else ""


@cache
def _models() -> tuple[bytes, bytes]:
    """A model of counts and one of classes, as files."""
    from partwise import NMF, MixtureClassifier, save

    X = np.random.default_rng(0).integers(0, 3, (12, 6)).astype(float)
    parts = NMF(2, max_iter=2, tol=0).fit(X)
    classes = MixtureClassifier(1, max_iter=2).fit(X, np.arange(12) % 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.partwise"
        return save(parts, path).read_bytes(), save(classes, path).read_bytes()


def _classify(path: Path, folder: Path, rng: random.Random) -> list[str]:
    labels, parts = rng.choice(["label", "y"]), rng.choice(["0", "2"])
    return [path.name, "--labels", labels, "-k", parts, "--mixtures", "1", "--quiet"]


def _column(rng: random.Random) -> list[str]:
    return rng.choice(([], ["--column", "label"], ["--column", "a", "--min-df", "1"]))


def _transform(path: Path, folder: Path, rng: random.Random) -> list[str]:
    (folder / "model.partwise").write_bytes(rng.choice(_models()))
    return ["model.partwise", path.name, "-o", "W.csv"]


def _info(path: Path, folder: Path, rng: random.Random) -> list[str]:
    if rng.random() < 0.2:
        return [path.name]
    (folder / "model.partwise").write_bytes(damaged(rng.choice(_models()), rng))
    return ["model.partwise"]


@cache
def _results() -> dict[str, bytes]:
    """The files of a folder of results: a model, its tables, its summary, and what its report is made from."""
    from partwise.cli import main

    X = np.random.default_rng(0).integers(0, 3, (12, 6))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.savetxt(folder / "x.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%d")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(["fit", str(folder / "x.csv"), "-k", "3", "--max-iter", "3", "-q", "-o", str(folder / "o")])
        names = ("model.partwise", "W.csv", "H.csv", "summary.json", "report.json")
        return {name: (folder / "o" / name).read_bytes() for name in names}


def _folder(path: Path, folder: Path, rng: random.Random) -> str:
    """A folder of results with one file damaged, left out, or in place of another; or the damaged table alone."""
    if rng.random() < 0.1:
        return path.name
    place = folder / "results"
    place.mkdir()
    files = dict(_results())
    chosen = rng.choice(list(files))
    how = rng.random()
    if how < 0.7:
        files[chosen] = damaged(files[chosen], rng)
    elif how < 0.85:
        del files[chosen]
    else:
        files[chosen] = path.read_bytes()
    for name, contents in files.items():
        (place / name).write_bytes(contents)
    return "results"


def _tree(path: Path, folder: Path, rng: random.Random) -> list[str]:
    place = _folder(path, folder, rng)
    if place == "results" and rng.random() < 0.2 and (folder / "results" / "model.partwise").is_file():
        place = "results/model.partwise"
    return [
        place,
        "--method",
        rng.choice(["linkage", "threshold"]),
        *rng.choice(([], ["--similarity", "words"])),
    ]


_COMPARED = ([], ["--text"], ["--labels", "y"], ["--labels", "label"])
_ARGUMENTS: dict[str, Callable[[Path, Path, random.Random], list[str]]] = {
    "fit": lambda path, folder, rng: [path.name, "-k", "2", "--max-iter", "2", "--quiet"],
    "tiles": lambda path, folder, rng: [path.name, "-k", "2", "--max-time", "0.05", "--quiet"],
    "classify": _classify,
    "topics": lambda path, folder, rng: [
        path.name,
        "-k",
        "2",
        "--set",
        "max_iter=2",
        "--quiet",
        *_column(rng),
    ],
    "compare": lambda path, folder, rng: [
        path.name,
        "-k",
        "1",
        "--seeds",
        "1",
        "--quiet",
        *rng.choice(_COMPARED),
    ],
    "transform": _transform,
    "info": _info,
    "report": lambda path, folder, rng: [_folder(path, folder, rng), *rng.choice(([], ["--shape", "2x3"]))],
    "tree": _tree,
}
