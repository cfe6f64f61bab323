"""Figures of networks and of pictures: places, colours, what is written, and what is left out."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, SymmetricNMF, plot
from partwise.datasets import load_karate

pytest.importorskip("matplotlib")
from partwise.plot import graph_picture
from partwise.plot.graph_layout import graph_layout
from partwise.plot.graph_picture import palette


def texts(drawing):
    from matplotlib.text import Text

    return [t.get_text() for t in drawing.findobj(Text) if t.get_visible() and t.get_text()]


def inside(drawing):
    """Every text lies inside of the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(drawing)
    canvas.draw()
    width, height = canvas.get_width_height()
    boxes = [t.get_window_extent() for t in drawing.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return all(b.x0 > -2 and b.y0 > -2 and b.x1 < width + 2 and b.y1 < height + 2 for b in boxes)


def rings(count, size):
    """Complete groups joined in a ring."""
    A = sp.block_diag([np.ones((size, size))] * count).tolil()
    for t in range(count):
        i, j = t * size, (t + 1) % count * size + 1
        A[i, j] = A[j, i] = 1
    A.setdiag(0)
    return sp.csr_matrix(A), np.repeat(np.arange(count), size)


@pytest.mark.parametrize(("count", "size"), [(3, 8), (6, 300)])
def test_the_layout_keeps_communities_together_and_is_the_same_every_time(count, size):
    A, group = rings(count, size)
    places = graph_layout(A, np.eye(count)[group])
    assert np.array_equal(places, graph_layout(A, np.eye(count)[group]))
    assert np.linalg.norm(places, axis=1).max() <= 1.2 + 1e-9
    centres = np.array([places[group == t].mean(axis=0) for t in range(count)])
    own = np.linalg.norm(places - centres[group], axis=1)
    others = np.linalg.norm(places[:, None] - centres[None], axis=2)
    others[np.arange(len(group)), group] = np.inf
    assert (own < others.min(axis=1)).mean() > 0.9
    assert np.ptp(places[:, 0]) >= 0.8 * np.ptp(places[:, 1])


def test_a_small_network_has_names_and_a_legend():
    club = load_karate()
    model = SymmetricNMF(2).fit(club.data)
    drawing = plot.communities(club.data, model.membership_, labels=model.labels_, names=club.names)
    said = texts(drawing)
    assert set(club.names) <= set(said)
    assert "34 nodes, 78 edges, 2 communities" in said
    assert sum(text.startswith("community ") for text in said) == 2
    assert inside(drawing)


def test_a_large_network_says_what_is_left_out(monkeypatch):
    monkeypatch.setattr(graph_picture, "EDGES", 500)
    monkeypatch.setattr(graph_picture, "NODES", 300)
    A, group = rings(4, 100)
    A = sp.block_diag([A, sp.csr_matrix((2, 2))]).tocsr()
    labels = np.append(group, [-1, -1])
    shares = np.vstack([np.eye(4)[group], np.full((2, 4), 0.25)])
    names = [f"node {i} with a long name" for i in range(402)]
    drawing = plot.communities(A, shares, labels=labels, names=names)
    said = " ".join(texts(drawing))
    assert "402 nodes" in said
    assert "2 nodes without edges are not drawn" in said
    assert "the 300 nodes of most edges are drawn" in said
    assert "500 of the edges are drawn" in said
    assert inside(drawing)


@pytest.mark.parametrize("k", [1, 2, 5, 6, 20, 60])
def test_communities_have_colours_of_their_own(k):
    colours = palette(k)
    assert colours.shape == (k, 3)
    assert len(np.unique(colours.round(4), axis=0)) == k


def test_pictures_beside_their_reconstructions():
    rng = np.random.default_rng(0)
    for shape in ((4, 6), (4, 6, 3)):
        X = rng.random((5, int(np.prod(shape))))
        drawing = plot.reconstructions(X, X, shape, names=[f"p{i}" for i in range(5)], notes=["error"] * 5)
        shown = drawing.axes[0].images[0].get_array()
        assert np.array_equal(np.asarray(shown)[:, :6], np.asarray(shown)[:, -6:])
        assert {"p0", "p4", "error"} <= set(texts(drawing))
        assert inside(drawing)
    with pytest.raises(ValueError, match="no pictures to draw"):
        plot.reconstructions(np.zeros((0, 24)), np.zeros((0, 24)), (4, 6))


def test_parts_in_colours():
    X = np.random.default_rng(0).random((20, 4 * 5 * 3))
    drawing = plot.parts(NMF(3).fit(X), shape=(4, 5, 3))
    assert drawing.axes[0].images[0].get_array().shape[2] == 3
    with pytest.raises(ValueError, match="has 20 pixels; the parts have 60"):
        plot.parts(NMF(3).fit(X), shape=(4, 5))
