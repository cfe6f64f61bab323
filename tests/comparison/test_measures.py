"""Laws of the measures: bounds, invariances, and the same on sparse data as on dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from partwise.comparison import (
    Factors,
    argmax_nmi,
    class_accuracy,
    cluster_nmi,
    hoyer,
    label_measures,
    matched,
    mean_sparseness,
    measures,
    relative_error,
    stability,
)

ROWS = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(2, 20)), elements=st.floats(-1e6, 1e6, width=32)
)


@given(rows=ROWS, scale=st.sampled_from([1e-150, 1e-3, -2.0, 1e150]))
def test_hoyer_lies_between_0_and_1_whatever_the_scale(rows, scale):
    found = hoyer(rows)
    zero = ~rows.any(axis=1)
    assert np.isnan(found[zero]).all()
    assert ((found[~zero] >= 0) & (found[~zero] <= 1)).all()
    np.testing.assert_allclose(hoyer(rows * scale), found, atol=1e-7)
    np.testing.assert_allclose(hoyer(rows[:, ::-1]), found, atol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 100])
def test_hoyer_is_1_for_one_nonzero_entry_and_0_where_all_are_equal(d):
    one, equal = np.zeros(d), np.full(d, -3.0)
    one[d // 2] = 5.0
    np.testing.assert_allclose(hoyer([one, equal]), [1.0, 0.0], atol=1e-12)
    # As Hoyer (2004) prints it, for two entries: (√2 − (1 + a) / √(1 + a²)) / (√2 − 1).
    between = np.r_[1.0, 0.5, np.zeros(0)]
    assert hoyer(between)[0] == pytest.approx((np.sqrt(2) - 1.5 / np.sqrt(1.25)) / (np.sqrt(2) - 1))


def test_the_mean_over_rows_leaves_out_rows_without_a_sparseness(monkeypatch):
    rows = np.array([[1.0, 0, 0], [0, 0, 0], [1, 1, 1]])
    assert mean_sparseness(rows) == pytest.approx(0.5)
    monkeypatch.setattr(measures, "_BLOCK", 3)
    assert mean_sparseness(rows) == pytest.approx(0.5)
    assert np.isnan(mean_sparseness(np.ones((4, 1))))


@given(
    n=st.integers(1, 12),
    m=st.integers(1, 12),
    k=st.integers(1, 5),
    centred=st.booleans(),
    sized=st.booleans(),
    seed=st.integers(0, 10**6),
    step=st.sampled_from([1, 7, 1 << 22]),
)
def test_relative_error_is_that_of_the_whole_matrix_sparse_or_dense(n, m, k, centred, sized, seed, step):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, m)) < 0.5, rng.gamma(1.0, 1.0, (n, m)), 0.0)
    X[0, 0] = 1.0
    factors = Factors(
        rng.standard_normal((n, k)),
        rng.standard_normal((k, m)),
        rng.standard_normal(m) if centred else None,
        rng.random(n) if sized else None,
    )
    made = (
        factors.codes @ factors.bases
        if not sized
        else (factors.weights[:, None] * factors.codes) @ factors.bases
    )
    made = made + factors.mean if centred else made
    np.testing.assert_allclose(factors.reconstruction(), made, atol=1e-12)
    before, measures._BLOCK = measures._BLOCK, step
    try:
        expected = np.linalg.norm(X - made) / np.linalg.norm(X)
        assert relative_error(X, factors) == pytest.approx(expected, rel=1e-9)
        assert relative_error(sp.csr_matrix(X), factors) == pytest.approx(expected, rel=1e-7)
        assert relative_error(sp.csc_array(X), factors) == pytest.approx(expected, rel=1e-7)
        if n * m > 1:
            gaps = X.copy()
            i, j = divmod(n * m - 1, m)
            gaps[i, j] = np.nan
            seen = ~np.isnan(gaps)
            expected = np.linalg.norm((X - made)[seen]) / np.linalg.norm(X[seen])
            assert relative_error(gaps, factors) == pytest.approx(expected, rel=1e-9)
            stored = sp.csr_matrix(np.where(seen, X, 1.0))
            stored.data[-1] = np.nan
            assert relative_error(stored, factors) == pytest.approx(expected, rel=1e-6)
    finally:
        measures._BLOCK = before


@given(k=st.integers(1, 6), m=st.integers(6, 20), seed=st.integers(0, 10**6))
def test_stability_knows_neither_order_nor_sign_nor_scale(k, m, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k, m))
    turned = A[rng.permutation(k)] * rng.choice([-3.0, 1e-5, 2.0], (k, 1))
    assert stability([A, turned, A]) == pytest.approx(1.0)
    B = rng.standard_normal((k, m))
    assert stability([A, B]) == pytest.approx(stability([B, turned]))
    assert 0 <= stability([A, B]) <= 1
    places, cosines = matched(A, turned)
    np.testing.assert_allclose(cosines, 1.0)
    assert sorted(places) == list(range(k))


def test_stability_of_orthogonal_bases_is_0_and_of_one_run_unknown():
    E = np.eye(6)
    assert stability([E[:3], E[3:]]) == 0.0
    assert stability([E[:3], E[[0, 1, 5]]]) == pytest.approx(2 / 3)
    assert np.isnan(stability([E]))
    # One to one: two components that are the same are not both matched to one.
    assert stability([E[[0, 0]], E[[0, 1]]]) == pytest.approx(0.5)


def test_matching_is_the_best_of_all_orders():
    from itertools import permutations

    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((5, 8)), rng.standard_normal((5, 8))
    cosine = np.abs((A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T)
    best = max(sum(cosine[i, p[i]] for i in range(5)) for p in permutations(range(5)))
    assert matched(A, B)[1].sum() == pytest.approx(best)


def blobs(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.eye(3)[y] * 5 + rng.random((n, 3)), y


def test_measures_with_labels_know_classes_from_noise():
    codes, y = blobs()
    assert class_accuracy(codes, y) == 1.0
    assert cluster_nmi(codes, y) == pytest.approx(1.0)
    assert argmax_nmi(codes, y) == pytest.approx(1.0)
    mixed = np.random.default_rng(0).permutation(y)
    assert class_accuracy(codes, mixed) < 0.6
    assert cluster_nmi(codes, mixed) < 0.2
    assert argmax_nmi(codes, mixed) < 0.2


def test_accuracy_does_not_see_the_units_of_codes_and_nmi_does_not_see_the_length_of_rows():
    rng = np.random.default_rng(0)
    codes, y = blobs()
    codes += rng.normal(0, 3, codes.shape)
    scaled = codes * [1.0, 1e-6, 1e4] + 7
    assert class_accuracy(codes, y) == pytest.approx(class_accuracy(scaled, y), abs=0.02)
    assert cluster_nmi(codes, y) == pytest.approx(cluster_nmi(codes * rng.uniform(0.1, 9, (120, 1)), y))


def test_small_classes_lessen_the_folds():
    codes, y = blobs(30)
    y = y.copy()
    y[:2] = 7
    assert 0.5 < class_accuracy(codes, y) <= 1.0
    assert np.isnan(class_accuracy(codes[:3], np.arange(3)))


def test_many_rows_are_judged_by_some_of_them_always_the_same(monkeypatch):
    monkeypatch.setattr(label_measures, "JUDGED", 50)
    y = np.arange(200) % 4
    rows = label_measures.judged_rows(y)
    assert len(rows) == len(set(rows)) == 50
    np.testing.assert_array_equal(rows, label_measures.judged_rows(y))
    assert len(label_measures.judged_rows(y[:40])) == 40
