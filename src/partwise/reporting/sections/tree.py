"""The topic tree, with its sunburst, and one sunburst for each class where samples have labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import readable_on
from partwise.reporting.limits import CLASSES, short
from partwise.reporting.source import Source, Stage
from partwise.reporting.sunburst import BESIDE, colours_of, hover_of, label_of, small_sunburst, summed
from partwise.topics import importance_power, importance_text

#: Parts in a tree, at most: more arcs could not be seen.
MOST = 300


def section(source: Source) -> dict[str, Any] | None:
    """The tree of the parts.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results without parts.
    """
    from partwise.topics import TopicTree

    stage = source.used or source.last
    if stage is None:
        return None
    word = source.word
    title = f"How the {blocks.plural(word)} belong together"
    k = len(stage.H)
    if k < 2:
        return {"title": title, "blocks": [blocks.text(f"There is a single {word}, so there is no tree.")]}
    if k > MOST:
        said = (
            f"A tree is drawn for {MOST} {blocks.plural(word)} at most, and there are {k:,}; see TopicTree."
        )
        return {"title": title, "blocks": [blocks.text(said)]}
    H = np.asarray(stage.H, dtype=float)
    W = source.W if source.used is not None else None
    if not np.isfinite(H).all() or not np.abs(H).sum() > 0 or (W is not None and not np.isfinite(W).all()):
        return {
            "title": title,
            "blocks": [blocks.text(f"The {blocks.plural(word)} are empty, so there is no tree.")],
        }
    tree = TopicTree(similarity="words" if W is None else "documents")
    tree.fit(stage.model, W=W, feature_names=stage.features)
    alike = "the same samples use" if W is not None else "have the same features"
    lead = (
        f"Built by average linkage: {blocks.plural(word)} that {alike} stand together. Arcs are as wide as the "
        "share of the data that they explain. Click one to zoom in, and the middle or the path above to go back."
    )
    return {"title": title, "lead": lead, "blocks": [tree_block(source, stage, tree)]}


def tree_block(source: Source, stage: Stage, tree: Any) -> dict[str, Any]:
    """The block of a tree: its nodes, and the weights for each class.

    Parameters
    ----------
    source : Source
        The result.
    stage : Stage
        The step whose parts these are.
    tree : TopicTree
        Fitted.

    Returns
    -------
    dict
        The block.
    """
    records = tree.to_records()
    weights, colours = summed(records), colours_of(records)
    pictures = node_pictures(source, stage, records)
    word = source.word
    nodes = [
        {
            "id": str(one["id"]),
            "parent": "" if one["parent"] is None else str(one["parent"]),
            "children": [str(child) for child in one["children"]],
            "depth": one["depth"],
            "label": short(
                f"all {blocks.plural(word)}" if one["parent"] is None else title_of(one, word, pictures), 60
            ),
            "words": [short(entry["word"], BESIDE) for entry in one["words"]],
            "shares": blocks.rounded([entry["weight"] for entry in one["words"]], 4),
            "hover": hover_of(one, weight).replace("topic", word, 1),
            "weight": round(weight, 6),
            "colour": colour,
            "ink": readable_on(colour),
            "topic": one["topic"],
            "topics": one["topics"],
            "picture": pictures[one["id"]] if pictures else None,
        }
        for one, weight, colour in zip(records, weights, colours)
    ]
    return {
        "block": "tree",
        "id": "tree",
        "nodes": nodes,
        "by_importance": all(one["importance"] is not None for one in records),
        "scale": legend(records),
        "classes": class_weights(source, tree),
        "pictures": bool(pictures),
        "word": word,
        "plural": blocks.plural(word),
        "alt": f"Sunburst of {len(stage.H)} {blocks.plural(word)} in {len(nodes)} arcs; the tree is listed below it",
    }


def legend(records: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The legend of colours by importance: what they mean, and where some values stand on the scale.

    Parameters
    ----------
    records : list of dict
        What `TopicTree.to_records` returned.

    Returns
    -------
    dict or None
        "text" and "ticks" (place from 0 to 1, and text); None for models without labels.
    """
    power = importance_power(records)
    if power is None:
        return None
    values = (0.0, 0.5, 1.0) if power == 1.0 else (0.0, 0.01, 0.1, 0.5, 1.0)
    # Places of values that stand closer than their texts are wide are left out.
    placed = [(value, value**power) for value in values]
    ticks = [one for i, one in enumerate(placed) if not i or one[1] - placed[i - 1][1] > 0.12]
    return {
        "text": importance_text(records),
        "ticks": [{"place": round(place, 4), "text": f"{value:g}"} for value, place in ticks],
    }


def title_of(record: dict[str, Any], word: str, pictures: list[str] | None) -> str:
    """The title of a node: its words, or the numbers of its parts where words say nothing.

    Parameters
    ----------
    record : dict
        One of `TopicTree.to_records`.
    word : str
        What a part is called.
    pictures : list or None
        Pictures of the nodes, where parts are pictures.

    Returns
    -------
    str
        Short text.
    """
    if not pictures:
        return label_of(record)
    numbers = record["topics"]
    return (
        f"{word} {numbers[0]}"
        if len(numbers) == 1
        else f"{blocks.plural(word)} {', '.join(map(str, numbers))}"
    )


def node_pictures(source: Source, stage: Stage, records: list[dict[str, Any]]) -> list[str] | None:
    """A picture of each node, the sum of its parts, where parts are pictures."""
    from partwise.reporting.sections.parts import shape_of
    from partwise.reporting.thumbnails import picture_uri

    shape = shape_of(source, stage)
    if shape is None or stage.pixels is None or len(records) > 200:
        return None
    mass = np.ones(len(stage.H)) if source.W is None else np.abs(source.W).mean(axis=0)
    weighted = np.maximum(stage.pixels, 0.0) * mass[:, None]
    return [picture_uri(weighted[one["topics"]].sum(axis=0), shape) for one in records]


def class_weights(source: Source, tree: Any) -> list[dict[str, Any]]:
    """For each class: its name, its number of samples, the weights of the leaves, and a small sunburst.

    Parameters
    ----------
    source : Source
        The result.
    tree : TopicTree
        Fitted.

    Returns
    -------
    list of dict
        Empty where samples have no labels; the largest `CLASSES` classes at most.
    """
    usage, names = source.kept.get("class_usage"), source.kept.get("classes") or []
    sizes = source.kept.get("class_sizes") or []
    if not usage or len(usage) < 2 or len(usage[0]) != tree.n_topics_:
        return []
    order = sorted(range(len(names)), key=lambda c: -sizes[c])[:CLASSES]
    found = []
    for c in sorted(order):
        # The tree needs sums over samples only, so that one row stands for all samples of the class.
        records = tree.reweighted(np.array([usage[c]])).to_records()
        found.append(
            {
                "name": short(names[c], 60),
                "size": int(sizes[c]),
                "weights": blocks.rounded(summed(records), 8),
                "arcs": small_sunburst(records),
            }
        )
    return found
