"""Columns without any data: named in a warning, part of no part, and without a say in what is found."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partwise import (
    ARD,
    NMF,
    BayesianBooleanMF,
    BayesianNMF,
    BinaryNMF,
    BooleanMF,
    DeepNMF,
    GraphNMF,
    SemiNMF,
    SemiSupervisedNMF,
)
from partwise.datasets import make_boolean

BLANK = [2, 5]
SEEN = [0, 1, 3, 4, 6, 7, 8]


def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(8.0 * rng.random((40, 2)) @ rng.random((2, 9))).astype(float)
    X[:, BLANK] = np.nan
    return X


def answers():
    X = make_boolean(60, 9, 2, density=0.3, random_state=1).data.astype(float)
    X[:, BLANK] = np.nan
    return X


@pytest.mark.parametrize(
    "model",
    [
        NMF(2),
        NMF(4, prior_W=ARD(), prior_H=ARD()),
        GraphNMF(2, graph_weight=1.0),
        SemiNMF(2),
        SemiSupervisedNMF(2),
        BinaryNMF(2, random_state=0),
        DeepNMF((3, 2)),
        DeepNMF((3, 2), activation="softplus", max_iter=20),
    ],
    ids=lambda model: type(model).__name__,
)
def test_parts_are_zero_where_nothing_was_observed(model):
    X = counts()
    y = np.arange(len(X)) % 2
    with pytest.warns(UserWarning, match="Columns 2, 5 have no observed entry: nothing is learned") as said:
        model.fit(X, y) if isinstance(model, SemiSupervisedNMF) else model.fit(X)
    assert sum("no observed entry" in str(one.message) for one in said) == 1
    assert said[0].filename == __file__
    assert (model.components_[:, BLANK] == 0).all()
    assert (model.components_[:, SEEN] != 0).any(axis=0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:, SEEN], y) if isinstance(model, SemiSupervisedNMF) else model.fit(X[:, SEEN])


def test_features_that_a_graph_ties_to_others_are_learned_through_it():
    chain = sp.diags_array([np.ones(8), np.ones(8)], offsets=[-1, 1]).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = GraphNMF(2, graph=chain, graph_on="features", graph_weight=1.0).fit(counts())
    assert (model.components_[:, BLANK] > 0).any()


@pytest.mark.parametrize(("method", "k"), [("auto", 2), ("auto", "auto"), ("panpal", 2), ("primp", "auto")])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_tiles_are_those_of_the_table_without_such_columns(method, k, as_sparse):
    X = answers()
    given = sp.csr_array(X) if as_sparse else X
    model = BooleanMF(k, method=method, random_state=0)
    with pytest.warns(UserWarning, match="Columns 2, 5 have no observed entry: .* no tile has such a column"):
        usage = model.fit_transform(given, sample_weight=np.ones(len(X)))
    alone = BooleanMF(k, method=method, random_state=0)
    np.testing.assert_array_equal(usage, alone.fit_transform(given[:, SEEN], sample_weight=np.ones(len(X))))
    np.testing.assert_array_equal(model.components_[:, SEEN], alone.components_)
    assert not model.components_[:, BLANK].any()
    assert model.description_length_ == alone.description_length_
    np.testing.assert_array_equal(model.transform(given), usage)


def test_weights_of_zero_make_columns_that_were_not_observed():
    X = np.nan_to_num(answers())
    X[:, BLANK] = 1.0
    weights = np.ones(X.shape)
    weights[:, BLANK] = 0.0
    with pytest.warns(UserWarning, match="Columns 2, 5 have no observed entry"):
        model = BooleanMF(2, random_state=0).fit(X, weights=weights)
    assert not model.components_[:, BLANK].any()


def test_trust_knows_the_columns_by_their_places():
    X = answers()
    model = BooleanMF(2, random_state=0, max_iter=200)
    with pytest.warns(UserWarning, match="no observed entry"):
        model.fit(X)
    trust = model.trust(X, n_restarts=3, n_resamples=3)
    listed = [other["columns"] for tile in trust["alternatives"] for other in tile]
    assert all(len(columns) == 9 and not columns[BLANK].any() for columns in listed)
    alone = BooleanMF(2, random_state=0, max_iter=200).fit(X[:, SEEN])
    expected = alone.trust(X[:, SEEN], n_restarts=3, n_resamples=3)
    np.testing.assert_array_equal(trust["resamples"], expected["resamples"])
    np.testing.assert_array_equal(trust["undecided_columns"], expected["undecided_columns"])


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (BayesianNMF(2, n_chains=1, n_draws=20, n_warmup=20), counts()),
        (BayesianBooleanMF(2, n_chains=1, n_draws=20, n_warmup=20), answers()),
    ],
    ids=["nmf", "boolean"],
)
def test_posteriors_say_that_they_have_only_the_prior_there(model, X):
    with (
        warnings.catch_warnings(),
        pytest.warns(UserWarning, match="Columns 2, 5 have no observed entry: .* the prior alone"),
    ):
        model.fit(X)
    assert (model.components_std_[:, BLANK] > 0).all()
