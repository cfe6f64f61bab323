"""The nodes of a graph by their names: columns in the order of rows, and a graph in the order of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.io.words import shorten

#: What programs write before the numbers of rows and columns that have no names.
_COUNTED = ("", "V", "X", "row", "column", "col")

#: The note on a table, after `column_order` found another order.
ORDERED = "{}: its columns were put in the order of its rows, by name."


def column_order(rows: Sequence[Any] | None, columns: Sequence[Any] | None, source: str) -> np.ndarray | None:
    """Where the column of each row's node stands in a square table.

    Parameters
    ----------
    rows, columns : sequence or None
        Names of the nodes, None where there are none. Names that only count are no names, unless they are those of
        the other side.
    source : str
        Begins the sentence of an error.

    Returns
    -------
    array of int or None
        ``table[:, order]`` has a column for each row, in their order. None where columns are in that order already,
        and where one side has no names, so that positions count.

    Raises
    ------
    ValueError
        Where rows and columns name different nodes.
    """
    if rows is None or columns is None:
        return None
    wanted, held = [str(name) for name in rows], [str(name) for name in columns]
    if wanted == held:
        return None
    lacking = first_lacking(wanted, held)
    other = first_lacking(held, wanted)
    if (lacking is not None or other is not None) and (_only_counts(wanted) or _only_counts(held)):
        return None
    if lacking is not None or other is not None:
        told = (
            f"row '{shorten(lacking)}' has no column of that name"
            if lacking is not None
            else f"column '{shorten(str(other))}' has no row of that name"
        )
        raise ValueError(
            f"{source}: its rows and columns name different nodes: {told}. A graph has a row and a column for each "
            "node: give both the same names, or no names to one of them if they are in the same order."
        )
    require_once(held, source)
    require_once(wanted, source)
    return _places(wanted, held)


def node_order(
    nodes: Sequence[str], rows: Sequence[str], graph: str, data: str, what: str
) -> np.ndarray | None:
    """Where the node of each row of some data stands in a graph.

    Parameters
    ----------
    nodes, rows : sequence of str
        Names of the nodes, and of the rows (or columns) of the data.
    graph, data : str
        What an error calls both.
    what : str
        "row" or "column".

    Returns
    -------
    array of int or None
        ``graph[order][:, order]`` is the graph of the rows, in their order; it has fewer nodes than the graph where
        further ones are no rows. None where the order is the same, or one of both only counts.

    Raises
    ------
    ValueError
        Where a row is no node.
    """
    held, wanted = list(nodes), list(rows)
    if held == wanted:
        return None
    lacking = first_lacking(wanted, held)
    if lacking is not None:
        if _only_counts(held) or _only_counts(wanted):
            return None
        raise ValueError(
            f"{graph} has no node '{shorten(lacking)}', which is a {what} of {data}: its first node is "
            f"'{shorten(held[0])}'. Give a graph whose nodes have the names of the {what}s, or one without names, in "
            "their order."
        )
    used = set(wanted)
    require_once([name for name in held if name in used], graph)
    require_once(wanted, data)
    return _places(wanted, held)


def frame_names(index: Any) -> list[str] | None:
    """The names in the index or the columns of a DataFrame, None where pandas only counted: 0, 1, 2, …"""
    counted = hasattr(index, "start") and hasattr(index, "step") and index.start == 0 and index.step == 1
    return None if counted else [str(name) for name in index]


def first_lacking(wanted: Sequence[str], held: Sequence[str]) -> str | None:
    """The first name of ``wanted`` that is not in ``held``."""
    known = set(held)
    return next((name for name in wanted if name not in known), None)


def require_once(names: Sequence[str], source: str) -> None:
    """Refuse names that occur twice, where nodes are to be found by them."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"{source}: the name '{shorten(name)}' occurs more than once, and nodes are matched by name. Give "
                "each a name of its own, or all of them in one order."
            )
        seen.add(name)


def _places(wanted: Sequence[str], held: Sequence[str]) -> np.ndarray:
    place = {name: j for j, name in enumerate(held)}
    return np.array([place[name] for name in wanted], dtype=np.int64)


def _only_counts(names: Sequence[str]) -> bool:
    """Whether names are 0, 1, 2, … or V1, V2, V3, …, which programs write where there are none."""
    return any(
        all(name == f"{word}{i}" for i, name in enumerate(names, start))
        for word in _COUNTED
        for start in (0, 1)
    )
