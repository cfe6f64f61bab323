"""Trees of topics: which way of building them agrees best with the groups that posts came from.

Epstein (2017, chapter 9) asks whether joining topics from below is the best way to a hierarchy. Here every way of
`TopicTree` is measured on the 20 newsgroups, whose names are themselves a hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.feature_extraction.text import TfidfTransformer

from partwise import plot
from partwise.datasets import fetch_20newsgroups
from partwise.io import write_csv, write_json
from partwise.io.atomic import write_bytes_atomic
from partwise.models import NMF, SemiSupervisedNMF
from partwise.models.function import non_negative_factorization
from partwise.plot import save_figure
from partwise.reporting import report, sunburst
from partwise.topics import Node, TopicTree, dendrogram_purity, importance_text, sibling_agreement

#: Groups whose names begin alike belong together; alt, soc and talk discuss the same subjects.
FAMILIES = {"alt": "talk", "soc": "talk"}
#: Draws of topics in another order, for what agreement comes by chance.
SHUFFLES = 200
#: Splitting from above begins with one topic for each so many of the others.
SPLIT = 8


def reproduce_hierarchy(
    folder: Path,
    components: Annotated[int, typer.Option("-k", "--components", min=4, help="Topics.")] = 40,
    seeds: Annotated[int, typer.Option(min=1, help="Starts of the topic model.")] = 3,
) -> dict[str, Any]:
    """Topic trees of 20 Newsgroups by every method, against the groups of the posts; sunbursts by class; files."""
    data = fetch_20newsgroups()
    X = TfidfTransformer().fit_transform(data.data)
    family = np.array([FAMILIES.get(name.split(".")[0], name.split(".")[0]) for name in data.target_names])
    names = [str(word) for word in data.feature_names]
    rows: list[dict[str, Any]] = []
    for seed in range(seeds):
        model = NMF(components, init=None if seed == 0 else "random", random_state=seed)
        W = np.asarray(model.fit_transform(X))
        for settings, tree in trees(model, W, names):
            found = measured(tree, W, model.components_, family[data.target])
            rows.append({"seed": seed, **settings, **found})
            if seed == 0 and settings == {"method": "linkage", "similarity": "documents", "centred": True}:
                kept(tree, model, names, folder)
        rows.append({"seed": seed, **divided(X, components, names, seed, family[data.target])})
    table = averaged(rows)
    labelled = by_class(X, np.asarray(data.target_names)[data.target], components, names, folder)
    lines = [*described(table), *labelled.pop("lines")]
    summary = {"components": components, "rows": rows, "table": table, "labelled": labelled, "lines": lines}
    write_json(folder / "hierarchy.json", summary)
    return summary


def trees(model: NMF, W: np.ndarray, names: list[str]) -> Iterator[tuple[dict[str, Any], TopicTree]]:
    """A tree for both ways of joining topics, what they are compared by, and how."""
    for method in ("linkage", "threshold"):
        for similarity in ("documents", "words"):
            for centred in (True, False):
                settings: dict[str, Any] = {"method": method, "similarity": similarity, "centred": centred}
                yield settings, TopicTree(**settings).fit(model, W=W, feature_names=names)


def divided(X: Any, components: int, names: list[str], seed: int, family: np.ndarray) -> dict[str, Any]:
    """The tree from above, begun with few topics, whose leaves stand for topics of their own.

    Below forty topics that stand side by side nothing could be measured; begun with few, splitting has to find the
    hierarchy itself. It compares no topics, so that it has no similarity.
    """
    few = max(2, components // SPLIT)
    model = NMF(few, init=None if seed == 0 else "random", random_state=seed)
    tree = TopicTree("divisive", n_words=len(names), random_state=seed)
    tree.fit(model.fit(X), X=X, feature_names=names)
    place = {name: j for j, name in enumerate(names)}
    leaves = [node for node in tree.nodes_ if not node.children]
    H = np.zeros((len(leaves), len(names)))
    for row, leaf in zip(H, leaves):
        row[[place[word] for word, _ in leaf.words]] = [weight for _, weight in leaf.words]
    W, _, _ = non_negative_factorization(X, H=H, n_components=len(H), update_H=False)
    found = measured(numbered(tree.nodes_), W, H, family)
    how = {"method": f"divisive, {few} topics split", "similarity": "", "centred": None}
    return {**how, **found, "leaves": len(leaves)}


def numbered(nodes: list[Node]) -> Any:
    """The same tree, its leaves as topics 0, 1, …"""
    leaves = {node.id: number for number, node in enumerate(one for one in nodes if not one.children)}
    below: dict[int, tuple[int, ...]] = {}
    for node in reversed(nodes):
        own = [leaves[node.id]] if node.id in leaves else [t for child in node.children for t in below[child]]
        below[node.id] = tuple(sorted(own))
    return SimpleNamespace(
        nodes_=[replace(node, topics=below[node.id], topic=leaves.get(node.id)) for node in nodes]
    )


def by_class(X: Any, labels: np.ndarray, components: int, names: list[str], folder: Path) -> dict[str, Any]:
    """Topics learned with half of the labels: the sunburst by importance (figure 7.2), and one by class (6.2)."""
    known = labels.astype(object)
    known[np.random.default_rng(0).random(len(known)) < 0.5] = None
    model = SemiSupervisedNMF(components)
    W = np.asarray(model.fit_transform(X, known))
    tree = TopicTree().fit(model, W=W, feature_names=names)
    of_class = {str(name): tree.reweighted(W[labels == name]) for name in np.unique(labels)}
    for scale in ("range", "rank"):
        save_figure(plot.sunburst(tree, size=9.0, scale=scale), folder / f"importance_{scale}.png")
    save_figure(plot.sunbursts(of_class), folder / "classes.png")
    page = sunburst(tree).to_html(include_plotlyjs=True, full_html=True)
    write_bytes_atomic(folder / "importance.html", page.encode())
    report(model, W=W, y=labels, feature_names=names, data="20 Newsgroups, half of the labels known").save(
        folder / "report.html"
    )
    importance = np.sort(model.class_importance_)[::-1]
    text = importance_text(tree.to_records())
    said = (
        f"with half of the labels: class importance from {importance[-1]:.4f} to {importance[0]:.4f}, "
        f"median {np.median(importance):.4f}; colours: {text}"
    )
    return {"importance": importance.tolist(), "colours": text, "lines": [said]}


def measured(tree: Any, W: np.ndarray, H: np.ndarray, family: np.ndarray) -> dict[str, float]:
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
    head = f"{'method':26} {'by':10} {'compared by':12} {'purity':>7} {'chance':>7} {'siblings':>9} {'chance':>7}"
    lines = [f"{head} {'branches':>9} {'largest':>8}"]
    for row in table:
        how = "" if row["centred"] is None else "correlation" if row["centred"] else "cosine"
        lines.append(
            f"{row['method']:26} {row['similarity']:10} {how:12} {row['purity']:7.3f} "
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
