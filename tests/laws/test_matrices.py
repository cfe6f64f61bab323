"""Laws of matrices: however the data are seen, the sums are the same, and are what brute force says."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sweeps import BETAS, complete_matrices, data, factors, masked_matrices

from partwise.losses import BetaDivergence
from partwise.matrix import InMemory
from partwise.matrix.sparse import transposed
from partwise.parallel import thread_limit

sizes = st.tuples(st.integers(1, 12), st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))


def brute_sums(X, weights, W, Ht, c, beta, shift):
    Y = W @ Ht.T + shift
    num = (weights * c * X * Y ** (beta - 2)) @ Ht
    den = (weights * c * Y ** (beta - 1)) @ Ht
    return num, den


@given(size=sizes, weighted=st.booleans())
@pytest.mark.parametrize("beta", BETAS)
def test_complete_data_in_every_form(beta, size, weighted):
    n, m, k, seed = size
    X = data(n, m, seed, zeros=0.0 if beta <= 0 else 0.4)
    W, Ht = factors(n, m, k, seed + 1)
    r = np.random.default_rng(seed).random(n) + 0.5 if weighted else None
    shift = 0.01 if beta < 2 else 0.0
    rows = [BetaDivergence(beta).value(X[i : i + 1], (W @ Ht.T + shift)[i : i + 1]) for i in range(n)]
    ones = np.ones_like(X)
    for name, matrix in complete_matrices(X, r).items():
        if beta <= 0 and ("csr" in name or "csc" in name):
            continue  # d(0 | y) is infinite: sparse zeros cannot be
        assert np.allclose(matrix.product(Ht), X @ Ht), name
        assert np.allclose(matrix.transposed_product(W), X.T @ W), name
        assert np.allclose(matrix.weight_product(Ht), ones @ Ht), name
        assert np.allclose(matrix.transposed_weight_product(W), ones.T @ W), name
        assert np.allclose(matrix.row_divergence(W, Ht, beta, shift), rows), name
        weights = np.ones(n) if r is None else r
        assert matrix.mean() == pytest.approx((weights @ X).sum() / (weights.sum() * m)), name
        assert matrix.squared_norm() == pytest.approx((weights @ X**2).sum()), name
        assert np.allclose(matrix.column_observed(), weights.sum()), name
        if isinstance(matrix, InMemory):
            for got, want in zip(
                matrix.ratio_sums(W, Ht, beta, shift), brute_sums(X, 1, W, Ht, 1, beta, shift)
            ):
                assert np.allclose(got, want), name
            for got, want in zip(
                matrix.T.ratio_sums(Ht, W, beta, shift), brute_sums(X.T, 1, Ht, W, weights, beta, shift)
            ):
                assert np.allclose(got, want), name


@given(size=sizes)
@pytest.mark.parametrize("beta", BETAS)
def test_weighted_data_in_every_form(beta, size):
    n, m, k, seed = size
    rng = np.random.default_rng(seed)
    X = data(n, m, seed, zeros=0.0 if beta <= 0 else 0.4)
    weights = rng.random((n, m)) * (rng.random((n, m)) < 0.7)
    W, Ht = factors(n, m, k, seed + 1)
    shift = 0.01 if beta < 2 else 0.0
    Y = W @ Ht.T + shift
    loss = BetaDivergence(beta)
    rows = [sum(weights[i, j] * loss.value(X[i, j], Y[i, j]) for j in range(m)) for i in range(n)]
    for name, matrix in masked_matrices(X, weights).items():
        if beta <= 0 and "all stored" in name:
            continue
        assert np.allclose(matrix.product(Ht), (weights * X) @ Ht), name
        assert np.allclose(matrix.weight_product(Ht), weights @ Ht), name
        assert np.allclose(matrix.row_divergence(W, Ht, beta, shift), rows), name
        assert np.allclose(matrix.row_observed(), weights.sum(axis=1)), name
        for got, want in zip(
            matrix.ratio_sums(W, Ht, beta, shift), brute_sums(X, weights, W, Ht, 1, beta, shift)
        ):
            assert np.allclose(got, want), name
        for got, want in zip(
            matrix.T.ratio_sums(Ht, W, beta, shift), brute_sums(X.T, weights.T, Ht, W, 1, beta, shift)
        ):
            assert np.allclose(got, want), name


@given(size=sizes)
def test_packed_rows_hold_every_row_once(size):
    n, m, _, seed = size
    X = data(n, m, seed)
    for matrix in complete_matrices(X).values():
        if not isinstance(matrix, InMemory):
            continue
        for view, want in ((matrix, X), (matrix.T, X.T)):
            got = np.zeros_like(want)
            for slab in view.packed(0, len(want)):
                for i in range(slab.stop - slab.start):
                    part = slice(slab.indptr[i], slab.indptr[i + 1])
                    columns = slab.indices[part] if slab.indices.size else np.arange(want.shape[1])
                    if slab.u[part].size:
                        got[slab.start + i, columns[: slab.u[part].size]] += slab.u[part]
            assert np.array_equal(got, want)


def test_float32_stays_float32():
    X = data(8, 6, 0, dtype=np.float32)
    W, Ht = factors(8, 6, 2, 1, np.float32)
    for name, matrix in complete_matrices(X).items():
        assert matrix.dtype == np.float32, name
        assert matrix.product(Ht).dtype == np.float32, name
        assert matrix.row_divergence(W, Ht, 1.0, 0.01).dtype == np.float64, name


def test_transposing_twice_is_the_same_data():
    X = data(7, 5, 3)
    for matrix in complete_matrices(X).values():
        if isinstance(matrix, InMemory):
            assert np.array_equal(matrix.T.T.product(np.eye(5)), X)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_transpose_is_the_same_however_many_threads_make_it(threads):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((700, 500), dtype=np.float32) * (rng.random((700, 500)) < 0.6))
    with thread_limit(threads):
        indptr, indices, values = transposed(X.indptr, X.indices, np.stack([X.data, 2 * X.data]), 500)
    expected = X.T.tocsr()
    expected.sort_indices()
    assert np.array_equal(indptr, expected.indptr)
    assert np.array_equal(indices, expected.indices)
    assert np.array_equal(values, np.stack([expected.data, 2 * expected.data]))
