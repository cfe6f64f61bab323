"""The graph of `partwise fit` and its data, matched by the names of nodes and rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from partwise.cli.common import say
from partwise.io.words import listing

if TYPE_CHECKING:
    from partwise.cli.pipeline import Samples


def with_nodes_in_order(samples: Samples, model: Any) -> Samples:
    """The samples of a model that factors a graph, with columns in the order of the rows where both name nodes."""
    from sklearn.utils import get_tags

    from partwise.node_names import ORDERED, column_order

    X = samples.X
    if not get_tags(model).input_tags.pairwise or not samples.named or X.shape[0] != X.shape[1]:
        return samples
    order = column_order(samples.rows, samples.columns, samples.source)
    if order is None:
        return samples
    say(f"Note: {ORDERED.format(samples.source)}")
    coding = None if samples.coding is None else samples.coding.in_order(order.tolist())
    return replace(samples, X=X[:, order], columns=list(samples.rows), coding=coding)


def place_graph(model: Any, samples: Samples) -> None:
    """Give a model the graph that --graph read from a file, with nodes in the order of the data.

    By name where the file and the data both have names: nodes are put in the order of the data, further nodes are
    left out, and a row without a node is an error. By position where one of them has no names.
    """
    from partwise.io import Table
    from partwise.node_names import ORDERED, column_order, node_order

    table = getattr(model, "graph", None)
    if not isinstance(table, Table):
        return
    for note in table.notes:
        say(f"Note: {note}")
    model.graph = table.data
    if table.shape[0] != table.shape[1]:
        # The model says what a graph must be.
        return
    order = column_order(table.row_names, table.column_names, table.source)
    if order is not None:
        model.graph = model.graph[:, order]
        say(f"Note: {ORDERED.format(table.source)}")
    names = table.row_names or table.column_names
    of_columns = getattr(model, "graph_on", "samples") == "features"
    rows = samples.columns if of_columns else samples.rows if samples.named else None
    what = "column" if of_columns else "row"
    if names is None or rows is None:
        if names is not None or rows is not None:
            with_names, without = (
                (table.source, f"the {what}s of {samples.source}")
                if rows is None
                else (samples.source, f"the nodes of {table.source}")
            )
            say(f"Note: {without} have no names: they are taken in the order of those in {with_names}.")
        return
    order = node_order(names, rows, table.source, samples.source, what)
    if order is None:
        return
    model.graph = model.graph[order][:, order]
    left = len(names) - len(order)
    if left:
        used = set(rows)
        others = [name for name in names if name not in used]
        say(
            f"Note: {table.source}: {left} node{'s' * (left > 1)} left out with all edges, no {what} of "
            f"{samples.source}: {listing(others)}."
        )
    if [name for name in names if name in set(rows)] != list(rows):
        say(
            f"Note: {table.source}: its nodes were put in the order of the {what}s of {samples.source}, by name."
        )
