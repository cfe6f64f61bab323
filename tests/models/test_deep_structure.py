"""Labels, a graph and sample weights in DeepNMF."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from sklearn.datasets import load_digits

from partwise import DeepNMF, load, save
from partwise.core import Problem
from partwise.graphs import neighbour_graph
from partwise.matrix import Dense
from partwise.models.deep_activation import ACTIVATIONS
from partwise.models.deep_nonnegative import KnownLayerSweeps
from partwise.models.deep_steps import DeepState, as_bases, chained
from partwise.models.deep_structure import IDENTITY, Structure, StructuredSteps
from partwise.models.label_part import Labels
from partwise.priors import Graph, ScaledGraph

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
GROUPS = np.arange(60) % 3
POSITIVE = rng.gamma(1.0, 1.0, (3, 24))[GROUPS] * rng.gamma(2.0, 0.5, (60, 1)) + 0.3 * rng.random((60, 24))
KNOWN = np.where(rng.random(60) < 0.4, GROUPS, -1)
FRIENDS = np.triu(rng.random((60, 60)) < np.where(GROUPS[:, None] == GROUPS, 0.2, 0.02), 1).astype(float)
FRIENDS = sp.csr_matrix(FRIENDS + FRIENDS.T)
SEVERAL = np.where(rng.random((60, 3)) < 0.5, np.nan, np.eye(3)[GROUPS])
KINDS = {
    "semi": {},
    "nonnegative": {"semi": False},
    "softplus": {"activation": "softplus"},
    "softplus, nonnegative": {"activation": "softplus", "semi": False},
}
KNOWING = {
    "labels": {"label_layer": -1},
    "labels below": {"label_layer": 1},
    "graph": {"graph": FRIENDS},
    "graph below": {"graph": FRIENDS, "graph_layer": 1, "graph_weight": 1.0},
    "both, everywhere": {"graph": FRIENDS, "graph_layer": (1, 2, 3), "label_layer": (1, 2, 3)},
}


@pytest.mark.parametrize("knowing", KNOWING)
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_rises_and_is_what_is_documented(kind, knowing):
    options = KINDS[kind] | KNOWING[knowing]
    weight = rng.random(60) + 0.5
    model = DeepNMF((8, 5, 3), max_iter=25, **options)
    W = model.fit_transform(POSITIVE, KNOWN, sample_weight=weight)
    course = model.history_["objective"]
    assert (np.diff(course) <= 0).all()
    assert course[-1] < course[0]
    assert (W >= 0).all()
    # The documented objective, layer by layer.
    F, g = (
        [W],
        (lambda z: z) if model.activation is None else lambda z: ACTIVATIONS[model.activation].both(z)[0],
    )
    for H in model.bases_[:0:-1]:
        F.append(g(F[-1] @ H))
    F = F[::-1]
    total = 0.5 * weight @ ((POSITIVE - F[0] @ model.bases_[0]) ** 2).sum(axis=1)
    layers = np.atleast_1d(model.label_layer) if model.label_layer is not None else ()
    rows, size = np.flatnonzero(KNOWN >= 0), np.linalg.norm(POSITIVE, axis=1, keepdims=True)
    for C, layer in zip(model.label_components_ or (), layers):
        off = ((np.eye(3)[GROUPS] * size) - F[layer if layer < 0 else layer - 1] @ C)[rows]
        total += 0.5 * weight[rows] @ (off**2).sum(axis=1)
    if model.graph is not None:
        L = np.diag(FRIENDS.toarray().sum(axis=0)) - FRIENDS.toarray()
        for layer in np.atleast_1d(model.graph_layer):
            i = layer if layer < 0 else layer - 1
            A = F[i] * np.linalg.norm(model.layer_components_[i], axis=1)
            total += 0.5 * model.graph_weight * np.trace(A.T @ L @ A)
    assert model.objective_ == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_weight_it_is_the_model_without(kind):
    plain = DeepNMF((8, 3), max_iter=20, **KINDS[kind]).fit(POSITIVE)
    for options in ({"label_layer": 1, "label_weight": 0.0}, {"graph": FRIENDS, "graph_weight": 0.0}, {}):
        model = DeepNMF((8, 3), max_iter=20, **KINDS[kind], **options).fit(POSITIVE, KNOWN)
        for one, other in zip(model.bases_, plain.bases_):
            np.testing.assert_array_equal(one, other)
        assert model.classes_ is None


def labels_of_all():
    at = np.flatnonzero(KNOWN >= 0)
    return Labels(np.arange(3), at, np.eye(3)[GROUPS[at]], ~np.isnan(SEVERAL[at]), multilabel=True)


@pytest.mark.parametrize("activation", ["none", "softplus", "tanh"])
@pytest.mark.parametrize("tied", [True, False])
def test_gradients_by_finite_differences(activation, tied):
    draw = np.random.default_rng(3)
    g = IDENTITY if activation == "none" else ACTIVATIONS[activation]
    structure = Structure(labels_of_all(), 0.7, (0, 1, 2), Graph(FRIENDS, 0.3), (0, 1, 2))
    steps = StructuredSteps(g, True, structure)
    W, H = draw.random((60, 2)), [draw.standard_normal(shape) for shape in ((4, 24), (3, 4), (2, 3))]
    C = {str(i): draw.standard_normal((k, 3)) for i, k in enumerate((4, 3, 2))}
    P, G, r = POSITIVE @ H[0].T, H[0] @ H[0].T, draw.random(60)
    if tied:
        F = steps.features(W, H)
        ties = steps._ties(F, H, [steps._pulled(one) for one in F])
        for i, (linear, quadratic) in ties.items():
            terms, size = Graph(FRIENDS, 0.3).majorise(F[i]), 0.5 * (chained(H[: i + 1]) ** 2).sum(axis=1)
            np.testing.assert_allclose(linear, terms.linear * size, atol=1e-12)
            np.testing.assert_allclose(quadratic, terms.quadratic * size)

        def of_W(A):
            return steps._slopes(A.reshape(W.shape), H, C, P, G, r, ties)[0].sum()

        def slope(A):
            return steps._slopes(A.reshape(W.shape), H, C, P, G, r, ties)[1][0].ravel()

        assert check_grad(of_W, slope, W.ravel()) < 1e-4 * np.linalg.norm(slope(W.ravel()))
        return
    for i in (1, 2):

        def value(A, i=i):
            bases = [*H[:i], A.reshape(H[i].shape), *H[i + 1 :]]
            F, parts = steps.features(W, bases), [chained(bases[: j + 1]) for j in range(3)]
            found = steps._slopes(W, bases, C, P, G, r, None)[0].sum()
            graph = ScaledGraph(Graph(FRIENDS, 0.3))
            alone = StructuredSteps(g, True, replace(structure, graph=None, graph_layers=()))
            without = alone._slopes(W, bases, C, P, G, r, None)[0].sum()
            rough = sum(graph.value(F[j], np.ascontiguousarray(parts[j].T)) for j in range(3))
            assert found == pytest.approx(without + rough)
            return found

        def slope(A, i=i):
            bases = [*H[:i], A.reshape(H[i].shape), *H[i + 1 :]]
            return steps._slopes(W, bases, C, P, G, r, None)[1][i].ravel()

        assert check_grad(value, slope, H[i].ravel()) < 1e-4 * np.linalg.norm(slope(H[i].ravel()))


@pytest.mark.parametrize("semi", [True, False])
def test_every_update_lowers_what_it_should(semi):
    draw = np.random.default_rng(4)
    structure = Structure(labels_of_all(), 0.7, (0, 1), Graph(FRIENDS, 0.3), (0, 1))
    steps = StructuredSteps(IDENTITY, semi, structure)
    problem = Problem(Dense.of(POSITIVE, None, draw.random(60)))
    state = DeepState(draw.random((60, 2)), as_bases([draw.random((4, 24)), draw.random((2, 4))]))
    before = steps.value(problem, state)
    for _ in range(5):
        state = steps.moved(problem, state)
        assert state.objective < before
        assert steps.value(problem, state) == pytest.approx(state.objective)
        before = state.objective


@pytest.mark.parametrize("kind", KINDS)
def test_weight_two_is_the_row_twice(kind):
    twice = np.where(np.arange(60) < 15, 2.0, 1.0)
    rows = np.repeat(np.arange(60), twice.astype(int))
    for more in ({}, {"label_layer": 1}):
        options = KINDS[kind] | more | {"max_iter": 60, "tol": 0}
        one = DeepNMF((6, 3), **options).fit(POSITIVE, KNOWN, sample_weight=twice)
        other = DeepNMF((6, 3), **options).fit(POSITIVE[rows], KNOWN[rows])
        assert one.objective_ == pytest.approx(other.objective_, rel=0.01)
        np.testing.assert_allclose(one.feature_means_[-1], other.feature_means_[-1], rtol=0.05, atol=0.02)
    none = np.where(np.arange(60) < 15, 0.0, 1.0)
    one = DeepNMF((6, 3), **KINDS[kind]).fit(POSITIVE, sample_weight=none)
    other = DeepNMF((6, 3), **KINDS[kind]).fit(POSITIVE[15:])
    assert one.objective_ == pytest.approx(other.objective_, rel=0.01)


def test_labels_teach_a_classifier_that_is_saved(tmp_path):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    known = np.where(np.arange(500) % 5 == 0, y, -1)
    model = DeepNMF((30, 15), label_layer=-1, graph=neighbour_graph(X, 5), max_iter=40).fit(X, known)
    assert (model.predict(X) == y).mean() > 0.7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    again = load(save(model, tmp_path / "deep.partwise"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.graph_ != model.graph_).nnz == 0
    assert not hasattr(DeepNMF((30, 15)), "predict")
    several = DeepNMF((6, 3), label_layer=(1, 2), max_iter=20).fit(POSITIVE, SEVERAL)
    assert (several.predict(POSITIVE) == np.eye(3)[GROUPS]).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "y", "sentence"),
    [
        ({"label_layer": -1}, None, "needs labels"),
        ({"label_layer": -1}, np.full(60, -1), "no label that is known"),
        ({"label_layer": -1}, np.zeros(60), "one class only"),
        ({"label_layer": 3}, KNOWN, "label_layer must name layers, 1 .* to 2"),
        ({"label_layer": 0}, KNOWN, "label_layer must name layers"),
        ({"graph_layer": "last"}, KNOWN, "graph_layer must name layers"),
        ({"graph": np.ones((5, 5))}, KNOWN, "60"),
        ({"graph": -np.ones((60, 60))}, KNOWN, "nonnegative"),
        ({"graph": "friends"}, KNOWN, "graph"),
        ({"graph": FRIENDS, "graph_weight": -1.0}, KNOWN, "graph_weight"),
        ({"label_layer": 1, "finetune": False}, KNOWN, "finetune=True"),
    ],
)
def test_bad_input_gets_a_sentence(options, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        DeepNMF((6, 3), **options).fit(POSITIVE, y)


def test_linear_layers_are_one_layer_for_labels_and_a_graph_at_the_last():
    # One layer of the same size has the same optimum; labels below are, in another basis, labels at the last.
    options = {"graph": FRIENDS, "graph_weight": 0.3, "tol": 1e-9, "max_iter": 2000}
    one = DeepNMF((3,), label_layer=1, **options).fit(POSITIVE, KNOWN)
    for layer in (1, -1):
        deep = DeepNMF((8, 3), label_layer=layer, **options).fit(POSITIVE, KNOWN)
        assert deep.objective_ == pytest.approx(one.objective_, rel=1e-3)


@pytest.mark.parametrize("seen", ["classes", "several"])
def test_nonnegative_sweeps_lower_what_gradient_steps_lower(seen):
    draw = np.random.default_rng(5)
    labels = labels_of_all()
    labels = labels if seen == "several" else replace(labels, seen=np.ones_like(labels.seen))
    structure = Structure(labels, 0.7, (1,), Graph(FRIENDS, 0.3), (1,))
    problem = Problem(Dense.of(POSITIVE, None, draw.random(60) + 0.1))
    assert KnownLayerSweeps.suits(problem, structure, 2)
    assert not KnownLayerSweeps.suits(problem, replace(structure, graph_layers=(0,)), 2)
    sweeps, steps = KnownLayerSweeps(structure, 2), StructuredSteps(IDENTITY, False, structure)
    state = DeepState(draw.random((60, 2)), as_bases([draw.random((4, 24)), draw.random((2, 4))]))
    before = sweeps.value(problem, state)
    assert before == pytest.approx(steps.value(problem, state))
    for _ in range(8):
        state = sweeps.moved(problem, state)
        assert state.objective < before
        assert steps.value(problem, state) == pytest.approx(state.objective)
        before = state.objective
