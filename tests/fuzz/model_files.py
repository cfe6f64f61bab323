"""Damaged and forged model files: loading, showing and using them gives an answer or one of our sentences.

Bytes are damaged with the checksums left as they were; arrays and values of the manifest are dropped, swapped,
reshaped and retyped with the checksums made right again, as a forger would.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import tempfile
import traceback
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier, load, save
from partwise.cli import main
from partwise.io import ModelFileError
from partwise.models.summary import summary_of
from partwise.priors import Gamma

X, Y = load_iris(return_X_y=True)
X, Y = X[::5], Y[::5]
BITS = (np.random.default_rng(0).random((30, 8)) < 0.3).astype(float)
TEXTS = [f"{a} saw the {b}" for a in ("cat", "dog", "hen") for b in ("fox", "owl", "pig")]
KINDS = ("nmf", "binary", "boolean", "mixture", "numbers", "texts", "neighbours")
#: Beginnings of messages of numpy and Python, which say nothing to a user.
RAW = ("operands could not", "shapes ", "matmul", "cannot reshape", "setting an array", "all the input", "The truth",
       "could not convert", "could not broadcast", "not enough values", "too many values", "array must", "dimension",
       "invalid literal", "index ", "zero-size", "cannot convert", "unsupported", "buffer ", "axis ", "x and y",
       "too many indices", "attempt to", "boolean index", "arrays must")  # fmt: skip


@cache
def made(kind: str) -> tuple[Any, Any]:
    """A fitted model of this kind, and data for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "nmf":
            return NMF(2, max_iter=20, prior_W=Gamma(2.0, 1.0)).fit(X), X
        if kind == "binary":
            return BinaryNMF(3, max_iter=5, init="random").fit(np.round(X)), np.round(X)
        if kind == "boolean":
            model = BooleanMF(2, max_time=0.2).fit(BITS)
            model.trust(BITS, n_restarts=1, n_resamples=1)
            return model, BITS
        if kind == "mixture":
            return MixtureClassifier(2, max_iter=20, penalty=0.1).fit(X, Y), X
        if kind == "numbers":
            steps = MinMaxScaler(), NMF(3, max_iter=20), StandardScaler(), PCA(2), LogisticRegression()
            return make_pipeline(*steps).fit(X, Y), X
        if kind == "texts":
            model = make_pipeline(TfidfVectorizer(), SelectKBest(k=4), MultinomialNB())
            return model.fit(TEXTS, np.arange(9) % 3), TEXTS
        nearest = KNeighborsClassifier(3, algorithm="brute")
        return make_pipeline(TruncatedSVD(2), nearest).fit(X, Y), X


@cache
def entries_of(kind: str) -> dict[str, bytes]:
    """The entries of its file."""
    stream = save(made(kind)[0], io.BytesIO())
    with zipfile.ZipFile(stream) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def run(tries: int, seed: int) -> tuple[int, list[str]]:
    """Try `tries` damaged files; return how many there were, and what went wrong with each that did."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + tries):
            kind = KINDS[number % len(KINDS)]
            trouble = attempt(kind, number, Path(folder))
            if trouble:
                failures.append(f"{kind}, seed {number}: {trouble}")
    return tries, failures


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Damage one file and use it in every way; "" or what went wrong."""
    path = folder / "model.partwise"
    path.write_bytes(damaged(kind, random.Random(seed)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except ModelFileError:
            model = None
        except Exception as error:
            return f"load: {told(error)}"
        data = made(kind)[1]
        if model is not None:
            for name in ("summary", "transform", "predict"):
                try:
                    if name == "summary":
                        summary_of(model)
                    elif hasattr(model, name):
                        getattr(model, name)(data)
                except Exception as error:
                    if not is_sentence(error):
                        return f"{name}: {told(error)}"
        return verbs(path, folder, data)


def verbs(path: Path, folder: Path, data: Any) -> str:
    """`partwise info` and `partwise transform` of the file: success or exit code 2, never a traceback."""
    table = folder / "data.csv"
    if isinstance(data, np.ndarray):
        np.savetxt(
            table, data, delimiter=",", header=",".join(f"c{j}" for j in range(data.shape[1])), comments=""
        )
    else:
        table.write_text("text\n" + "\n".join(data), encoding="utf-8")
    for arguments in (["info", str(path)], ["transform", str(path), str(table), "-o", str(folder / "W.csv")]):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                code = main(arguments)
        except SystemExit as ended:
            code = ended.code
        except Exception as error:
            return f"{arguments[0]}: {told(error)}"
        raw = said.getvalue().removeprefix("partwise: ").removeprefix(f"{table}: ").startswith(RAW)
        if code not in (None, 0, 2) or "Traceback" in said.getvalue() or raw:
            return f"{arguments[0]}: exit code {code}, {said.getvalue()[-200:]}"
    return ""


def is_sentence(error: Exception) -> bool:
    """Whether this says what was given and expected, rather than where numpy failed."""
    if isinstance(error, NotFittedError):
        return True
    return isinstance(error, ValueError) and not str(error).startswith(RAW)


def told(error: Exception) -> str:
    """The error and where it came from, on one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:150]} ({Path(place.filename).name}:{place.lineno})"


# ------------------------------------------------------------------ damage


def damaged(kind: str, draw: random.Random) -> bytes:
    """The bytes of a file with something wrong."""
    entries = dict(entries_of(kind))
    if draw.random() < 0.25:
        data = bytearray(packed(entries))
        for _ in range(draw.choice((1, 1, 3, 20))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data[: draw.randrange(len(data))] if draw.random() < 0.1 else data)
    manifest = json.loads(entries.pop("manifest.json"))
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        change = draw.choice((forge_array, forge_array, drop, swap, retype))
        change(manifest, entries, draw)
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    return packed({"manifest.json": json.dumps(manifest).encode(), **entries})


def packed(entries: dict[str, bytes]) -> bytes:
    """A zip archive of these entries."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


def places(held: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a value of the manifest."""
    inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [place for key, value in list(inner) for place in [(held, key), *places(value)]]


def inside(manifest: dict[str, Any], draw: random.Random) -> tuple[Any, Any]:
    """A random place in the parameters or attributes."""
    return draw.choice([one for part in ("params", "fitted") for one in places(manifest[part])])


def drop(manifest: dict[str, Any], entries: dict[str, bytes], draw: random.Random) -> None:
    """Leave something out."""
    held, key = inside(manifest, draw)
    del held[key]


def swap(manifest: dict[str, Any], entries: dict[str, bytes], draw: random.Random) -> None:
    """Put a copy of one value in the place of another."""
    held, key = inside(manifest, draw)
    other, its = inside(manifest, draw)
    held[key] = json.loads(json.dumps(other[its]))


def retype(manifest: dict[str, Any], entries: dict[str, bytes], draw: random.Random) -> None:
    """Put a value of another type in the place of one."""
    held, key = inside(manifest, draw)
    name, *_ = [*entries, None]
    held[key] = draw.choice(
        [None, True, 0, 1, 2, -1, 7, 0.5, -0.5, 10**30, "", "x", "auto", [], [1], {}, {"a": 1}, {"$float": "nan"},
         {"$float": "inf"}, {"$tuple": []}, {"$tuple": [1, 2]}, {"$array": name},
         {"$scalar": "float64", "value": 2.0}, {"$scalar": "int64", "value": 3},
         {"$dataclass": "BetaDivergence", "fields": {"beta": 0.5}},
         {"$dataclass": "Gamma", "fields": {"shape": 2.0, "rate": 1.0}}, {"$type": "float32"}]
    )  # fmt: skip


def forge_array(manifest: dict[str, Any], entries: dict[str, bytes], draw: random.Random) -> None:
    """Another shape, type, order or contents of an array, with its checksum made right."""
    if not entries:
        return
    name = draw.choice(list(entries))
    try:
        array = np.load(io.BytesIO(entries[name]))
    except ValueError:
        return
    rows = array[:1] if array.ndim else array
    with np.errstate(all="ignore"), contextlib.suppress(ValueError, IndexError, TypeError):
        forged = draw.choice(
            [
                lambda: array[:-1],
                lambda: np.concatenate([array, rows]),
                lambda: array[..., :-1],
                lambda: array.T,
                lambda: array.ravel(),
                lambda: array[None],
                lambda: array[:0],
                lambda: np.asfortranarray(array),
                lambda: np.zeros(()),
                lambda: array.astype(
                    draw.choice(["f2", "f4", ">f8", "i8", "u1", "?", "U5", "i4", "longdouble"])
                ),
                lambda: array * draw.choice([0, -1, 1000, np.nan, np.inf, 1e300, 1e-300]),
                lambda: array + draw.choice([1, -1, 100, 2**40]),
            ]
        )()
        stream = io.BytesIO()
        np.save(stream, forged)
        entries[name] = stream.getvalue()
