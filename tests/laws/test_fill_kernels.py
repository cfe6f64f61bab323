"""Reconstructions that are filled in as they are made, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.matrix import Dense, narrow
from partwise.matrix.fill_kernels import fill_rows, pack
from partwise.parallel import thread_limit

pytestmark = pytest.mark.skipif(not narrow.AT_HAND, reason="this processor has no AVX-512, and BLAS is used")
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def random_gaps(n, m, k, dtype, seed, share=0.3):
    rng = np.random.default_rng(seed)
    v = (rng.random((n, m)) >= share).astype(dtype)
    u = rng.random((n, m)).astype(dtype) * v
    return rng.random((n, k)).astype(dtype), rng.random((m, k)).astype(dtype), u, v


def filled(A, B, u, v):
    Y, errors = np.full_like(u, np.nan), np.empty(len(u))
    fill_rows(A, pack(B), u, v, Y, errors)
    return Y, errors


@DTYPES
@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 70), m=st.integers(1, 150), k=st.integers(1, 30), seed=st.integers(0, 99))
def test_what_was_observed_stays_and_the_rest_is_the_product(dtype, n, m, k, seed):
    A, B, u, v = random_gaps(n, m, k, dtype, seed)
    Y, errors = filled(A, B, u, v)
    guess = A.astype(float) @ B.astype(float).T
    np.testing.assert_array_equal(Y[v != 0], u[v != 0])
    np.testing.assert_allclose(Y[v == 0], guess[v == 0], rtol=4 * k * np.finfo(dtype).eps)
    np.testing.assert_allclose(
        errors, ((u - guess) ** 2 * v).sum(axis=1), rtol=0, atol=8 * k * m * np.finfo(dtype).eps * (k + 1)
    )


@DTYPES
@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 70), m=st.integers(1, 150), seed=st.integers(0, 99))
def test_a_row_does_not_depend_on_the_rows_beside_it(dtype, n, m, seed):
    A, B, u, v = random_gaps(n, m, 9, dtype, seed)
    Y, errors = filled(A, B, u, v)
    some = np.sort(np.random.default_rng(seed).permutation(n)[: n // 2 + 1])
    alone, squares = filled(*(np.ascontiguousarray(part) for part in (A[some], B, u[some], v[some])))
    np.testing.assert_array_equal(alone, Y[some])
    np.testing.assert_array_equal(squares, errors[some])


@DTYPES
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_completed_data_by_any_number_of_threads(dtype, transposed, monkeypatch):
    monkeypatch.setattr(narrow, "SMALL", 0)
    monkeypatch.setattr("partwise.matrix.dense.PART_ENTRIES", 1 << 10)
    A, B, u, v = random_gaps(230, 117, 8, dtype, 0)
    X = Dense.of(np.where(v != 0, u, 0), v)
    if transposed:
        X, A, B, u, v = X.T, B, A, u.T, v.T
    whole = np.where(v != 0, u, A @ B.T)
    found = []
    for threads in (1, 3):
        with thread_limit(threads):
            product, error = X.filled_product_and_error(A, B, B)
            np.testing.assert_array_equal(product, X.filled_product(A, B, B))
            found.append((product, error))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
    np.testing.assert_allclose(found[0][0], whole @ B, rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert found[0][1] == pytest.approx(float((((u - A @ B.T) * v) ** 2).sum()), rel=1e-4)
