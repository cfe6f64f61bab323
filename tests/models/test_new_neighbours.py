"""Edges of new samples in `transform`."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from partwise import GraphNMF, ManifoldNMF, load, save

rng = np.random.default_rng(0)
X = rng.poisson(2.0, (40, 15)) + 0.5
NEW = rng.poisson(2.0, (6, 15)) + 0.5
AMONG = np.triu(rng.random((6, 6)) < 0.5, 1).astype(float)
AMONG = AMONG + AMONG.T
TO_FIT = np.where(rng.random((6, 40)) < 0.1, rng.random((6, 40)), 0.0)
EDGES = {
    "among": {"graph": AMONG},
    "to the fit": {"neighbors": TO_FIT},
    "both, sparse": {"graph": sp.csr_matrix(AMONG), "neighbors": sp.csr_matrix(TO_FIT)},
}


def documented(model, W, graph=None, neighbors=None):
    """The objective of the docstring, edge by edge."""
    H, Y = model.components_, W @ model.components_
    kl = model.beta_loss != "frobenius"
    loss = (NEW * np.log(NEW / Y) - NEW + Y).sum() if kl else 0.5 * ((NEW - Y) ** 2).sum()
    size = H.sum(axis=1) if kl else np.linalg.norm(H, axis=1)
    A, V = W * size, model.embedding_ * size
    for i in range(6):
        for j in range(6 if graph is not None else 0):
            loss += model.graph_weight_ / 4 * AMONG[i, j] * ((A[i] - A[j]) ** 2).sum()
        for j in range(40 if neighbors is not None else 0):
            loss += model.graph_weight_ / 2 * TO_FIT[i, j] * ((A[i] - V[j]) ** 2).sum()
    return loss


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_new_rows_minimise_the_objective_with_their_edges(loss, edges):
    model = GraphNMF(3, beta_loss=loss, graph_weight=0.3, tol=1e-6, max_iter=500).fit(X)
    W = model.transform(NEW, **EDGES[edges])
    assert W.shape == (6, 3)
    found = documented(model, W, **EDGES[edges])
    best = minimize(
        lambda w: documented(model, w.reshape(6, 3), **EDGES[edges]),
        np.maximum(W.ravel(), 0.01) * 1.1,
        bounds=[(1e-9, None)] * 18,
        options={"maxiter": 2000, "ftol": 1e-13},
    ).fun
    assert found == pytest.approx(best, rel=1e-6)
    assert documented(model, model.transform(NEW), **EDGES[edges]) > best * (1 + 1e-4), "edges matter"


def test_rows_of_the_fit_find_their_own_place_again():
    model = GraphNMF(3, graph_weight=0.5, tol=1e-8, max_iter=5000)
    W = model.fit_transform(X)
    np.testing.assert_array_equal(model.embedding_, W)
    # Each row, with its edges to all the others, stays where the whole fit has put it.
    np.testing.assert_allclose(model.transform(X, neighbors=model.graph_), W, atol=2e-3)
    np.testing.assert_allclose(model.transform(X, graph=model.graph_), W, atol=2e-3)


def test_edges_of_no_weight_change_nothing_and_files_keep_what_they_need(tmp_path):
    known = np.arange(40) % 3
    model = ManifoldNMF(3, graph_weight=0.4).fit(X, known)
    again = load(save(model, tmp_path / "m.partwise"))
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    np.testing.assert_array_equal(
        again.transform(NEW, neighbors=TO_FIT), model.transform(NEW, neighbors=TO_FIT)
    )
    none = model.transform(NEW, graph=np.zeros((6, 6)), neighbors=np.zeros((6, 40)))
    np.testing.assert_allclose(none, model.transform(NEW), rtol=1e-5, atol=1e-7)
    free = GraphNMF(3, graph_weight=0).fit(X)
    np.testing.assert_allclose(free.transform(NEW, graph=AMONG), free.transform(NEW), rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_data_far_from_one():
    near = GraphNMF(3, graph_weight=0.4).fit(X)
    far = GraphNMF(3, graph_weight=0.4, max_iter=1).fit(X * 2.0**60)
    assert far.data_exponent_ > 0
    far.components_, far.embedding_ = near.components_ * 2.0**60, near.embedding_
    for edges in EDGES.values():
        one, other = near.transform(NEW, **edges), far.transform(NEW * 2.0**60, **edges)
        np.testing.assert_allclose(one, other, rtol=1e-4)


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ({"graph": np.ones((5, 5))}, "each of the 6 new samples"),
        ({"graph": -AMONG}, "nonnegative"),
        ({"neighbors": np.ones((6, 39))}, "a column for each of the 40 samples of the fit"),
        ({"neighbors": -TO_FIT}, "neighbors must have finite, nonnegative"),
        ({"neighbors": "knn"}, "neighbors must be an array or a sparse matrix"),
    ],
)
def test_bad_edges_get_a_sentence(edges, sentence):
    model = GraphNMF(2, graph_weight=0.4).fit(X)
    with pytest.raises(ValueError, match=sentence):
        model.transform(NEW, **edges)


def test_a_graph_over_features_ties_no_samples():
    model = GraphNMF(2, graph_weight=0.4, graph_on="features").fit(X)
    assert model.embedding_ is None
    with pytest.raises(ValueError, match="over the features"):
        model.transform(NEW, graph=AMONG)
