"""Topic trees for papers: the sunburst, and the tree from left to right with its words."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

from sklearn.utils.validation import check_is_fitted

from partwise.models.parameters import choice
from partwise.plot import style
from partwise.plot.style import FAINT, INK, SERIES, figure, shortened
from partwise.topics import SCALES, importance_power, importance_shades, importance_text
from partwise.topics.exports import as_records

#: Rings drawn around the middle, at most.
RINGS = 5


def sunburst(tree: Any, *, size: float = 7.0, words: int = 4, scale: str = "range") -> Any:
    """Draw a topic tree as rings of arcs, as wide as their share of the data; groups inside, topics outside.

    Parameters
    ----------
    tree : TopicTree
        Fitted.
    size : float, default=7.0
        Inches across.
    words : int, default=4
        Words in an arc, at most; as many as there is room for.
    scale : {"range", "rank"}, default="range"
        For models with labels: colours by importance rescaled to the range of its values (a root of it where few
        topics matter far more than the others, which the legend says), or by its rank.

    Returns
    -------
    matplotlib Figure
        Colours are those of branches; for models with labels blue to yellow by how much topics matter for the
        classes.
    """
    check_is_fitted(tree, "nodes_")
    choice("scale", scale, SCALES)
    by_importance = tree.nodes_[0].importance is not None
    drawing, axes = figure([["sun"]], size=(size, size + 0.5 * by_importance))
    _rings(axes["sun"], tree.nodes_, size, words, scale)
    if by_importance:
        _legend(drawing, [axes["sun"]], tree.nodes_, scale)
    return drawing


def sunbursts(trees: dict[str, Any], *, size: float = 2.6, scale: str = "range") -> Any:
    """Draw several sunbursts side by side: the tree of all documents with the weights of each class.

    Parameters
    ----------
    trees : dict of TopicTree
        Title to fitted tree, as ``{name: tree.reweighted(W[y == name]) for name in classes}``.
    size : float, default=2.6
        Inches across each.
    scale : {"range", "rank"}, default="range"
        As for `sunburst`.

    Returns
    -------
    matplotlib Figure
        Without words: those of the arcs are in the sunburst of the whole tree, where arcs stand in the same order.
    """
    choice("scale", scale, SCALES)
    if not trees:
        raise ValueError("sunbursts needs one tree at least.")
    for tree in trees.values():
        check_is_fitted(tree, "nodes_")
    first = next(iter(trees.values())).nodes_
    by_importance = first[0].importance is not None
    across = min(len(trees), 5)
    down = -(-len(trees) // across)
    names = [f"sun{i}" if i < len(trees) else "." for i in range(across * down)]
    mosaic = [names[i * across : (i + 1) * across] for i in range(down)]
    drawing, axes = figure(mosaic, size=(size * across, (size + 0.25) * down + 0.5 * by_importance))
    for place, (title, tree) in zip(axes.values(), trees.items()):
        _rings(place, tree.nodes_, size, 0, scale)
        place.set_title(shortened(str(title), 26), fontsize=9)
    if by_importance:
        _legend(drawing, list(axes.values()), first, scale)
    return drawing


def _legend(drawing: Any, places: list[Any], nodes: list[Any], scale: str) -> None:
    """A bar of colours with what they mean; its ticks are values of importance, wherever a root puts them."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    records = as_records(nodes)
    power = importance_power(records) or 1.0
    bar = drawing.colorbar(
        ScalarMappable(Normalize(0, 1), "cividis"),
        ax=places,
        location="bottom",
        fraction=0.03,
        pad=0.01,
        shrink=0.5,
        aspect=30,
    )
    values = (0.0, 1.0) if scale == "rank" else (0.0, 0.5, 1.0) if power == 1.0 else (0.0, 0.1, 0.5, 1.0)
    bar.set_ticks([value if scale == "rank" else value**power for value in values])
    bar.set_ticklabels(["least", "most"] if scale == "rank" else [f"{value:g}" for value in values])
    bar.ax.tick_params(labelsize=8)
    bar.set_label(importance_text(records, scale), fontsize=8.5)
    bar.outline.set_visible(False)


def _rings(place: Any, nodes: list[Any], size: float, words: int, scale: str) -> None:
    """The arcs of a tree, and as many words as fit."""
    from matplotlib.patches import Wedge

    rings = min(max(node.depth for node in nodes), RINGS)
    place.set_axis_off()
    place.set_aspect("equal")
    place.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02))
    step = 1.0 / (rings + 0.7)
    weights, colours = _weights(nodes), _colours(nodes, scale=scale)
    line = 1.2 if words else 0.5
    begin = {0: 0.0}
    for node in nodes:
        at = begin[node.id]
        for child in node.children:
            begin[child] = at
            at += weights[child]
        if node.depth > rings or weights[node.id] <= 0:
            continue
        inner = 0.0 if node.depth == 0 else step * (node.depth - 0.3)
        outer = step * (node.depth + 0.7)
        first, last = 90 - 360 * (begin[node.id] + weights[node.id]), 90 - 360 * begin[node.id]
        arc = Wedge(
            (0, 0),
            outer,
            first,
            last,
            width=outer - inner,
            facecolor=colours[node.id],
            edgecolor="white",
            lw=line,
        )
        place.add_patch(arc)
        if words:
            angle = (first + last) / 2
            _write(place, node, angle, inner, outer, weights[node.id], size, words, colours[node.id])


def _write(
    place: Any,
    node: Any,
    angle: float,
    inner: float,
    outer: float,
    weight: float,
    size: float,
    words: int,
    colour: str,
) -> None:
    """As many words as an arc has room for, along its radius."""
    inch = 72 * size / 2.04
    font = 7.5
    names = [word for word, _ in node.words] or [node.name]
    ink = _ink_on(colour)
    if node.depth == 0:
        lines = min(len(names), words, int(1.3 * outer * inch / (1.35 * font)))
        text = "\n".join(
            shortened(name, max(4, int(1.6 * outer * inch / (0.6 * font)))) for name in names[:lines]
        )
        place.text(0, 0, text, ha="center", va="center", fontsize=font, color=ink)
        return
    room = int(2 * pi * weight * (inner + 0.1 * (outer - inner)) * inch / (1.35 * font))
    letters = int(((outer - inner) * inch - 6) / (0.6 * font))
    if room < 1 or letters < 3:
        return
    text = "\n".join(shortened(name, letters) for name in names[: min(room, words)])
    radius, turn = (inner + outer) / 2, angle % 360
    upright = turn - 180 if 90 < turn < 270 else turn
    place.text(
        radius * cos(pi * turn / 180),
        radius * sin(pi * turn / 180),
        text,
        rotation=upright,
        rotation_mode="anchor",
        ha="center",
        va="center",
        fontsize=font,
        color=ink,
        linespacing=1.15,
    )


def tree(tree: Any, *, words: int = 6, max_topics: int = 80) -> Any:
    """Draw a topic tree from left to right, each topic on a line of its own with its words.

    Parameters
    ----------
    tree : TopicTree
        Fitted.
    words : int, default=6
        Words of each topic and of each group at the first level.
    max_topics : int, default=80
        Leaves drawn, at most; the title says where that is not all.

    Returns
    -------
    matplotlib Figure
        Branches in the colours of the first level; a dot is as large as the share of its node.
    """
    check_is_fitted(tree, "nodes_")
    nodes = tree.nodes_
    leaves: list[int] = []

    def collect(number: int) -> None:
        if not nodes[number].children:
            leaves.append(number)
        for child in nodes[number].children:
            collect(child)

    collect(0)
    total, shown = len(leaves), leaves[:max_topics]
    level = {number: float(i) for i, number in enumerate(shown)}
    for node in reversed(nodes):
        inside = [level[child] for child in node.children if child in level]
        if inside:
            level[node.id] = (inside[0] + inside[-1]) / 2
    depth = max(node.depth for node in nodes)
    across = {n.id: float(depth if not n.children else n.depth) for n in nodes}
    colours, weights = _colours(nodes, pale=False), _weights(nodes)
    drawing, axes = figure([["tree"]], size=(8.6, 0.235 * len(shown) + 0.7))
    place = axes["tree"]
    place.set_axis_off()
    for node in nodes:
        if node.id not in level:
            continue
        colour = colours[node.id] if node.depth else INK
        for child in node.children:
            if child in level:
                line = colours[child]
                x, y = (
                    (across[node.id], across[node.id], across[child]),
                    (level[node.id], level[child], level[child]),
                )
                place.plot(x, y, color=line, lw=1.3, solid_joinstyle="round", zorder=1)
        if node.depth:
            place.scatter(
                across[node.id], level[node.id], s=14 + 260 * weights[node.id], color=colour, zorder=2, lw=0
            )
        if not node.children:
            number = f"{node.topic}  " if node.topic is not None else ""
            names = ", ".join(shortened(word, 18) for word, _ in node.words[:words]) or "no words"
            place.annotate(
                number + names, (across[node.id], level[node.id]), (9, 0), textcoords="offset points",
                va="center", fontsize=8.5, annotation_clip=False,
            )  # fmt: skip
    place.set(xlim=(-0.15, depth + max(2.0, 1.25 * depth)), ylim=(len(shown) - 0.4, -0.6))
    said = f"{total} topics" if total == len(shown) else f"the first {len(shown)} of {total} topics"
    style.title(place, said)
    return drawing


def _weights(nodes: list[Any]) -> list[float]:
    """Shares of the whole; of inner nodes the sums of their leaves, and all leaves alike where nothing has weight."""
    weights = [0.0 if node.children else max(node.weight, 0.0) for node in nodes]
    if not sum(weights) > 0:
        weights = [0.0 if node.children else 1.0 for node in nodes]
    for node in reversed(nodes):
        if node.children:
            weights[node.id] = sum(weights[child] for child in node.children)
    return [weight / weights[0] for weight in weights]


def _colours(nodes: list[Any], pale: bool = True, scale: str = "range") -> list[str]:
    """A colour for each node: by importance where it is known, else that of its branch, paler further out."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex, to_rgb

    shades = importance_shades(as_records(nodes), scale)
    if shades is not None:
        return [
            FAINT if node.children and not node.depth else to_hex(colormaps["cividis"](shade))
            for node, shade in zip(nodes, shades)
        ]
    out: list[str] = []
    branch: dict[int, int] = {}
    for node in nodes:
        if node.parent is None:
            out.append("#eef1f4" if node.children else SERIES[0])
            continue
        if node.depth == 1:
            branch[node.id] = nodes[0].children.index(node.id)
        else:
            branch[node.id] = branch[node.parent]
        share = min(0.15 * (node.depth - 1), 0.5) if pale else 0.0
        base = to_rgb(SERIES[branch[node.id] % len(SERIES)])
        red, green, blue = (c + (1 - c) * share for c in base)
        out.append(to_hex((red, green, blue)))
    return out


def _ink_on(colour: str) -> str:
    """Dark or white letters, whichever can be read on a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.53 else "white"
