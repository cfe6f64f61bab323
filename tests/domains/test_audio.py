"""Audio files: what is read is what was written, parts add up, and files that cannot be used get a sentence."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from partwise.domains.audio import Recording, at_rate, exactly_kept, in_steps, read_audio, write_audio
from partwise.io import DataError

soundfile = pytest.importorskip("soundfile")


def tone(n=4000, channels=1, rate=8000):
    t = np.arange(n)[:, None] / rate
    data = 0.4 * np.sin(2 * np.pi * (300 + 70 * np.arange(channels)) * t)
    return data[:, 0] if channels == 1 else data


@pytest.fixture(params=["soundfile", "scipy"])
def library(request, monkeypatch):
    """Both libraries, in turn."""
    if request.param == "scipy":
        monkeypatch.setitem(sys.modules, "soundfile", None)
    return request.param


SUBTYPES = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("subtype", SUBTYPES)
def test_every_kind_of_wav_is_read_to_its_last_bit(tmp_path, library, subtype, channels):
    path = tmp_path / "a.wav"
    soundfile_write(path, tone(channels=channels), subtype)
    found = read_audio(path)
    bits = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 24, "DOUBLE": 53}[subtype]
    assert found.subtype == subtype
    assert (found.rate, found.format, found.notes) == (8000, "WAV", ())
    assert found.data.shape == tone(channels=channels).shape
    assert np.abs(found.data - tone(channels=channels)).max() <= 2.0 ** (2 - bits)


def soundfile_write(path, data, subtype, rate=8000):
    """By soundfile's own module, also where the code under test has to do without it."""
    soundfile.write(path, data, rate, subtype=subtype)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_files_of_parts_add_up_to_the_recording(tmp_path, library, subtype):
    path = tmp_path / "a.wav"
    soundfile_write(path, tone(channels=2), subtype)
    whole = read_audio(path)
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(5), size=whole.data.shape)
    parts = np.moveaxis(share, -1, 0) * whole.data
    kept = exactly_kept(whole, float(np.abs(parts).max()))
    total = 0.0
    for i, part in enumerate(in_steps(iter(parts), kept)):
        write_audio(tmp_path / f"{i}.wav", part, kept)
        back = read_audio(tmp_path / f"{i}.wav")
        assert np.abs(back.data - parts[i]).max() <= 2.0 ** (2 - 8 if subtype == "PCM_U8" else 2 - 16)
        assert back.rate == whole.rate
        total = total + back.data
    exact = subtype.startswith("PCM") and kept.subtype == subtype
    assert np.abs(total - whole.data).max() <= (0.0 if exact else 1e-6)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (3, 50), elements=st.floats(-0.3, 0.3)), st.sampled_from([8, 16, 24]))
def test_steps_add_up_whatever_the_parts_are(parts, bits):
    subtype = {8: "PCM_U8", 16: "PCM_16", 24: "PCM_24"}[bits]
    whole = np.rint(parts.sum(axis=0) * 2 ** (bits - 1)) / 2 ** (bits - 1)
    parts[-1] = whole - parts[:-1].sum(axis=0)
    steps = np.array(list(in_steps(iter(parts), Recording(whole, 8000, subtype=subtype))))
    assert np.array_equal(steps.sum(axis=0), np.rint(whole * 2 ** (bits - 1)))
    assert np.abs(steps - parts * 2 ** (bits - 1)).max() <= 1.0 + 1e-6


def test_flac_stays_flac_and_ogg_becomes_floats(tmp_path):
    soundfile.write(tmp_path / "a.flac", tone(), 8000, subtype="PCM_24")
    soundfile.write(tmp_path / "a.ogg", tone(), 8000)
    flac, ogg = read_audio(tmp_path / "a.flac"), read_audio(tmp_path / "a.ogg")
    assert (exactly_kept(flac, 0.5).format, exactly_kept(flac, 0.5).subtype) == ("FLAC", "PCM_24")
    assert (exactly_kept(ogg, 0.5).format, exactly_kept(ogg, 0.5).subtype) == ("WAV", "FLOAT")
    assert np.abs(ogg.data - tone()).max() < 0.05


def test_parts_that_would_be_clipped_are_kept_as_floats():
    whole = Recording(np.zeros(3), 8000, subtype="PCM_16")
    assert exactly_kept(whole, 0.99).subtype == "PCM_16"
    assert exactly_kept(whole, 1.2).subtype == "FLOAT"


def test_without_soundfile_other_formats_say_what_to_install(tmp_path, monkeypatch):
    soundfile.write(tmp_path / "a.flac", tone(), 8000)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(ImportError, match=r"pip install \"partwise\[sound\]\""):
        read_audio(tmp_path / "a.flac")


def bad(tmp_path, name):
    path = tmp_path / "bad.wav"
    if name == "empty":
        path.write_bytes(b"")
    elif name == "text":
        path.write_text("This is no sound at all, but a letter.")
    elif name == "no samples":
        soundfile.write(path, np.zeros(0), 8000)
    elif name == "silent":
        soundfile.write(path, np.zeros(100), 8000)
    elif name == "nan":
        soundfile.write(path, np.array([0.1, np.nan, 0.2]), 8000, subtype="FLOAT")
    elif name == "header only":
        soundfile.write(path, tone(), 8000)
        path.write_bytes(path.read_bytes()[:20])
    return path


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty", "empty"),
        ("text", "not an audio file"),
        ("no samples", "no samples|damaged"),
        ("silent", "silent"),
        ("nan", "1 samples that are NaN or infinite, the first at sample 1"),
        ("header only", "damaged|no samples"),
    ],
)
def test_files_that_cannot_be_used_get_a_sentence(tmp_path, library, name, sentence):
    path = bad(tmp_path, name)
    with pytest.raises(DataError, match=sentence) as error:
        read_audio(path)
    assert str(error.value).startswith(str(path))


def test_missing_files_and_folders_get_a_sentence(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_audio(tmp_path / "none.wav")
    with pytest.raises(DataError, match="is a folder"):
        read_audio(tmp_path)


def test_a_file_cut_short_is_used_as_far_as_it_goes(tmp_path, library):
    path = tmp_path / "a.wav"
    soundfile.write(path, tone(), 8000)
    path.write_bytes(path.read_bytes()[:4044])
    found = read_audio(path)
    assert len(found.data) == 2000
    assert "cut short: 0.25 s are there, 0.25 s more were announced" in found.notes[0]


def test_a_damaged_flac_is_used_as_far_as_it_can_be_decoded(tmp_path):
    path = tmp_path / "a.flac"
    rng = np.random.default_rng(0)
    soundfile.write(path, 0.1 * rng.standard_normal(200000), 8000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found = read_audio(path)
    assert 20000 < len(found.data) < 110000
    assert "cut short" in found.notes[0]


def test_clipping_is_noted_and_a_sine_is_not_clipped(tmp_path):
    loud = np.clip(4.0 * tone(), -1.0, 1.0)
    soundfile.write(tmp_path / "a.wav", loud, 8000)
    soundfile.write(tmp_path / "b.wav", 2.4 * tone(), 8000)
    assert "clipped" in read_audio(tmp_path / "a.wav").notes[0]
    assert read_audio(tmp_path / "b.wav").notes == ()


def test_another_rate_keeps_the_pitch():
    x = tone(8000, rate=8000)
    y = at_rate(x, 8000, 11025)
    assert len(y) == 11025
    assert np.argmax(np.abs(np.fft.rfft(y))) == np.argmax(np.abs(np.fft.rfft(x)))
    assert at_rate(x, 8000, 8000) is x
