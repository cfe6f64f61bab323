"""How much the nodes of a tree matter for telling classes apart, as shades between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def importance_shades(records: list[dict[str, Any]]) -> list[float] | None:
    """A shade for each node: the rank of a topic's importance, and the mean of its topics for a group.

    Ranks, because one topic that matters far more than all others would leave a single shade for the rest.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.

    Returns
    -------
    list of float or None
        From 0, the topic that matters least, to 1, the one that matters most; topics that matter the same have the
        same shade. None for models without labels.
    """
    if any(one["importance"] is None for one in records):
        return None
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
