"""Data of which hardly anything was observed, or whose parts are next to nothing: numbers all the same."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF
from partwise.priors import Bounds

pytestmark = [
    pytest.mark.filterwarnings("ignore:So many entries are missing"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def with_gaps(X, share, rng):
    return np.where(rng.random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("seed", range(12))
def test_single_precision_where_hardly_anything_was_observed(seed):
    rng = np.random.default_rng(seed)
    X = with_gaps(rng.random((32, 5)) @ rng.random((5, 31)), 0.95, rng).astype(np.float32)
    model = NMF(31)
    assert np.isfinite(model.fit_transform(X)).all()
    assert np.isfinite(model.components_).all()


def test_a_component_that_nothing_observed_bounds_stays_within_numbers():
    r = np.random.default_rng(41)
    X = r.gamma(1, 1, (15, 2)) @ r.gamma(0.5, 1, (2, 10))
    X[r.random(X.shape) < 0.5] = 0
    X = with_gaps(X, 0.9, r).astype(np.float32)
    model = NMF(2)
    assert np.isfinite(model.fit_transform(X)).all()
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("seed", [9, 13, 22])
def test_components_that_died_give_rows_that_are_numbers(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((32, 5)) @ rng.random((5, 31))
    X[rng.random(32) < 0.3] = 0
    X[:, rng.random(31) < 0.2] = 0
    X = with_gaps(X, 0.1, rng).astype(np.float32)
    assert np.isfinite(NMF(30, solver="scd", max_iter=3, init="random").fit_transform(X)).all()


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_data_with_stored_gaps_are_the_dense_ones(share, kind):
    rng = np.random.default_rng(1)
    X = with_gaps(rng.random((100, 40)) * (rng.random((100, 40)) < 0.9), share, rng)
    dense, sparse = NMF(4).fit(X), NMF(4).fit(kind(X))
    assert sparse.reconstruction_err_ == pytest.approx(dense.reconstruction_err_, rel=0.02)
    np.testing.assert_allclose(sparse.transform(kind(X)), sparse.transform(X), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("side", ["prior_W", "prior_H"])
@pytest.mark.parametrize("beta", [1.2, 1.5])
def test_bounds_on_one_factor_do_not_let_it_vanish(side, beta):
    X = np.random.default_rng(0).random((40, 5)) @ np.random.default_rng(1).random((5, 30))
    bounded = NMF(4, beta_loss=beta, max_iter=1000, **{side: Bounds(0, 1.0)}).fit(X)
    history = bounded.history_["objective"]
    assert (np.diff(history) <= 1e-9).all()
    assert bounded.objective_ <= history[-1] * (1 + 1e-9)
    assert bounded.objective_ == pytest.approx(
        NMF(4, beta_loss=beta, max_iter=1000).fit(X).objective_, rel=0.05
    )


def test_a_model_of_filled_data_takes_rows_with_any_gaps():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4)) @ rng.random((4, 20))
    model = NMF(4, solver="filled").fit(with_gaps(X, 0.2, rng))
    whole = model.transform(X[:3])
    assert np.allclose(whole @ model.components_, X[:3], atol=0.1)
    most = np.where(rng.random((3, 20)) < 0.7, np.nan, X[:3])
    assert np.isfinite(model.transform(most)).all()
