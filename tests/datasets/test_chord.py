"""Chords: stems that sum to the mix, notes of their pitch, and bad requests refused."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.datasets import make_chord
from partwise.domains.pitch import fundamental, note_frequency
from partwise.domains.spectrogram import ShortTime


@pytest.mark.parametrize("timbre", ["pluck", "reed", "bow"])
def test_stems_sum_to_the_mix_and_have_their_pitch(timbre):
    chord = make_chord(["A3", "E4"], timbre=timbre, sampling_rate=8000, reverberation=0.2, random_state=0)
    assert np.abs(sum(chord.stems.values()) - chord.data).max() < 1e-12
    assert np.abs(chord.data).max() == pytest.approx(0.9)
    transform = ShortTime.of(8000, 0.093)
    for note, stem in chord.stems.items():
        spectrum = np.abs(transform.forward(stem[:, None]))[0].mean(axis=1)
        assert fundamental(spectrum, transform.frequencies)[0] == pytest.approx(
            note_frequency(note), rel=0.01
        )


def test_notes_sound_when_events_say():
    chord = make_chord([300.0, 400.0], events=[(300.0, 0.5, 0.5), (400.0, 1.0, 1.0)], random_state=0)
    low, high = chord.stems[300.0], chord.stems[400.0]
    assert not low[:8000].any()
    assert low[8000:15000].any()
    assert not low[16000:].any()
    assert not high[:16000].any()
    assert len(chord.data) == 32000


def test_noise_is_no_part_of_the_stems():
    chord = make_chord(["A3"], noise=0.1, random_state=0)
    left = chord.data - chord.stems["A3"]
    assert left.std() == pytest.approx(0.1 * chord.stems["A3"].std(), rel=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"notes": []},
        {"notes": ["A3", "A3"]},
        {"notes": ["X3"]},
        {"timbre": "drum"},
        {"sampling_rate": 10},
        {"noise": -1.0},
        {"events": [("Q4", 0.0, 1.0)]},
        {"events": [("C4", -1.0, 1.0)]},
    ],
)
def test_bad_requests_get_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"must|is no note"):
        make_chord(**wrong)
