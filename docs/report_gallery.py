"""One report for each kind of model, on small data: `make docs` writes them beside the pages.

By itself: ``python docs/report_gallery.py FOLDER``.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

from partwise import NMF, BinaryNMF, BooleanMF, SemiSupervisedNMF, report
from partwise.datasets import load_digits, load_zoo, make_bars


def digits() -> str:
    """Parts of handwritten digits, with a picture of each."""
    data = load_digits()
    X, y = data.data[::3], data.target[::3]
    return report(NMF(16, max_iter=500).fit(X), X, y=y, shape=(8, 8), data="digits").html


def zoo() -> str:
    """Tiles of a table of yes and no."""
    data = load_zoo()
    model = BooleanMF(5, max_iter=2000, random_state=0).fit(data.data)
    rows, columns = list(data.sample_names), list(data.feature_names)
    return report(model, data.data, row_names=rows, feature_names=columns, data="zoo").html


def wine() -> str:
    """Parts learned with half of the labels: a tree by importance, and one for each class."""
    data = load_wine()
    X = data.data / data.data.max(axis=0)
    y = np.array([f"cultivar {label + 1}" for label in data.target], dtype=object)
    y[np.random.default_rng(0).random(len(y)) < 0.5] = None
    model = SemiSupervisedNMF(8, label_weight=1.0, max_iter=2000).fit(X, y)
    names = [name.split("/")[0].replace("_", " ") for name in data.feature_names]
    return report(model, X, y=y, feature_names=names, data="wine, with half of its labels").html


def bars() -> str:
    """Bars that are on or off in pictures of counts."""
    X = make_bars(400, 5, random_state=0).data
    side = round(X.shape[1] ** 0.5)
    return report(BinaryNMF(10, max_iter=60).fit(X), X, shape=(side, side), data="bars").html


def _verb(name: str, file: str, *options: str) -> str:
    """The report of a verb of the command line on the data of the demo."""
    from partwise.cli.app import app
    from partwise.cli.demo import write_data

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
            app(args=[name, file, *options, "-o", "out"], standalone_mode=False)
        return (folder / "out" / "report.html").read_text(encoding="utf-8")


def topics() -> str:
    """Topics of the docstrings of scipy, with the texts."""
    return _verb("topics", "docstrings.jsonl", "--column", "text", "--labels", "label", "-k", "12", "-q")


def chord() -> str:
    """Notes of a chord: spectra, and sounds to play."""
    return _verb("separate", "chord.wav", "-k", "3", "-q")


def karate() -> str:
    """Communities of a network."""
    return _verb("communities", "karate.csv", "-k", "2", "-q")


def classes() -> str:
    """Parts of digits, and components that tell them apart."""
    from partwise.cli.app import app
    from partwise.io import write_csv

    data = load_digits()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = np.column_stack([data.data, data.target])[::3]
        write_csv(folder / "digits.csv", table, None, [*data.feature_names, "label"])
        options = ["--labels", "label", "-k", "16", "--mixtures", "2", "--shape", "8x8", "-q", "-o", "out"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
            app(args=["classify", "digits.csv", *options], standalone_mode=False)
        return (folder / "out" / "report.html").read_text(encoding="utf-8")


#: Name of the page to the function that makes it.
REPORTS: dict[str, Callable[[], str]] = {
    one.__name__: one for one in (digits, topics, chord, karate, zoo, wine, bars, classes)
}


def write_reports(folder: Path) -> list[Path]:
    """Write every report; those that are there already are kept, unless partwise itself changed since.

    Parameters
    ----------
    folder : Path
        Where to.

    Returns
    -------
    list of Path
        The pages.
    """
    import partwise

    folder.mkdir(parents=True, exist_ok=True)
    sources = [Path(__file__), *Path(partwise.__file__).parent.rglob("*")]
    changed = max(file.stat().st_mtime for file in sources if file.suffix in (".py", ".html", ".js", ".css"))
    paths = []
    for name, make in REPORTS.items():
        path = folder / f"{name}.html"
        if not path.is_file() or path.stat().st_mtime < changed:
            path.write_text(make(), encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "reports")
    for written in write_reports(target):
        print(written)
    if shutil.which("chromium"):
        print("python docs/screenshots.py takes their pictures")
