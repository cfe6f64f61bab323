"""GraphNMF as a user meets it: what is refused and how, files, new rows, the weight that is chosen."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, GraphNMF, load, save
from partwise.graphs import checked_graph, connectivity, modularity, neighbour_graph, similarity_graph


def data(n=30, m=20, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 1.0, (n, 3)) @ rng.gamma(0.5, 1.0, (3, m)) + 0.1 * rng.random((n, m))


def ring(n):
    S = np.zeros((n, n))
    S[np.arange(n), np.arange(n) - 1] = 1.0
    return S + S.T


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"graph": np.ones((4, 4))}, "square, with a row for each of the 30 samples; got shape"),
        ({"graph": np.ones((30, 4))}, "square, with a row for each of the 30 samples"),
        ({"graph": ring(30), "graph_on": "features"}, "for each of the 20 features"),
        ({"graph": -ring(30)}, "finite, nonnegative edge weights"),
        ({"graph": np.where(ring(30) > 0, np.nan, 0)}, "finite, nonnegative edge weights"),
        ({"graph": sp.csr_matrix(-ring(30))}, "finite, nonnegative edge weights"),
        ({"graph": "kn"}, "graph must be .*knn"),
        ({"graph": [[0, 1], [1, 0]], "graph_on": "samples"}, "needs 1 graph; got 2"),
        ({"graph": ring(30), "graph_on": "both"}, "needs 2 graphs; got 1"),
        ({"graph": (ring(30), "kn"), "graph_on": "both"}, "graph must be .*knn"),
        ({"graph": 3.0}, "an array or a sparse matrix; got float"),
        ({"graph_on": "rows"}, "graph_on must be .*samples"),
        ({"edge_weights": "gaussian"}, "edge_weights must be .*heat"),
        ({"component_size": "max"}, "component_size must be .*norm"),
        ({"graph_weight": "some"}, "graph_weight must be .*auto"),
        ({"graph_weight": -1.0}, "graph_weight"),
        ({"graph_weight": np.nan}, "graph_weight"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"metric": "cosinus"}, "metric"),
    ],
)
def test_bad_input_gets_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        GraphNMF(3, **{"graph_weight": 1.0, **parameters}).fit(data())


def test_a_forged_sparse_graph_is_refused_before_its_indices_are_followed():
    S = sp.csr_matrix(ring(30))
    S.indices[5] = 10**6
    with pytest.raises(ValueError, match="graph"):
        GraphNMF(3, graph=S, graph_weight=1.0).fit(data())


def test_an_asymmetric_graph_is_symmetrised_with_a_warning():
    S = np.triu(ring(30))
    with pytest.warns(UserWarning, match="not symmetric"):
        model = GraphNMF(3, graph=S, graph_weight=1.0).fit(data())
    np.testing.assert_array_equal(model.graph_.toarray(), (S + S.T) / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = GraphNMF(3, graph=(S + S.T) / 2, graph_weight=1.0).fit(data())
    np.testing.assert_array_equal(same.components_, model.components_)


def test_isolated_nodes_and_empty_graphs_are_fine():
    S = ring(30)
    S[:5] = S[:, :5] = 0
    assert np.isfinite(GraphNMF(3, graph=S, graph_weight=5.0).fit_transform(data())).all()
    empty = GraphNMF(3, graph=sp.csr_matrix((30, 30))).fit(data())
    assert empty.graph_weight_ == 0
    np.testing.assert_array_equal(empty.components_, NMF(3).fit(data()).components_)
    one = GraphNMF(1, graph_weight=1.0).fit(data(1, 5))
    assert one.graph_.shape == (1, 1)


def test_loops_play_no_part():
    fits = [GraphNMF(3, graph=S, graph_weight=1.0).fit(data()) for S in (ring(30), ring(30) + np.eye(30))]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


@pytest.mark.parametrize("graph_on", ["samples", "features", "both"])
def test_a_file_gives_the_model_back(tmp_path, graph_on):
    X = data()
    model = GraphNMF(3, graph_on=graph_on, graph_weight=0.5, max_iter=500).fit(X)
    again = load(save(model, tmp_path / "g.partwise"))
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    graphs = [m.graph_ if graph_on == "both" else (m.graph_,) for m in (model, again)]
    for one, other in zip(*graphs):
        assert (one != other).nnz == 0
    assert again.graph_weight_ == model.graph_weight_


def test_new_rows_are_known_by_their_data_alone():
    X, new = data(), data(7, 20, 1)
    model = GraphNMF(3, graph_weight=1.0).fit(X)
    W = model.transform(new)
    assert W.shape == (7, 3)
    np.testing.assert_allclose(model.transform(new[2:3]), W[2:3], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.transform(sp.csr_matrix(new)), W, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_auto_is_zero_and_the_fit_that_of_nmf_where_edges_say_nothing(seed):
    X = data(60, 40, seed)
    S = sp.random(60, 60, 0.05, random_state=seed)
    model = GraphNMF(3, graph=(S + S.T) / 2).fit(X)
    assert model.graph_weight_ == 0
    np.testing.assert_array_equal(model.components_, NMF(3).fit(X).components_)


def test_auto_is_positive_where_neighbours_tell_what_rows_lack():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    X = rng.poisson(0.15 * (1 + 8 * rng.random((4, 60)) ** 4)[labels]).astype(float)
    X[X.sum(axis=1) == 0, 0] = 1
    same = (labels[:, None] == labels) & (rng.random((160, 160)) < 0.15)
    model = GraphNMF(4, graph=np.maximum(same, same.T).astype(float)).fit(X)
    assert model.graph_weight_ > 0


def test_the_graphs_that_are_made_are_symmetric_and_have_no_loops():
    X = data()
    X[2, 3] = np.nan
    for made in (
        *(neighbour_graph(X, 4, weights=kind) for kind in ("binary", "heat", "cosine")),
        similarity_graph(X, 90.0),
        neighbour_graph(sp.csr_matrix(np.nan_to_num(X)), 4),
    ):
        assert (made != made.T).nnz == 0
        assert made.diagonal().sum() == 0
        assert made.nnz > 0
        assert made.data.min() > 0
        assert made.data.max() <= 1 + 1e-12
    degrees = np.asarray((neighbour_graph(X, 4) > 0).sum(axis=1)).ravel()
    assert degrees.min() >= 4


def test_connectivity_and_modularity_are_their_definitions():
    rng = np.random.default_rng(0)
    S = np.triu(rng.random((12, 12)) < 0.3, 1)
    S = (S | S.T).astype(float)
    labels = rng.integers(0, 3, 12)
    M = np.eye(3)[labels]
    assert connectivity(S, labels) == pytest.approx(np.mean(S == M @ M.T))
    weighted = S * rng.random()
    for A in (S, weighted, sp.csr_matrix(weighted)):
        dense = A.toarray() if sp.issparse(A) else A
        assert connectivity(A, labels) == pytest.approx(1 - np.sum((dense - M @ M.T) ** 2) / 144)
        d, total = dense.sum(axis=1), dense.sum()
        by_hand = np.sum((dense - np.outer(d, d) / total) * (M @ M.T)) / total
        assert modularity(A, labels) == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="a group for each node"):
        connectivity(S[:, :5], labels)
    assert checked_graph(S, 12, "samples").nnz == S.sum()


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_a_graph_that_has_nothing_to_do_with_the_data_gets_no_weight(loss):
    """A penalty shrinks W, which helps to predict noise; that is not the graph's merit."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.poisson(1.0, (120, 30)).astype(float)
        edges = np.triu(rng.random((120, 120)) < 0.04, 1)
        graph = (edges + edges.T).astype(float)
        assert GraphNMF(3, graph=graph, beta_loss=loss).fit(X).graph_weight_ == 0


@pytest.mark.parametrize("shuffled", [False, True])
def test_auto_takes_a_good_graph_of_few_rows_with_few_entries(shuffled):
    """Of eight such tables three were fitted without their graph; with its nodes in another order all must be."""
    taken = 0
    for seed in range(1, 7):
        rng = np.random.default_rng(seed)
        groups = np.repeat([0, 1, 2], 40)
        rates = np.full((3, 60), 0.05) + 0.15 * np.repeat(np.eye(3), 20, axis=1)
        X = rng.poisson(rates[groups]).astype(float)
        tied = rng.permutation(groups) if shuffled else groups
        edges = np.triu(rng.random((120, 120)) < np.where(tied[:, None] == tied, 0.15, 0.01), 1)
        model = GraphNMF(3, graph=(edges + edges.T).astype(float), beta_loss="kl").fit(X)
        taken += model.graph_weight_ > 0
    assert taken == 0 if shuffled else taken >= 5
