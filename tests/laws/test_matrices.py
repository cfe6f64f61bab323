"""Laws of matrices: however the data are seen, the sums are the same, and are what brute force says."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sweeps import LOSSES, complete_matrices, data, data_for, factors, masked_matrices, streamed

from partwise.losses import KL
from partwise.matrix import Dense, InMemory, RowBlocks, Sparse
from partwise.matrix.sparse import transposed
from partwise.parallel import thread_limit

sizes = st.tuples(st.integers(1, 12), st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))


def brute_sums(X, weights, W, Ht, c, loss, shift):
    Y = W @ Ht.T + shift
    f, p = loss.functions, loss.parameter
    num, den = np.empty_like(Y), np.empty_like(Y)
    for place in np.ndindex(*Y.shape):
        x, y = X[place], Y[place]
        num[place] = f.pull(x, y, p)
        den[place] = f.push(1.0, y, p) + (0.0 if f.drag is None else f.drag(x, y, p))
    return (weights * c * num) @ Ht, (weights * c * den) @ Ht


@given(size=sizes, weighted=st.booleans())
@pytest.mark.parametrize("name_of_loss", LOSSES)
def test_complete_data_in_every_form(name_of_loss, size, weighted):
    n, m, k, seed = size
    loss = LOSSES[name_of_loss]
    X = data_for(loss, n, m, seed)
    W, Ht = factors(n, m, k, seed + 1)
    r = np.random.default_rng(seed).random(n) + 0.5 if weighted else None
    shift = 0.01 if loss.pole else 0.0
    rows = [loss.value(X[i : i + 1], (W @ Ht.T + shift)[i : i + 1]) for i in range(n)]
    ones = np.ones_like(X)
    for name, matrix in complete_matrices(X, r).items():
        if loss.needs_positive_data and ("csr" in name or "csc" in name):
            continue  # d(0 | y) is infinite: sparse zeros cannot be
        assert np.allclose(matrix.product(Ht), X @ Ht), name
        assert np.allclose(matrix.transposed_product(W), X.T @ W), name
        assert np.allclose(matrix.weight_product(Ht), ones @ Ht), name
        assert np.allclose(matrix.transposed_weight_product(W), ones.T @ W), name
        assert np.allclose(matrix.row_divergence(W, Ht, loss, shift), rows), name
        weights = np.ones(n) if r is None else r
        assert matrix.mean() == pytest.approx((weights @ X).sum() / (weights.sum() * m)), name
        assert matrix.squared_norm() == pytest.approx((weights @ X**2).sum()), name
        assert np.allclose(matrix.column_observed(), weights.sum()), name
        if isinstance(matrix, InMemory):
            for got, want in zip(
                matrix.ratio_sums(W, Ht, loss, shift), brute_sums(X, 1, W, Ht, 1, loss, shift)
            ):
                assert np.allclose(got, want), name
            for got, want in zip(
                matrix.T.ratio_sums(Ht, W, loss, shift), brute_sums(X.T, 1, Ht, W, weights, loss, shift)
            ):
                assert np.allclose(got, want), name


@given(size=sizes)
@pytest.mark.parametrize("name_of_loss", LOSSES)
def test_weighted_data_in_every_form(name_of_loss, size):
    n, m, k, seed = size
    loss = LOSSES[name_of_loss]
    rng = np.random.default_rng(seed)
    X = data_for(loss, n, m, seed)
    weights = rng.random((n, m)) * (rng.random((n, m)) < 0.7)
    W, Ht = factors(n, m, k, seed + 1)
    shift = 0.01 if loss.pole else 0.0
    Y = W @ Ht.T + shift
    rows = [sum(weights[i, j] * loss.value(X[i, j], Y[i, j]) for j in range(m)) for i in range(n)]
    for name, matrix in masked_matrices(X, weights).items():
        if loss.needs_positive_data and "all stored" in name:
            continue
        assert np.allclose(matrix.product(Ht), (weights * X) @ Ht), name
        assert np.allclose(matrix.weight_product(Ht), weights @ Ht), name
        assert np.allclose(matrix.row_divergence(W, Ht, loss, shift), rows), name
        assert np.allclose(matrix.row_observed(), weights.sum(axis=1)), name
        for got, want in zip(
            matrix.ratio_sums(W, Ht, loss, shift), brute_sums(X, weights, W, Ht, 1, loss, shift)
        ):
            assert np.allclose(got, want), name
        for got, want in zip(
            matrix.T.ratio_sums(Ht, W, loss, shift), brute_sums(X.T, weights.T, Ht, W, 1, loss, shift)
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
        assert matrix.row_divergence(W, Ht, KL, 0.01).dtype == np.float64, name


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


@given(size=sizes, seed=st.integers(0, 10**6))
def test_rows_are_those_rows_in_any_order(size, seed):
    n, m, k, data_seed = size
    X, r = data(n, m, data_seed), np.random.default_rng(seed).random(n) + 0.5
    W, Ht = factors(n, m, k, seed)
    index = np.random.default_rng(seed).integers(0, n, 7)
    for name, matrix in complete_matrices(X, r).items():
        losses = matrix.row_divergence(W, Ht, KL, 0.1)
        for chosen in (index, slice(0, max(1, n // 2))):
            part = matrix.rows(chosen)
            assert np.allclose(part.product(Ht), X[chosen] @ Ht), name
            assert np.allclose(part.row_weight, r[chosen]), name
            assert np.allclose(part.row_divergence(W[chosen], Ht, KL, 0.1), losses[chosen]), name
    weights = np.random.default_rng(seed).integers(0, 3, (n, m)).astype(float)
    for name, matrix in masked_matrices(X, weights).items():
        assert np.allclose(matrix.rows(index).weight_product(Ht), weights[index] @ Ht), name


def test_sums_over_the_blocks_of_a_file_are_those_in_memory_to_the_bit(monkeypatch):
    monkeypatch.setattr("partwise.matrix.base.BLOCK_ENTRIES", 64)
    X = data(37, 8, 1)
    W, Ht = factors(37, 8, 3, 2)
    inside, outside = Dense.of(X), streamed(X, height=8)
    for matrix in (inside, outside):
        assert [rows.stop - rows.start for rows, _ in matrix.blocks()] == [8, 8, 8, 8, 5]

    def task(rows, block, A):
        return (block.product(Ht),), (block.T.product(A), A.T @ A)

    found, again = inside.map_reduce(task, W), outside.map_reduce(task, W)
    for a, b in zip((*found[0], *found[1]), (*again[0], *again[1])):
        assert np.array_equal(a, b)
    assert np.allclose(found[1][0], X.T @ W)


def test_blocks_that_change_or_end_at_a_later_reading_are_refused():
    X = data(8, 4, 0)
    once = iter([Dense.of(X[:4]), Dense.of(X[4:])])
    spent = RowBlocks(lambda: once, [4, 4], 4, X.dtype)
    spent.product(np.ones((4, 1)))
    with pytest.raises(ValueError, match="ended after 0 of 8 rows"):
        spent.product(np.ones((4, 1)))
    other = RowBlocks(lambda: iter([Dense.of(X[:4]), Dense.of(X[4:, :3])]), [4, 4], 4, X.dtype)
    with pytest.raises(ValueError, match=r"begins at row 4 has shape \(4, 3\) now and had \(4, 4\)"):
        other.product(np.ones((4, 1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squared_norms_have_the_same_bits_whether_zeros_are_stored_or_not(dtype):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((57, 33)) < 0.6, 0.0, rng.gamma(1.0, 1.0, (57, 33))).astype(dtype)
    found = [
        Dense.of(X),
        Dense.of(np.asfortranarray(X)),
        Sparse.of(sp.csr_array(X)),
        Sparse.of(sp.csc_array(X)),
    ]
    assert len({one.squared_norm() for one in found}) == 1
    assert found[0].squared_norm() == pytest.approx((X.astype(float) ** 2).sum())
