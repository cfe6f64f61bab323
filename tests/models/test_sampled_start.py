"""Fits of tall dense data begin at the factors of a sample of their rows."""

import numpy as np
import pytest

from partwise import NMF
from partwise.core.session import Interrupted
from partwise.models import sampled_start


@pytest.fixture(autouse=True)
def small_data_count(monkeypatch):
    monkeypatch.setattr(sampled_start, "ENTRIES", 0)


def tall(n=600, m=20, k=4, dtype=float):
    rng = np.random.default_rng(0)
    return rng.poisson(5 * rng.gamma(0.5, 1.0, (n, k)) @ rng.gamma(0.5, 1.0, (k, m))).astype(dtype)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_fit_begins_lower_and_ends_as_low(wide, dtype):
    X = tall(dtype=dtype)
    X = np.ascontiguousarray(X.T) if wide else X
    sampled, whole = NMF(4).fit(X), NMF(4, init="nndsvda").fit(X)
    # The objective is a difference of sums as large as this, each of which is rounded.
    rounding = 4 * np.finfo(dtype).eps * (X**2).sum()
    assert sampled.history_["objective"][0] < whole.history_["objective"][0]
    assert sampled.objective_ <= 1.01 * whole.objective_
    assert (np.diff(sampled.history_["objective"]) <= rounding).all()
    np.testing.assert_array_equal(sampled.fit_transform(X), sampled.transform(X))
    np.testing.assert_array_equal(NMF(4).fit(X).components_, sampled.components_)


def test_only_tall_complete_dense_data_without_further_wishes_are_sampled(monkeypatch):
    calls = []
    kept = sampled_start.sampled_start
    monkeypatch.setattr("partwise.models.nmf.sampled_start", lambda *given: calls.append(1) or kept(*given))
    X = tall()
    holes = X.copy()
    holes[0, 0] = np.nan
    for other in (X[:300], holes):
        NMF(4, max_iter=2, tol=0).fit(other)
    for changed in ({"init": "nndsvda"}, {"solver": "hals"}, {"alpha_W": 0.1}, {"beta_loss": "kl"}):
        NMF(4, max_iter=2, tol=0, **changed).fit(X)
    NMF(4, max_iter=2, tol=0).fit(X, sample_weight=np.ones(len(X)) * 2.0)
    assert not calls
    NMF(4, max_iter=2, tol=0).fit(X)
    assert calls


def test_a_resumed_fit_ends_with_the_same_bits(tmp_path):
    X = tall()
    whole = NMF(4, tol=0, max_iter=30).fit(X)

    def stop(info, state):
        if info.iteration == 7:
            raise KeyboardInterrupt

    with pytest.warns(Interrupted):
        NMF(4, tol=0, max_iter=30, callbacks=[stop]).fit(X, checkpoint=tmp_path / "saved")
    np.testing.assert_array_equal(
        NMF(4, tol=0, max_iter=30).fit(X, checkpoint=tmp_path / "saved").components_, whole.components_
    )
