"""What a notebook shows of a topic tree: its nodes, one line each."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from partwise.models.notebook import named

#: Nodes listed.
NODES = 60


def tree_html(tree: Any) -> str:
    """The nodes of a tree, each below its group and further in.

    Parameters
    ----------
    tree : TopicTree
        Fitted.

    Returns
    -------
    str
        HTML in which words are text, whatever they hold.
    """
    check_is_fitted(tree, "nodes_")
    lines = []
    for node in tree.nodes_[:NODES]:
        words = ", ".join(named(word, 24) for word, _ in node.words[:6]) or "no words"
        who = (
            "all topics"
            if node.parent is None
            else f"topic {node.topic}"
            if node.topic is not None
            else "group"
        )
        lines.append(
            f"<li style='margin-left:{18 * node.depth}px'><b>{who}</b> "
            f"<span style='opacity:.7'>{100 * node.weight:.1f} %</span> {words}</li>"
        )
    more = len(tree.nodes_) - NODES
    note = f"<div style='opacity:.7'>… and {more} more nodes</div>" if more > 0 else ""
    listed = "".join(lines)
    return (
        "<div style='margin-top:8px;font-size:13px;line-height:1.5'>"
        f"<ul style='list-style:none;padding:0;margin:0'>{listed}</ul>{note}</div>"
    )
