"""How much the nodes of a tree matter for telling classes apart, as shades between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

SCALES = ("range", "rank")
#: Powers that importance is raised to before it is coloured: the first that leaves the middle topic a shade to see.
POWERS = (1.0, 1 / 2, 1 / 3, 1 / 4)
#: The shade that the middle topic should have at least.
SEEN = 0.2


def importance_power(records: list[dict[str, Any]]) -> float | None:
    """The power of the colour scale: 1 where topics are spread over the range, less where most lie near its low end.

    One topic that matters ten times as much as all others would leave a single shade for these. A root of importance
    keeps the range and the order, and lets the others be told apart; pictures state which root.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.

    Returns
    -------
    float or None
        One of `POWERS`; None for models without labels.
    """
    if any(one["importance"] is None for one in records):
        return None
    middle = float(np.median([one["importance"] for one in records if not one["children"]]))
    return next((power for power in POWERS if middle**power >= SEEN), POWERS[-1])


def importance_text(records: list[dict[str, Any]], scale: str = "range") -> str:
    """What the colours of a tree mean, for its legend.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned, with importance.
    scale : {"range", "rank"}, default="range"
        As for `importance_shades`.

    Returns
    -------
    str
        One line.
    """
    if scale == "rank":
        return "importance for the classes, by rank"
    power = importance_power(records)
    root = "" if power in (None, 1.0) else f", {ROOTS[round(1 / power)]} root"
    return f"importance for the classes, rescaled to its range{root}"


ROOTS = {2: "square", 3: "cube", 4: "fourth"}


def importance_shades(records: list[dict[str, Any]], scale: str = "range") -> list[float] | None:
    """A shade for each node, by how much its topics matter for telling classes apart (Epstein 2017, section 7.2).

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.
    scale : {"range", "rank"}, default="range"
        "range": importance rescaled to the range of its values, as Epstein has it, to the power of
        `importance_power`; for a group, that of the weighted mean of its topics. "rank": the rank of a topic's
        importance, and the mean of its topics for a group, which uses all colours whatever the values.

    Returns
    -------
    list of float or None
        From 0, the topic that matters least, to 1, the one that matters most. None for models without labels.
    """
    power = importance_power(records)
    if power is None:
        return None
    if scale == "range":
        return [float(one["importance"]) ** power for one in records]
    leaves = [one for one in records if not one["children"]]
    values, place = np.unique([round(one["importance"], 12) for one in leaves], return_inverse=True)
    shade = np.zeros(len(records))
    mass = np.zeros(len(records))
    for one, rank in zip(leaves, place):
        mass[one["id"]] = max(one["weight"], 1e-12)
        shade[one["id"]] = mass[one["id"]] * (rank / (len(values) - 1) if len(values) > 1 else 0.5)
    # Each node stands after its parent.
    for one in reversed(records):
        if one["parent"] is not None:
            shade[one["parent"]] += shade[one["id"]]
            mass[one["parent"]] += mass[one["id"]]
    return [float(value) for value in shade / mass]
