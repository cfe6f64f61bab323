"""Topic trees in the formats of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from partwise.topics.nodes import Node


def as_records(nodes: list[Node]) -> list[dict[str, Any]]:
    """One dict for each node.

    Parameters
    ----------
    nodes : list of Node
        The tree.

    Returns
    -------
    list of dict
        Plain data: "id", "parent", "children", "depth", "topic", "topics", "name", "weight", "words" (each with
        "word" and "weight"), "importance", "similarity".
    """
    return [
        {
            "id": node.id,
            "parent": node.parent,
            "children": list(node.children),
            "depth": node.depth,
            "topic": node.topic,
            "topics": list(node.topics),
            "name": node.name,
            "weight": node.weight,
            "words": [{"word": word, "weight": weight} for word, weight in node.words],
            "importance": node.importance,
            "similarity": node.similarity,
        }
        for node in nodes
    ]


def as_flare(nodes: list[Node]) -> dict[str, Any]:
    """Nested dicts as d3's hierarchies read them: leaves have a "size", inner nodes "children".

    Parameters
    ----------
    nodes : list of Node
        The tree.

    Returns
    -------
    dict
        The root.
    """
    out = [
        {key: value for key, value in record.items() if key not in ("children", "weight")}
        for record in as_records(nodes)
    ]
    for node, entry in zip(nodes, out):
        if node.children:
            entry["children"] = [out[child] for child in node.children]
        else:
            entry["size"] = node.weight
    return out[0]


def as_newick(nodes: list[Node]) -> str:
    """The tree in Newick's format, with the lengths of branches where similarities are known.

    Parameters
    ----------
    nodes : list of Node
        The tree.

    Returns
    -------
    str
        One line, with names in quotes.
    """

    def height(node: Node) -> float:
        return 1.0 if not node.children or node.similarity is None else node.similarity

    def text(node: Node) -> str:
        inside = f"({','.join(text(nodes[child]) for child in node.children)})" if node.children else ""
        doubled = " ".join(node.name.split()).replace("'", "''")
        name = f"'{doubled}'"
        if node.parent is None:
            return f"{inside}{name}"
        return f"{inside}{name}:{max(0.0, height(node) - height(nodes[node.parent])):.6g}"

    return f"{text(nodes[0])};"


def as_graphml(nodes: list[Node]) -> str:
    """The tree as a directed graph, parents to children.

    Parameters
    ----------
    nodes : list of Node
        The tree.

    Returns
    -------
    str
        An XML document.
    """
    kinds = {"name": "string", "words": "string", "topic": "int", "weight": "double", "depth": "int"}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(
            f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>'
            for key, kind in kinds.items()
        ),
        '  <graph edgedefault="directed">',
    ]
    for node in nodes:
        values = {
            "name": node.name,
            "words": " ".join(word for word, _ in node.words),
            "topic": node.topic,
            "weight": repr(node.weight),
            "depth": node.depth,
        }
        lines.append(f'    <node id="n{node.id}">')
        lines += [
            f"      <data key={quoteattr(key)}>{escape(_printable(str(value)))}</data>"
            for key, value in values.items()
            if value is not None
        ]
        lines.append("    </node>")
    lines += [
        f'    <edge source="n{node.parent}" target="n{node.id}"/>'
        for node in nodes
        if node.parent is not None
    ]
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _printable(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(one for one in text if one in "\t\n" or ord(one) >= 32)
