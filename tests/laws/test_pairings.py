"""Penalties of both factors together: the laws that descent rests on, for random graphs, weights, losses and data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise import NMF, GraphNMF
from partwise.core import Problem, run
from partwise.losses import FROBENIUS, KL
from partwise.matrix import Dense
from partwise.priors import Graph, ScaledGraph
from partwise.solvers import REGISTRY, make_solver

SEEDS = st.integers(0, 10**6)
KINDS = [(size, of_H) for size in ("norm", "sum") for of_H in (False, True)]
every_kind = pytest.mark.parametrize(("size", "of_H"), KINDS)


def random_graph(n, rng, density=0.3):
    """Weights, a loop, nodes without edges."""
    S = rng.random((n, n)) * (rng.random((n, n)) < density)
    S = np.triu(S, 1)
    S[0] = 0.0
    return S + S.T + np.diag(rng.random(n) < 0.2)


def pairing_of(n, m, seed, size, of_H, counted=None):
    rng = np.random.default_rng(seed)
    graph = Graph(random_graph(m if of_H else n, rng), rng.exponential())
    return ScaledGraph(graph, size, counted, of_H)


def factors(n, m, k, seed):
    """Nonnegative, with zeros, at sizes that differ by component."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-2, 2, k)
    return tuple(rng.random((rows, k)) * (rng.random((rows, k)) < 0.7) * sizes for rows in (n, m))


def by_hand(pairing, W, Ht):
    tied, other = (Ht, W) if pairing.of_H else (W, Ht)
    S = pairing.graph.adjacency.toarray()
    total = 0.0
    for k in range(W.shape[1]):
        part = other[: pairing.counted, k]
        squared = (part**2).sum() if pairing.size == "norm" else part.sum() ** 2
        pairs = sum(
            S[i, j] * (tied[i, k] - tied[j, k]) ** 2 for i in range(len(tied)) for j in range(len(tied))
        )
        # w' L w is half the sum over ordered pairs.
        total += 0.5 * pairing.graph.weight * squared * 0.5 * pairs
    return total


@given(seed=SEEDS, counted=st.sampled_from([None, 2]))
@every_kind
@settings(max_examples=20)
def test_the_value_is_the_sum_over_edges(size, of_H, seed, counted):
    pairing, (W, Ht) = pairing_of(6, 5, seed, size, of_H, counted), factors(6, 5, 3, seed)
    assert pairing.value(W, Ht) == pytest.approx(by_hand(pairing, W, Ht), rel=1e-9, abs=1e-12)


@given(seed=SEEDS, counted=st.sampled_from([None, 2]))
@every_kind
@settings(max_examples=20)
def test_the_gradient_is_that_of_finite_differences(size, of_H, seed, counted):
    pairing, pair = pairing_of(6, 5, seed, size, of_H, counted), factors(6, 5, 3, seed)
    rng = np.random.default_rng(seed)
    found = pairing.gradient(*pair)
    for side in (0, 1):
        way = rng.standard_normal(pair[side].shape)
        step = 1e-5 * max(pair[side].max(), 1e-3)
        ends = [[A + sign * step * way if i == side else A for i, A in enumerate(pair)] for sign in (1, -1)]
        slope = (pairing.value(*ends[0]) - pairing.value(*ends[1])) / (2 * step)
        size_of = np.abs(found[side] * way).sum() + pairing.value(*pair)
        assert np.vdot(found[side], way) == pytest.approx(slope, rel=1e-5, abs=1e-6 * size_of + 1e-12)


@given(seed=SEEDS, counted=st.sampled_from([None, 2]), near=st.booleans())
@every_kind
@settings(max_examples=40)
def test_majorise_touches_and_lies_above(size, of_H, seed, counted, near):
    pairing, (W, Ht) = pairing_of(6, 5, seed, size, of_H, counted), factors(6, 5, 3, seed)
    terms, rng = pairing.majorise(W, Ht), np.random.default_rng(seed + 1)
    here = pairing.value(W, Ht)
    scale = terms.quadratic.max() * max(W.max(), 1e-12) ** 2 * W.size + here
    np.testing.assert_allclose(
        terms.gradient(W), pairing.gradient(W, Ht)[0], rtol=1e-8, atol=1e-10 * np.abs(terms.linear).max()
    )
    for _ in range(5):
        Z = W * rng.uniform(0.9, 1.1, W.shape) if near else factors(6, 5, 3, int(rng.integers(10**6)))[0]
        rise = pairing.value(Z, Ht) - here
        bound = terms.value(Z) - terms.value(W)
        assert bound >= rise - 1e-10 * (scale + abs(rise) + abs(bound))


@given(seed=SEEDS)
@every_kind
@settings(max_examples=20)
def test_no_rescaling_changes_it_and_transposing_twice_is_itself(size, of_H, seed):
    pairing, (W, Ht) = pairing_of(6, 5, seed, size, of_H), factors(6, 5, 3, seed)
    value = pairing.value(W, Ht)
    scales = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 3)
    assert pairing.value(W * scales, Ht / scales) == pytest.approx(value, rel=1e-10)
    assert pairing.T.value(Ht, W) == pytest.approx(value, rel=1e-12)
    twice = pairing.T.T
    assert (twice.of_H, twice.size, twice.graph) == (pairing.of_H, pairing.size, pairing.graph)
    for one, other in zip(pairing.gradient(W, Ht), pairing.T.gradient(Ht, W)[::-1]):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@given(seed=SEEDS, weighted=st.booleans(), gaps=st.booleans(), single=st.booleans(), zero=st.booleans())
@every_kind
@pytest.mark.parametrize("loss", [FROBENIUS, KL], ids=["frobenius", "kl"])
@settings(max_examples=12)
def test_no_solver_raises_the_objective(loss, size, of_H, seed, weighted, gaps, single, zero):
    rng, n, m = np.random.default_rng(seed), 9, 7
    dtype = np.float32 if single else np.float64
    X = rng.poisson(3.0, (n, m)).astype(dtype)
    weights = None
    if weighted:
        weights = rng.random(n) + 0.1
        weights[0] = 0.0 if zero else weights[0]
    entry = (rng.random((n, m)) < 0.7).astype(dtype) if gaps else None
    matrix = Dense.of(X, weights=entry, row_weight=weights)
    strength = 10.0 ** rng.uniform(-2, 3)
    pairing = pairing_of(n, m, seed, size, of_H)
    pairing = ScaledGraph(Graph(pairing.graph.adjacency, strength), size, None, of_H)
    problem = Problem(matrix, loss, shift=loss.shift(matrix.mean(), matrix.dtype), pairings=(pairing,))
    W, Ht = (rng.random((rows, 3)).astype(dtype) + dtype(0.1) for rows in (n, m))
    for name in REGISTRY:
        solver = make_solver(name)
        if solver.lacks(problem) is not None:
            continue
        result = run(problem, solver, solver.init(problem, W, Ht), stopping=solver.stopping(0.0), max_iter=25)
        objective = np.array(result.history.objective)
        slack = (2e-5 if single else 1e-9) * np.abs(objective).max()
        assert np.all(np.diff(objective) <= slack), (name, np.diff(objective).max())
        truth = problem.objective(result.state.W, result.state.Ht)
        assert objective[-1] == pytest.approx(truth, rel=1e-4 if single else 1e-8, abs=slack)


def data(n, m, seed, dtype=float):
    rng = np.random.default_rng(seed)
    return (rng.gamma(0.5, 1.0, (n, 3)) @ rng.gamma(0.5, 1.0, (3, m)) + 0.1 * rng.random((n, m))).astype(
        dtype
    )


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("graph_on", ["samples", "features", "both"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_fits_objective_never_rises(loss, graph_on, dtype):
    X = data(30, 20, 0, dtype)
    model = GraphNMF(3, graph_weight=2.0, graph_on=graph_on, beta_loss=loss, max_iter=60, tol=0)
    W = model.fit_transform(X)
    objective = np.array(model.history_["objective"])
    assert W.dtype == model.components_.dtype == dtype
    assert np.all(np.diff(objective) <= (1e-5 if dtype == np.float32 else 1e-10) * objective[0])


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("graph_on", ["samples", "features", "both"])
def test_weight_zero_is_nmf_to_the_bit(loss, graph_on):
    X = data(30, 20, 1)
    X[3, 4] = np.nan
    tied = GraphNMF(3, graph_weight=0, graph_on=graph_on, beta_loss=loss)
    free = NMF(3, beta_loss=loss)
    np.testing.assert_array_equal(tied.fit_transform(X), free.fit_transform(X))
    np.testing.assert_array_equal(tied.components_, free.components_)
    assert tied.objective_ == free.objective_


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_a_sparse_graph_is_the_dense_one(loss):
    X, rng = data(30, 20, 2), np.random.default_rng(0)
    S = random_graph(30, rng)
    fits = [
        GraphNMF(3, graph=form(S), graph_weight=1.0, beta_loss=loss, max_iter=40, tol=0).fit(X)
        for form in (np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_matrix)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.components_, fits[0].components_)


@pytest.mark.parametrize(
    ("loss", "size"), [("frobenius", "norm"), ("frobenius", "sum"), ("kullback-leibler", "sum")]
)
def test_a_graph_of_features_is_one_of_samples_of_the_transpose(loss, size):
    X, rng = data(14, 11, 3), np.random.default_rng(0)
    loss = FROBENIUS if loss == "frobenius" else KL
    graph = Graph(random_graph(11, rng), 3.0)
    W, Ht = rng.random((14, 3)), rng.random((11, 3))
    there = Problem(Dense.of(X), loss, pairings=(ScaledGraph(graph, size, of_H=True),))
    here = Problem(Dense.of(np.ascontiguousarray(X.T)), loss, pairings=(ScaledGraph(graph, size),))
    assert there.objective(W, Ht) == pytest.approx(here.objective(Ht, W), rel=1e-12)
    for one, other in zip(there.gradient(W, Ht), here.gradient(Ht, W)[::-1]):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    for one, other in (
        (there.terms_at_H(Ht, W), here.terms_at_W(Ht, W)),
        (there.terms_at_W(W, Ht), here.terms_at_H(W, Ht)),
    ):
        np.testing.assert_allclose(one.linear, other.linear, rtol=1e-12)
        np.testing.assert_allclose(one.quadratic, other.quadratic, rtol=1e-12)
