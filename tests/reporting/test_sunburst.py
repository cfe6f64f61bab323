"""The sunburst: arcs, weights and words are those of the tree."""

import re
from html import unescape

import numpy as np
import pytest
from reporting.cases import HOSTILE, case

from partwise import NMF, TopicTree
from partwise.plot import sunburst as drawn
from partwise.plot import tree as drawn_tree
from partwise.reporting import sunburst
from partwise.reporting.colours import BRANCHES, as_shown, readable_on, scale_colour
from partwise.reporting.sunburst import KINDS, colours_of, small_sunburst, summed
from partwise.topics import importance_power, importance_shades, importance_text


@pytest.fixture(scope="module")
def tree():
    model, given = case("nmf")
    return TopicTree().fit(model, X=given["X"], feature_names=given["feature_names"])


def words_of(hover):
    """The words of a hover text, as a reader sees them."""
    return [unescape(word) for word in re.sub(r"<b>.*?</b><br>", "", hover).split("<br>")]


@pytest.mark.parametrize("kind", KINDS)
def test_arcs_are_the_nodes(tree, kind):
    trace = sunburst(tree, kind).data[0]
    assert trace.type == kind
    assert list(trace.ids) == [str(node.id) for node in tree.nodes_]
    assert list(trace.parents) == ["" if node.parent is None else str(node.parent) for node in tree.nodes_]
    leaves = [node.weight for node in tree.nodes_ if not node.children]
    assert [v for v in trace.values if v] == pytest.approx(leaves)
    for hover, record in zip(trace.hovertext, tree.to_records()):
        assert words_of(hover) == [one["word"] for one in record["words"]]


def test_weights_add_up_and_nothing_at_all_is_shared_evenly(tree):
    records = tree.to_records()
    weights = summed(records)
    assert weights[0] == pytest.approx(1.0)
    for one in records:
        if one["children"]:
            assert weights[one["id"]] == pytest.approx(sum(weights[child] for child in one["children"]))
    empty = [{**one, "weight": 0.0} for one in records]
    leaves = [one["id"] for one in records if not one["children"]]
    assert [summed(empty)[i] for i in leaves] == pytest.approx([1 / len(leaves)] * len(leaves))


def test_a_branch_has_one_colour_and_branches_have_different_ones(tree):
    records, colours = tree.to_records(), colours_of(tree.to_records())
    first = [colours[child] for child in records[0]["children"]]
    assert len(set(first)) == len(first) <= len(BRANCHES)


@pytest.mark.parametrize("scale", ["range", "rank"])
def test_importance_goes_from_blue_to_yellow(scale):
    model, given = case("semisupervised")
    tree = TopicTree().fit(model, X=given["X"])
    records = tree.to_records()
    shades = importance_shades(records, scale)
    leaves = [one for one in records if not one["children"]]
    order = sorted(leaves, key=lambda one: one["importance"])
    values = [shades[one["id"]] for one in order]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert scale_colour(0.0) == "#00224e"
    assert scale_colour(1.0) == "#fee838"
    for one in records:
        under = [shades[leaf["id"]] for leaf in leaves if set(leaf["topics"]) <= set(one["topics"])]
        assert min(under) - 1e-12 <= shades[one["id"]] <= max(under) + 1e-12
    assert colours_of(records, scale)[order[-1]["id"]] == "#fee838"
    plain = TopicTree().fit(case("nmf")[0], X=given["X"])
    assert importance_shades(plain.to_records()) is None


def test_skewed_importance_is_coloured_by_a_root_that_the_legend_states():
    def records(values):
        return [
            {"importance": value, "children": [], "weight": 1.0, "parent": None, "id": 0} for value in values
        ]

    even, skewed, extreme = [0.0, 0.5, 1.0], [0.0, 0.05, 1.0], [0.0, 1e-6, 1.0]
    assert importance_power(records(even)) == 1.0
    assert importance_shades(records(even)) == even
    assert importance_text(records(even)).endswith("its range")
    assert importance_power(records(skewed)) == 0.5
    assert importance_shades(records(skewed))[1] == pytest.approx(0.05**0.5)
    assert importance_text(records(skewed)).endswith("square root")
    assert importance_power(records(extreme)) == 0.25
    assert "rank" in importance_text(records(skewed), "rank")
    assert importance_power(records([None])) is None


def test_small_sunbursts_cover_the_circle(tree):
    arcs = small_sunburst(tree.to_records())
    assert len(arcs) == len(tree.nodes_) - 1
    assert all(arc["path"].startswith("M") and "nan" not in arc["path"] for arc in arcs)


def test_marks_in_words_are_shown_as_they_are():
    for text in HOSTILE:
        assert not re.search(r"<[^<>]*>", as_shown(text))
        assert unescape(as_shown(text)) == text
    model, given = case("hostile")
    tree = TopicTree(n_words=12).fit(model, X=given["X"], feature_names=given["feature_names"])
    for trace in (sunburst(tree, kind).data[0] for kind in KINDS):
        marks = set(re.findall(r"<[^<>]*>", "".join([*trace.hovertext, *trace.text, *trace.labels])))
        assert marks <= {"<b>", "</b>", "<br>"}
        assert max(map(len, trace.hovertext)) < 2000


def test_letters_contrast_with_every_colour():
    def luminance(colour):
        c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        return float(
            np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        )

    for colour in [*BRANCHES, *(scale_colour(x) for x in np.linspace(0, 1, 21))]:
        light, dark = sorted((luminance(colour), luminance(readable_on(colour))))[::-1]
        assert (light + 0.05) / (dark + 0.05) >= 4.0, colour


def test_bad_kinds_and_trees_that_are_not_fitted(tree):
    with pytest.raises(ValueError, match="sunburst"):
        sunburst(tree, "pie")
    with pytest.raises(ValueError, match="not fitted"):
        sunburst(TopicTree())
    with pytest.raises(ValueError, match="not fitted"):
        drawn(TopicTree())


def test_a_single_topic_is_one_disc():
    X = case("nmf")[1]["X"]
    one = TopicTree().fit(NMF(1, max_iter=20).fit(X), X=X)
    assert list(sunburst(one).data[0].values) == [1.0]
    assert drawn(one).axes
    assert drawn_tree(one).axes


def test_matplotlib_figures_name_words_of_the_tree(tree):
    texts = {line for text in drawn(tree).axes[0].texts for line in text.get_text().split("\n")}
    assert texts <= {word for node in tree.nodes_ for word, _ in node.words}
    listed = [text.get_text() for text in drawn_tree(tree).axes[0].texts]
    leaves = [node for node in tree.nodes_ if not node.children]
    assert len(listed) == len(leaves)
    assert all(any(one.startswith(f"{node.topic}  {node.words[0][0]}") for one in listed) for node in leaves)
