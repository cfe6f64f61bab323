"""Spectrograms and masks, pitch, onsets, timbre and likeness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.domains.likeness import recordings_alike
from partwise.domains.onsets import find_onsets
from partwise.domains.pitch import fundamental, note_frequency, note_name
from partwise.domains.spectrogram import ShortTime, magnitudes, masked
from partwise.domains.timbre import group_components


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 3000),
    channels=st.integers(1, 2),
    rate=st.sampled_from([8000, 11025, 44100]),
    seconds=st.sampled_from([0.003, 0.02, 0.093]),
    seed=st.integers(0, 99),
)
def test_the_transform_is_inverted_exactly_at_every_length(n, channels, rate, seconds, seed):
    x = np.random.default_rng(seed).standard_normal((n, channels))
    transform = ShortTime.of(rate, seconds)
    Z = transform.forward(x)
    assert Z.shape == (channels, len(transform.frequencies), len(transform.times(n)))
    assert np.abs(transform.backward(Z, n) - x).max() < 1e-12
    assert magnitudes(Z).shape == (channels * Z.shape[2], Z.shape[1])


@settings(max_examples=20, deadline=None)
@given(k=st.integers(1, 4), power=st.sampled_from([0.5, 1.0, 2.0]), seed=st.integers(0, 99))
def test_masks_add_up_to_the_whole(k, power, seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((2, 9, 7)) + 1j * rng.standard_normal((2, 9, 7))
    H, W = rng.gamma(0.3, size=(k, 9)), rng.gamma(0.3, size=(2, 7, k))
    W[0, 0], H[:, 2] = 0.0, 0.0
    parts = np.array(list(masked(Z, H, W, np.arange(k), power)))
    assert np.abs(parts.sum(axis=0) - Z).max() < 1e-12
    share = (W[1, 3] * H[:, 4]) ** power
    assert np.allclose(parts[:, 1, 4, 3] / Z[1, 4, 3], share / share.sum(), atol=1e-6)


def test_masks_of_groups_are_sums_of_masks():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1, 9, 7)) + 0j
    H, W = rng.gamma(1.0, size=(4, 9)), rng.gamma(1.0, size=(1, 7, 4))
    alone = np.array(list(masked(Z, H, W, np.arange(4), 1.0)))
    together = list(masked(Z, H, W, np.array([0, 1, 0, 1]), 1.0))
    assert np.allclose(together[0], alone[0] + alone[2])


def spectrum_of(f0, heights, rate=16000, stiff=0.0):
    """The mean magnitude spectrum of a tone with these heights of its overtones."""
    t = np.arange(rate) / rate
    h = np.arange(1, len(heights) + 1)
    frequency = f0 * h * np.sqrt(1 + stiff * h * h)
    x = sum(a * np.sin(2 * np.pi * f * t + 0.7 * i) for i, (a, f) in enumerate(zip(heights, frequency)))
    transform = ShortTime.of(rate, 0.093)
    return np.abs(transform.forward(x[:, None]))[0].mean(axis=1), transform.frequencies


@settings(max_examples=60, deadline=None)
@given(number=st.floats(45.0, 90.0), slope=st.floats(0.0, 2.0))
def test_the_fundamental_of_a_tone_is_found_within_half_a_percent(number, slope):
    f0 = 440.0 * 2 ** ((number - 69) / 12)
    count = max(1, min(12, int(7000 / f0)))
    found, clarity = fundamental(*spectrum_of(f0, np.arange(1.0, count + 1) ** -slope))
    assert found == pytest.approx(f0, rel=5e-3)
    assert clarity > 0.5


@pytest.mark.parametrize("f0", [130.0, 220.0, 331.0, 523.3])
def test_a_missing_fundamental_is_found(f0):
    found, _ = fundamental(*spectrum_of(f0, [0.0, 1.0, 0.8, 0.7, 0.5, 0.4]))
    assert found == pytest.approx(f0, rel=5e-3)


@pytest.mark.parametrize("f0", [147.0, 220.0, 440.0])
def test_odd_overtones_alone_have_their_pitch(f0):
    found, _ = fundamental(*spectrum_of(f0, [1.0, 0.0, 0.5, 0.0, 0.3, 0.0, 0.2]))
    assert found == pytest.approx(f0, rel=5e-3)


def test_stiff_strings_have_their_pitch():
    found, _ = fundamental(*spectrum_of(261.6, 1.0 / np.arange(1, 13), stiff=4e-4))
    assert found == pytest.approx(261.6, rel=5e-3)


def test_noise_clicks_and_silence_have_no_pitch():
    rng = np.random.default_rng(0)
    frequencies = np.arange(700) * 10.0
    for spectrum in (rng.rayleigh(size=700), np.exp(-frequencies / 2000), np.zeros(700), np.ones(700)):
        assert np.isnan(fundamental(spectrum, frequencies)[0])


@given(st.integers(21, 108))
def test_names_and_frequencies_of_notes_are_inverse(number):
    name = note_name(440.0 * 2 ** ((number - 69) / 12))
    assert note_frequency(name) == pytest.approx(440.0 * 2 ** ((number - 69) / 12))


def test_notes_have_two_names():
    assert note_frequency("C#4") == note_frequency("Db4")
    assert note_frequency("A4") == 440.0
    assert note_name(277.2) == "C#4"
    assert note_name(float("nan")) == ""
    with pytest.raises(ValueError, match="is no note"):
        note_frequency("H4")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=6, unique=True), st.floats(0.2, 1.0))
def test_every_struck_note_has_one_onset_where_it_is_struck(places, softest):
    times = 0.02 * np.arange(700) - 0.04
    loud = np.zeros(700)
    struck = sorted(0.4 * place for place in places)
    for i, t in enumerate(struck):
        since = times - t
        loud = np.where(since >= 0, np.exp(-8.0 * since) * (1.0 if i % 2 == 0 else max(softest, 0.5)), loud)
    found = find_onsets(loud, times)
    assert len(found) == len(struck)
    assert np.abs(found - struck).max() <= 0.03


def test_ripples_and_silence_have_no_onsets():
    times = 0.02 * np.arange(200)
    assert len(find_onsets(np.zeros(200), times)) == 0
    steady = np.where(times > 1, 1.0 + 0.05 * np.sin(40 * times), 0.0)
    assert find_onsets(steady, times) == pytest.approx([1.01], abs=0.02)


def test_equal_peaks_of_a_ripple_are_one_onset():
    times = 0.02 * np.arange(200)
    steady = np.where(times > 1, np.where(np.arange(200) % 5 == 0, 1.0, 0.999), 0.0)
    assert find_onsets(steady, times) == pytest.approx([1.01], abs=0.02)


def test_cut_windows_make_no_onset_and_hide_none():
    times = 0.025 * np.arange(84) - 0.025
    steady = np.r_[0.7, 1.8, 1.5, np.ones(77), 1.2, 1.9, 1.1, 0.1]
    assert find_onsets(steady, times, whole=slice(3, 80)) == pytest.approx([0.0])
    # Judged against the loudness of whole windows: a rise of 0.3 of it is an onset, though the cuts are louder.
    again = steady + np.where((times > 0.99) & (times < 1.5), 0.3, 0.0)
    assert find_onsets(again, times, whole=slice(3, 80)) == pytest.approx([0.0, 1.0], abs=0.03)
    only_at_the_end = np.r_[np.zeros(82), 1.0, 0.5]
    assert len(find_onsets(only_at_the_end, times, whole=slice(3, 80))) == 0


@pytest.mark.parametrize("n_samples", [100, 767, 768, 769, 960, 16000])
def test_whole_frames_are_those_inside_the_signal(n_samples):
    transform = ShortTime.of(8000, 0.093)
    whole, times = transform.whole_frames(n_samples), transform.times(n_samples)
    half = transform.length / 2 / transform.rate
    inside = (times > half - 1e-9) & (times < n_samples / transform.rate - half + 1e-9)
    expected = np.zeros(len(times), bool)
    expected[whole] = True
    assert (expected == inside).all()


def test_components_are_grouped_by_timbre_not_by_pitch():
    times, spectra, loud, pitch = 0.02 * np.arange(300), [], [], []
    for kind, notes in ((0, (200.0, 310.0, 420.0)), (1, (230.0, 350.0, 470.0))):
        for i, f0 in enumerate(notes):
            h = np.arange(1, 11)
            heights = 1.0 / h if kind == 0 else np.where(h % 2 == 1, 1.0, 0.03) / np.sqrt(h)
            spectrum, frequencies = spectrum_of(f0, heights)
            since = times - 0.7 * i - 0.3 * kind - 0.2
            course = np.exp(-6 * since) if kind == 0 else (since < 0.6) * 1.0
            spectra.append(spectrum / spectrum.sum())
            loud.append(np.where(since >= 0, course, 0.0))
            pitch.append(f0)
    noise = np.ones_like(frequencies) / len(frequencies)
    attack = np.maximum(np.diff(np.sum(loud[:3], axis=0), prepend=0.0), 0.0)
    groups = group_components(
        np.array([*spectra, noise]),
        np.array([*loud, attack]).T,
        frequencies,
        np.array([*pitch, np.nan]),
        times,
        2,
    )
    assert len(set(groups[:3])) == 1
    assert len(set(groups[3:6])) == 1
    assert groups[0] != groups[3]
    assert groups[6] == groups[0]  # The noise begins when the plucked notes do.


@pytest.mark.parametrize("n_sources", [1, 2, 3, 9])
def test_there_are_as_many_groups_as_asked_for(n_sources):
    rng = np.random.default_rng(0)
    H, W = rng.gamma(0.3, size=(5, 400)), rng.gamma(0.3, size=(90, 5))
    groups = group_components(
        H, W, 10.0 * np.arange(400), np.full(5, np.nan), 0.02 * np.arange(90), n_sources
    )
    assert sorted(set(groups)) == list(range(min(n_sources, 5)))


def test_likeness_is_one_for_the_same_spectra_in_another_order():
    rng = np.random.default_rng(0)
    a, b = rng.gamma(0.3, size=(4, 50)), rng.gamma(0.3, size=(3, 50))
    alike, cosine = recordings_alike([a, 7.0 * a[::-1], b])
    assert alike[0, 1] == pytest.approx(1.0)
    assert np.allclose(alike, alike.T)
    assert np.allclose(np.diag(alike), 1.0)
    assert alike[0, 2] == pytest.approx(
        np.concatenate([cosine[:4, 8:].max(axis=1), cosine[:4, 8:].max(axis=0)]).mean()
    )
