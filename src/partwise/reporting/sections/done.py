"""What was done: the data, the model, its parameters, and what is needed to do it again."""

from __future__ import annotations

from typing import Any

from partwise.reporting import blocks
from partwise.reporting.limits import short
from partwise.reporting.source import Source


def section(source: Source) -> dict[str, Any]:
    """What was done.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict
        The section.
    """
    said = source.summary
    size = None
    if isinstance(said.get("size"), str):
        # Of a recording: how long it is, and of what quality.
        size = said["size"]
    elif said.get("n_samples") is not None and said.get("n_features") is not None:
        size = f"{said['n_samples']:,} samples × {said['n_features']:,} features"
    steps = said.get("steps") or [said]
    made = {
        "data": said.get("data"),
        "size": size,
        "hash of the data": said.get("data_hash"),
        "model": " → ".join(str(step.get("class")) for step in steps if step.get("class")) or None,
        "seed": said.get("seed"),
        "time": None if said.get("seconds") is None else seconds_text(said["seconds"]),
        "finished": _when(said.get("finished")),
        "versions": said.get("versions"),
    }
    found = [blocks.facts(made)]
    if said.get("interrupted"):
        found.insert(
            0, blocks.text("Ctrl-C ended the fit early: this is the best it had found.", strong=True)
        )
    for step in steps:
        rows = parameters(source, step)
        if rows:
            name = f" of {step['name']}" if "name" in step else ""
            found.append(
                blocks.table(
                    f"parameters-{step.get('name', 'model')}",
                    ["parameter", "value", "from"],
                    rows,
                    caption=f"Parameters{name}",
                    note="Only those that differ from their defaults, and what the model chose itself.",
                    searchable=False,
                    wide=1,
                )
            )
    return {"title": "What was done", "blocks": found}


def parameters(source: Source, step: dict[str, Any]) -> list[list[str]]:
    """Parameters that were given, and what the model settled on where they left that open.

    Parameters
    ----------
    source : Source
        The result.
    step : dict
        The summary of a model or step.

    Returns
    -------
    list of list of str
        Name, value, and who said so.
    """
    given = [[name, blocks.value_text(value), "given"] for name, value in step.get("parameters", {}).items()]
    chosen = [
        [name, blocks.value_text(value), "chosen by the model"]
        for name, value in (step.get("chosen") or {}).items()
    ]
    return given + chosen


def seconds_text(seconds: float) -> str:
    """A time in words.

    Parameters
    ----------
    seconds : float
        The time.

    Returns
    -------
    str
        In seconds, minutes or hours.
    """
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _when(stamp: Any) -> str | None:
    return None if stamp is None else short(str(stamp).replace("T", " ").replace("+00:00", " UTC"))
