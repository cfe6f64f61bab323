"""TopicTree: the topics of a fitted model as a tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from partwise.io.atomic import write_bytes_atomic
from partwise.models.notebook import beside_diagram
from partwise.models.parameters import choice, whole
from partwise.models.summary import feature_names_of, leading, parts_of
from partwise.topics.divisive import split_topics
from partwise.topics.exports import as_flare, as_graphml, as_newick, as_records
from partwise.topics.grouping import (
    by_linkage,
    by_thresholds,
    centred_roots,
    connected_above,
    cosines,
    mean_above,
    with_top_level,
)
from partwise.topics.nodes import Group, Node, collapsed, with_leaves
from partwise.topics.notebook import tree_html

METHODS = ("linkage", "threshold", "divisive")
SIMILARITIES = ("documents", "words")


class TopicTree(BaseEstimator):
    r"""The topics of a fitted model as a tree: which belong together, and what they have in common.

    Parameters
    ----------
    method : {"linkage", "threshold", "divisive"}, default="linkage"
        "linkage": the two most similar groups are joined again and again (average linkage), and the groups whose
        similarity is above zero stand at the first level. "threshold": groups are the connected components of the
        topics that are more alike than a rising threshold (Epstein 2017); those that are connected above zero stand
        at the first level. "divisive": below each topic stand those found by factoring its own documents again, as
        long as the split is more coherent than the topic and predicts unseen words better; this needs X.
    similarity : {"documents", "words"}, default="documents"
        Topics are compared by the documents that use them, or by their words.
    centred : bool, default=True
        True compares by the correlation of square roots of shares: what all topics have in common does not make two
        of them alike, and zero means no more alike than by chance; only then is zero what parts the first level.
        False compares by the cosine of weights, as the thesis does.
    n_words : int, default=10
        Words kept for each node.
    max_depth : int, default=3
        Levels of splitting below each topic; for "divisive".
    min_documents : int, default=40
        Documents that a topic must lead in to be split; for "divisive".
    random_state : int or None, default=None
        Seed of the splits of "divisive".

    Attributes
    ----------
    nodes_ : list of Node
        The tree; `nodes_[0]` is the root, and each node stands before those below it.
    n_topics_ : int
        Topics of the model. They keep their numbers.
    similarity_ : array of shape (n_topics, n_topics)
        What topics were compared by. Absent for "divisive".

    See Also
    --------
    partwise.topics.dendrogram_purity : How well a tree agrees with known classes.

    Notes
    -----
    The leaves are exactly the model's topics; with "divisive" the topics are the first level, and the leaves are
    what they were split into. The words of a node are those of the sum of its own topics' components, each weighted
    by how much of the data it explains.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF, TopicTree
    >>> rng = np.random.default_rng(0)
    >>> W = np.kron(np.eye(2), np.ones((30, 2))) * rng.gamma(1.0, 1.0, (60, 4))
    >>> H = rng.gamma(0.3, 1.0, (4, 12))
    >>> model = NMF(4).fit(W @ H)
    >>> tree = TopicTree().fit(model, X=W @ H)
    >>> [len(tree.nodes_[child].topics) for child in tree.nodes_[0].children]
    [2, 2]
    """

    def __init__(
        self,
        method: str = "linkage",
        similarity: str = "documents",
        *,
        centred: bool = True,
        n_words: int = 10,
        max_depth: int = 3,
        min_documents: int = 40,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.similarity = similarity
        self.centred = centred
        self.n_words = n_words
        self.max_depth = max_depth
        self.min_documents = min_documents
        self.random_state = random_state

    def fit(
        self,
        model: Any,
        X: Any = None,
        W: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> TopicTree:
        """Build the tree.

        Parameters
        ----------
        model : estimator
            Any fitted model with components.
        X : array or sparse matrix, optional
            The data, from which W is found by ``model.transform(X)`` unless it is given.
        W : array of shape (n_samples, n_topics), optional
            How much of each topic is in each document. Without X and W topics can be compared by their words only,
            and weigh all the same.
        feature_names : sequence of str, optional
            The words; by default those of the model.

        Returns
        -------
        TopicTree
            The tree itself.
        """
        self._check()
        H = parts_of(model)
        if H is None:
            raise ValueError(
                f"{type(model).__name__} has no components to build a tree of; fit a model that has, such as NMF."
            )
        H = np.asarray(H, dtype=float)
        names = feature_names_of(model, feature_names)
        W = self._usage(model, X, W, len(H))
        self.n_topics_ = len(H)
        self._sizes = _sizes(H)
        mass = self._masses(W)
        top = self._divided(model, X, W, H) if self.method == "divisive" else self._grouped(W, H)
        self.nodes_ = self._nodes(top, H, mass, names, getattr(model, "class_importance_", None))
        return self

    def reweighted(self, W: Any) -> TopicTree:
        """The same tree with the weights of other documents, for instance of one class.

        Parameters
        ----------
        W : array of shape (n_samples, n_topics)
            How much of each topic is in each of these documents.

        Returns
        -------
        TopicTree
            A copy; words and groups are as they were.
        """
        check_is_fitted(self, "nodes_")
        if self.method == "divisive":
            raise ValueError("the parts of a topic that was split have no column in W; use another method.")
        out, mass = deepcopy(self), self._masses(_table(W, self.n_topics_))
        for node in out.nodes_:
            node.weight = float(mass[list(node.topics)].sum())
        return out

    def to_records(self) -> list[dict[str, Any]]:
        """The nodes as plain data.

        Returns
        -------
        list of dict
            "id", "parent", "children", "depth", "topic", "topics", "name", "weight", "words", "importance" and
            "similarity" of each node.
        """
        check_is_fitted(self, "nodes_")
        return as_records(self.nodes_)

    def to_frame(self) -> Any:
        """The nodes as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each node: "id", "parent", "depth", "topic", "topics", "weight", "name", "words".
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError('to_frame needs pandas: pip install "partwise[tables]"') from error
        rows = [
            {
                **{key: record[key] for key in ("id", "parent", "depth", "topic", "weight", "name")},
                "topics": " ".join(map(str, record["topics"])),
                "words": " ".join(one["word"] for one in record["words"]),
            }
            for record in self.to_records()
        ]
        return pd.DataFrame(rows).astype({"parent": "Int64", "topic": "Int64"})

    def export(self, path: Any) -> Path:
        """Write the tree to a file, in the format that the file's ending names.

        Parameters
        ----------
        path : path
            ".json" (d3's flare), ".csv" (edges), ".graphml", ".nwk" or ".newick".

        Returns
        -------
        Path
            The file.
        """
        check_is_fitted(self, "nodes_")
        path = Path(path)
        writers = {
            ".json": lambda: json.dumps(as_flare(self.nodes_), ensure_ascii=False, indent=1),
            ".csv": self._edges,
            ".graphml": lambda: as_graphml(self.nodes_),
            ".nwk": lambda: as_newick(self.nodes_),
            ".newick": lambda: as_newick(self.nodes_),
        }
        if path.suffix.lower() not in writers:
            raise ValueError(f"{path}: a tree can be written as {', '.join(writers)}.")
        write_bytes_atomic(path, writers[path.suffix.lower()]().encode())
        return path

    # ----------------------------------------------------------- in a notebook

    def _repr_html_inner(self) -> str:
        """What notebooks show: scikit-learn's diagram, and below it the tree."""
        return beside_diagram(self, super()._repr_html_inner(), tree_html)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """What notebooks ask for: text, and the diagram with the tree."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = beside_diagram(self, bundle["text/html"], tree_html)
        return bundle

    # ------------------------------------------------------------------ inside

    def _check(self) -> None:
        choice("method", self.method, METHODS)
        choice("similarity", self.similarity, SIMILARITIES)
        for name in ("n_words", "max_depth", "min_documents"):
            whole(name, getattr(self, name))

    def _usage(self, model: Any, X: Any, W: Any, k: int) -> np.ndarray | None:
        if W is None and X is not None:
            W = model.transform(X)
        if W is not None:
            return _table(W, k)
        if self.method == "divisive" or self.similarity == "documents":
            raise ValueError(
                f"method={self.method!r} with similarity={self.similarity!r} looks at documents: pass X or W; "
                "similarity='words' needs neither."
            )
        return None

    def _masses(self, W: np.ndarray | None) -> np.ndarray:
        """The share of each topic in what all of them explain."""
        mass = np.ones(self.n_topics_) if W is None else np.abs(W).sum(axis=0) * self._sizes
        return mass / mass.sum() if mass.sum() > 0 else np.full(len(mass), 1 / len(mass))

    def _grouped(self, W: np.ndarray | None, H: np.ndarray) -> Group:
        profiles = H if self.similarity == "words" or W is None else (W * self._sizes).T
        if self.centred:
            profiles = centred_roots(profiles, of_documents=self.similarity == "documents")
        self.similarity_ = cosines(profiles)
        if self.method == "threshold":
            top = with_leaves(collapsed(by_thresholds(self.similarity_)))
            belongs = connected_above(self.similarity_, 0.0)
        else:
            top, belongs = by_linkage(self.similarity_), mean_above(0.0)
        # Cosines of weights are above zero whatever the topics.
        return with_top_level(top, belongs) if self.centred else top

    def _divided(self, model: Any, X: Any, W: np.ndarray | None, H: np.ndarray) -> Group:
        if X is None or W is None:
            raise ValueError("method='divisive' factors the documents again: pass X.")
        if (H < 0).any():
            raise ValueError("method='divisive' needs components without negative entries.")
        loss = getattr(model, "loss_", "frobenius")
        seed = 0 if self.random_state is None else int(self.random_state)
        return split_topics(
            X,
            W * self._sizes,
            H,
            loss,
            max_depth=self.max_depth,
            min_documents=self.min_documents,
            seed=seed,
        )

    def _nodes(
        self, top: Group, H: np.ndarray, mass: np.ndarray, names: list[str], importance: Any
    ) -> list[Node]:
        """The nodes of a tree of groups, those of one parent by falling weight."""
        profiles = H / np.where(self._sizes > 0, self._sizes, 1.0)[:, None] * mass[:, None]
        scaled = _rescaled(importance, self.n_topics_)
        nodes: list[Node] = []

        def add(group: Group, parent: Node | None, weight: float) -> None:
            members = list(group.topics)
            profile = profiles[members].sum(axis=0) if group.profile is None else group.profile
            whole_topic = len(members) == 1 and group.profile is None
            node = Node(
                len(nodes),
                None if parent is None else parent.id,
                depth=0 if parent is None else parent.depth + 1,
                topics=group.topics,
                topic=members[0] if whole_topic else None,
                weight=weight,
                words=_words(profile, names, self.n_words),
                importance=None
                if scaled is None
                else float(np.average(scaled[members], weights=_positive(mass[members]))),
                similarity=group.similarity,
            )
            nodes.append(node)
            if parent is not None:
                parent.children.append(node.id)
            weights = [
                weight * one.share if one.profile is not None else float(mass[list(one.topics)].sum())
                for one in group.inside
            ]
            for i in sorted(range(len(weights)), key=lambda i: (-weights[i], group.inside[i].topics)):
                add(group.inside[i], node, weights[i])

        add(top, None, float(mass[list(top.topics)].sum()))
        return nodes

    def _edges(self) -> str:
        """The edges as a table, one in each line."""
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["parent", "child", "topic", "weight", "name", "words"])
        for node in self.nodes_:
            if node.parent is not None:
                words = " ".join(word for word, _ in node.words)
                writer.writerow([node.parent, node.id, node.topic, node.weight, node.name, words])
        return out.getvalue()


def _sizes(H: np.ndarray) -> np.ndarray:
    """The size of each component: the sum of its entries without their signs."""
    return np.asarray(np.abs(H).sum(axis=1))


def _table(W: Any, k: int) -> np.ndarray:
    W = np.asarray(W.toarray() if hasattr(W, "toarray") else W, dtype=float)
    if W.ndim != 2 or W.shape[1] != k:
        raise ValueError(f"W must have one column for each of the {k} topics; got shape {W.shape}.")
    if not np.isfinite(W).all():
        raise ValueError("W has entries that are not finite.")
    return W


def _words(profile: np.ndarray, names: list[str], n: int) -> list[tuple[str, float]]:
    total = np.abs(profile).sum()
    return [(names[j], float(profile[j] / total)) for j in leading(profile, n)]


def _positive(weights: np.ndarray) -> np.ndarray:
    return weights if weights.sum() > 0 else np.ones_like(weights)


def _rescaled(importance: Any, k: int) -> np.ndarray | None:
    """Importance from 0, the least of all topics, to 1, the most."""
    if importance is None or np.shape(importance) != (k,):
        return None
    values = np.asarray(importance, dtype=float)
    spread = values.max() - values.min()
    return (values - values.min()) / spread if spread > 0 else np.full(k, 0.5)
