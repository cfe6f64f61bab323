"""Float64 data that are worked on in float32 first: the answer is that of float64."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, load, save
from partwise.models import narrow


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    monkeypatch.setattr(narrow, "WORTHWHILE", 0)


@pytest.fixture
def precisions():
    """The type of the factors at every step of a fit, by a callback."""
    seen = []
    return seen, [lambda info, state: seen.append(state.W.dtype)]


def table(rank, noise, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 1, (90, rank)) @ rng.gamma(0.5, 1, (rank, 40)) + noise * rng.random((90, 40))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("order", ["C", "F", "csr", "csc"])
def test_a_fit_in_float32_ends_where_one_in_float64_does(loss, order, precisions, monkeypatch, tmp_path):
    seen, callbacks = precisions
    X = table(6, 1.0)
    X = sp.csr_matrix(X * (X > 2)).asformat(order) if order.startswith("cs") else np.asarray(X, order=order)
    found = NMF(4, beta_loss=loss, callbacks=callbacks)
    W = found.fit_transform(X)
    assert set(seen) == {np.dtype(np.float32)}
    assert W.dtype == found.components_.dtype == np.float64
    monkeypatch.setattr(narrow, "WORTHWHILE", np.inf)
    wide = NMF(4, beta_loss=loss).fit(X)
    assert found.reconstruction_err_ == pytest.approx(wide.reconstruction_err_, rel=2e-3)
    # What is told of the end is told in all digits, and transform gives W to the bit.
    np.testing.assert_array_equal(found.transform(X), W)
    if loss == "frobenius":
        assert found.reconstruction_err_ == pytest.approx(
            np.linalg.norm(np.asarray(X - W @ found.components_)), rel=1e-10
        )
    objective = found.history_["objective"]
    assert len(objective) == found.n_iter_ + 1
    assert (np.diff(objective) <= 1e-5 * objective[0]).all()
    np.testing.assert_array_equal(load(save(found, tmp_path / "m")).transform(X), W)


def test_data_that_are_nearly_exact_are_finished_in_float64(precisions):
    seen, callbacks = precisions
    X = table(3, 0.0)
    model = NMF(3, max_iter=4000, tol=1e-6, callbacks=callbacks).fit(X)
    assert {seen[0], seen[-1]} == {np.dtype(np.float32), np.dtype(np.float64)}
    assert model.reconstruction_err_ < 1e-4 * np.linalg.norm(X)
    assert len(model.history_["objective"]) == len(model.history_["seconds"]) == model.n_iter_ + 1
    assert (np.diff(model.history_["seconds"]) >= 0).all()


def test_a_small_tolerance_is_met_in_float64(precisions):
    seen, callbacks = precisions
    X = table(6, 1.0)
    model = NMF(4, tol=1e-9, max_iter=5000, callbacks=callbacks).fit(X)
    assert {seen[0], seen[-1]} == {np.dtype(np.float32), np.dtype(np.float64)}
    again = NMF(4, tol=1e-9, max_iter=5000, init="custom")
    again.fit(X, W=model.transform(X), H=model.components_)
    assert again.reconstruction_err_ == pytest.approx(model.reconstruction_err_, rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"tol": 0},
        {"solver": "cd"},
        {"alpha_W": 0.1},
        {"beta_loss": "itakura-saito"},
    ],
)
def test_where_digits_may_matter_all_is_done_in_float64(options, precisions):
    seen, callbacks = precisions
    NMF(4, max_iter=20, callbacks=callbacks, **options).fit(table(6, 1.0) + 1e-3)
    assert set(seen) == {np.dtype(np.float64)}


def test_an_interrupted_fit_goes_on_where_it_was(tmp_path):
    class Stop(Exception):
        pass

    def stop(info, state):
        if info.iteration == 40:
            raise Stop

    X, options = table(3, 0.0), {"n_components": 3, "tol": 1e-6, "max_iter": 500}
    whole = NMF(**options).fit(X)
    with pytest.raises(Stop):
        NMF(**options, callbacks=[stop]).fit(X, checkpoint=tmp_path / "c")
    again = NMF(**options).fit(X, checkpoint=tmp_path / "c")
    np.testing.assert_allclose(again.components_, whole.components_, rtol=1e-9, atol=1e-12)
