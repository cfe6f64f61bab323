"""The sunburst of a topic tree, after Epstein (2017): rings of arcs, a topic inside the groups that it belongs to."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

from partwise.models.parameters import choice
from partwise.reporting.colours import (
    BLUE_TO_YELLOW,
    as_shown,
    branch_colour,
    mixed,
    readable_on,
    scale_colour,
)
from partwise.reporting.limits import short
from partwise.topics import SCALES, importance_shades, importance_text

KINDS = ("sunburst", "icicle", "treemap")
#: Levels shown at once, that in the middle among them; a click shows what is further out.
LEVELS = 4
#: Characters of a word in an arc and beside it.
IN_ARC, BESIDE = 22, 60
ROOT = "#e8edf2"


def sunburst(
    tree: Any, kind: str = "sunburst", *, size: int = 700, levels: int = LEVELS, scale: str = "range"
) -> Any:
    """An interactive picture of a topic tree: click an arc to zoom in, the middle to zoom out.

    Parameters
    ----------
    tree : TopicTree
        Fitted.
    kind : {"sunburst", "icicle", "treemap"}, default="sunburst"
        Rings, columns of bars, or nested rectangles.
    size : int, default=700
        Pixels of the shorter side.
    levels : int, default=4
        Levels shown at once.
    scale : {"range", "rank"}, default="range"
        For models with labels: colours by importance rescaled to the range of its values (a root of it where few
        topics matter far more than the others, which the legend says), or by its rank.

    Returns
    -------
    plotly.graph_objects.Figure
        In a notebook it shows itself; ``figure.write_html("tree.html")`` writes it. Arcs are as wide as their
        weights; colours are those of branches, or, for models with labels, blue to yellow by how much topics matter
        for the classes. Ten words when the pointer rests on an arc.

    Notes
    -----
    `partwise.plot.sunburst` draws the same with matplotlib, for papers.
    """
    choice("kind", kind, KINDS)
    choice("scale", scale, SCALES)
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError('A sunburst needs plotly: pip install "partwise[report]"') from error
    records = tree.to_records()
    trace = trace_of(records, kind, size=size, levels=levels, scale=scale)
    layout: dict[str, Any] = {
        "width": size,
        "height": size,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "uniformtext": {"minsize": 8, "mode": "hide"},
        "font": {"family": "system-ui, sans-serif"},
    }
    if records[0]["importance"] is not None:
        layout["height"] = size + 30
        layout["margin"] = {"l": 8, "r": 8, "t": 8, "b": 38}
        said = f"blue to yellow: {importance_text(records, scale)}"
        place = {"x": 0.5, "y": 0, "yshift": -24, "xref": "paper", "yref": "paper", "showarrow": False}
        layout["annotations"] = [{"text": said, "font": {"size": 12, "color": "#556371"}, **place}]
    return go.Figure({"data": [trace], "layout": layout})


def trace_of(
    records: list[dict[str, Any]],
    kind: str = "sunburst",
    *,
    size: int = 700,
    levels: int = LEVELS,
    scale: str = "range",
) -> dict[str, Any]:
    """The trace of a tree, as plotly reads it.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.
    kind : str
        "sunburst", "icicle" or "treemap".
    size : int
        Pixels of the shorter side.
    levels : int
        Levels shown at once.
    scale : str
        Of importance, "range" or "rank".

    Returns
    -------
    dict
        Of lists, text and numbers.
    """
    colours = colours_of(records, scale)
    weights = summed(records)
    fits = words_that_fit(records, weights, size, levels)
    trace: dict[str, Any] = {
        "type": kind,
        "ids": [str(one["id"]) for one in records],
        "parents": ["" if one["parent"] is None else str(one["parent"]) for one in records],
        "labels": [as_shown(short(label_of(one), 40)) for one in records],
        # Those of inner nodes are the sums of their leaves, which plotly forms itself.
        "values": [0.0 if one["children"] else weight for one, weight in zip(records, weights)],
        "branchvalues": "remainder",
        "text": ["<br>".join(as_shown(short(w, IN_ARC)) for w in words) for words in fits],
        "textinfo": "text",
        "hovertext": [hover_of(one, weight) for one, weight in zip(records, weights)],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"colors": colours, "line": {"color": "#ffffff", "width": 1}},
        "insidetextfont": {"color": [readable_on(one) for one in colours]},
        "maxdepth": levels,
        "sort": False,
    }
    if kind == "sunburst":
        trace |= {"insidetextorientation": "radial", "leaf": {"opacity": 1}}
    else:
        trace["tiling"] = {"pad": 2} if kind == "icicle" else {"pad": 3}
        trace["pathbar"] = {"visible": False}
    if kind == "icicle":
        trace["leaf"] = {"opacity": 1}
    if any(one["importance"] is not None for one in records):
        steps = len(BLUE_TO_YELLOW) - 1
        trace["marker"] |= {"colorscale": [[i / steps, colour] for i, colour in enumerate(BLUE_TO_YELLOW)]}
    return trace


def label_of(record: dict[str, Any]) -> str:
    """The title of a node; of the root, all topics.

    Parameters
    ----------
    record : dict
        One of `TopicTree.to_records`.

    Returns
    -------
    str
        Short text.
    """
    if record["parent"] is None:
        return "all" if record["children"] else record["name"] or "topic 0"
    return (
        record["name"] or f"topic {record['topic']}" if record["topic"] is not None else record["name"] or "…"
    )


def hover_of(record: dict[str, Any], weight: float) -> str:
    """What is shown beside an arc: its share and its words.

    Parameters
    ----------
    record : dict
        One of `TopicTree.to_records`.
    weight : float
        Share of the node.

    Returns
    -------
    str
        In plotly's marks; names are shown as they are.
    """
    words = [as_shown(short(one["word"], BESIDE)) for one in record["words"]]
    who = (
        f"topic {record['topic']}"
        if record["topic"] is not None
        else f"{len(record['topics'])} topics"
        if len(record["topics"]) > 1
        else f"part of topic {record['topics'][0]}"
    )
    listed = "<br>".join(words) if words else "no words of any weight"
    return f"<b>{who}, {100 * weight:.1f} %</b><br>{listed}"


def summed(records: list[dict[str, Any]]) -> list[float]:
    """Shares of all leaves' weight: of each leaf its own, of each inner node those of its leaves.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned: each node after its parent.

    Returns
    -------
    list of float
        One for each node. Where nothing has any weight all leaves count the same.
    """
    weights = [max(float(one["weight"]), 0.0) if not one["children"] else 0.0 for one in records]
    if not sum(weights) > 0:
        weights = [0.0 if one["children"] else 1.0 for one in records]
    for one in reversed(records):
        if one["children"]:
            weights[one["id"]] = sum(weights[child] for child in one["children"])
    return [weight / weights[0] for weight in weights]


def colours_of(records: list[dict[str, Any]], scale: str = "range") -> list[str]:
    """A colour for each node: blue to yellow where importance is known, else that of its branch, paler further out.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.
    scale : str
        Of importance, "range" or "rank".

    Returns
    -------
    list of str
        As #rrggbb.
    """
    shades = importance_shades(records, scale)
    if shades is not None:
        return [
            ROOT if one["parent"] is None and one["children"] else scale_colour(shade)
            for one, shade in zip(records, shades)
        ]
    out: list[str] = []
    branch: dict[int, int] = {}
    for one in records:
        if one["parent"] is None:
            out.append(ROOT if one["children"] else branch_colour(0))
            continue
        if one["depth"] == 1:
            branch[one["id"]] = records[0]["children"].index(one["id"])
        else:
            branch[one["id"]] = branch[one["parent"]]
        pale = min(0.14 * (one["depth"] - 1), 0.5)
        out.append(mixed(branch_colour(branch[one["id"]]), "#ffffff", 0.1 + pale))
    return out


def words_that_fit(
    records: list[dict[str, Any]], weights: list[float], size: int, levels: int
) -> list[list[str]]:
    """As many words of each node as its arc has room for when the whole tree is shown.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.
    weights : list of float
        The share of each node.
    size : int
        Pixels across.
    levels : int
        Rings shown, the middle among them.

    Returns
    -------
    list of list of str
        Words, or the number of a topic that has none.
    """
    depth = max(one["depth"] for one in records)
    ring = size / 2 / min(levels, depth + 1)
    out = []
    for one, weight in zip(records, weights):
        words = [entry["word"] for entry in one["words"]]
        if one["parent"] is None and one["children"]:
            out.append(words[:5])
            continue
        along = 2 * pi * weight * ring * (min(one["depth"], levels) + 0.35)
        room = max(1, min(10, int(along / 14)))
        out.append(words[:room] or [label_of(one)])
    return out


def small_sunburst(records: list[dict[str, Any]], size: float = 100.0) -> list[dict[str, str]]:
    """Arcs of a sunburst as paths of an SVG, for small ones side by side.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.
    size : float
        Units across; the middle is at 0, 0.

    Returns
    -------
    list of dict
        "path", "colour" and "title" of each arc.
    """
    weights, colours = summed(records), colours_of(records)
    rings = max(one["depth"] for one in records) + 1
    step = size / 2 / rings
    begin = {0: 0.0}
    out = []
    for one in records:
        at = begin[one["id"]]
        for child in one["children"]:
            begin[child] = at
            at += weights[child]
        if one["parent"] is None or weights[one["id"]] <= 0:
            continue
        inner = step * one["depth"]
        # A leaf reaches the rim, so that every topic can be seen.
        outer = size / 2 if not one["children"] else inner + step
        title = f"{label_of(one)}: {100 * weights[one['id']]:.1f} %"
        path = arc_path(begin[one["id"]], weights[one["id"]], inner, outer)
        out.append({"path": path, "colour": colours[one["id"]], "title": short(title, 90)})
    return out


def arc_path(begin: float, share: float, inner: float, outer: float) -> str:
    """The outline of a piece of a ring, clockwise from the top.

    Parameters
    ----------
    begin, share : float
        Where it begins and how long it is, in turns.
    inner, outer : float
        Radii.

    Returns
    -------
    str
        The `d` of an SVG path.
    """
    # A whole turn would begin where it ends, and draw nothing.
    a, b = 2 * pi * begin, 2 * pi * (begin + min(share, 0.99999))
    large = int(share > 0.5)

    def at(radius: float, angle: float) -> str:
        return f"{radius * sin(angle):.2f} {-radius * cos(angle):.2f}"

    return (
        f"M{at(outer, a)}A{outer:.2f} {outer:.2f} 0 {large} 1 {at(outer, b)}"
        f"L{at(inner, b)}A{inner:.2f} {inner:.2f} 0 {large} 0 {at(inner, a)}Z"
    )
