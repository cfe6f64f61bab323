"""Recorders: what they say against the draws themselves, merging, thinning, and going on from a file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.samplers import Draws, Histogram, Moments, Trace


def recorded(recorder, values):
    one = recorder.empty()
    for value in values:
        one.record({"x": value})
    return one


@given(st.integers(1, 60), st.floats(-1e6, 1e6), st.integers(0, 2**20))
def test_moments_are_those_of_numpy_even_far_from_zero(n, shift, seed):
    x = np.random.default_rng(seed).standard_normal((n, 3, 2)) + shift
    seen = recorded(Moments("x"), x.astype(np.float32 if shift == 0 else float))
    assert np.allclose(seen.mean, x.mean(axis=0), rtol=1e-6 if shift == 0 else 1e-12, atol=1e-6)
    assert np.allclose(seen.variance, x.var(axis=0, ddof=1) if n > 1 else 0.0, rtol=1e-4, atol=1e-5)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=4), st.integers(0, 2**20))
def test_merged_recorders_have_seen_all_draws(lengths, seed):
    rng = np.random.default_rng(seed)
    chains = [10.0 * rng.standard_normal((n, 4)) ** 2 for n in lengths]
    together = np.concatenate(chains)
    if not len(together):
        return
    for recorder in (Moments("x"), Histogram("x", high=0.5, grow=True), Histogram("x", high=3.0)):
        whole = recorded(recorder, together)
        first, *others = (recorded(recorder, chain) for chain in chains)
        merged = first.merged(others)
        assert merged.count == len(together)
        if isinstance(whole, Moments):
            assert np.allclose(merged.mean, whole.mean)
            assert np.allclose(merged.variance, whole.variance)
        else:
            assert np.array_equal(merged.counts, whole.counts)
            assert np.array_equal(merged.doublings, whole.doublings)


def test_a_histogram_is_that_of_numpy_whatever_its_range_had_to_become():
    x = np.random.default_rng(0).exponential(7.0, (500, 3))
    seen = recorded(Histogram("x", high=0.1, grow=True), x)
    assert seen.counts.shape == (3, 50)
    for j in range(3):
        edges = seen.edges(j)
        assert edges[-1] > x[:, j].max() >= 0.5 * edges[-1]
        assert np.array_equal(seen.counts[j], np.histogram(x[:, j], edges)[0])
    closed = recorded(Histogram("x"), x)
    assert (closed.counts.sum(axis=1) == 500).all()
    with pytest.raises(ValueError, match="low < high and an even number"):
        Histogram("x", 1.0, 0.0)


@given(st.integers(1, 300), st.integers(2, 40))
def test_kept_draws_stand_at_one_distance_and_span_the_chain(n, limit):
    x = np.arange(n, dtype=float)[:, None] * np.ones(2)
    kept = recorded(Draws(["x"], limit), x)
    assert len(kept) <= limit
    assert 2 * len(kept) > min(n, limit) - 1
    assert np.array_equal(kept["x"][:, 0], kept.draw_numbers)
    assert n - kept.draw_numbers[-1] <= kept.stride


def test_memory_bounds_the_draws_kept():
    kept = recorded(Draws(["x"], memory=10 * 8 * 100.0), np.zeros((1000, 100)))
    assert 5 <= len(kept) <= 10
    assert kept["x"].nbytes <= 8000


@pytest.mark.parametrize(
    "recorder",
    [Moments("x"), Histogram("x", grow=True), Draws(["x"], 8), Trace(["x"], 5)],
    ids=lambda r: type(r).__name__,
)
def test_a_recorder_goes_on_from_what_it_packed(recorder):
    x = np.random.default_rng(1).exponential(2.0, (37, 2))
    whole, half, other = recorded(recorder, x), recorded(recorder, x[:20]), recorder.empty()
    other.restore({key: np.array(v) if isinstance(v, np.ndarray) else v for key, v in half.pack().items()})
    for value in x[20:]:
        other.record({"x": value})
    a, b = whole.pack(), other.pack()
    assert a.keys() == b.keys()
    for key in a:
        assert np.array_equal(a[key], b[key])


def test_a_recorder_keeps_no_hold_of_arrays_that_change():
    x = np.ones(2)
    recorders = [Moments("x"), Draws(["x"])]
    for one in recorders:
        one.record({"x": x})
    x[:] = 5.0
    assert recorders[0].mean.tolist() == [1.0, 1.0]
    assert recorders[1]["x"].tolist() == [[1.0, 1.0]]
