"""What `partwise compare` found: a table of methods, and the leading features of each."""

from __future__ import annotations

from typing import Any

from partwise.reporting import blocks
from partwise.reporting.limits import CARDS, short
from partwise.reporting.source import Source

#: Features named for each basis vector.
NAMED = 6


def section(source: Source) -> dict[str, Any] | None:
    """The comparison.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results that compare nothing.
    """
    said = source.summary
    methods, measures = said.get("methods"), said.get("measures")
    if not isinstance(methods, list) or not isinstance(measures, dict) or not methods:
        return None
    several = len({row.get("fitted_to") for row in methods}) > 1
    columns = ["method", *(["fitted to"] if several else []), *(name.replace("_", " ") for name in measures)]
    rows = [
        [
            row.get("title") or row.get("method"),
            *([row.get("fitted_to")] if several else []),
            *(_rounded(row.get(name)) for name in measures),
        ]
        for row in methods
    ]
    seeds = said.get("seeds") or []
    starts = f"means over {len(seeds)} random starts" if len(seeds) > 1 else "one random start"
    found = [
        blocks.table("compared", columns, rows, caption=f"Every method with as many basis vectors; {starts}"),
        blocks.facts({name.replace("_", " "): meaning for name, meaning in measures.items()}),
    ]
    leading = said.get("top_features") or {}
    titles = {row.get("method"): row.get("title") or row.get("method") for row in methods}
    listed = [
        [titles.get(name, name), number, ", ".join(_feature(one) for one in part[:NAMED])]
        for name, parts in leading.items()
        for number, part in enumerate(parts[:CARDS])
    ]
    if listed and not source.shape:
        found.append(
            blocks.table(
                "compared-features",
                ["method", "basis vector", "leading features"],
                listed,
                caption="What the basis vectors are made of; a minus is a negative weight",
                wide=2,
            )
        )
    return {"title": "The methods compared", "blocks": found}


def _rounded(value: Any) -> float | None:
    return float(f"{value:.4g}") if isinstance(value, int | float) and value == value else None


def _feature(entry: dict[str, Any]) -> str:
    sign = "−" if float(entry.get("weight") or 0.0) < 0 else ""
    return sign + short(entry.get("name"), 40)
