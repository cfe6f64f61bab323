"""SourceSeparation: what is found, what adds up, what is kept in a file, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from partwise import SourceSeparation, load, save
from partwise.datasets import make_chord
from partwise.domains.spectrogram import ShortTime
from partwise.models.component_count import Growth, knee, unexplained
from partwise.models.spectra import one_per_note, start_from_frames

RATE = 8000


@pytest.fixture(scope="module")
def chord():
    return make_chord(["C4", "E4", "G4"], timbre="reed", sampling_rate=RATE, random_state=0)


@pytest.fixture(scope="module")
def model(chord):
    return SourceSeparation(n_init=1).fit(chord.data, RATE)


def test_the_notes_are_found_with_their_onsets_by_default(chord, model):
    assert sorted(model.note_names_) == ["C4", "E4", "G4"]
    for name, found in zip(model.note_names_, model.onsets_):
        struck = sorted({onset for note, onset, _ in chord.events if note == name})
        assert found == pytest.approx(struck, abs=0.06)


@pytest.mark.parametrize("count", [1, "auto"])
@pytest.mark.parametrize("hz", [300, 440, 1000])
def test_a_steady_tone_begins_once(hz, count):
    t = np.arange(2 * RATE) / RATE
    found = SourceSeparation(count, n_init=1).fit(0.5 * np.sin(2 * np.pi * hz * t), RATE)
    for onsets in [*found.onsets_, *found.applied_to(found.signal_[:, 0]).onsets_]:
        assert onsets == pytest.approx([0.0], abs=0.02)


@pytest.mark.parametrize("shape", ["attack", "faded"])
def test_a_tone_that_grows_begins_where_it_grows(shape):
    t = np.arange(2 * RATE) / RATE
    envelope = 1 - np.exp(-50 * t) if shape == "attack" else np.clip(np.minimum(t, 2 - t) / 0.05, 0, 1)
    noise = 0.001 * np.random.default_rng(0).standard_normal(len(t))
    sound = (0.3 * np.sin(2 * np.pi * 440 * t) + 0.2 * np.sin(2 * np.pi * 880 * t) + noise) * envelope
    found = SourceSeparation(1, n_init=1).fit(sound, RATE)
    assert found.onsets_[0] == pytest.approx([0.0], abs=0.03)


def test_components_sum_to_the_signal_and_are_the_stems(chord, model):
    parts = model.separate()
    assert np.abs(parts.sum(axis=0) - chord.data).max() < 1e-9
    for name, part in zip(model.note_names_, parts):
        stem = chord.stems[name]
        assert stem @ part / np.linalg.norm(stem) / np.linalg.norm(part) > 0.98


def test_channels_share_spectra_and_have_masks_of_their_own(chord):
    stems = list(chord.stems.values())
    left, right = stems[0] + 0.2 * stems[1] + stems[2], 0.1 * stems[0] + stems[1] + stems[2]
    stereo = np.stack([left, right], axis=1)
    model = SourceSeparation(3, n_init=1).fit(stereo, RATE)
    parts = model.separate()
    assert parts.shape == (3, len(left), 2)
    assert np.abs(parts.sum(axis=0) - stereo).max() < 1e-9
    assert model.activations_.shape == (len(model.times_), 3, 2)
    c4 = parts[model.note_names_.index("C4")]
    assert np.linalg.norm(c4[:, 0]) > 5 * np.linalg.norm(c4[:, 1])
    assert np.allclose(
        model.transform(stereo, RATE), model.activations_, atol=1e-3 * model.activations_.max()
    )


def test_a_saved_model_separates_the_same_way(tmp_path, chord, model):
    again = load(save(model, tmp_path / "m"))
    assert np.array_equal(again.components_, model.components_)
    with pytest.raises(ValueError, match="does not hold the recording"):
        again.separate()
    parts = again.separate(chord.data, RATE)
    assert np.abs(parts - model.separate()).max() < 0.02
    assert np.abs(parts.sum(axis=0) - chord.data).max() < 1e-9
    assert again.summary()["parts"] == model.summary()["parts"]


def test_saved_stereo_models_load(tmp_path, chord):
    model = SourceSeparation(2, n_init=1).fit(np.stack([chord.data, chord.data], axis=1), RATE)
    assert load(save(model, tmp_path / "m")).activations_.shape == model.activations_.shape


def test_other_spectra_in_another_recording(chord, model):
    other = make_chord(
        ["C4", "G4"], timbre="reed", events=[("C4", 0, 1), ("G4", 1, 1)], sampling_rate=RATE, random_state=5
    )
    W = model.transform(other.data, RATE)
    early = model.times_[: len(W)] < 1
    c4, g4 = (W[:, model.note_names_.index(name)] for name in ("C4", "G4"))
    assert c4[early].sum() > 3 * c4[~early].sum()
    assert g4[~early].sum() > 3 * g4[early].sum()


def test_the_same_seed_gives_the_same_bits(chord):
    a, b = (SourceSeparation(3, n_init=1, random_state=4).fit(chord.data, RATE) for _ in range(2))
    assert np.array_equal(a.components_, b.components_)


def test_the_scale_of_the_signal_scales_the_parts(chord, model):
    loud = SourceSeparation(n_init=1).fit(64.0 * chord.data, RATE)
    assert loud.note_names_ == model.note_names_
    assert np.allclose(loud.separate(), 64.0 * model.separate(), atol=1e-2 * 64)


def test_examples_are_separated_from_the_rest(chord):
    events = [(311.0, 0.3, 1.1), (370.0, 1.7, 1.4), (311.0, 3.2, 1.0), (370.0, 5.1, 0.8)]
    voice = make_chord([311.0, 370.0], timbre="bow", events=events, sampling_rate=RATE, random_state=3)
    more = make_chord([311.0, 370.0], timbre="bow", sampling_rate=RATE, random_state=7)
    n = min(len(voice.data), len(chord.data))
    mix = chord.data[:n] + voice.data[:n]
    model = SourceSeparation(4, n_init=1, example_components=8).fit(mix, RATE, examples={"voice": more.data})
    assert model.source_names_ == ["voice", "rest"]
    found, rest = model.separate(by="sources")
    assert np.abs(found + rest - mix).max() < 1e-9
    assert sdr(voice.data[:n], found) > 10
    assert sdr(chord.data[:n], rest) > 10


def test_sources_are_groups_of_components(chord):
    model = SourceSeparation(3, n_sources=2, n_init=1).fit(chord.data, RATE)
    assert sorted(set(model.sources_)) == [0, 1]
    parts, sources = model.separate(), model.separate(by="sources")
    for i, sound in enumerate(sources):
        assert np.allclose(sound, parts[model.sources_ == i].sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("n", [1, 5, 300, 2000])
def test_short_recordings(n):
    x = np.sin(0.5 * np.arange(1, n + 1))
    model = SourceSeparation(n_init=1).fit(x, RATE)
    assert np.abs(model.separate().sum(axis=0) - x).max() < 1e-9


def test_a_power_makes_masks_sharper_and_they_add_up_all_the_same(chord, model):
    soft, sharp = model.separate(power=1.0), model.separate(power=4.0)
    assert np.abs(sharp.sum(axis=0) - chord.data).max() < 1e-9
    assert (soft**2).sum() < (sharp**2).sum()


def test_losses_without_zeros_take_silence_too(chord):
    silence = np.concatenate([chord.data[:4000], np.zeros(4000)])
    model = SourceSeparation(2, beta_loss="itakura-saito")
    V = model._magnitudes(ShortTime.of(RATE, 0.093).forward(silence[:, None]))
    assert V.min() > 0
    assert SourceSeparation(2)._magnitudes(np.zeros((1, 3, 3), complex)).max() == 0


@pytest.mark.parametrize(
    ("signal", "sentence"),
    [
        (np.zeros(100), "is silent"),
        (np.full(1000, 1e-25), "up to 1e-25: its spectrum"),
        (np.full(1000, 1e31), "up to 1e.31: its spectrum"),
        (np.zeros(0), "has no samples"),
        (np.array([0.1, np.nan]), "NaN or infinite"),
        (np.zeros((2, 3, 4)), "of shape"),
        (np.ones((1, 900)), "channels as columns"),
        (np.array(["a", "b"]), "must be numbers"),
    ],
)
def test_bad_signals_get_a_sentence(signal, sentence):
    with pytest.raises(ValueError, match=sentence):
        SourceSeparation().fit(signal, RATE)


@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 0},
        {"n_components": "many"},
        {"n_sources": 0},
        {"window": -1.0},
        {"window": 93},
        {"power": 0},
        {"n_init": 0},
    ],
)
def test_bad_parameters_get_a_sentence(params):
    with pytest.raises(ValueError, match=r"must be|in seconds"):
        SourceSeparation(**params).fit(np.ones(100), RATE)


def test_another_rate_is_refused(chord, model):
    with pytest.raises(ValueError, match="16000 samples per second, that of the fit had 8000"):
        model.separate(chord.data, 16000)
    with pytest.raises(ValueError, match="at least 100"):
        SourceSeparation().fit(chord.data, 1)
    with pytest.raises(ValueError, match="'components' or 'sources'"):
        model.separate(by="notes")


def test_the_knee_is_where_gains_become_small():
    assert knee(np.array([1.0, 0.7, 0.4, 0.1, 0.09, 0.08]), 0.03) == 4
    # A poor local minimum at 3 hides nothing.
    assert knee(np.array([1.0, 0.7, 0.69, 0.1, 0.09, 0.08]), 0.03) == 4
    assert knee(np.array([1.0]), 0.03) == 1
    assert knee(np.array([1.0, 0.99]), 0.03) == 1


def test_growth_never_loses_what_it_had():
    rng = np.random.default_rng(0)
    V = (rng.gamma(0.3, size=(60, 4)) @ rng.gamma(0.3, size=(4, 30))).astype(np.float32)

    def fit(rows, H):
        from partwise import NMF

        nmf = NMF(len(H), init="custom", beta_loss="kl", max_iter=1000, tol=1e-3)
        W = nmf.fit_transform(rows, W=np.ones((len(rows), len(H)), np.float32), H=H)
        return nmf.components_, unexplained(rows, W, nmf.components_), nmf.objective_

    growth = Growth(V, fit, lambda k: start_from_frames(V, k, rng))
    assert growth.until(0.03, 10, lambda: False) == 4
    losses = np.array(growth.losses)
    assert (np.diff(losses) <= 1e-3 * losses[0]).all()


def test_the_unexplained_spectrum_is_the_one_left_out():
    rng = np.random.default_rng(0)
    H, W = rng.gamma(0.3, size=(3, 40)), rng.gamma(1.0, size=(50, 3))
    left = unexplained(W @ H, W[:, :2], H[:2])[0]
    assert left @ H[2] / np.linalg.norm(left) / np.linalg.norm(H[2]) > 0.99


def test_one_note_in_two_components_is_joined():
    frequencies = np.arange(800) * 10.0

    def note(f0):
        h = np.arange(1, 9)
        return sum(np.exp(-0.5 * ((frequencies - f0 * i) / 12) ** 2) / i for i in h) + 1e-6

    H = np.array([note(300.0), note(305.0), note(400.0), note(600.0)])
    joined = one_per_note(H, np.ones((5, 4)), frequencies)
    assert len(joined) == 3
    assert joined.sum() == pytest.approx(5 * H.sum())


def sdr(stem, sound):
    from partwise.reproduce.separation import sdr as ratio

    return ratio(stem, sound)


def test_the_ratio_of_the_experiment_is_that_of_mir_eval(chord):
    separation = pytest.importorskip("mir_eval.separation")
    stems = np.array(list(chord.stems.values()))[:, :4000]
    rng = np.random.default_rng(0)
    sounds = stems + 0.1 * stems[::-1] + 0.02 * rng.standard_normal(stems.shape)
    with pytest.warns(FutureWarning) if deprecated(separation) else nothing():
        expected = separation.bss_eval_sources(stems, sounds, compute_permutation=False)[0]
    assert [sdr(a, b) for a, b in zip(stems, sounds)] == pytest.approx(expected, abs=1e-3)


def deprecated(separation):
    import mir_eval

    return tuple(int(part) for part in mir_eval.__version__.split(".")[:2]) >= (0, 8)


def nothing():
    import contextlib

    return contextlib.nullcontext()
