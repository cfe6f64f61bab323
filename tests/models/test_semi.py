"""SemiNMF: data of any sign, W nonnegative, components signed."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, SemiNMF
from partwise.initial import svd_start
from partwise.matrix import Dense

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def signed_data(n=60, m=20, k=3, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 1.0, (n, k)) @ rng.standard_normal((k, m)) + noise * rng.standard_normal((n, m))


X = signed_data()
MISSING = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)


@pytest.mark.parametrize("data", [X, MISSING, X - X.mean(axis=0), np.abs(X)])
@pytest.mark.parametrize("init", [None, "random"])
def test_the_objective_never_rises_and_W_is_nonnegative(data, init):
    model = SemiNMF(5, init=init, max_iter=60, tol=0.0)
    W = model.fit_transform(data)
    course = model.history_["objective"]
    assert (np.diff(course) <= 1e-12 * np.nansum(data**2)).all()
    assert (W >= 0).all()
    assert model.objective_ == pytest.approx(0.5 * np.nansum((data - W @ model.components_) ** 2))


def test_dense_is_sparse():
    kept = sp.random(60, 20, 0.4, random_state=0, format="csr")
    sparse = kept.multiply(X).tocsr()
    one, other = (SemiNMF(3, tol=1e-9, max_iter=3000).fit(data) for data in (sparse, sparse.toarray()))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
    start = SemiNMF(3, tol=0.0, max_iter=1)
    assert start.fit(sparse).history_["objective"][0] == pytest.approx(
        start.fit(sparse.toarray()).history_["objective"][0]
    )


def test_for_nonnegative_data_the_start_is_the_truncated_svd():
    """There the best of the rank is reached (Gillis & Kumar 2015)."""
    data = np.random.default_rng(0).gamma(2.0, 1.0, (40, 15))
    W, Ht = svd_start(Dense.of(data), 4, np.random.default_rng(0))
    best = (np.linalg.svd(data, compute_uv=False)[4:] ** 2).sum()
    assert (W >= 0).all()
    assert ((data - W @ Ht.T) ** 2).sum() == pytest.approx(best, rel=1e-3)


def test_parts_of_mixed_data_are_found_again():
    model = SemiNMF(3, tol=1e-8, max_iter=5000).fit(signed_data(noise=0.0))
    assert model.reconstruction_err_ < 1e-2 * np.linalg.norm(X)


def test_missing_entries_are_predicted():
    clean, gone = signed_data(noise=0.0), np.isnan(MISSING)
    model = SemiNMF(3, tol=1e-8, max_iter=3000)
    filled = model.inverse_transform(model.fit_transform(np.where(gone, np.nan, clean)))
    assert np.linalg.norm((filled - clean)[gone]) < 0.05 * np.linalg.norm(clean[gone])


def test_weights_are_repeated_rows_and_missing_entries():
    times = np.arange(len(X)) % 3 + 1
    # Enough steps for both, for the singular vectors of the two differ by rounding.
    options = {"tol": 1e-10, "max_iter": 3000}
    one = SemiNMF(3, **options).fit(X, sample_weight=times)
    other = SemiNMF(3, **options).fit(np.repeat(X, times, axis=0))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)
    seen = ~np.isnan(MISSING)
    weighted = SemiNMF(3).fit(X, weights=seen.astype(float))
    assert weighted.objective_ == pytest.approx(SemiNMF(3).fit(MISSING).objective_, rel=1e-2)


def test_transform_agrees_with_fit_transform_and_fits_new_rows():
    for data in (X, MISSING):
        model = SemiNMF(3)
        W = model.fit_transform(data)
        np.testing.assert_array_equal(W, model.transform(data))
        assert model.objective_ <= model.history_["objective"][-1] * (1 + 1e-6)
    new = signed_data(seed=0, noise=0.0)[:5]
    rebuilt = model.inverse_transform(model.transform(new))
    assert np.linalg.norm(rebuilt - new) < 0.2 * np.linalg.norm(new)


def test_scale():
    """ "samples": columns of W of root mean square ½; "components": components of norm one."""
    W = SemiNMF(3, scale="samples").fit_transform(X)
    np.testing.assert_allclose(np.sqrt((W**2).mean(axis=0)), 0.5, rtol=0.05)
    H = SemiNMF(3, scale="components").fit(X).components_
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1.0)


@pytest.mark.parametrize("power", [-300, 300])
def test_data_far_from_one(power):
    model = SemiNMF(3, scale="components").fit(X * 10.0**power)
    plain = SemiNMF(3, scale="components").fit(X)
    assert model.reconstruction_err_ / 10.0**power == pytest.approx(plain.reconstruction_err_, rel=1e-3)


def test_large_negative_entries_are_scaled_too():
    assert SemiNMF(2).fit(-np.abs(X).astype(np.float32) * np.float32(1e30)).data_exponent_ > 0


def test_float32_stays_float32():
    model = SemiNMF(3).fit(X.astype(np.float32))
    assert model.components_.dtype == np.float32
    assert model.objective_ == pytest.approx(SemiNMF(3).fit(X).objective_, rel=1e-2)


def test_a_start_of_the_user_may_be_signed():
    rng = np.random.default_rng(0)
    W, H = rng.random((60, 3)), rng.standard_normal((3, 20))
    model = SemiNMF(3, init="custom").fit(X, W=W, H=H)
    assert model.history_["objective"][0] == pytest.approx(0.5 * ((X - W @ H) ** 2).sum())
    with pytest.raises(ValueError, match="Negative values in data passed to NMF"):
        model.fit(X, W=-W, H=H)


@pytest.mark.parametrize(
    ("model", "data", "sentence"),
    [
        (NMF(2), X, r"Negative values in data passed to NMF: X\[.*SemiNMF"),
        (SemiNMF(2), np.zeros((4, 3)), "no observed entry other than zero"),
        (SemiNMF(2, init="nndsvd"), X, "init must be one of"),
        (SemiNMF(2, solver="mu"), X, "for signed factors use 'hals'"),
        (SemiNMF(30, init="svd"), X, "init='svd' needs n_components"),
    ],
)
def test_bad_input_gets_a_sentence(model, data, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(data)


def test_rows_that_cancel_are_data():
    """Their mean is zero, but they are not."""
    data = np.array([[1.0, -1.0], [2.0, -2.0], [-1.0, 1.0]])
    assert SemiNMF(2).fit(data).reconstruction_err_ < 1e-6
