"""Columns of a usage W matched with the parts of a model by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def in_order_of_parts(W: Any, parts: Iterable[Any]) -> Any:
    """W with its columns in the order of a model's parts, where its columns have the names of these.

    Parameters
    ----------
    W : object
        An array, or a frame (pandas, polars) whose columns have names.
    parts : iterable of str
        The names of the parts, as `get_feature_names_out` gives them.

    Returns
    -------
    object
        W itself where its columns are in that order, or have other names (it is then taken by position), else an
        array.
    """
    columns = getattr(W, "columns", None)
    if columns is None:
        return W
    given, wanted = list(columns), list(parts)
    if given == wanted or len(given) != len(wanted) or len(set(given)) != len(given):
        return W
    place = {name: column for column, name in enumerate(given)}
    if place.keys() != set(wanted):
        return W
    return np.asarray(W)[:, [place[name] for name in wanted]]
