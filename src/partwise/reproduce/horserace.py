"""The comparison that Epstein (2017, chapter 5) planned: NMF and compact SVD, with PCA, VQ and LDA, on real data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from partwise import datasets
from partwise.comparison import MEASURES, Comparison, compare
from partwise.interrupts import uninterrupted
from partwise.io import write_csv, write_json
from partwise.messages import inform
from partwise.plot import comparison, save_figure


class Race(NamedTuple):
    """Data, how many basis vectors, what the columns are, and about how many minutes it takes on two cores."""

    name: str
    load: Callable[[], Any]
    n_components: int
    minutes: float
    text: bool = False
    shape: tuple[int, int] | None = None
    example: int = 0


RACES = (
    Race("digits", datasets.load_digits, 16, 0.1, shape=(8, 8)),
    Race("CBCL", lambda: datasets.fetch_cbcl(version="lee-seung"), 49, 0.3, shape=(19, 19)),
    Race("ORL", datasets.fetch_orl, 49, 1, shape=(112, 92)),
    Race("BBC", datasets.fetch_bbc_news, 10, 1, text=True),
    Race("20 Newsgroups", datasets.fetch_20newsgroups, 20, 4, text=True),
)
#: Of the full data, what --quick takes: rows, and seeds.
QUICK_ROWS, QUICK_SEEDS = 1000, 2


def reproduce_horserace(
    folder: Path,
    seeds: Annotated[int, typer.Option(min=1, help="Random starts of each method.")] = 5,
    only: Annotated[
        str, typer.Option(help="Data sets, separated by commas: digits, CBCL, ORL, BBC, 20 Newsgroups.")
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="1,000 rows of each and two starts: minutes.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Run data sets anew that the folder has results of.")
    ] = False,
) -> dict[str, Any]:
    """NMF against SVD, PCA, VQ and LDA on text and pictures: error, sparseness, stability, coherence, accuracy."""
    races = chosen(only)
    seeds = min(seeds, QUICK_SEEDS) if quick else seeds
    minutes = sum(race.minutes for race in races) * (0.1 if quick else seeds / 5)
    inform(
        f"About {max(1, round(minutes))} min on two idle cores. Each data set is written when it is done; "
        "called again, the experiment goes on from there."
    )
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    for race in races:
        try:
            data = race.load()
        except OSError as error:
            lines += [f"{race.name} left out. {error}", ""]
            continue
        settings = {"n_components": race.n_components, "seeds": seeds, "quick": quick, "version": 1}
        path = folder / f"{file_name(race)}.json"
        held = None if again else kept(path, settings)
        summary = run(race, data, settings, folder, path) if held is None else held
        found.append(summary)
        lines += [*described(summary, held is not None), ""]
    sentences = against(found)
    summary = {"races": found, "sentences": sentences, "lines": [*lines, *sentences]}
    with uninterrupted():
        write_json(folder / "horserace.json", summary)
        (folder / "horserace.md").write_text("\n".join(page(found, sentences)) + "\n", encoding="utf-8")
    return summary


def chosen(only: str) -> list[Race]:
    """The races that were named, or all."""
    wanted = [name.strip().lower() for name in only.split(",") if name.strip()]
    known = {race.name.lower(): race for race in RACES}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(
            f"--only knows no '{unknown[0]}'; there are {', '.join(race.name for race in RACES)}."
        )
    return [known[name] for name in wanted] if wanted else list(RACES)


def file_name(race: Race) -> str:
    """Of its files, without an ending."""
    return race.name.lower().replace(" ", "-")


def kept(path: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """What an earlier call with these settings found."""
    try:
        summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return summary if summary["settings"] == settings else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run(race: Race, data: Any, settings: dict[str, Any], folder: Path, path: Path) -> dict[str, Any]:
    """Compare the methods on one data set, and write table, summary and picture."""
    X, y = data.data, data.get("target")
    if settings["quick"] and X.shape[0] > QUICK_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:QUICK_ROWS])
        X, y = X[rows], None if y is None else np.asarray(y)[rows]
    names = None
    if race.text:
        used = np.asarray(X.sum(axis=0)).ravel() > 0
        X, names = X[:, used], [str(word) for word in np.asarray(data.feature_names)[used]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(
            X,
            race.n_components,
            y,
            seeds=settings["seeds"],
            text=race.text,
            feature_names=names,
            verbose=1,
        )
    summary = {"data": race.name, "settings": settings, **found.summary(), "words": words(found)}
    drawing = comparison(found, X, shape=race.shape, example=race.example)
    with uninterrupted():
        save_figure(drawing, folder / f"{file_name(race)}.png")
        body = [[row[name] for name in found.measures] for row in found.rows]
        rows_ = [row["method"] for row in found.rows]
        write_csv(folder / f"{file_name(race)}.csv", np.array(body), rows_, found.measures, corner="method")
        write_json(path, summary)
    written: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return written


def words(found: Comparison) -> dict[str, list[str]] | None:
    """For text, the words of each basis vector, those of negative weight with a minus."""
    if not found.text:
        return None
    return {
        name: [
            " ".join(("−" if weight < 0 else "") + word for word, weight in part)
            for part in found.top_features(name, 10)
        ]
        for name in found.factors
    }


def described(summary: dict[str, Any], old: bool) -> list[str]:
    """The table of one data set in lines."""
    measures = list(summary["measures"])
    size = f"{summary['n_samples']} × {summary['n_features']}, {summary['n_components']} basis vectors"
    head = [MEASURES[name].heading.replace("\n", " ") for name in measures]
    lines = [
        f"{summary['data']}: {size}, {len(summary['seeds'])} seeds"
        + (" (from an earlier call)" if old else "")
    ]
    lines.append(f"  {'':14s}" + "".join(f"{name:>16s}" for name in head))
    for row in summary["methods"]:
        cells = [cell(row[name], row["sd"][name], MEASURES[name].digits) for name in measures]
        lines.append(f"  {row['title']:14s}" + "".join(f"{text:>16s}" for text in cells))
    return [*lines, *(f"  {note}" for note in errors_of(summary))]


def errors_of(summary: dict[str, Any]) -> list[str]:
    """A note where relative errors are against different matrices."""
    seen = {row["fitted_to"] for row in summary["methods"]}
    if len(seen) < 2:
        return []
    other = ", ".join(row["title"] for row in summary["methods"] if row["fitted_to"] == "counts")
    return [f"The relative error of {other} is against the counts, that of the others against their tf-idf."]


def cell(value: float | None, sd: float | None, digits: int) -> str:
    """A mean with its standard deviation, where it has one."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" + (f" ± {sd:.{digits}f}" if sd and sd >= 0.5 * 10**-digits else "")


def page(found: list[dict[str, Any]], sentences: list[str]) -> list[str]:
    """All tables in Markdown."""
    lines: list[str] = []
    for summary in found:
        measures = [name for name in summary["measures"] if name != "seconds"]
        titles = [MEASURES[name].heading.replace("\n", " ") for name in measures]
        lines += [
            f"**{summary['data']}**, {summary['n_samples']:,} × {summary['n_features']:,}, k = "
            f"{summary['n_components']}, {len(summary['seeds'])} seeds:",
            "",
            f"| | {' | '.join(titles)} |",
            f"|---|{'---|' * len(titles)}",
        ]
        for row in summary["methods"]:
            cells = [cell(row[name], row["sd"][name], MEASURES[name].digits) for name in measures]
            lines.append(f"| {row['title']} | {' | '.join(cells)} |")
        lines += ["", *(f"{note}\n" for note in errors_of(summary))]
    return [*lines, *sentences]


def against(found: list[dict[str, Any]]) -> list[str]:
    """NMF against the SVD, measure by measure: on how many data sets which of them is ahead.

    The SVD's better split counts. Two values within the sum of their standard deviations are called equal.
    """
    sentences = []
    for name, better in (
        ("relative_error", -1),
        ("sparseness_bases", 1),
        ("npmi", 1),
        ("diversity", 1),
        ("accuracy", 1),
        ("nmi", 1),
    ):
        ahead: dict[str, list[str]] = {"NMF": [], "SVD": [], "neither": []}
        for summary in found:
            rows = {row["method"]: row for row in summary["methods"]}
            if not {"nmf", "svd", "svd-u"} <= set(rows) or rows["nmf"].get(name) is None:
                continue
            split = max(("svd", "svd-u"), key=lambda s: better * rows[s][name])
            gap = better * (rows["nmf"][name] - rows[split][name])
            noise = (rows["nmf"]["sd"][name] or 0.0) + (rows[split]["sd"][name] or 0.0)
            winner = "neither" if abs(gap) <= noise else "NMF" if gap > 0 else "SVD"
            text = f"{summary['data']} ({rows['nmf'][name]:.3f}, {rows[split][name]:.3f})"
            ahead[winner].append(text)
        parts = [f"{who} on {', '.join(where)}" for who, where in ahead.items() if where]
        if parts:
            title = MEASURES[name].heading.replace("\n", " ")
            sentences.append(f"{title} (NMF, SVD), ahead: {'; '.join(parts)}.")
    return sentences
