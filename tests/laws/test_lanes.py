"""Pieces of kernels in vectors against their twins in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.jit import njit
from partwise.solvers import lanes
from partwise.solvers.lanes import LANES

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@njit()
def lay_out(B, rows, met, place, stride):
    lanes.lay_out(B, rows, met, place, stride)


@njit()
def carry(r, at, met, b, other, owed, sums, steps):
    lanes.carry(r, at, met, b, other, owed, sums, steps)


@njit()
def begin(r, at, met, b, amount, sums, steps):
    lanes.begin(r, at, met, b, amount, sums, steps)


@njit()
def settle(a, at, curve, sums, ahead, bend, live, lower, upper, owed, moved, extent, broken):
    lanes.settle(a, at, curve, sums, ahead, bend, live, lower, upper, owed, moved, extent, broken)


def numbers(rng, count, dtype):
    return rng.normal(size=count).astype(dtype)


def copied(arguments):
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]


@DTYPES
@settings(max_examples=40, deadline=None)
@given(k=st.integers(1, 35), place=st.integers(0, 9), seed=st.integers(0, 999))
def test_rows_are_laid_out_side_by_side(dtype, k, place, seed):
    rng = np.random.default_rng(seed)
    B, rows, stride = (
        numbers(rng, 11 * k, dtype).reshape(11, k),
        rng.integers(-2, 11, LANES),
        LANES + int(rng.integers(9)),
    )
    met = numbers(rng, place + k * stride + 3, dtype)
    expected = met.copy()
    lanes.lay_out_plain(B, rows, expected, place, stride)
    lay_out(B, rows, met, place, stride)
    np.testing.assert_array_equal(met, expected)


@DTYPES
@settings(max_examples=40, deadline=None)
@given(half=st.integers(0, 20), seed=st.integers(0, 999))
def test_sums_and_moves_of_eight_lanes(dtype, half, seed):
    """To the last digits: products and sums may be fused."""
    rng = np.random.default_rng(seed)
    steps = 2 * half
    r, met = numbers(rng, 5 + LANES * steps, dtype), numbers(rng, 3 * (1 + LANES * steps), dtype)
    by, sums = numbers(rng, LANES, dtype), numbers(rng, LANES, dtype)
    b, other = 1, 2 + LANES * steps
    close = {"rtol": 0, "atol": 400 * np.finfo(dtype).eps}
    for compiled, plain, arguments in (
        (carry, lanes.carry_plain, (r, 5, met, b, other, by, sums, steps)),
        (begin, lanes.begin_plain, (r, 5, met, b, by, sums, steps)),
    ):
        ours, expected = copied(arguments), copied(arguments)
        compiled(*ours)
        plain(*expected)
        for one, another in zip(ours, expected):
            np.testing.assert_allclose(one, another, **close)


@DTYPES
@settings(max_examples=80, deadline=None)
@given(
    bounds=st.sampled_from([(0.0, np.inf), (0.0, 1e15), (-np.inf, np.inf), (0.2, 0.7)]),
    seed=st.integers(0, 999),
)
def test_eight_coordinates_are_settled_as_one_is(dtype, bounds, seed):
    """Without curvature, on bounds, and where a lane is not live, too."""
    rng = np.random.default_rng(seed)
    a, curve = np.clip(numbers(rng, 16, dtype), *bounds), numbers(rng, 16, dtype) ** 2
    curve[rng.random(16) < 0.3] = 0.0
    sums, ahead, bend = numbers(rng, LANES, dtype), rng.random(LANES), rng.random(LANES)
    sums[rng.random(LANES) < 0.2] = 0.0
    ahead[rng.random(LANES) < 0.5] = 0.0
    bend[rng.random(LANES) < 0.7] = 0.0
    live, left = (rng.random(LANES) < 0.8).astype(float), numbers(rng, LANES, dtype)
    further = [rng.random(LANES) for _ in range(3)]
    arguments = (a, 8, curve, sums, ahead, bend, live, *bounds, left, *further)
    ours, expected = copied(arguments), copied(arguments)
    settle(*ours)
    lanes.settle_plain(*expected)
    for one, another in zip(ours, expected):
        np.testing.assert_allclose(one, another, rtol=8 * np.finfo(dtype).eps, atol=1e-12)
