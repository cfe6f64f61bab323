"""What each method is known to give: the Eckart-Young bound, splits of the SVD, PCA of sparse data, one-hot codes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from partwise.comparison import (
    METHODS,
    Factors,
    Method,
    compare,
    matched,
    register_method,
    relative_error,
    singular,
)
from partwise.comparison import methods as module
from partwise.comparison.methods import lda, nmf, pca, svd, svd_u, vq
from partwise.comparison.singular import leading_triplets


def drawn(n, m, rank, sparse, seed, dtype=np.float64):
    """Nonnegative data of a rank, dense or with most entries zero."""
    rng = np.random.default_rng(seed)
    X = (rng.gamma(1.0, 1.0, (n, rank)) @ rng.gamma(1.0, 1.0, (rank, m))).astype(dtype)
    if not sparse:
        return X
    X[rng.random((n, m)) < 0.8] = 0
    return sp.csr_matrix(X)


def drawn_sparse(n, m):
    """A few large singular values, so that Lanczos iterations are few."""
    rng = np.random.default_rng(0)
    columns = np.minimum((rng.pareto(0.7, 200_000) * 3).astype(int), m - 1)
    return sp.csr_matrix((np.ones(200_000), (rng.integers(0, n, 200_000), columns)), (n, m))


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def tail(X, k, mean=0.0):
    """√(Σ_{i>k} σ_i²) / ‖X‖, the least relative error of rank k."""
    sigma = np.linalg.svd(dense(X) - mean, compute_uv=False)
    return np.sqrt((sigma[k:] ** 2).sum()) / np.linalg.norm(dense(X))


@given(
    n=st.integers(2, 40),
    m=st.integers(2, 40),
    rank=st.integers(1, 12),
    k=st.integers(1, 40),
    sparse=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_truncated_svd_attains_the_eckart_young_bound_and_nothing_of_its_rank_is_below(
    n, m, rank, k, sparse, seed
):
    X = drawn(n, m, rank, sparse, seed)
    k = min(k, n, m)
    if not dense(X).any():
        return
    bound = tail(X, k)
    for method in (svd, svd_u):
        assert relative_error(dense(X), method(X, k)) == pytest.approx(bound, abs=1e-8)
    for other in (nmf(X, k, seed), vq(X, k, seed % 100)):
        assert relative_error(dense(X), other) >= bound - 1e-9


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "m", "k"), [(300, 40, 3), (40, 300, 3), (400, 300, 7)])
def test_lanczos_and_lapack_agree(n, m, k, sparse, monkeypatch):
    X = drawn(n, m, 30, sparse, 0)
    mean = singular.column_means(X)
    monkeypatch.setattr(singular, "SMALL", 0)
    for centre in (None, mean):
        U, sigma, Vt = leading_triplets(X, k, centre)
        given_ = dense(X) - (0.0 if centre is None else centre)
        exact = np.linalg.svd(given_, compute_uv=False)[:k]
        np.testing.assert_allclose(sigma, exact, rtol=1e-8)
        np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-8)
        np.testing.assert_allclose(given_ @ Vt.T, U * sigma, atol=1e-7 * sigma[0])
        assert ((np.sign(Vt) * Vt**2).sum(axis=1) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_is_kept(dtype):
    X = drawn(200, 60, 8, True, 1, dtype)
    for method in (svd, pca, nmf, vq):
        found = method(X, 4, 0)
        assert found.codes.dtype == found.bases.dtype == dtype
        assert relative_error(X, found) >= tail(X, 5) - 1e-4


def test_the_mean_of_pca_is_one_more_dimension():
    """PCA may be below the bound of its rank, never below that of the next; with data far from zero it is below."""
    X = drawn(60, 30, 25, False, 2) + 100.0
    for k in (1, 5, 12):
        error = relative_error(X, pca(X, k))
        assert tail(X, k + 1) - 1e-12 <= error < tail(X, k)
        assert error == pytest.approx(tail(X, k, X.mean(axis=0)), rel=1e-9)


def test_both_splits_give_the_same_product_and_different_codes():
    X = drawn(50, 30, 10, False, 3)
    left, right = svd(X, 4), svd_u(X, 4)
    np.testing.assert_allclose(left.reconstruction(), right.reconstruction(), atol=1e-9)
    assert not np.allclose(left.codes, right.codes)
    np.testing.assert_allclose(np.linalg.norm(left.bases, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(right.codes, axis=0), 1.0)


@pytest.mark.parametrize("k", [3, 20, 30])
def test_pca_of_sparse_data_is_pca_of_dense_data(k):
    X = drawn(80, 30, 20, True, 4)
    a, b = pca(X, k), pca(dense(X), k)
    reference = PCA(k, svd_solver="full").fit(dense(X))
    np.testing.assert_allclose(a.mean, reference.mean_)
    np.testing.assert_allclose(a.reconstruction(), b.reconstruction(), atol=1e-8)
    np.testing.assert_allclose(a.codes, b.codes, atol=1e-6)
    _, cosines = matched(a.bases[:3], reference.components_[:3])
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)


def test_sparse_data_are_never_made_dense():
    import tracemalloc

    X = drawn_sparse(10_000, 8_000)  # 640 MB if it were dense
    tracemalloc.start()
    for method in (svd, pca):
        relative_error(X, method(X, 3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_are_all_the_same_leave_nothing_to_centred_components(sparse, monkeypatch):
    monkeypatch.setattr(singular, "SMALL", 0)
    X = np.tile(np.arange(30.0), (40, 1))
    found = pca(sp.csr_matrix(X) if sparse else X, 2)
    np.testing.assert_allclose(found.reconstruction(), X, atol=1e-9)


@pytest.mark.parametrize("many", [False, True])
def test_vq_gives_each_row_the_centre_of_its_cluster(many, monkeypatch):
    if many:
        monkeypatch.setattr(module, "MANY_ROWS", 10)
    X = drawn(90, 6, 5, False, 5)
    found = vq(X, 4, 7)
    assert (found.codes.sum(axis=1) == 1).all()
    assert set(np.unique(found.codes)) == {0.0, 1.0}
    sizes = found.codes.sum(axis=0)
    assert (np.diff(sizes) <= 0).all()
    if not many:
        reference = KMeans(4, n_init=1, random_state=7).fit(X)
        np.testing.assert_allclose(found.reconstruction(), reference.cluster_centers_[reference.labels_])


def test_lda_gives_shares_that_add_up_to_documents_of_their_length():
    counts = sp.csr_matrix(np.random.default_rng(0).poisson(drawn(40, 25, 3, False, 6)))
    found = lda(counts, 3, 0)
    np.testing.assert_allclose(found.codes.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.bases.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.reconstruction().sum(axis=1), np.asarray(counts.sum(axis=1)).ravel())
    assert relative_error(counts, found) < 1.0


def test_nmf_and_lda_have_nothing_negative_and_the_others_say_when_they_have():
    X = drawn(40, 20, 6, False, 7)
    assert not nmf(X, 4, 0).signed
    assert not vq(X, 4, 0).signed
    assert svd(X, 4).signed
    assert pca(X, 4).signed


def test_a_method_is_one_function_and_one_line():
    before = dict(METHODS)

    def first_rows(X, k, seed):
        codes = np.zeros((len(X), k))
        codes[:k] = np.eye(k)
        return Factors(codes, X[:k])

    try:
        register_method("rows", Method("first rows", first_rows, seeded=False))
        found = compare(drawn(20, 10, 4, False, 8), 3, methods="rows, svd")
        assert [row["title"] for row in found.rows] == ["first rows", "SVD UΣ·Vᵀ"]
        assert found.rows[0]["relative_error"] > found.rows[1]["relative_error"]
        with pytest.raises(ValueError, match="'rows' is already registered, as first rows"):
            register_method("rows", Method("other", nmf))
    finally:
        METHODS.clear()
        METHODS.update(before)
