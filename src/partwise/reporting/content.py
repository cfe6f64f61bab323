"""What the page shows, as one plain dict: for the templates, for tests, for other programs."""

from __future__ import annotations

import importlib
from pathlib import PurePath
from typing import Any

from partwise.models.summary import plain
from partwise.reporting import blocks
from partwise.reporting.limits import short
from partwise.reporting.sections import SECTIONS
from partwise.reporting.sections.done import seconds_text
from partwise.reporting.source import Source
from partwise.reporting.spectra import has_spectra


def content(source: Source, title: str | None = None) -> dict[str, Any]:
    """Everything that a report shows.

    Parameters
    ----------
    source : Source
        The result.
    title : str, optional
        Of the page; by default the number of parts and the name of the data.

    Returns
    -------
    dict
        Of dicts, lists, text, numbers, bool and None only: "title", "subtitle", "figures" (the numbers at the top),
        "sections" (each with "id", "title", "lead" and "blocks"), "version". Its size is bounded, whatever the
        size of the data; sections say what they left out.
    """
    found = []
    for name in SECTIONS:
        made = importlib.import_module(f"partwise.reporting.sections.{name}").section(source)
        if made is not None:
            found.append({"id": name, "lead": "", **made})
    from partwise._version import __version__

    said = source.summary
    model = " → ".join(str(step.get("class")) for step in said.get("steps") or [said] if step.get("class"))
    shown = {
        "title": short(title or title_of(source), 120),
        "subtitle": short(model or subtitle_of(source), 160),
        "figures": headline(source),
        "sections": found,
        "version": __version__,
        "finished": said.get("finished"),
    }
    return dict(plain(shown))


def subtitle_of(source: Source) -> str:
    """What a result without a model is.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    str
        Short text.
    """
    said = source.summary
    if source.other and said.get("methods"):
        return f"{blocks.counted(len(said['methods']), 'method')} compared"
    if source.other and said.get("recordings"):
        return f"{blocks.counted(len(said['recordings']), 'recording')} compared by their spectra"
    return str(said.get("kind") or "result")


def title_of(source: Source) -> str:
    """A title from what is known: 16 parts of digits.csv.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    str
        The title.
    """
    data = source.summary.get("data")
    name = PurePath(str(data)).name if data and str(data) != "-" else "the data"
    if not source.stages:
        return f"Results of {name}"
    stage = source.used or source.last
    assert stage is not None
    return f"{blocks.counted(len(stage.H), source.word)} of {name}"


def headline(source: Source) -> list[dict[str, str]]:
    """The few numbers at the top of the page.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    list of dict
        "label" and "value".
    """
    said = source.summary
    found: list[tuple[str, str]] = []
    stage = source.used or source.last
    heard = stage is not None and has_spectra(stage)
    if said.get("n_samples") is not None:
        found.append(("moments" if heard else "samples", f"{said['n_samples']:,}"))
    if said.get("n_features") is not None:
        found.append(("frequencies" if heard else "features", f"{said['n_features']:,}"))
    if stage is not None:
        found.append((blocks.plural(source.word), f"{len(stage.H):,}"))
    if said.get("test_error") is not None:
        found.append(("wrong on test rows", f"{100 * said['test_error']:.2f} %"))
    figures = said.get("figures") or {}
    for key, label in (
        ("wrong", "wrong entries"),
        ("reconstruction_err", "error"),
        ("log_likelihood", "log-likelihood"),
    ):
        if isinstance(figures.get(key), int | float):
            found.append(
                (label, f"{figures[key]:,}" if isinstance(figures[key], int) else f"{figures[key]:.4g}")
            )
            break
    if said.get("converged") is not None:
        found.append(("converged", "yes" if said["converged"] else "no"))
    if said.get("seconds") is not None:
        found.append(("time", seconds_text(float(said["seconds"]))))
    return [{"label": label, "value": value} for label, value in found]
