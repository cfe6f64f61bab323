"""What `partwise separate FOLDER` found: which recordings are alike, and the spectra of each."""

from __future__ import annotations

from typing import Any

from partwise.reporting import blocks
from partwise.reporting.source import Source

#: Pairs of recordings in the table, at most.
PAIRS = 2000


def section(source: Source) -> dict[str, Any] | None:
    """The recordings.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results of another kind.
    """
    names, alike = source.summary.get("recordings"), source.summary.get("likeness")
    if not isinstance(names, list) or not isinstance(alike, list) or len(names) != len(alike):
        return None
    pairs = sorted(
        ([a, b, round(float(alike[i][j]), 3)] for i, a in enumerate(names) for j, b in enumerate(names[:i])),
        key=lambda row: -row[2],
    )
    note = "" if len(pairs) <= PAIRS else f"The {PAIRS:,} most alike of {len(pairs):,} pairs."
    found = [
        blocks.table(
            "recordings",
            ["recording", "and", "likeness"],
            pairs[:PAIRS],
            caption="Likeness: the cosine of their spectra, each with the one that is most like it",
            note=note,
        )
    ]
    spectra = [[one.get("recording"), one.get("sentence")] for one in source.summary.get("components") or []]
    if spectra:
        found.append(
            blocks.table("spectra", ["recording", "component"], spectra, caption="Their components", wide=1)
        )
    return {"title": "Which recordings are alike", "blocks": found}
