"""Laws of topic trees: leaves are the topics, words come from a node's own topics, weights add up, exports agree."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from partwise import NMF, BooleanMF, SemiSupervisedNMF, TopicTree
from partwise.topics import dendrogram_purity, sibling_agreement
from partwise.topics.grouping import by_linkage, by_thresholds, cosines, n_changed, partition, thresholds
from partwise.topics.nodes import leaves_of


class Model:
    """Anything with components."""

    def __init__(self, H, names=None):
        self.components_ = np.asarray(H, dtype=float)
        self.n_features_in_ = self.components_.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def transform(self, X):
        return np.asarray(X, dtype=float) @ self.components_.T

    def __sklearn_is_fitted__(self):
        return True


def random_model(seed, k=8, n=40, m=15):
    rng = np.random.default_rng(seed)
    return Model(rng.gamma(0.3, 1.0, (k, m))), rng.gamma(0.3, 1.0, (n, k))


def planted(seed=0, families=3, each=4, n=60):
    """Topics in families: those of one family occur in the same documents and share words."""
    rng = np.random.default_rng(seed)
    k = families * each
    W = np.kron(np.eye(families), np.ones((n, each))) * rng.gamma(0.5, 1.0, (families * n, k)) + 1e-3
    shared = np.kron(np.eye(families), np.ones((each, 5))) * rng.gamma(1.0, 1.0, (k, families * 5))
    own = np.kron(np.eye(k), np.ones((1, 4)))
    return Model(np.hstack([shared, own, np.ones((k, 10))])), W, np.repeat(np.arange(families), each)


SETTINGS = [
    {"method": method, "similarity": similarity, "centred": centred}
    for method in ("linkage", "threshold")
    for similarity in ("documents", "words")
    for centred in (True, False)
]


@pytest.mark.parametrize("settings", SETTINGS)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 12))
def test_every_topic_is_one_leaf_and_groups_are_unions(settings, seed, k):
    model, W = random_model(seed, k)
    tree = TopicTree(**settings).fit(model, W=W)
    assert sorted(node.topic for node in tree.nodes_ if not node.children) == list(range(k))
    assert tree.nodes_[0].topics == tuple(range(k))
    for i, node in enumerate(tree.nodes_):
        assert node.id == i
        assert len(node.children) != 1
        below = [tree.nodes_[child] for child in node.children]
        for child in below:
            assert (child.parent, child.depth) == (i, node.depth + 1)
        if below:
            assert sorted(topic for child in below for topic in child.topics) == sorted(node.topics)
            assert node.weight == pytest.approx(sum(child.weight for child in below))
    assert tree.nodes_[0].weight == pytest.approx(1.0)


@pytest.mark.parametrize("settings", SETTINGS)
@given(seed=st.integers(0, 10**6))
def test_words_of_a_node_come_from_its_own_topics(settings, seed):
    # Each topic has words of its own, so that a word tells which topics it came from.
    rng = np.random.default_rng(seed)
    k, own = 6, 4
    H = np.kron(np.eye(k), rng.gamma(1.0, 1.0, (1, own)) + 0.1)
    names = [f"topic{i}word{j}" for i in range(k) for j in range(own)]
    tree = TopicTree(**settings, n_words=5).fit(Model(H, names), W=rng.gamma(0.5, 1.0, (30, k)))
    for node in tree.nodes_:
        assert node.words
        for word, weight in node.words:
            assert int(word.removeprefix("topic").split("word")[0]) in node.topics
            assert weight > 0


@pytest.mark.parametrize("settings", SETTINGS)
def test_neither_scale_nor_unit_changes_a_tree(settings):
    model, W = random_model(5)
    scale = np.logspace(-3, 3, 8)
    other = Model(model.components_ * scale[:, None])
    a = TopicTree(**settings).fit(model, W=W)
    b = TopicTree(**settings).fit(other, W=1e-9 * W / scale)
    assert [node.topics for node in a.nodes_] == [node.topics for node in b.nodes_]
    np.testing.assert_allclose([n.weight for n in a.nodes_], [n.weight for n in b.nodes_])
    assert [[w for w, _ in n.words] for n in a.nodes_] == [[w for w, _ in n.words] for n in b.nodes_]


@pytest.mark.parametrize("settings", SETTINGS)
def test_renumbered_topics_give_the_same_groups(settings):
    model, W = random_model(7)
    order = np.random.default_rng(0).permutation(8)
    a = TopicTree(**settings).fit(model, W=W)
    b = TopicTree(**settings).fit(Model(model.components_[order]), W=W[:, order])
    back = {frozenset(int(order[i]) for i in node.topics) for node in b.nodes_}
    assert back == {frozenset(node.topics) for node in a.nodes_}


@pytest.mark.parametrize("similarity", ["documents", "words"])
@pytest.mark.parametrize("method", ["linkage", "threshold"])
def test_planted_families_are_subtrees(method, similarity):
    model, W, family = planted()
    tree = TopicTree(method, similarity).fit(model, W=W)
    assert dendrogram_purity(tree, family) == pytest.approx(1.0)
    if method == "linkage":
        first = [tree.nodes_[child].topics for child in tree.nodes_[0].children]
        assert sorted(first) == [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)]


@given(seed=st.integers(0, 10**6))
def test_groups_of_the_threshold_tree_are_components_of_some_threshold(seed):
    S = cosines(np.random.default_rng(seed).gamma(0.3, 1.0, (9, 12)))
    values = np.unique(S[np.triu_indices(9, 1)])
    possible = {
        frozenset(np.flatnonzero(labels == one))
        for value in [values[0] - 1, *values]
        for labels in [partition(S, value)]
        for one in np.unique(labels)
    }
    pending = [by_thresholds(S)]
    while pending:
        group = pending.pop()
        assert frozenset(group.topics) in possible
        pending += group.inside


@given(seed=st.integers(0, 10**6), k=st.integers(2, 40))
def test_between_thresholds_few_topics_change_their_group(seed, k):
    S = cosines(np.random.default_rng(seed).gamma(0.3, 1.0, (k, 12)))
    levels = thresholds(S)
    assert (np.diff(levels) > 0).all()
    labels = [partition(S, one) for one in levels]
    assert labels[0].max() == 0
    assert labels[-1].max() == k - 1
    values = np.unique(S[np.triu_indices(k, 1)])
    for low, high, a, b in zip(levels, levels[1:], labels, labels[1:]):
        if n_changed(a, b) > 8:
            # It cannot be finer: one similarity parts them all.
            assert ((values > low) & (values <= high)).sum() <= 1


def test_labels_are_compared_as_groups():
    assert n_changed(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 0
    assert n_changed(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 0, 1])) == 0
    assert n_changed(np.array([0, 0, 0, 1, 1]), np.array([2, 2, 1, 0, 0])) == 3


@pytest.mark.parametrize("method", ["linkage", "threshold"])
def test_topics_that_never_meet_stand_side_by_side(method):
    rng = np.random.default_rng(0)
    subject = np.repeat(range(6), 40)
    W = rng.gamma(2, 1, (240, 6)) * (subject[:, None] == np.arange(6))
    X = rng.poisson(5 * W @ np.kron(np.eye(6), np.ones((1, 3)))).astype(float)
    tree = TopicTree(method).fit(NMF(6).fit(X), X=X)
    assert [node.topics for node in tree.nodes_[1:]] == [
        (node.topic,) for node in tree.nodes_ if node.topic is not None
    ]
    assert len(tree.nodes_) == 7


@pytest.mark.parametrize("method", ["linkage", "threshold"])
def test_only_topics_that_meet_are_grouped(method):
    W = np.kron(np.eye(6), np.ones((20, 1)))
    W[:20, 1] = 1.0  # topics 0 and 1 meet, no others do
    model = NMF(6)
    model.components_ = np.eye(6)
    tree = TopicTree(method).fit(model, W=W, feature_names=list("abcdef"))
    groups = [node.topics for node in tree.nodes_[1:] if node.topic is None]
    assert groups == [(0, 1)]


def test_average_linkage_joins_the_most_similar_pair_first():
    S = np.array([[1, 0.9, 0.2, 0.1], [0.9, 1, 0.3, 0.2], [0.2, 0.3, 1, 0.6], [0.1, 0.2, 0.6, 1]])
    top = by_linkage(S)
    assert sorted(one.topics for one in top.inside) == [(0, 1), (2, 3)]
    assert top.similarity == pytest.approx(0.2)
    assert len(list(leaves_of(top))) == 4


def brute_purity(tree, y):
    """Over all pairs of topics of one class, the share of that class under the lowest common node."""
    found = []
    for a in range(len(y)):
        for b in range(a):
            if y[a] == y[b]:
                common = min((n for n in tree.nodes_ if {a, b} <= set(n.topics)), key=lambda n: len(n.topics))
                found.append(np.mean([y[t] == y[a] for t in common.topics]))
    return np.mean(found)


@given(seed=st.integers(0, 10**6))
def test_dendrogram_purity_is_that_of_all_pairs(seed):
    model, W = random_model(seed, 9)
    y = np.random.default_rng(seed).integers(0, 3, 9)
    tree = TopicTree("threshold").fit(model, W=W)
    if max(np.bincount(y)) > 1:
        assert dendrogram_purity(tree, y) == pytest.approx(brute_purity(tree, y))


def test_siblings_are_topics_with_the_same_parent():
    model, W, family = planted()
    tree = TopicTree().fit(model, W=W)
    assert sibling_agreement(tree, family) == 1.0
    assert sibling_agreement(tree, np.arange(12)) == 0.0


def test_other_documents_change_weights_only():
    model, W, family = planted()
    tree = TopicTree().fit(model, W=W)
    first = tree.reweighted(W[:60])
    assert [node.topics for node in first.nodes_] == [node.topics for node in tree.nodes_]
    assert sum(n.weight for n in first.nodes_ if n.topic is not None and family[n.topic] == 0) > 0.99
    assert tree.reweighted(W).to_records() == tree.to_records()


def test_importance_of_classes_colours_nodes():
    rng = np.random.default_rng(0)
    X, y = rng.gamma(1.0, 1.0, (40, 12)), np.repeat([0, 1], 20)
    X[y == 1, :6] *= 4
    model = SemiSupervisedNMF(4, label_weight=1.0, max_iter=50).fit(X, y)
    tree = TopicTree().fit(model, X=X)
    leaves = {node.topic: node.importance for node in tree.nodes_ if node.topic is not None}
    assert (min(leaves.values()), max(leaves.values())) == (0.0, 1.0)
    assert max(leaves, key=leaves.get) == int(np.argmax(model.class_importance_))
    assert all(0 <= node.importance <= 1 for node in tree.nodes_)


def test_boolean_tiles_make_a_tree_too():
    X = np.random.default_rng(0).random((30, 12)) < 0.3
    tree = TopicTree().fit(BooleanMF(4, max_time=0.2).fit(X), X=X)
    assert tree.n_topics_ == 4


# ------------------------------------------------------------------------ divisive


def two_subjects(seed=0, n=200):
    """Documents of two topics; the first is made of two that never meet, but share a word."""
    rng = np.random.default_rng(seed)
    W = np.zeros((3 * n, 3))
    W[np.arange(3 * n), np.repeat([0, 1, 2], n)] = rng.gamma(5.0, 2.0, 3 * n)
    H = np.zeros((3, 24))
    H[0, :8], H[1, 8:16], H[2, 16:] = rng.random((3, 8)) + 0.5
    H[:2, 0] = 6.0
    return sp.csr_array(rng.poisson(W @ H / H.sum(1).mean()).astype(float))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_a_topic_is_split_into_the_subjects_it_mixes(loss):
    X = two_subjects()
    both = np.zeros((2, 24))
    both[0, :16], both[1, 16:] = 1.0, 1.0
    both[0, 0] = 6.0
    model = Model(both)
    model.loss_ = loss
    W = np.column_stack([X[:, :16].sum(axis=1), X[:, 16:].sum(axis=1)])
    tree = TopicTree("divisive").fit(model, X=X, W=W)
    assert [node.topic for node in tree.nodes_ if node.depth == 1] in ([0, 1], [1, 0])
    first, second = sorted((n for n in tree.nodes_ if n.depth == 1), key=lambda n: n.topic)
    parts = [tree.nodes_[child] for child in first.children]
    assert len(parts) >= 2
    assert not second.children
    subjects = {frozenset(int(int(word[6:]) >= 8) for word, _ in one.words[1:4]) for one in parts}
    assert {frozenset({0}), frozenset({1})} <= subjects
    assert sum(one.weight for one in parts) == pytest.approx(first.weight)
    assert all(one.topics == (0,) and one.topic is None for one in parts)


# ------------------------------------------------------------------------ exports


@pytest.fixture
def tree():
    names = [
        '<script>alert("1")</script>',
        "quo'te",
        "comma, semi;",
        "emoji 🎈",
        "عربى",
        "a\nb",
        *"ghijklmno",
    ]
    model, W = random_model(3)
    return TopicTree().fit(model, W=W, feature_names=names)


def test_flare_holds_the_tree(tree, tmp_path):
    root = json.loads(tree.export(tmp_path / "tree.json").read_text())
    found, pending = [], [root]
    while pending:
        one = pending.pop()
        found.append((one["id"], tuple(one["topics"]), tuple(w["word"] for w in one["words"])))
        assert ("size" in one) != ("children" in one)
        pending += one.get("children", [])
    assert sorted(found) == [(n.id, n.topics, tuple(w for w, _ in n.words)) for n in tree.nodes_]


def test_edges_hold_the_tree(tree, tmp_path):
    rows = list(csv.DictReader(io.StringIO(tree.export(tmp_path / "tree.csv").read_text())))
    assert [(int(r["parent"]), int(r["child"])) for r in rows] == [(n.parent, n.id) for n in tree.nodes_[1:]]


def test_graphml_is_read_by_networkx(tree, tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.read_graphml(tree.export(tmp_path / "tree.graphml"))
    assert nx.is_arborescence(graph)
    assert [graph.nodes[f"n{n.id}"]["name"] for n in tree.nodes_] == [n.name for n in tree.nodes_]


def test_graphml_survives_control_characters(tmp_path):
    model, W = random_model(3)
    names = ["\x00bad\x1f", *"bcdefghijklmno"]
    tree = TopicTree().fit(model, W=W, feature_names=names)
    ET.parse(tree.export(tmp_path / "tree.graphml"))


def test_newick_balances_and_names_every_node(tree, tmp_path):
    text = tree.export(tmp_path / "tree.nwk").read_text()
    assert text.endswith(";")
    quoted = text.count("'")
    assert quoted % 2 == 0
    outside = "".join(text.split("'")[::2])
    assert outside.count("(") == outside.count(")") == sum(bool(n.children) for n in tree.nodes_)
    assert outside.count(",") == sum(max(0, len(n.children) - 1) for n in tree.nodes_)


def test_frame_has_a_row_for_each_node(tree):
    frame = tree.to_frame()
    assert list(frame["id"]) == list(range(len(tree.nodes_)))
    assert frame["weight"][0] == pytest.approx(1.0)


# ---------------------------------------------------------------------- bad input


def test_what_cannot_be_a_tree_is_said():
    model, W = random_model(0)
    with pytest.raises(ValueError, match="pass X or W"):
        TopicTree().fit(model)
    assert TopicTree(similarity="words").fit(model).nodes_[0].weight == 1.0
    with pytest.raises(ValueError, match="pass X"):
        TopicTree("divisive").fit(model, W=W)
    with pytest.raises(ValueError, match="one column for each of the 8 topics"):
        TopicTree().fit(model, W=W[:, :3])
    with pytest.raises(ValueError, match="not finite"):
        TopicTree().fit(model, W=W * np.nan)
    with pytest.raises(ValueError, match="no components"):
        TopicTree().fit(object(), W=W)
    with pytest.raises(ValueError, match="method"):
        TopicTree("ward").fit(model, W=W)
    with pytest.raises(ValueError, match="can be written as"):
        TopicTree().fit(model, W=W).export("tree.doc")


@pytest.mark.parametrize("settings", SETTINGS)
def test_degenerate_topics_make_a_tree(settings):
    one = TopicTree(**settings).fit(Model([[1.0, 2.0]]), W=[[1.0]])
    assert [node.topic for node in one.nodes_] == [0]
    same = TopicTree(**settings).fit(Model(np.ones((4, 3))), W=np.ones((5, 4)))
    assert sorted(node.topic for node in same.nodes_ if not node.children) == [0, 1, 2, 3]
    empty = TopicTree(**settings).fit(Model(np.zeros((3, 4))), W=np.zeros((5, 3)))
    assert all(node.words == [] for node in empty.nodes_)
    assert np.isfinite([node.weight for node in empty.nodes_]).all()


def test_a_fitted_nmf_gives_its_own_words():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 1.0, (50, 4)) @ rng.gamma(0.5, 1.0, (4, 20))).astype(float)
    model = NMF(4).fit(X)
    tree = TopicTree(n_words=3).fit(model, X=sp.csr_array(X))
    for node in tree.nodes_:
        if node.topic is not None:
            top = np.argsort(-model.components_[node.topic], kind="stable")[:3]
            assert [word for word, _ in node.words] == [f"column{j}" for j in top]
