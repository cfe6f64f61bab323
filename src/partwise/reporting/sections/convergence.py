"""Did it converge: how the fit ended, and the curves that it recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.source import Source

#: Recorded beside the curves, and no curve itself.
ASIDE = ("seconds", "trials")


def section(source: Source) -> dict[str, Any] | None:
    """Did it converge.

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
    steps = source.summary.get("steps") or [source.summary]
    found: list[dict[str, Any]] = []
    for step in steps:
        if not step.get("sentence") and not step.get("history"):
            continue
        if "name" in step and len(steps) > 1:
            found.append(blocks.heading(str(step["name"])))
        found += verdict(step)
        drawn = history(step)
        found += drawn
        if not drawn:
            found.append(blocks.text("The fit recorded no curve."))
    if not found:
        found = [blocks.text("The result says nothing about how a fit ended.")]
    return {"title": "Did it converge?", "blocks": found}


def verdict(step: dict[str, Any]) -> list[dict[str, Any]]:
    """How a fit ended, in sentences.

    Parameters
    ----------
    step : dict
        The summary of a model or step.

    Returns
    -------
    list of dict
        Blocks.
    """
    said = str(step.get("sentence") or "").rstrip(".")
    if step.get("converged") is False:
        limit = "No: it stopped at a limit before it converged; more iterations or time may find better."
        return [
            blocks.text(limit, strong=True),
            *([blocks.text(f"In its own words: {said}.")] if said else []),
        ]
    first = "Yes" if step.get("converged") else "The model says"
    return [blocks.text(f"{first}: {said}." if said else f"{first}.")]


def history(step: dict[str, Any]) -> list[dict[str, Any]]:
    """A chart for each quantity that was recorded.

    Parameters
    ----------
    step : dict
        The summary of a model or step.

    Returns
    -------
    list of dict
        Blocks.
    """
    recorded = step.get("history") or {}
    seconds = recorded.get("seconds")
    n_iter = step.get("n_iter")
    found = []
    for name, values in recorded.items():
        heights = np.array([np.nan if v is None else v for v in values], dtype=float)
        if name in ASIDE or len(heights) < 2 or not np.isfinite(heights).any():
            continue
        by_time = (
            seconds is not None
            and len(seconds) == len(heights)
            and (not isinstance(n_iter, int) or len(heights) != n_iter + 1)
        )
        label = name.replace("_", " ")
        finite = heights[np.isfinite(heights)]
        found.append(
            blocks.curves(
                f"history-{step.get('name', 'model')}-{name}",
                seconds if by_time else np.arange(len(heights)),
                {label: heights},
                xlabel="seconds" if by_time else "iteration",
                ylabel=label,
                log=True,
                alt=f"{label} from {finite[0]:.6g} at the beginning to {finite[-1]:.6g} at the end, "
                f"{len(heights)} points",
                height=280,
            )
        )
    return found
