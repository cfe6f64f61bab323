"""Compiled pieces of coordinate descent: what is quick equals what is plain."""

import decimal
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.optimize import nnls

from partwise.core import Problem
from partwise.jit import njit as partwise_njit
from partwise.losses import FROBENIUS, KL
from partwise.losses.logarithm import logarithm, relative_kl
from partwise.matrix import Dense, Sparse
from partwise.matrix.kernels import copy_columns
from partwise.priors import ElasticNet, Gamma
from partwise.priors.terms import Terms
from partwise.solvers import descend_observed, scd
from partwise.solvers.base import balanced_start
from partwise.solvers.row_start import least_squares_start
from partwise.solvers.scd import CoordinateDescent, descend

TERMS = {
    "none": Terms(),
    "net": ElasticNet(0.3, 0.2).terms(),
    "gamma": Gamma(2.0, 0.5).terms(),
    "sparse": Gamma(0.5, 0.5).terms(),
}


@njit
def logarithms(z, out):
    for i in range(z.size):
        out[i] = logarithm(z[i])


@njit
def relative(r, out):
    for i in range(r.size):
        out[i] = relative_kl(r[i])


def applied(function, values):
    values = np.asarray(values, float)
    out = np.empty_like(values)
    function(values, out)
    return out


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=40))
def test_logarithms_are_those_of_the_c_library(values):
    expected = np.log(values)
    assert np.all(np.abs(applied(logarithms, values) - expected) <= 4e-16 * np.maximum(1.0, np.abs(expected)))


def test_logarithms_at_the_ends():
    assert applied(logarithms, [0.0])[0] == -np.inf
    assert np.isnan(applied(logarithms, [np.inf, np.nan])).all()
    assert applied(relative, [-1.0])[0] == np.inf


def test_strict_functions_stay_strict_inside_of_others():
    """Numba hands the flags of a caller on to what it calls, unless that has flags of its own."""

    @partwise_njit()
    def difference(z):
        return (z + 1e30) - 1e30

    @partwise_njit(fastmath=True)
    def fast(z):
        return difference(z)

    assert fast(1.0) == difference(1.0) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.floats(-0.999999, 1e6).filter(lambda r: abs(r) > 1e-15))
def test_the_relative_divergence_keeps_its_digits(r):
    with decimal.localcontext(decimal.Context(prec=60)):
        exact = decimal.Decimal(r) - (1 + decimal.Decimal(r)).ln()
    # (1 + r is rounded once, which costs digits where r is near −1.)
    assert applied(relative, [r])[0] == pytest.approx(float(exact), rel=1e-9 if r < -0.9 else 1e-14, abs=0.0)


@pytest.mark.parametrize("shape", [(1, 1), (15, 3), (16, 16), (37, 5), (100, 33)])
def test_columns_are_copied_as_rows(shape):
    array = np.arange(np.prod(shape), dtype=float).reshape(shape)
    start = shape[1] // 2
    out = np.empty((shape[1] - start, shape[0]))
    copy_columns(array, start, out)
    np.testing.assert_array_equal(out, array[:, start:].T)


def problem(n, m, k, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(3.0, (n, m)).astype(dtype)
    A, B = rng.random((n, k)).astype(dtype), rng.random((m, k)).astype(dtype)
    A[rng.random(A.shape) < 0.2] = 0.0
    return X, A, B


def descended(X, A, B, terms, sweeps, still=0.0):
    A = A.copy()
    violation, losses = descend(Dense.of(X), A, B, KL, 1e-6, terms, np.arange(A.shape[1]), sweeps, 0.0, still)
    return A, violation, losses


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("n", [1, 6, 7])
def test_rows_in_pairs_do_what_rows_alone_do(n, terms, dtype, monkeypatch):
    X, A, B = problem(n, 90, 5, dtype)
    A = np.maximum(A, 0.01) if terms == "gamma" else A
    together = descended(X, A, B, TERMS[terms], 3)
    monkeypatch.setattr(scd, "rows_for_pairs", lambda rows: np.zeros(len(rows), bool))
    alone = descended(X, A, B, TERMS[terms], 3)
    tolerance = 2e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(together[0], alone[0], rtol=tolerance, atol=tolerance)
    assert together[1] == pytest.approx(alone[1], rel=tolerance)
    np.testing.assert_allclose(together[2], alone[2], rtol=tolerance)


@pytest.mark.parametrize("still", [0.0, 1e-3])
def test_a_row_has_the_same_bits_whoever_is_beside_it(still):
    X, A, B = problem(7, 90, 5, np.float32)
    X[3] = 0.0  # A row of zeros is read alone; those after it get other partners.
    whole = descended(X, A, B, TERMS["none"], 30, still)[0]
    for i in range(7):
        np.testing.assert_array_equal(
            descended(X[i : i + 1], A[i : i + 1], B, TERMS["none"], 30, still)[0], whole[i : i + 1]
        )
    np.testing.assert_array_equal(descended(X[2:], A[2:], B, TERMS["none"], 30, still)[0], whole[2:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_least_squares_start_is_near_the_least_squares(dtype):
    X, _, B = problem(9, 60, 4, dtype)
    data = Dense.of(X)
    A = balanced_start(data, B, TERMS["none"])
    before = A.copy()
    least_squares_start(data, A, B, TERMS["none"])
    exact = np.array([nnls(B.astype(float), x.astype(float))[1] for x in X]) ** 2
    found = ((X - A.astype(float) @ B.T.astype(float)) ** 2).sum(axis=1)
    assert (found <= 1.02 * exact).all()
    assert (1e-3 * before * (1 - 1e-6) <= A).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_for_a_held_factor_are_at_the_minimum_and_do_not_depend_on_their_batch(dtype):
    X, _, B = problem(9, 60, 4, dtype)
    X[4] = 0.0
    X[5, 3:] = 0.0  # mostly zeros: begins elsewhere
    solve = CoordinateDescent().solve_rows
    tol = 1e-6 if dtype == np.float32 else 1e-10
    held = {"loss": KL, "shift": 1e-6, "update_H": False}
    A = solve(Problem(Dense.of(X), **held), B, 5000, tol)
    slope = B.sum(axis=0) - (X / (A @ B.T + 1e-6)) @ B
    assert np.abs(np.where(A > 0, slope, np.minimum(slope, 0.0)) * np.maximum(A, 0.1)).max() < 300 * tol * 60
    for part in (slice(0, 1), slice(3, 8), slice(4, 5)):
        np.testing.assert_array_equal(solve(Problem(Dense.of(X[part]), **held), B, 5000, tol), A[part])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("terms", ["none", "elastic", "signed", "bounded"])
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 20),
    m=st.integers(1, 40) | st.integers(230, 260),
    k=st.integers(1, 19),
    seed=st.integers(0, 99),
    short=st.sampled_from([0, 2000, 512 * 1024]),
)
def test_entries_observed_or_missing_are_entries_of_weight_one_or_none(dtype, terms, n, m, k, seed, short):
    """The kernel for these against the one for any weights: steps, violation and losses, rows without entries too.

    And rows side by side or alone: what is found for one does not depend on the others, to the bit.
    """
    rng = np.random.default_rng(seed)
    seen = rng.random((n, m)) < rng.choice([0.1, 0.5, 1.0])
    values = rng.gamma(1, 1, (n, m)).astype(dtype)
    X = sp.csr_matrix((values[seen], seen.nonzero()[1], np.r_[0, np.cumsum(seen.sum(axis=1))]), (n, m))
    prior = {
        "none": Terms(),
        "elastic": Terms(linear=rng.random((n, 1)), quadratic=rng.random((1, k))),
        "signed": Terms(bounds=(-np.inf, np.inf)),
        "bounded": Terms(bounds=(0.2, 0.7)),
    }[terms]
    W, Ht = rng.random((n, k)).astype(dtype), rng.random((m, k)).astype(dtype)
    found = []
    for weights in (None, np.ones_like(X.data)):
        data = Sparse.of(X, weights, unstored_observed=False)
        assert data.only_observed is (weights is None)
        A = W.copy()
        with mock.patch.object(descend_observed, "SHORT", short):
            violation, losses = descend(data, A, Ht, FROBENIUS, 0.0, prior, np.arange(k), 3, 0.1)
            found.append((A, violation, losses))
            if weights is None and terms != "elastic":
                i = int(rng.integers(n))
                alone, row = Sparse.of(X[i], None, unstored_observed=False), W[i : i + 1].copy()
                _, loss = descend(alone, row, Ht, FROBENIUS, 0.0, prior, np.arange(k), 3, 0.1)
                np.testing.assert_array_equal(row[0], A[i])
                assert loss[0] == losses[i]
    tolerance = 1e-9 if dtype == np.float64 else 2e-3
    for ours, general in zip(*found):
        np.testing.assert_allclose(ours, general, rtol=tolerance, atol=tolerance)
