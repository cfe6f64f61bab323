"""Rows that sweeps leave short of their minimum, against SciPy's solvers of bounded least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

from partwise import SemiNMF
from partwise.priors import Terms
from partwise.solvers.active_set import finish_rows

BOUNDS = st.sampled_from([(0.0, np.inf), (0.0, 1.0), (-np.inf, np.inf), (-0.5, 0.5)])


def alike(rng, m, k, likeness):
    """Directions of which each is nearly a sum of others."""
    B = rng.normal(size=(m, k))
    return B @ (np.eye(k) + likeness * rng.normal(size=(k, k)))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 30),
    k=st.integers(1, 12),
    bounds=BOUNDS,
    likeness=st.sampled_from([0.0, 3.0, 30.0]),
    seed=st.integers(0, 999),
)
def test_rows_end_at_the_least_squares_within_bounds(n, k, bounds, likeness, seed):
    rng = np.random.default_rng(seed)
    B, X = alike(rng, k + 8, k, likeness), rng.normal(size=(n, k + 8))
    A = np.clip(rng.normal(size=(n, k)) * (rng.random((n, k)) < 0.7), *bounds)
    finish_rows(A, (X @ B, B.T @ B), Terms(bounds=bounds), 1e-10)
    assert (bounds[0] <= A).all()
    assert (bounds[1] >= A).all()
    for a, x in zip(A, X):
        best = lsq_linear(B, x, bounds, tol=1e-14, lsq_solver="exact").x
        ours, least = np.sum((x - B @ a) ** 2), np.sum((x - B @ best) ** 2)
        assert ours <= least * (1 + 1e-8) + 1e-10


def test_terms_of_rows_and_components_count():
    rng = np.random.default_rng(0)
    B, X = alike(rng, 12, 5, 3.0), rng.normal(size=(20, 12))
    linear, quadratic = rng.random((20, 5)), rng.random((1, 5))
    A = np.zeros((20, 5))
    finish_rows(A, (X @ B, B.T @ B), Terms(linear, quadratic), 1e-10)
    slope = A @ (B.T @ B) + quadratic * A - X @ B + linear
    assert np.abs(slope[A > 0]).max() < 1e-8
    assert slope[A == 0].min() > -1e-8


def test_rows_at_their_minimum_stay_to_the_bit_and_singular_matrices_raise_nothing():
    rng = np.random.default_rng(0)
    B, X = rng.random((9, 4)), rng.random((30, 9))
    A = np.array([nnls(B, x)[0] for x in X])
    kept = A.copy()
    finish_rows(A, (X @ B, B.T @ B), Terms(), 1e-7)
    np.testing.assert_array_equal(A, kept)
    B[:, 2] = B[:, 1]
    B[:, 3] = 0
    A = rng.random((30, 4))
    before = [np.sum((x - B @ a) ** 2) for a, x in zip(A, X)]
    finish_rows(A, (X @ B, B.T @ B), Terms(), 1e-7)
    assert np.isfinite(A).all()
    assert all(np.sum((x - B @ a) ** 2) <= old + 1e-12 for a, x, old in zip(A, X, before))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_signed_fits_end_no_higher_than_their_last_step(dtype):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 20)) + 0.3 * rng.standard_normal((60, 20))
    model = SemiNMF(5, max_iter=1000)
    W = model.fit_transform(X.astype(dtype))
    H = model.components_.astype(float)
    best = sum(nnls(H.T, x)[1] ** 2 for x in X) / 2
    assert 0.5 * np.sum((X - W @ H) ** 2) == pytest.approx(best, rel=1e-3 if dtype == np.float32 else 1e-9)
    assert model.objective_ <= model.history_["objective"][-1]
