"""Comparison, number of parts, stability and uncertainty: shown where they were computed, and said where not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.limits import short
from partwise.reporting.source import Source


class Check(NamedTuple):
    """One kind of check: the entries of the summary that may hold it, its title, and what to say without it."""

    entries: tuple[str, ...]
    title: str
    without: str


CHECKS = (
    Check(("comparison", "compare"), "Comparison", "Not compared with other methods here."),
    Check(
        ("rank_curve", "ranks"),
        "Number of parts",
        "Other numbers were not tried in this run: this one is a choice that the data were not asked about.",
    ),
    Check(
        ("stability", "trust"),
        "Stability",
        "Not computed: whether other starts or resampled data give the same parts is not known.",
    ),
    Check(
        ("uncertainty", "posterior"),
        "Uncertainty",
        "Not computed: the numbers here are point estimates without intervals.",
    ),
)
#: Entries of parts that say how far each can be trusted.
TRUST = ("restarts", "resamples")


def section(source: Source) -> dict[str, Any] | None:
    """The checks.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results without a model, such as comparisons.
    """
    if source.other:
        return None
    found: list[dict[str, Any]] = []
    for check in CHECKS:
        value = next((source.summary[name] for name in check.entries if source.summary.get(name)), None)
        shown = value_blocks(check.title, value)
        if check.title == "Stability" and not shown:
            shown = trust(source)
        if (
            check.title == "Uncertainty"
            and source.last is not None
            and hasattr(source.last.model, "components_std_")
        ):
            shown = [blocks.text("Standard deviations of every entry: see the section above.")]
        found.append(blocks.heading(check.title.replace("parts", blocks.plural(source.word))))
        found += shown or [blocks.text(check.without)]
    return {"title": "How far to trust it", "blocks": found}


def value_blocks(title: str, value: Any) -> list[dict[str, Any]]:
    """Plain data as blocks: a list of dicts as a table, lists of one length as curves, other dicts as facts.

    Parameters
    ----------
    title : str
        What it is.
    value : object
        From the summary.

    Returns
    -------
    list of dict
        Blocks; empty where there is nothing to show.
    """
    name = title.lower().replace(" ", "-")
    if isinstance(value, str):
        return [blocks.text(value)]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        columns = list(dict.fromkeys(key for row in value for key in row))[:12]
        rows = [[row.get(key) for key in columns] for row in value[:500]]
        return [blocks.table(name, [c.replace("_", " ") for c in columns], rows, caption=title)]
    if not isinstance(value, dict):
        return []
    lists = {key: one for key, one in value.items() if _numbers(one)}
    lengths = {len(one) for one in lists.values()}
    if len(lists) > 1 and len(lengths) == 1 and lengths.pop() > 1:
        (across, x), *lines = lists.items()
        return [
            blocks.curves(
                f"{name}-{i}",
                x,
                {key.replace("_", " "): [np.nan if v is None else v for v in heights]},
                xlabel=across.replace("_", " "),
                ylabel=key.replace("_", " "),
                alt=f"{key} by {across}",
                height=260,
            )
            for i, (key, heights) in enumerate(lines)
        ]
    plain = {key.replace("_", " "): one for key, one in value.items() if not isinstance(one, dict | list)}
    found = [blocks.facts(plain)] if plain else []
    for key, one in value.items():
        if isinstance(one, dict) or (isinstance(one, list) and one and isinstance(one[0], dict)):
            found += value_blocks(f"{title} {short(key, 30)}", one)
    return found


def _numbers(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in value)
        and any(v is not None for v in value)
    )


def trust(source: Source) -> list[dict[str, Any]]:
    """How often each part returned in other searches, where that was tried.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    list of dict
        Blocks; empty where it was not tried.
    """
    parts = source.summary.get("parts") or []
    known = [key for key in TRUST if parts and all(key in part for part in parts)]
    if not known:
        return []
    rows = [
        [part.get("name", i), *(round(float(part[key]), 3) for key in known)] for i, part in enumerate(parts)
    ]
    return [
        blocks.table(
            "stability",
            [source.word, *(f"returns in {key}" for key in known)],
            rows,
            caption=f"Share of other searches that find each {source.word} again",
            wide=0,
        )
    ]
