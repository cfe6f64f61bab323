"""The sweep in vectors against the sweep in plain loops, and against a sweep in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.parallel import thread_limit
from partwise.priors import Terms
from partwise.solvers import sweep as module

pytestmark = pytest.mark.skipif(
    not module.AT_HAND, reason="this processor has no AVX-512: plain loops are used"
)
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SHAPES = st.sampled_from(["none", "number", "component", "row", "entry"])
BOUNDS = st.sampled_from([None, (0.0, 1.0), (-np.inf, np.inf), (-0.5, 0.5)])


def coefficients(shape, n, k, rng):
    """Coefficients of a term: for all entries, for each component or row, or for each entry."""
    sizes = {"component": (1, k), "row": (n, 1), "entry": (n, k)}
    return rng.random(sizes[shape]) if shape in sizes else 0.3 * (shape == "number")


def random_problem(n, k, dtype, bounds, rng, dead=0):
    B = rng.random((k + 3, k)) * rng.choice([0.3, 1.0, 3.0], k)
    B[:, rng.permutation(k)[:dead]] = 0
    A = np.clip(rng.normal(size=(n, k)), *(bounds or (0.0, np.inf)))
    N = rng.normal(size=(n, k)) + 1.0
    return A.astype(dtype), N.astype(dtype), (B.T @ B).astype(dtype)


def swept(A, N, G, terms, order, *ends, **more):
    A = A.copy()
    return A, module.sweep(A, (N, G), terms, order, *ends, **more)


@DTYPES
@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(1, 150),
    k=st.integers(1, 30),
    linear=SHAPES,
    quadratic=SHAPES,
    bounds=BOUNDS,
    sweeps=st.integers(1, 3),
    keep=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 99),
)
def test_it_is_the_sweep_in_plain_loops(dtype, n, k, linear, quadratic, bounds, sweeps, keep, seed):
    rng = np.random.default_rng(seed)
    # Whether a row goes on is decided by how far it moved, which rounding may tip in float32.
    keep = keep if dtype == np.float64 else 0.0
    A, N, G = random_problem(n, k, dtype, bounds, rng)
    terms = Terms(coefficients(linear, n, k, rng), coefficients(quadratic, n, k, rng), bounds=bounds)
    order = rng.permutation(k)[: rng.integers(1, k + 1)]
    found, met = swept(A, N, G, terms, order, sweeps, keep, measure=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_HAND", False)
        expected, wanted = swept(A, N, G, terms, order, sweeps, keep, measure=True)
    slack = 2e4 * float(np.finfo(dtype).eps)
    assert np.abs(found - expected).max() <= slack * (1.0 + np.abs(expected).max())
    assert met == pytest.approx(wanted, rel=slack, abs=slack)


@DTYPES
@pytest.mark.parametrize("k", [1, 3, 4, 7, 8, 9, 13, 16, 23])
@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
def test_every_coordinate_goes_to_its_minimum_in_turn(dtype, k, bounds):
    rng = np.random.default_rng(k)
    A, N, G = random_problem(101, k, dtype, bounds, rng)
    terms = Terms(0.1, 0.2, bounds=bounds)
    found, _ = swept(A, N, G, terms, np.arange(k), 1, 0.0)
    exact, gram = A.astype(float), G.astype(float)
    for t in range(k):
        rest = N[:, t] - 0.1 - exact @ gram[t] + gram[t, t] * exact[:, t]
        exact[:, t] = np.clip(rest / (gram[t, t] + 0.2), *(bounds or (0.0, np.inf)))
    assert np.abs(found - exact).max() <= 2e3 * np.finfo(dtype).eps * (1.0 + np.abs(exact).max())


@DTYPES
def test_coordinates_without_curvature_go_where_the_slope_says(dtype):
    """Components that explain nothing: to the bound that a linear term drives them to, else they stay."""
    rng = np.random.default_rng(0)
    A, N, G = random_problem(70, 6, dtype, (0.0, 1.0), rng, dead=2)
    flat = np.diagonal(G) == 0
    N[:, flat] = 0
    for push, target in ((0.5, 0.0), (-0.5, 1.0), (0.0, None)):
        found, _ = swept(A, N, G, Terms(push, bounds=(0.0, 1.0)), np.arange(6), 2, 0.0)
        expected = A[:, flat] if target is None else np.full_like(A[:, flat], target)
        np.testing.assert_array_equal(found[:, flat], expected)
    by_row = rng.random((70, 1))
    found, _ = swept(A, N, G, Terms(-by_row / 2, by_row, bounds=(0.0, 1.0)), np.arange(6), 1, 0.0)
    np.testing.assert_allclose(found[:, flat], 0.5, rtol=1e-5)


@DTYPES
@pytest.mark.parametrize("vectors", [True, False])
def test_components_that_are_next_to_nothing_give_numbers_that_can_be_squared(dtype, vectors, monkeypatch):
    """Below the smallest normal number curvature has no digits: the coordinate stays; above it is not driven on."""
    monkeypatch.setattr(module, "AT_HAND", vectors)
    tiny = np.finfo(dtype).tiny
    A, N = np.ones((70, 3), dtype), np.full((70, 3), np.sqrt(tiny), dtype)
    G = np.diag([1.0, tiny / 4 * vectors, 100 * tiny]).astype(dtype)
    found, _ = swept(A, N, G, Terms(), np.arange(3), 3, 0.0)
    np.testing.assert_array_equal(found[:, 1], 1.0)
    np.testing.assert_array_equal(found[:, 2], dtype(module.HIGHEST[np.dtype(dtype)]))
    assert np.isfinite(found.T @ found).all()


@DTYPES
@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 300), k=st.integers(1, 20), quadratic=SHAPES, seed=st.integers(0, 99))
def test_a_row_does_not_depend_on_the_rows_beside_it(dtype, n, k, quadratic, seed):
    rng = np.random.default_rng(seed)
    A, N, G = random_problem(n, k, dtype, None, rng)
    terms = Terms(coefficients(quadratic, n, k, rng), coefficients(quadratic, n, k, rng))
    together, _ = swept(A, N, G, terms, np.arange(k), 4, 0.2)
    some = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    alone, _ = swept(A[some], N[some], G, terms.rows(some), np.arange(k), 4, 0.2)
    np.testing.assert_array_equal(alone, together[some])


@DTYPES
def test_the_same_bits_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    A, N, G = random_problem(5001, 20, dtype, None, rng)
    results = []
    for threads in (1, 3):
        with thread_limit(threads):
            results.append(swept(A, N, G, Terms(0.1), np.arange(20), 3, 0.1, measure=True))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]


@DTYPES
@pytest.mark.parametrize(("n", "k"), [(1, 1), (31, 9), (65, 12), (70, 7)])
def test_nothing_is_read_or_written_beyond_the_ends(dtype, n, k):
    """What lies behind the data in memory is not a number, and would be seen."""
    rng = np.random.default_rng(0)
    A, N, G = random_problem(n, k, dtype, None, rng)
    walled = []
    for array in (A, N, G):
        wall = np.full(array.size + 256, np.nan, dtype)
        inside = wall[128 : 128 + array.size].reshape(array.shape)
        inside[:] = array
        walled.append((wall, inside))
    expected, _ = swept(A, N, G, Terms(), np.arange(k), 2, 0.0)
    module.sweep(walled[0][1], (walled[1][1], walled[2][1]), Terms(), np.arange(k), 2, 0.0)
    np.testing.assert_array_equal(walled[0][1], expected)
    for wall, inside in walled:
        assert np.isnan(wall[:128]).all()
        assert np.isnan(wall[128 + inside.size :]).all()
