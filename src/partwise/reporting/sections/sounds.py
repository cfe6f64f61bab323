"""Sources that a recording was separated into, each with a player; components have theirs beside their spectra."""

from __future__ import annotations

from typing import Any

from partwise.reporting.limits import short
from partwise.reporting.source import Source


def section(source: Source) -> dict[str, Any] | None:
    """The players.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None where there are no sounds, or each belongs to a component and is played there.
    """
    kept = source.kept.get("sounds") or []
    beside = {part.get("audio") for part in source.summary.get("parts") or []}
    players = [
        {
            "name": short(one["name"], 60),
            "file": short(one["file"], 60),
            "uri": one["uri"],
            "span": span(one),
        }
        for one in kept
        if one["file"] not in beside
    ]
    if not players:
        return None
    lead = "Short excerpts where each source is loudest, in one channel; the files in the folder are whole."
    return {"title": "The sounds", "lead": lead, "blocks": [{"block": "players", "players": players}]}


def span(sound: dict[str, Any]) -> str:
    """Which seconds of a recording an excerpt is.

    Parameters
    ----------
    sound : dict
        One of those that `partwise.reporting.excerpts.excerpts` returned.

    Returns
    -------
    str
        Empty where it is the whole recording.
    """
    begin, end, whole = float(sound["begin"]), float(sound["end"]), float(sound["seconds"])
    return "" if end - begin >= whole - 0.01 else f"from {begin:.1f} s to {end:.1f} s"
