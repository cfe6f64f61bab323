"""SymmetricNMF: its objective, its communities, its graphs, and what it refuses."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score as nmi

from partwise import SymmetricNMF, load, save
from partwise.core import Checkpoint, Interrupted
from partwise.graphs import connectivity, modularity
from partwise.solvers.node_sweep import least_quartic
from partwise.solvers.symmetric import NodeDescent, NodeProblem, NodeState


def planted(sizes=(30, 20, 15), inside=0.5, between=0.05, seed=0, weighted=False, directed=False):
    """A graph whose nodes are joined more often within groups, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    A = (rng.random((len(y), len(y))) < np.where(y[:, None] == y, inside, between)).astype(float)
    if weighted:
        A *= rng.gamma(2.0, 1.0, A.shape)
    if not directed:
        A = np.triu(A, 1)
        A = A + A.T
    return A, y


# ---------------------------------------------------------------- the objective


@pytest.mark.parametrize("seed", range(40))
def test_the_least_value_of_a_quartic_is_found(seed):
    rng = np.random.default_rng(seed)
    rest, q = 3.0 * rng.standard_normal(2)
    b, s, m = rng.random(3) * rng.integers(0, 2, 3) * 3
    m += 0.01
    old = rng.random() * 2

    def value(x):
        return 0.5 * (rest - b * x - s * x * x) ** 2 + 0.5 * m * x * x - q * x

    x, gain = least_quartic(rest, b, s, m, q, old)
    grid = np.linspace(0.0, 1.1 * max(x, 1.0) + abs(q) / m, 200_001)
    assert value(x) <= value(grid).min() + 1e-8
    assert gain == pytest.approx(value(old) - value(x), abs=1e-10)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_the_objective_is_the_squared_error_and_never_rises(directed, loops):
    A, _ = planted(weighted=True, directed=directed, seed=3)
    np.fill_diagonal(A, np.arange(len(A)) % 4 if loops else 0.0)
    rng = np.random.default_rng(1)
    problem = NodeProblem(sp.csr_matrix(A), directed)
    state = NodeState(W=rng.random((len(A), 4)), S=rng.random((4, 4)) if directed else np.eye(4))
    state.objective = NodeDescent().value(problem, state)
    for _ in range(30):
        before = state.objective
        NodeDescent().step(problem, state, rng)
        direct = 0.5 * np.sum((A - state.W @ state.S @ state.W.T) ** 2)
        assert state.objective == pytest.approx(direct, rel=1e-10)
        assert state.objective <= before
    assert state.W.min() >= 0
    assert state.S.min() >= 0


@pytest.mark.parametrize("directed", [False, True])
def test_the_fit_ends_where_no_entry_can_improve(directed):
    """The projected gradient, by finite differences of the objective, vanishes."""
    A, _ = planted((8, 7), seed=2, weighted=True, directed=directed)
    model = SymmetricNMF(2, directed=directed, normalize=None, tol=1e-15, max_iter=20_000)
    W = model.fit_transform(A)
    S = np.eye(2) if model.links_ is None else model.links_

    def error(W, S):
        return 0.5 * np.sum((A - W @ S @ W.T) ** 2)

    for which, factor in enumerate((W, S) if directed else (W,)):
        for place in np.ndindex(factor.shape):
            step = 1e-6 * factor.max()
            ends = []
            for sign in (1, -1):
                moved = factor.copy()
                moved[place] += sign * step
                ends.append(error(moved, S) if which == 0 else error(W, moved))
            slope = (ends[0] - ends[1]) / (2 * step) * factor.max() / error(W, S)
            assert slope > -1e-4 if factor[place] < step else abs(slope) < 1e-4


def test_a_factorization_that_exists_is_found():
    rng = np.random.default_rng(0)
    planted_W = rng.random((40, 3)) * (rng.random((40, 3)) < 0.6)
    A = planted_W @ planted_W.T
    model = SymmetricNMF(3, normalize=None, tol=1e-10, max_iter=5000, n_init=5).fit(A)
    W = model.components_.T
    assert np.linalg.norm(W @ W.T - A) < 1e-3 * np.linalg.norm(A)
    assert np.allclose(model.inverse_transform(W), W @ W.T)


def test_weights_of_nodes_are_those_of_the_objective():
    A, _ = planted(weighted=True)
    degree = A.sum(axis=1)
    for normalize, added in (("degree", 0.0), ("regularized", 5 * degree.mean())):
        model = SymmetricNMF(3, normalize=normalize).fit(A)
        omega = degree.mean() / (degree + added)
        assert np.allclose(model.node_weight_, omega)
        residual = A - model.components_.T @ model.components_
        assert model.objective_ == pytest.approx(0.5 * omega @ residual**2 @ omega)


# -------------------------------------------------------------------- communities


@pytest.mark.parametrize("normalize", ["regularized", "degree", None])
@pytest.mark.parametrize("init", ["spectral", "random"])
def test_planted_communities_are_found(normalize, init):
    A, y = planted((40, 30, 20, 20), 0.5, 0.05)
    model = SymmetricNMF(4, normalize=normalize, init=init, n_init=3)
    assert nmi(model.fit_predict(A), y) == pytest.approx(1.0)
    assert np.allclose(model.membership_.sum(axis=1), 1)
    assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert len(model.restarts_) == 3
    assert model.objective_ == min(one["objective"] for one in model.restarts_)


@pytest.mark.parametrize("seed", range(6))
def test_one_community_holds_every_node_with_an_edge(seed):
    A, _ = planted()
    assert (SymmetricNMF(1, random_state=seed).fit_predict(A) == 0).all()


def test_uneven_degrees_are_made_up_for():
    rng = np.random.default_rng(5)
    y = np.repeat(np.arange(4), 75)
    pull = np.minimum(rng.pareto(1.2, 300) + 1, 20)
    p = 0.006 * np.outer(pull, pull) * np.where(y[:, None] == y, 1.0, 0.12)
    A = np.triu(rng.random((300, 300)) < p, 1).astype(float)
    A += A.T
    assert nmi(SymmetricNMF(4).fit_predict(A), y) > nmi(SymmetricNMF(4, normalize=None).fit_predict(A), y)


def test_similarities_that_are_all_positive_have_groups_too():
    from sklearn.datasets import load_iris

    data = load_iris()
    assert nmi(SymmetricNMF(3, tol=1e-4).fit_predict(data.data @ data.data.T), data.target) > 0.6


@pytest.mark.parametrize("directed", [False, True])
def test_sparse_and_dense_graphs_are_one(directed):
    A, _ = planted(weighted=True, directed=directed)
    dense = SymmetricNMF(3, directed=directed).fit(A)
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
        sparse = SymmetricNMF(3, directed=directed).fit(form(A))
        assert np.allclose(sparse.components_, dense.components_, rtol=0, atol=1e-8)
        assert np.array_equal(sparse.labels_, dense.labels_)


def test_single_precision_stays():
    A, _ = planted(weighted=True)
    model = SymmetricNMF(3).fit(A.astype(np.float32))
    assert model.components_.dtype == model.membership_.dtype == np.float32
    assert np.allclose(model.components_, SymmetricNMF(3).fit(A).components_, atol=1e-3)


@pytest.mark.parametrize("factor", [1e-290, 1e-5, 3.0, 1e12, 1e250])
@pytest.mark.parametrize("normalize", ["regularized", None])
def test_the_unit_of_the_weights_does_not_matter(factor, normalize):
    A, _ = planted(weighted=True)
    plain, scaled = (SymmetricNMF(3, normalize=normalize).fit(one) for one in (A, factor * A))
    assert np.array_equal(plain.labels_, scaled.labels_)
    assert np.allclose(
        scaled.components_, np.sqrt(factor) * plain.components_, rtol=1e-4, atol=1e-4 * np.sqrt(factor)
    )
    assert np.allclose(
        scaled.transform(factor * A), np.sqrt(factor) * plain.transform(A), rtol=1e-4, atol=1e-4 * factor**0.5
    )


def test_nodes_without_edges_have_no_community():
    A, y = planted()
    n = len(A)
    padded = np.zeros((n + 3, n + 3))
    padded[:n, :n] = A
    for normalize in ("regularized", "degree", None):
        model = SymmetricNMF(3, normalize=normalize).fit(padded)
        assert np.array_equal(model.labels_[n:], [-1, -1, -1])
        assert np.allclose(model.membership_[n:], 1 / 3)
        assert nmi(model.labels_[:n], y) == pytest.approx(1.0)
        assert model.predict(padded)[n:].tolist() == [-1, -1, -1]


def test_new_nodes_are_told_by_their_edges():
    A, y = planted((40, 30, 20), 0.5, 0.03)
    old = np.arange(len(A)) % 5 > 0
    model = SymmetricNMF(3, tol=1e-10, max_iter=5000)
    W = model.fit_transform(A[np.ix_(old, old)])
    assert np.allclose(model.transform(A[np.ix_(old, old)]), W, atol=1e-3)
    assert nmi(model.predict(A[np.ix_(~old, old)]), y[~old]) > 0.9


def test_directed_links_are_found():
    """Group 0 points to group 1, which points to itself: no symmetric factorization tells this."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    links = np.array([[0.0, 0.6, 0.0], [0.0, 0.6, 0.05], [0.0, 0.0, 0.6]])
    A = (rng.random((90, 90)) < links[np.ix_(y, y)] + 0.02).astype(float)
    model = SymmetricNMF(3, directed=True).fit(sp.csr_matrix(A))
    assert nmi(model.labels_, y) > 0.9
    to = [int(np.bincount(model.labels_[y == group]).argmax()) for group in range(3)]
    found = model.links_[np.ix_(to, to)]
    assert found[0, 1] > 5 * max(found[0, 0], found[1, 0])
    assert model.links_.sum() == pytest.approx(A.sum(), rel=0.3)
    assert np.allclose(model.fit_transform(A).sum(axis=0), 1)


def test_files_hold_all_of_it(tmp_path):
    for directed in (False, True):
        A, _ = planted(directed=directed)
        model = SymmetricNMF(3, directed=directed).fit(A)
        again = load(save(model, tmp_path / "graph.partwise"))
        assert np.array_equal(again.transform(A), model.transform(A))
        assert np.array_equal(again.labels_, model.labels_)
        assert again.summary() == model.summary()
    assert sum(part["nodes"] for part in model.summary()["parts"]) == len(A)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_a_resumed_fit_has_the_same_bits(k, directed, tmp_path):
    A, _ = planted(weighted=True, directed=directed)
    parameters = {"tol": 0.0, "max_iter": 6, "n_init": 2, "init": "random", "directed": directed}
    whole = SymmetricNMF(3, **parameters).fit(A)
    steps = []

    def press(info, state):
        steps.append(info.iteration)
        if len(steps) == k + 1:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Interrupted)
        for callbacks in ([press], None):
            model = SymmetricNMF(3, callbacks=callbacks, **parameters)
            model.fit(A, checkpoint=Checkpoint(tmp_path, interval=0.0))
    assert np.array_equal(model.components_, whole.components_)
    assert np.array_equal(model.history_["objective"], whole.history_["objective"])
    assert model.restarts_ == whole.restarts_
    with pytest.raises(ValueError, match="contents"):
        model.fit(2 * A, checkpoint=tmp_path)


def test_time_and_sweeps_are_limited():
    A, _ = planted(weighted=True)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = SymmetricNMF(3, max_iter=2, init="random").fit(A)
    assert (model.n_iter_, model.ended_by_) == (2, "max_iter")
    assert SymmetricNMF(3, max_time=0.0).fit(A).ended_by_ == "max_time"


# ----------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.ones((4, 3)), "square matrix with a row and a column for each node; got shape"),
        (np.zeros((4, 4)), "no edges"),
        (np.array([[0.0, -1], [-1, 0]]), "X\\[0, 1\\] = -1. Edge weights must be nonnegative"),
        (np.array([[0.0, np.nan], [np.nan, 0]]), "NaN"),
        (np.array([[0.0, np.inf], [np.inf, 0]]), "infinity"),
        (np.array([[1.0]]), "n_components=2 exceeds the number of nodes, 1"),
    ],
)
def test_what_is_no_graph_is_refused(X, said):
    for given in (X, sp.csr_matrix(X)):
        with pytest.raises(ValueError, match=said):
            SymmetricNMF(2).fit(given)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"normalize": "rows"},
        {"init": "nndsvd"},
        {"directed": "yes"},
        {"n_init": 0},
        {"tol": -1},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SymmetricNMF(**{"n_components": 2, **wrong}).fit(np.ones((4, 4)))


def test_a_directed_graph_is_made_symmetric_with_a_warning():
    A, _ = planted(directed=True, weighted=True)
    with pytest.warns(UserWarning, match="each edge gets the mean weight of its two directions"):
        model = SymmetricNMF(3).fit(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean = SymmetricNMF(3).fit((A + A.T) / 2)
        SymmetricNMF(3, directed=True).fit(A)
    assert np.allclose(model.components_, mean.components_)


# -------------------------------------------------------------- measures of groups


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_connectivity_and_modularity_are_sums_over_pairs(weighted, loops):
    A, y = planted((5, 4, 3), 0.6, 0.2, weighted=weighted)
    np.fill_diagonal(A, 1.0 if loops else 0.0)
    y = y[np.random.default_rng(0).permutation(len(y))] * 10 - 3
    n, total = len(A), A.sum()
    wrong = chance = 0.0
    for i in range(n):
        for j in range(n):
            same = float(y[i] == y[j])
            wrong += (A[i, j] - same) ** 2
            chance += same * (A[i, j] - A[i].sum() * A[j].sum() / total) / total
    M = (y[:, None] == np.unique(y)).astype(float)
    for graph in (A, sp.csr_matrix(A)):
        assert connectivity(graph, y) == pytest.approx(1 - wrong / n**2)
        assert connectivity(graph, y) == pytest.approx(1 - np.linalg.norm(A - M @ M.T) ** 2 / n**2)
        assert modularity(graph, y) == pytest.approx(chance)
    if not weighted:
        agree = np.mean((A > 0) == (y[:, None] == y))
        assert connectivity(A, y) == pytest.approx(agree)


def test_numbers_of_shuffled_nodes_are_names():
    pd = pytest.importorskip("pandas")
    rng, groups = np.random.default_rng(0), np.repeat([0, 1, 2], 20)
    A = np.triu(rng.random((60, 60)) < np.where(groups[:, None] == groups, 0.6, 0.04), 1).astype(float)
    order = rng.permutation(60)
    plain = SymmetricNMF(3).fit(pd.DataFrame(A + A.T))
    shuffled = SymmetricNMF(3).fit(pd.DataFrame(A + A.T).iloc[order])
    pairs = {(a, b) for a, b in zip(plain.labels_[order], shuffled.labels_)}
    assert len(pairs) == 3
