"""Shares of each part in each entry, and Gamma rates for single entries."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF
from partwise.priors import Gamma


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 2.0, (12, 3)) @ rng.gamma(0.5, 2.0, (3, 7))).astype(float)
    # (Dense and sparse rows begin at different places, and meet as closely as they are solved.)
    return NMF(3, beta_loss="kl", max_iter=2000, tol=1e-10).fit(X), X


def by_hand(model, X):
    W, H = model.transform(X), model.components_
    out = np.zeros((*X.shape, len(H)))
    for i, j in np.ndindex(*X.shape):
        mean = sum(W[i, k] * H[k, j] for k in range(len(H)))
        for k in range(len(H)):
            known = mean if np.isnan(X[i, j]) else X[i, j]
            out[i, j, k] = known * W[i, k] * H[k, j] / mean if known else 0.0
    return out


def test_shares_are_those_of_brute_force_and_sum_to_the_data(fitted):
    model, X = fitted
    shares = model.shares(X)
    np.testing.assert_allclose(shares, by_hand(model, X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=2), X, rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_places_are_read_as_indices_are(fitted, form):
    model, X = fitted
    whole = by_hand(model, X)
    rows, columns = np.array([11, 2, 2, -1]), np.array([0, 6, 6, 1])
    given = form(X)
    np.testing.assert_allclose(model.shares(given, rows, columns), whole[rows, columns], rtol=1e-8, atol=1e-9)
    block = np.ix_([5, 1], [0, 2, 4])
    np.testing.assert_allclose(model.shares(given, *block), whole[block], rtol=1e-8, atol=1e-9)
    stored = X.nonzero()
    np.testing.assert_allclose(model.shares(given, *stored), whole[stored], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.shares(given, rows=[3, 4]), whole[[3, 4]], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.shares(given, columns=[3, 4]), whole[:, [3, 4]], rtol=1e-8, atol=1e-9)
    assert model.shares(given, [], []).shape == (0, 3)


def test_in_blocks_of_rows_and_for_missing_entries(fitted, monkeypatch):
    model, X = fitted
    gaps = X.copy()
    gaps[0, 0] = gaps[5, 3] = np.nan
    whole = by_hand(model, gaps)
    np.testing.assert_allclose(model.shares(gaps), whole, rtol=1e-10, atol=1e-12)
    monkeypatch.setattr("partwise.models.shares.TOGETHER", 10)
    np.testing.assert_allclose(model.shares(gaps), whole, rtol=1e-10, atol=1e-12)
    big = NMF(3, beta_loss="kl", max_iter=300).fit(X * 2.0**40)
    np.testing.assert_allclose(big.shares(X * 2.0**40).sum(axis=2), X * 2.0**40, rtol=1e-10)


def test_bad_places_get_a_sentence(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="whole numbers from 0 to 11"):
        model.shares(X, [12], [0])
    with pytest.raises(ValueError, match="whole numbers from 0 to 6"):
        model.shares(X, [0], [0.5])
    with pytest.raises(ValueError, match=r"numpy\.ix_"):
        model.shares(X, [0, 1], [0, 1, 2])


def test_gamma_rates_for_single_entries():
    rng = np.random.default_rng(1)
    rates, A = rng.random((6, 2)) + 0.1, rng.random((6, 2)) + 0.1
    entrywise = Gamma(2.0, rates)
    one_by_one = sum(
        Gamma(2.0, rates[i, k]).log_density(A[i : i + 1, k : k + 1]) for i, k in np.ndindex(6, 2)
    )
    assert entrywise.log_density(A) == pytest.approx(one_by_one)
    assert entrywise.rows(slice(2, 4)).value(A[2:4]) == pytest.approx(
        sum(Gamma(2.0, rates[i, k]).value(A[i : i + 1, k : k + 1]) for i in (2, 3) for k in (0, 1))
    )
    # Rates that are all the same are one rate.
    X = rng.poisson(3.0, (6, 5)).astype(float)
    settings = {"beta_loss": "kl", "max_iter": 30, "tol": 0, "prior_H": Gamma(1.0, 0.5)}
    one = NMF(2, prior_W=Gamma(1.0, 0.7), **settings).fit(X)
    many = NMF(2, prior_W=Gamma(1.0, np.full((6, 2), 0.7)), **settings).fit(X)
    np.testing.assert_allclose(one.components_, many.components_, rtol=1e-10)
    # An entry with a large rate is pushed to zero.
    rates = np.full((6, 2), 0.1)
    rates[0] = 1e6
    W = NMF(2, prior_W=Gamma(1.0, rates), **settings).fit_transform(X)
    assert W[0].max() < 1e-3 < W[1:].max(axis=1).min()
    assert np.isfinite(Gamma(0.5, rates).epsilon).all()
