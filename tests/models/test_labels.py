"""SemiSupervisedNMF and ManifoldNMF."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import partwise
from partwise import NMF, DeepNMF, GraphNMF, ManifoldNMF, SemiSupervisedNMF
from partwise.graphs import spread_labels
from partwise.models.label_part import information, read_labels
from partwise.models.label_readout import readout_features, typical_amounts

MODELS = [SemiSupervisedNMF, ManifoldNMF]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    return X, y, np.where(np.random.default_rng(0).random(len(y)) < 0.1, y, -1)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("Model", MODELS)
def test_the_objective_never_rises_and_labels_help(Model, loss, digits):
    X, y, known = digits
    model = Model(12, beta_loss=loss).fit(X, known)
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert model.score(X, y) > 0.7
    assert model.label_components_.shape == (12, 10)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_without_a_weight_it_is_the_other_model(digits):
    X, _, known = digits
    plain = NMF(6).fit(X)
    np.testing.assert_array_equal(
        SemiSupervisedNMF(6, label_weight=0).fit(X, known).components_, plain.components_
    )
    graph = GraphNMF(6, graph_weight=2.0).fit(X)
    model = ManifoldNMF(6, label_weight=0, graph_weight=2.0, n_neighbors=5).fit(X, known)
    np.testing.assert_array_equal(model.components_, graph.components_)
    labels = SemiSupervisedNMF(6).fit(X, known)
    model = ManifoldNMF(6, graph_weight=0).fit(X, known)
    np.testing.assert_array_equal(model.components_, labels.components_)
    np.testing.assert_array_equal(model.predict(X), labels.predict(X))


@pytest.mark.parametrize("Model", MODELS)
def test_saved_and_loaded(Model, digits, tmp_path):
    X, _, known = digits
    names = np.array([None if label < 0 else f"digit {label}" for label in known], dtype=object)
    model = Model(5, max_iter=20).fit(X, names)
    assert list(model.classes_[:2]) == ["digit 0", "digit 1"]
    again = partwise.load(partwise.save(model, tmp_path / "m.partwise"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.summary()["chosen"] == model.summary()["chosen"]


def test_sparse_data_give_what_dense_data_give(digits):
    X, _, known = digits
    one = SemiSupervisedNMF(4, init="random", tol=0, max_iter=10).fit(X, known)
    other = SemiSupervisedNMF(4, init="random", tol=0, max_iter=10).fit(sp.csr_matrix(X), known)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6, atol=1e-8)


def test_several_labels_of_which_some_are_known(digits):
    X, y, known = digits
    Y = np.eye(10)[y]
    some = Y.copy()
    some[known < 0] = np.nan
    some[np.random.default_rng(1).random(Y.shape) < 0.2] = np.nan
    model = SemiSupervisedNMF(12).fit(X, some)
    assert model.multilabel_
    assert (model.predict(X) == Y).mean() > 0.93
    masked = SemiSupervisedNMF(12).fit(X, np.nan_to_num(some), label_mask=~np.isnan(some))
    np.testing.assert_array_equal(masked.predict(X), model.predict(X))


def test_missing_data(digits):
    X, y, known = digits
    holes = np.where(np.random.default_rng(2).random(X.shape) < 0.2, np.nan, X)
    model = SemiSupervisedNMF(12).fit(holes, known)
    assert model.score(holes, y) > 0.6


def test_information_is_zero_for_parts_that_favour_no_class():
    usage = np.array([5.0, 1.0, 2.0])
    factor = np.array([[3.0, 3.0], [1.0, 0.0], [0.0, 0.5]])
    found = information(usage, factor * [[1.0], [1.0], [1.0]])
    assert found[0] < 0.02 < min(found[1:])
    # Printed colours depend on the scale of the parts; this does not.
    np.testing.assert_allclose(information(usage / [10, 1, 1], factor * [[10], [1], [1]]), found)


def test_labels_spread_along_edges_and_no_further():
    path = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    spread = spread_labels(path, np.array([[1.0, 0], [0, 0], [0, 0], [0, 0]]))
    assert spread[1, 0] > 0
    assert not spread[2:].any()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(6, -1), "no label that is known"),
        ([1, 1, -1, -1, 1, 1], "one class only, 1"),
        ([0, 1], "for each of the 6 samples"),
        (np.full((6, 2), 3.0), "must hold 0 and 1"),
        (np.full((6, 2), np.nan), "no label that is known"),
    ],
)
def test_labels_of_no_use_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        SemiSupervisedNMF(2).fit(np.random.default_rng(0).random((6, 4)), y)


def test_labels_come_in_many_forms():
    for y in ([0, 1, -1, 0], [0.0, 1.0, np.nan, 0.0], np.array([0, 1, None, 0], dtype=object)):
        labels = read_labels(y, 4)
        assert labels.classes.tolist() == [0, 1]
        assert labels.at.tolist() == [0, 1, 3]
    assert read_labels(["a", "b", "", "a"], 4).classes.tolist() == ["a", "b"]


def test_parameters_are_checked():
    X, y = np.random.default_rng(0).random((8, 4)), np.arange(8) % 2
    for parameters in ({"label_weight": -1.0}, {"label_weight": "much"}, {"label_size": "large"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            SemiSupervisedNMF(2, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="in memory"):
        SemiSupervisedNMF(2).fit(lambda: iter([X]), y)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_graph_that_says_nothing_of_the_classes_teaches_nothing(digits, share):
    X, y, _ = digits
    rng = np.random.default_rng(3)
    known = np.where(rng.random(len(y)) < share, y, -1)
    first = np.unique(y, return_index=True)[1]
    known[first] = y[first]
    plain = SemiSupervisedNMF(8).fit(X, known)
    apart = (rng.random((len(y), len(y))) < 0.01) & (y[:, None] != y)
    for graph in (sp.random(len(y), len(y), 0.01, random_state=0), sp.csr_matrix(apart, dtype=float)):
        model = ManifoldNMF(8, graph=(graph + graph.T) / 2).fit(X, known)
        assert model.graph_weight_ == 0
        assert not model.labels_spread_
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert ManifoldNMF(8).fit(X, known).labels_spread_


def test_usual_amounts_are_those_of_all_samples(digits):
    X, _, known = digits
    model = SemiSupervisedNMF(6).fit(X, known)
    # The convention: columns of W have root mean square one half over all samples.
    np.testing.assert_allclose(model.readout_typical_, 0.5, rtol=1e-3)


def test_what_the_read_out_sees_has_one_size_whatever_the_scale():
    rng = np.random.default_rng(0)
    W, H = rng.gamma(1.0, 1.0, (20, 4)), rng.gamma(1.0, 1.0, (4, 9))
    scale = np.array([0.1, 3.0, 1.0, 40.0])
    seen = readout_features(W, H, typical_amounts(W, np.ones(20)))
    again = readout_features(W * scale, H / scale[:, None], typical_amounts(W * scale, np.ones(20)))
    np.testing.assert_allclose(again, seen)
    # Brighter and darker pictures of the same: directions and shares agree, of length one each.
    brighter = readout_features(7.0 * W, H, typical_amounts(W, np.ones(20)))
    np.testing.assert_allclose(brighter[:, :8], seen[:, :8])
    np.testing.assert_allclose((seen[:, :4] ** 2).sum(axis=1), 1.0)
    np.testing.assert_allclose((seen[:, 4:8] ** 2).sum(axis=1), 1.0)
    assert np.isfinite(readout_features(0.0 * W, H, np.ones(4))).all()


def test_what_the_read_out_sees_keeps_its_bits_at_any_size():
    from partwise.models.label_readout import readout_features

    rng = np.random.default_rng(0)
    W, H = rng.random((6, 3)), rng.random((3, 5))
    seen = readout_features(W, H, np.ones(3))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(readout_features(W, np.ldexp(H, 1000), np.ones(3)), seen)
        large = readout_features(np.ldexp(W, 1000), H, np.full(3, 2.0**1000))
    np.testing.assert_array_equal(large, seen)


def test_words_for_missing_labels_are_unknown_and_said_to_be():
    X = np.random.default_rng(0).random((12, 5))
    y = np.array(["a", "b", "nan", "<NA>"] * 3)
    with pytest.warns(
        UserWarning, match="the text '<NA>', 'nan' for 6 samples, which is read as a label that is"
    ):
        model = SemiSupervisedNMF(2, max_iter=5, tol=1).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(np.array(["a", "b", None, np.nan], dtype=object), 4)
        read_labels(["a", "b", None, np.nan], 4)
        assert read_labels(["a", "b", np.nan, np.nan], 4).at.tolist() == [0, 1]


@pytest.mark.parametrize("Model", [SemiSupervisedNMF, ManifoldNMF, partial(DeepNMF, (3, 2), label_layer=-1)])
def test_minus_one_as_text_is_no_class(Model):
    X = np.random.default_rng(0).random((40, 6))
    y = ["a"] * 5 + ["-1"] * 15 + ["b"] * 5 + ["-1"] * 15
    model = Model(max_iter=5, tol=1).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    assert read_labels(["a", -1, "b"], 3).at.tolist() == [0, 2]
    assert read_labels(np.array(["0", "1", "-1"]), 3).classes.tolist() == ["0", "1"]


def test_missing_values_of_pandas_are_unknown_labels():
    X = np.random.default_rng(0).random((12, 5))
    for y in (
        pd.Series(["a", None, "b"] * 4, dtype="string"),
        pd.Series(["a", pd.NA, "b"] * 4, dtype=object),
        pd.Series(["a", None, "b"] * 4, dtype="category"),
    ):
        assert SemiSupervisedNMF(2, max_iter=5, tol=1).fit(X, y).classes_.tolist() == ["a", "b"]
    assert read_labels(pd.Series([1, None, 2], dtype="Int64"), 3).classes.tolist() == [1, 2]
    assert read_labels(pd.DataFrame({"p": [1, pd.NA, 0], "q": [0, 1, 1]}), 3).seen.tolist()[1] == [
        False,
        True,
    ]


def test_masked_labels_are_unknown():
    assert read_labels(np.ma.array([0, 1, 2], mask=[0, 0, 1]), 3).classes.tolist() == [0, 1]


@pytest.mark.parametrize("unknown", [None, np.nan, pd.NA, -1, "", "-1"])
def test_score_is_over_the_labels_that_are_known(digits, unknown):
    X, y, _ = digits
    names = np.array([f"digit {one}" for one in y], dtype=object)
    model = SemiSupervisedNMF(5, max_iter=20).fit(X, names)
    some = names.copy()
    some[::2] = unknown
    right = model.predict(X) == names
    assert model.score(X, some) == pytest.approx(right[1::2].mean())
    weights = np.arange(1.0, len(y) + 1)
    expected = np.average(right[1::2], weights=weights[1::2])
    assert model.score(X, some, sample_weight=weights) == pytest.approx(expected)
    some[:] = unknown
    with pytest.raises(ValueError, match="no sample whose label is known"):
        model.score(X, some)


def test_score_of_several_columns_is_over_rows_that_are_known_whole(digits):
    X, y, _ = digits
    Y = np.column_stack([y < 3, y % 2 == 0]).astype(float)
    model = SemiSupervisedNMF(5, max_iter=20).fit(X, Y)
    some = Y.copy()
    some[::2, 1] = np.nan
    right = (model.predict(X) == Y).all(axis=1)
    assert model.score(X, some) == pytest.approx(right[1::2].mean())


@pytest.mark.parametrize("y", [np.array([True, False] * 6), np.array([True, False, None] * 4, dtype=object)])
def test_labels_of_type_bool_are_predicted_as_such(y):
    X = np.random.default_rng(0).random((12, 5))
    model = SemiSupervisedNMF(2, max_iter=5, tol=1).fit(X, y)
    assert model.classes_.tolist() == [False, True]
    assert model.classes_.dtype == bool
    assert model.predict(X).dtype == bool


def test_entry_weights_count_over_the_largest_of_them():
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (40, 3)) @ rng.gamma(1.0, 1.0, (3, 10))
    y = np.where(rng.random(40) < 0.5, X[:, :3].argmax(axis=1), -1)
    weights = rng.random(X.shape) + 0.1
    first, other = (SemiSupervisedNMF(3).fit(X, y, weights=weights * unit) for unit in (1.0, 2.0**60))
    np.testing.assert_array_equal(first.components_, other.components_)


def classes_of_counts(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.poisson(1 + 6 * np.kron(np.eye(3), np.ones((1, 4)))[y]).astype(float), y


def test_what_parts_say_of_classes_counts_rows_by_their_weights():
    X, y = classes_of_counts()
    times = np.where(y == 0, 5, 1)
    settings = {"tol": 1e-9, "max_iter": 3000}
    weighted = SemiSupervisedNMF(3, **settings).fit(X, y, sample_weight=times)
    repeated = SemiSupervisedNMF(3, **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.class_information_, repeated.class_information_, rtol=1e-3)


@pytest.mark.parametrize("Model", MODELS)
def test_the_dispersion_of_counts_is_estimated_from_the_data_alone(Model):
    X, y = classes_of_counts()
    model = Model(3, beta_loss="negative-binomial").fit(X, y)
    assert model.loss_.dispersion < 0.05
    assert model.score(X, y) > 0.8
