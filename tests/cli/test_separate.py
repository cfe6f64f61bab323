"""partwise separate, as a person or a program meets it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calling import call

import partwise
from partwise.datasets import make_chord
from partwise.domains import read_audio
from partwise.domains.audio import at_rate
from partwise.io import read

soundfile = pytest.importorskip("soundfile")

RATE = 8000


@pytest.fixture(scope="module")
def chord():
    return make_chord(["C4", "G4"], timbre="reed", sampling_rate=RATE, random_state=0)


@pytest.fixture
def wav(tmp_path, chord):
    path = tmp_path / "chord.wav"
    soundfile.write(path, np.stack([chord.data, 0.5 * chord.data], axis=1), RATE, subtype="PCM_24")
    return path


def test_audio_files_sum_to_the_recording_and_tables_say_what_they_are(wav, tmp_path, capsys):
    out = tmp_path / "out"
    assert call("separate", wav, "-k", 2, "-o", out, "-q") == 0
    shown = capsys.readouterr().out
    assert "3.00 s, 8000 Hz, stereo, PCM_24, 2 components" in shown
    summary = json.loads((out / "summary.json").read_text())
    sounds = [read_audio(out / name) for name in summary["audio_files"]]
    whole = read_audio(wav)
    assert np.array_equal(sum(sound.data for sound in sounds), whole.data)
    assert {(sound.rate, sound.subtype) for sound in sounds} == {(RATE, "PCM_24")}
    assert sorted(part["note"] for part in summary["parts"]) == ["C4", "G4"]
    components = (out / "components.csv").read_text().splitlines()
    assert components[0] == "component,fundamental_hz,note,onsets_s,share,source,file"
    assert len(components) == 3
    spectra, activations = read(out / "spectra.csv"), read(out / "activations.csv", row_names=True)
    model = partwise.load(out / "model.partwise")
    assert np.array_equal(spectra.data.astype(np.float32), model.components_)
    assert activations.data.shape == (len(model.times_), 2)
    assert all((out / name).exists() for name in summary["files"])
    assert (out / "separation.png").stat().st_size > 5000


def test_a_model_separates_another_recording(wav, tmp_path, capsys):
    assert call("separate", wav, "-k", 2, "-o", tmp_path / "a", "-q") == 0
    assert (
        call("separate", wav, "--model", tmp_path / "a" / "model.partwise", "-o", tmp_path / "b", "--json")
        == 0
    )
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    sounds = [read_audio(path) for path in summary["files"].values() if path.endswith(".wav")]
    assert np.array_equal(sum(sound.data for sound in sounds), read_audio(wav).data)
    # The recording of the fit itself: explained as well, and described in the same way.
    fit = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["explained"] == pytest.approx(fit["figures"]["explained"], abs=0.01)
    assert [part["note"] for part in summary["components"]] == [part["note"] for part in fit["parts"]]
    assert [part["share"] for part in summary["components"]] == pytest.approx(
        [part["share"] for part in fit["parts"]], abs=0.01
    )
    assert {"components.csv", "activations.csv", "separation.png"} <= set(summary["files"])
    assert all((tmp_path / "b" / name).exists() for name in summary["files"])
    assert call("separate", wav, "--model", tmp_path / "a" / "model.partwise", "--sources", 2) == 2
    assert "--sources does not apply to --model" in capsys.readouterr().err


def test_learned_sources_have_files_of_their_names(wav, tmp_path, chord, capsys):
    # The note alone, as it was recorded elsewhere: at another rate, and louder.
    soundfile.write(tmp_path / "g.flac", at_rate(1.1 * chord.stems["G4"], RATE, 11025), 11025)
    out = tmp_path / "out"
    assert call("separate", wav, "--learn", f"high one={tmp_path / 'g.flac'}", "-k", 1, "-o", out, "-q") == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["audio_files"] == ["high_one.wav", "rest.wav"]
    high, rest = (read_audio(out / name).data[:, 0] for name in summary["audio_files"])
    stem = chord.stems["G4"]
    assert abs(np.corrcoef(high, stem)[0, 1]) > 0.9
    assert abs(np.corrcoef(rest, chord.stems["C4"])[0, 1]) > 0.9


def test_names_that_are_alike_as_files_are_numbered_and_names_of_the_rest_refused(
    wav, tmp_path, chord, capsys
):
    for name in ("C4", "G4"):
        soundfile.write(tmp_path / f"{name}.wav", chord.stems[name], RATE, subtype="FLOAT")
    out = tmp_path / "out"
    learn = ["--learn", f"a/b={tmp_path / 'C4.wav'}", "--learn", f"A_b={tmp_path / 'G4.wav'}"]
    assert call("separate", wav, *learn, "-k", 1, "-o", out, "-q") == 0
    names = json.loads((out / "summary.json").read_text())["audio_files"]
    assert names[:2] == ["a_b.wav", "A_b_2.wav"]
    total = sum(read_audio(out / name).data for name in names)
    assert np.allclose(total, read_audio(wav).data, atol=1e-6)
    for name in ("rest", "source1"):
        assert call("separate", wav, "--learn", f"{name}={tmp_path / 'C4.wav'}", "-o", out, "-q") == 2
        assert f"cannot be called '{name}'" in capsys.readouterr().err


def test_sources_are_groups(wav, tmp_path):
    out = tmp_path / "out"
    assert call("separate", wav, "-k", 3, "--sources", 2, "-o", out, "-q") == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["audio_files"] == ["source1.wav", "source2.wav"]


def test_folders_are_compared_and_bad_files_skipped_or_refused(tmp_path, capsys):
    folder = tmp_path / "songs"
    folder.mkdir()
    for i, (notes, timbre) in enumerate(((["C4", "G4"], "reed"), (["C4", "G4"], "reed"), (["A3"], "bow"))):
        sound = make_chord(notes, timbre=timbre, sampling_rate=RATE, random_state=i).data
        soundfile.write(folder / f"song{i}.wav", sound, RATE)
    (folder / "broken.wav").write_text("no sound")
    (folder / "notes.txt").write_text("not looked at")
    out = tmp_path / "out"
    assert call("separate", folder, "-k", 3, "-o", out, "-q") == 0
    said = capsys.readouterr()
    assert "broken.wav is not an audio file" in said.err
    summary = json.loads((out / "summary.json").read_text())
    assert summary["recordings"] == ["song0", "song1", "song2"]
    assert summary["skipped"][0]["file"] == "broken.wav"
    alike = read(out / "likeness.csv").data
    assert np.allclose(np.diag(alike), 1.0)
    assert alike[0, 1] > alike[0, 2]
    assert read(out / "spectra.csv").data.shape[0] == 9
    assert (out / "likeness.png").stat().st_size > 5000
    assert call("separate", folder, "-o", out, "--strict") == 2
    assert "broken.wav" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none.wav",), "no such file"),
        (("text.wav",), "is not an audio file"),
        (("silent.wav",), "is silent"),
        (("empty",), "has no audio files"),
        (("ok.wav", "-k", "0"), "whole number of at least 1, or auto"),
        (("ok.wav", "--learn", "voice"), "takes NAME=FILE"),
        (("ok.wav", "--learn", "voice=none.wav"), "none.wav: no such file"),
        (("ok.wav", "--loss", "nonsense"), "nonsense"),
        (("ok.wav", "--window", "0"), "window must be a number above 0"),
        (("ok.wav", "--model", "text.wav"), "not a partwise model file"),
        (("empty", "--sources", "2"), "--sources does not apply to a folder"),
    ],
)
def test_bad_input_ends_with_a_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.wav").write_text("a letter")
    soundfile.write("silent.wav", np.zeros(900), RATE)
    soundfile.write("ok.wav", 0.5 * np.sin(0.3 * np.arange(900)), RATE)
    assert call("separate", *arguments, "-o", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error


def test_clipping_is_said_and_the_run_goes_on(tmp_path, capsys):
    path = tmp_path / "loud.wav"
    soundfile.write(path, np.clip(3 * np.sin(0.3 * np.arange(4000)), -1, 1), RATE)
    assert call("separate", path, "-k", 1, "-o", tmp_path / "out", "-q") == 0
    assert "is clipped" in capsys.readouterr().err
