"""Products with a narrow matrix against NumPy's, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.matrix import narrow
from partwise.parallel import thread_limit

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
OWN = pytest.mark.skipif(not narrow.AT_HAND, reason="this processor has no AVX-512, and BLAS is used")


@pytest.fixture(autouse=True, scope="module")
def small_ones_too():
    """The kernels serve products of any size here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "SMALL", 0)
        yield


def random_pair(n, m, k, dtype, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)).astype(dtype), rng.normal(size=(m, k)).astype(dtype)


@DTYPES
@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 150), m=st.integers(1, 150), k=st.integers(1, 40), seed=st.integers(0, 99))
def test_products_are_those_of_numpy(dtype, n, m, k, seed):
    X, B = random_pair(n, m, k, dtype, seed)
    exact = X.astype(float) @ B.astype(float)
    size = np.abs(X).astype(float) @ np.abs(B).astype(float)
    for laid_out in (X, np.asfortranarray(X)):
        error = np.abs(narrow.times(laid_out, B) - exact)
        assert (error <= 4 * np.sqrt(m) * np.finfo(dtype).eps * size).all()


@DTYPES
@pytest.mark.parametrize(("n", "m", "k"), [(3, 2100, 5), (2100, 3, 5), (1100, 1031, 9), (70, 47, 127)])
def test_products_in_several_spans_and_groups(dtype, n, m, k):
    X, B = random_pair(n, m, k, dtype, 0)
    exact = X.astype(float) @ B.astype(float)
    for laid_out in (X, np.asfortranarray(X)):
        np.testing.assert_allclose(
            narrow.times(laid_out, B), exact, rtol=0, atol=200 * np.finfo(dtype).eps * np.sqrt(m)
        )


@OWN
@DTYPES
@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 90), m=st.integers(1, 90), k=st.integers(2, 30), seed=st.integers(0, 99))
def test_a_row_does_not_depend_on_the_rows_beside_it(dtype, n, m, k, seed):
    X, B = random_pair(n, m, k, dtype, seed)
    together = narrow.times(X, B)
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    np.testing.assert_array_equal(narrow.times(X[some], B), together[some])


@DTYPES
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_same_bits_for_any_number_of_threads(dtype, order):
    X, B = random_pair(3000, 700, 30, dtype, 1)
    X = np.asarray(X, order=order)
    with thread_limit(1):
        alone = narrow.times(X, B)
    with thread_limit(3):
        np.testing.assert_array_equal(narrow.times(X, B), alone)


@DTYPES
@pytest.mark.parametrize(("n", "m"), [(5, 7), (66, 49), (9, 1031)])
def test_nothing_is_read_or_written_beyond_the_ends(dtype, n, m):
    """What lies behind the data in memory is not a number, and would be seen."""
    X, B = random_pair(n, m, 5, dtype, 2)
    memory = np.full(n * m + 200, np.nan, dtype)
    inside = memory[100 : 100 + n * m].reshape(n, m)
    inside[:] = X
    assert np.isfinite(narrow.times(inside, B)).all()
    A = np.full((n + 2, 5), np.nan, dtype)
    A[1:-1] = B[:1]
    assert np.isfinite(narrow.times(inside.T, A[1:-1])).all()


@DTYPES
def test_a_number_that_is_none_is_seen(dtype):
    """A NaN reaches the sums that it belongs to, and no others."""
    X, B = random_pair(9, 33, 4, dtype, 3)
    X[4, 30] = np.nan
    assert (np.isnan(narrow.times(X, B)).all(axis=1) == (np.arange(9) == 4)).all()
    assert (np.isnan(narrow.times(X.T, np.ones((9, 3), dtype))).all(axis=1) == (np.arange(33) == 30)).all()


@DTYPES
@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    m=st.integers(1, 60),
    k=st.integers(1, 140),
    share=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    seed=st.integers(0, 99),
)
def test_sparse_rows_are_multiplied_as_by_scipy(dtype, n, m, k, share, seed):
    rng = np.random.default_rng(seed)
    X = sp.random(n, m, share, "csr", dtype, rng=rng)
    B = rng.normal(size=(m, k)).astype(dtype)
    product = narrow.gathered(X.indptr, X.indices, X.data, B)
    error = np.abs(product - X.astype(float) @ B.astype(float))
    size = abs(X).astype(float) @ np.abs(B).astype(float)
    assert (error <= 4 * np.sqrt(m) * np.finfo(dtype).eps * size).all()
    i = int(rng.integers(n))
    np.testing.assert_array_equal(narrow.gathered(X[i].indptr, X[i].indices, X[i].data, B)[0], product[i])


@DTYPES
def test_sparse_rows_read_no_number_that_they_do_not_store(dtype):
    """The last row of B is read beyond its end, and a row that no entry names may be anything."""
    X = sp.csr_matrix(np.array([[0, 0, 2.0], [1.0, 0, 3.0]], dtype))
    B = np.array([[1.0, 2.0, 3.0], [np.nan, np.inf, np.nan], [5.0, 6.0, 7.0]], dtype)
    expected = [[10, 12, 14], [16, 20, 24]]
    np.testing.assert_array_equal(narrow.gathered(X.indptr, X.indices, X.data, B), expected)
