"""Pieces of kernels in vectors against their twins in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.jit import njit
from partwise.solvers import lanes
from partwise.solvers.lanes import PAIRS, TOGETHER

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@njit()
def count(itemsize):
    return lanes.lane_count(itemsize)


@njit()
def lay_out(B, rows, nothing, met, place, stride):
    lanes.lay_out(B, rows, nothing, met, place, stride)


@njit()
def begin(r, at, met, place, stride, order, p, a, curve, cross, steps):
    lanes.begin(r, at, met, place, stride, order, p, a, curve, cross, steps)


@njit()
def carry(r, at, met, place, stride, order, p, before, owed, sums, steps):
    lanes.carry(r, at, met, place, stride, order, p, before, owed, sums, steps)


@njit()
def spread(sums):
    lanes.spread(sums)


@njit()
def settle(
    order,
    p,
    n,
    a,
    curve,
    inverse,
    ahead,
    bend,
    sums,
    cross,
    live,
    low,
    up,
    measure,
    owed,
    moved,
    extent,
    broken,
):
    lanes.settle(
        order,
        p,
        n,
        a,
        curve,
        inverse,
        ahead,
        bend,
        sums,
        cross,
        live,
        low,
        up,
        measure,
        owed,
        moved,
        extent,
        broken,
    )


def numbers(rng, dtype, *shape):
    return rng.normal(size=shape).astype(dtype)


def close(compiled, plain, arguments, tolerance):
    """Both leave the same behind in the arrays given, to the last digits: products and sums may be fused."""
    ours, expected = ([np.array(v) if isinstance(v, np.ndarray) else v for v in arguments] for _ in range(2))
    compiled(*ours)
    plain(*expected)
    for one, another in zip(ours, expected):
        np.testing.assert_allclose(one, another, rtol=tolerance, atol=tolerance)


@DTYPES
def test_inside_and_outside_of_compiled_functions_there_are_as_many(dtype):
    assert count(np.dtype(dtype).itemsize) == lanes.lanes_of(np.dtype(dtype)) in (8, 16)


@DTYPES
@settings(max_examples=40, deadline=None)
@given(k=st.integers(1, 35), place=st.integers(0, 9), seed=st.integers(0, 999))
def test_rows_are_laid_out_side_by_side(dtype, k, place, seed):
    rng, wide = np.random.default_rng(seed), lanes.lanes_of(np.dtype(dtype))
    B, rows, stride = numbers(rng, dtype, 11, k), rng.integers(-2, 11, wide), wide + int(rng.integers(9))
    met = numbers(rng, dtype, place + k * stride + 3)
    close(lay_out, lanes.lay_out_plain, (B, rows, np.zeros(k, dtype), met, place, stride), 0)


@DTYPES
@settings(max_examples=60, deadline=None)
@given(k=st.integers(1, 11), steps=st.integers(0, 20), seed=st.integers(0, 999))
def test_sums_and_moves(dtype, k, steps, seed):
    """For any four coordinates, and where fewer than four are left."""
    rng, wide = np.random.default_rng(seed), lanes.lanes_of(np.dtype(dtype))
    stride = wide * (steps + int(rng.integers(3)))
    order = rng.permutation(k)
    r, met = numbers(rng, dtype, 5 + wide * steps), numbers(rng, dtype, 3 + k * stride)
    a, curve = numbers(rng, dtype, k, wide), numbers(rng, dtype, k, wide)
    groups = -(-k // TOGETHER)
    cross = numbers(rng, dtype, groups * len(PAIRS), wide)
    p, before = (int(TOGETHER * rng.integers(groups)) for _ in range(2))
    given = (r, 5, met, 3, stride, order, p)
    # Where fewer than four are left, lines of `cross` that belong to none of them hold anything.
    cross[-len(PAIRS) :] = 0
    ours, plain = cross.copy(), cross.copy()
    tolerance = 400 * np.finfo(dtype).eps
    close(
        lambda *some: begin(*some, ours, steps),
        lambda *some: lanes.begin_plain(*some, plain, steps),
        (*given, a, curve),
        tolerance,
    )
    for line, (_, d) in enumerate(PAIRS):
        at = p // TOGETHER * len(PAIRS) + line
        if p + d < k:
            np.testing.assert_allclose(ours[at], plain[at], rtol=tolerance, atol=tolerance)
    owed, sums = numbers(rng, dtype, TOGETHER, wide), numbers(rng, dtype, TOGETHER, wide)
    owed[max(0, k - before) :] = 0
    close(carry, lanes.carry_plain, (*given, before, owed, sums, steps), tolerance)
    close(spread, lanes.spread_plain, (sums,), tolerance)


@DTYPES
@settings(max_examples=80, deadline=None)
@given(
    k=st.integers(1, 11),
    bounds=st.sampled_from([(0.0, np.inf), (0.0, 1e15), (-np.inf, np.inf), (0.2, 0.7)]),
    measure=st.sampled_from([0, 1]),
    seed=st.integers(0, 999),
)
def test_four_coordinates_of_many_rows_are_settled_as_one_is(dtype, k, bounds, measure, seed):
    """Without curvature, on bounds, beyond the last one to visit, and where a row is not live, too."""
    rng, wide = np.random.default_rng(seed), lanes.lanes_of(np.dtype(dtype))
    a, curve = np.clip(numbers(rng, dtype, k, wide), *bounds).astype(dtype), numbers(rng, dtype, k, wide) ** 2
    curve[rng.random(curve.shape) < 0.3] = 0
    inverse = np.divide(1, curve, out=np.zeros_like(curve), where=curve > 0.3)
    sums, owed = numbers(rng, dtype, TOGETHER, wide), numbers(rng, dtype, TOGETHER, wide)
    sums[rng.random(sums.shape) < 0.2] = 0
    ahead, bend = numbers(rng, dtype, k, wide), rng.random((k, wide)).astype(dtype)
    ahead[rng.random(ahead.shape) < 0.5] = 0
    bend[rng.random(bend.shape) < 0.7] = 0
    cross = numbers(rng, dtype, -(-k // TOGETHER) * len(PAIRS), wide)
    live = (rng.random(wide) < 0.8).astype(dtype)
    n = int(rng.integers(1, k + 1))
    p = int(TOGETHER * rng.integers(-(-n // TOGETHER)))
    further = [rng.random(wide) for _ in range(3)]
    low, up = (dtype(bound) for bound in bounds)
    given = (rng.permutation(k), p, n, a, curve, inverse, ahead, bend, sums, cross, live, low, up, measure)
    # What is left of the sums is nobody's.
    close(
        lambda *some: settle(*some[:8], sums.copy(), *some[8:]),
        lambda *some: lanes.settle_plain(*some[:8], sums.copy(), *some[8:]),
        (*given[:8], *given[9:], owed, *further),
        2e4 * np.finfo(dtype).eps,
    )
