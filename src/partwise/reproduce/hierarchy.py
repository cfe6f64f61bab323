"""Trees of topics: which way of building them agrees best with the groups that posts came from.

Epstein (2017, chapter 9) asks whether joining topics from below is the best way to a hierarchy. Here every way of
`TopicTree` is measured on the 20 newsgroups, whose names are themselves a hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.feature_extraction.text import TfidfTransformer

from partwise.datasets import fetch_20newsgroups
from partwise.io import write_csv, write_json
from partwise.models import NMF
from partwise.topics import Node, TopicTree, dendrogram_purity, sibling_agreement

#: Groups whose names begin alike belong together; alt, soc and talk discuss the same subjects.
FAMILIES = {"alt": "talk", "soc": "talk"}
#: Draws of topics in another order, for what agreement comes by chance.
SHUFFLES = 200


def reproduce_hierarchy(
    folder: Path,
    components: Annotated[int, typer.Option("-k", "--components", min=4, help="Topics.")] = 40,
    seeds: Annotated[int, typer.Option(min=1, help="Starts of the topic model.")] = 3,
) -> dict[str, Any]:
    """Topic trees of 20 Newsgroups by every method, against the groups the posts came from; the tree as files."""
    data = fetch_20newsgroups()
    X = TfidfTransformer().fit_transform(data.data)
    family = np.array([FAMILIES.get(name.split(".")[0], name.split(".")[0]) for name in data.target_names])
    names = [str(word) for word in data.feature_names]
    rows: list[dict[str, Any]] = []
    for seed in range(seeds):
        model = NMF(components, init=None if seed == 0 else "random", random_state=seed)
        W = np.asarray(model.fit_transform(X))
        for settings, tree in trees(model, X, W, names):
            rows.append(
                {"seed": seed, **settings, **measured(tree, W, model.components_, family[data.target])}
            )
            if seed == 0 and settings == {"method": "linkage", "similarity": "documents", "centred": True}:
                kept(tree, model, names, folder)
    table = averaged(rows)
    summary = {"components": components, "rows": rows, "table": table, "lines": described(table)}
    write_json(folder / "hierarchy.json", summary)
    return summary


def trees(model: NMF, X: Any, W: np.ndarray, names: list[str]) -> Iterator[tuple[dict[str, Any], TopicTree]]:
    """A tree for every method, what topics are compared by, and how."""
    for method in ("linkage", "threshold"):
        for similarity in ("documents", "words"):
            for centred in (True, False):
                settings: dict[str, Any] = {"method": method, "similarity": similarity, "centred": centred}
                yield settings, TopicTree(**settings).fit(model, W=W, feature_names=names)
    tree = TopicTree("divisive").fit(model, X=X, W=W, feature_names=names)
    yield {"method": "divisive", "similarity": "documents", "centred": True}, tree


def measured(tree: TopicTree, W: np.ndarray, H: np.ndarray, family: np.ndarray) -> dict[str, float]:
    """How well a tree agrees with the families of the documents that its topics lead in."""
    mass = W * H.sum(axis=1)
    shares = np.array([mass[family == one].sum(axis=0) for one in np.unique(family)])
    classes = shares.argmax(axis=0)
    rng = np.random.default_rng(0)
    by_chance = [rng.permutation(classes) for _ in range(SHUFFLES)]
    return {
        "purity": dendrogram_purity(tree, classes),
        "purity_by_chance": float(np.mean([dendrogram_purity(tree, one) for one in by_chance])),
        "siblings": sibling_agreement(tree, classes),
        "siblings_by_chance": float(np.mean([sibling_agreement(tree, one) for one in by_chance])),
        "first_level": len(tree.nodes_[0].children),
        "largest_branch": max(len(tree.nodes_[i].topics) for i in tree.nodes_[0].children),
        "nodes": len(tree.nodes_),
    }


def averaged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the seeds, best first."""
    keys = ("method", "similarity", "centred")
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    table = []
    for key, found in groups.items():
        means = {name: float(np.mean([one[name] for one in found])) for name in found[0] if name not in keys}
        means["above_chance"] = means["purity"] - means["purity_by_chance"]
        table.append({**dict(zip(keys, key)), **means})
    return sorted(table, key=lambda row: -row["above_chance"])


def described(table: list[dict[str, Any]]) -> list[str]:
    """The table in lines."""
    head = f"{'method':10} {'by':10} {'compared by':12} {'purity':>7} {'chance':>7} {'siblings':>9} {'chance':>7}"
    lines = [f"{head} {'branches':>9} {'largest':>8}"]
    for row in table:
        divisive = row["method"] == "divisive"
        how = "" if divisive else "correlation" if row["centred"] else "cosine"
        lines.append(
            f"{row['method']:10} {'' if divisive else row['similarity']:10} {how:12} {row['purity']:7.3f} "
            f"{row['purity_by_chance']:7.3f} {row['siblings']:9.2f} {row['siblings_by_chance']:7.2f} "
            f"{row['first_level']:9.1f} {row['largest_branch']:8.1f}"
        )
    return lines


def kept(tree: TopicTree, model: NMF, names: list[str], folder: Path) -> None:
    """The tree in every format, and the words of every topic, a topic in each column (as figure 7.3 has them)."""
    for ending in ("json", "csv", "graphml", "nwk"):
        tree.export(folder / f"tree.{ending}")
    order = np.argsort(-model.components_, axis=1, kind="stable")[:, :20]
    words = np.array([[names[j] for j in row] for row in order]).T
    write_csv(
        folder / "topics.csv",
        words,
        [str(i + 1) for i in range(len(words))],
        [f"topic {k}" for k in range(len(model.components_))],
        corner="rank",
    )
    (folder / "tree.txt").write_text("\n".join(outline(tree.nodes_)) + "\n", encoding="utf-8")


def outline(nodes: list[Node]) -> Iterator[str]:
    """The tree as indented lines."""
    for node in nodes:
        words = " ".join(word for word, _ in node.words[:6])
        topic = "" if node.topic is None else f"[{node.topic}] "
        yield f"{'  ' * node.depth}{topic}{words}  {100 * node.weight:.1f} %"
