"""How well a topic tree agrees with known classes of its topics."""

from __future__ import annotations

from typing import Any

import numpy as np


def dendrogram_purity(tree: Any, classes: Any, weights: Any = None) -> float:
    """Mean share of a class among the topics under the lowest node that joins two topics of that class.

    Over all pairs of topics of one class (Heller & Ghahramani 2005); 1 if every class is a subtree.

    Parameters
    ----------
    tree : TopicTree
        Fitted.
    classes : sequence of length n_topics
        The class of each topic.
    weights : sequence of float, optional
        How much each topic counts in the shares; all alike by default.

    Returns
    -------
    float
        Between 0 and 1.
    """
    names, y = np.unique(np.asarray(classes), return_inverse=True)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    total = pairs = 0.0
    for node in tree.nodes_:
        if not node.children:
            continue
        inside = [np.array(tree.nodes_[child].topics) for child in node.children]
        here = np.array(node.topics)
        mass = np.bincount(y[here], w[here], len(names))
        # Pairs of one class that this node is the first to join: all pairs less those within a child.
        joined = _pairs(y[here], len(names)) - sum(_pairs(y[one], len(names)) for one in inside)
        total += float(joined @ (mass / max(mass.sum(), 1e-300)))
        pairs += float(joined.sum())
    return total / pairs if pairs else float("nan")


def _pairs(y: np.ndarray, n_classes: int) -> np.ndarray:
    counts = np.bincount(y, minlength=n_classes).astype(float)
    return np.asarray(counts * (counts - 1) / 2)


def sibling_agreement(tree: Any, classes: Any) -> float:
    """Share of pairs of topics with the same parent that are of one class.

    Parameters
    ----------
    tree : TopicTree
        Fitted.
    classes : sequence of length n_topics
        The class of each topic.

    Returns
    -------
    float
        Between 0 and 1; nan where no two topics have the same parent.
    """
    y = np.unique(np.asarray(classes), return_inverse=True)[1]
    same = pairs = 0
    for node in tree.nodes_:
        leaves = [tree.nodes_[child].topic for child in node.children]
        own = y[[one for one in leaves if one is not None]]
        counts = np.bincount(own) if len(own) else np.zeros(1, int)
        same += int((counts * (counts - 1) // 2).sum())
        pairs += len(own) * (len(own) - 1) // 2
    return same / pairs if pairs else float("nan")
