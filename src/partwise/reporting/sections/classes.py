"""How well a classifier tells classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import as_shown
from partwise.reporting.limits import short
from partwise.reporting.source import Source

#: Classes in the confusion matrix, at most.
MOST = 60


def section(source: Source) -> dict[str, Any] | None:
    """Errors and the confusion matrix.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None where nothing was classified.
    """
    said = source.summary
    if "train_error" not in said and "confusion" not in said:
        return None
    rates = {
        "wrong on the training rows": _percent(said.get("train_error")),
        "wrong on the test rows": _percent(said.get("test_error")),
        "training rows": said.get("n_train"),
        "test rows": said.get("n_test"),
    }
    found = [blocks.facts(rates)]
    if said.get("test_error") is None:
        found.append(blocks.text("The test rows have no labels, so their error is not known."))
    if said.get("confusion") and len(said["confusion"]) <= MOST:
        found.append(confusion(said["confusion"], [short(name, 24) for name in said["classes"]]))
    return {"title": "How well it tells classes apart", "blocks": found}


def confusion(counts: list[list[int]], names: list[str]) -> dict[str, Any]:
    """The confusion matrix: mistakes are coloured, right answers only written.

    Parameters
    ----------
    counts : list of list of int
        True classes down, answers across.
    names : list of str
        Of the classes.

    Returns
    -------
    dict
        The block.
    """
    table = np.array(counts)
    off = table - np.diag(np.diag(table))
    shown = [as_shown(name) for name in names]
    trace = {
        "type": "heatmap",
        "z": off.tolist(),
        "x": list(range(len(names))),
        "y": list(range(len(names))),
        "colorscale": "warm",
        "zmin": 0,
        "zmax": max(4, int(off.max(initial=0))),
        "showscale": False,
        "names": {"rows": [f"is {one}" for one in shown], "columns": [f"answer {one}" for one in shown]},
        "counts": table.tolist(),
        "xgap": 2,
        "ygap": 2,
    }
    ticks = {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [short(one, 14) for one in shown],
    }
    layout = {
        "xaxis": {
            **ticks,
            "title": {"text": "answer"},
            "showgrid": False,
            "side": "bottom",
            "tickangle": -90 if max(map(len, shown)) > 3 else 0,
        },
        "yaxis": {**ticks, "title": {"text": "true class"}, "autorange": "reversed", "showgrid": False},
    }
    if len(names) <= 20:
        layout["cells"] = True
    right = int(np.trace(table))
    return blocks.figure(
        "confusion",
        [trace],
        layout,
        alt=f"Confusion matrix: {right:,} of {int(table.sum()):,} right",
        caption=f"{right:,} of {int(table.sum()):,} right. True classes down, answers across; mistakes are coloured.",
        height=min(720, 120 + 26 * len(names)),
    )


def _percent(value: Any) -> str | None:
    return None if value is None else f"{100 * value:.2f} %"
