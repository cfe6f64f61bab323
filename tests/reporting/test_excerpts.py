"""Excerpts of sounds: bounded, from where they are loudest, at one loudness."""

import base64
import io

import numpy as np
import pytest
from scipy.io import wavfile

from partwise.reporting.excerpts import EACH, excerpts, loudest_window
from partwise.reporting.limits import CARDS, SOUND_BYTES


def heard(uri):
    kind, data = uri.split(",")
    assert kind == "data:audio/wav;base64"
    return wavfile.read(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize(("count", "rate", "seconds"), [(1, 44100, 20.0), (7, 22050, 4.0), (80, 8000, 3.0)])
def test_all_together_are_bounded(count, rate, seconds):
    n = int(rate * seconds)
    sounds = (np.sin(np.arange(n) * (0.01 + 0.001 * i)) for i in range(count))
    found = excerpts(sounds, rate, [f"sound {i}" for i in range(count)])
    assert len(found) == min(count, CARDS)
    sizes = [len(one["uri"]) for one in found]
    assert sum(sizes) <= SOUND_BYTES + 100 * len(found)
    assert max(sizes) <= EACH * 4 / 3 + 100
    for one in found:
        slow, data = heard(one["uri"])
        assert data.dtype == np.int16
        assert data.ndim == 1
        assert len(data) / slow == pytest.approx(one["end"] - one["begin"], abs=0.01)
        assert 0 <= one["begin"] < one["end"] <= one["seconds"] + 1e-9


def test_a_short_sound_is_kept_whole_and_its_channels_are_mixed():
    t = np.arange(4000) / 8000
    left = 0.5 * np.sin(2 * np.pi * 440 * t)
    (one,) = excerpts([np.column_stack([left, 0 * left])], 8000, ["a"])
    rate, data = heard(one["uri"])
    assert rate == 8000
    np.testing.assert_allclose(data / 32767, left / 2, atol=1e-4)


def test_the_loudest_seconds_are_taken_and_loudness_is_comparable():
    sound = np.full(1000, 0.01)
    sound[700:800] = 0.9
    assert 690 <= loudest_window(sound, 100) <= 700
    assert loudest_window(sound, 5000) == 0
    loud, faint = excerpts([2.0 * np.ones(100), 0.5 * np.ones(100)], 8000, ["a", "b"])
    assert np.abs(heard(loud["uri"])[1]).max() == 32767
    assert heard(faint["uri"])[1].max() == pytest.approx(32767 / 4, abs=1)
