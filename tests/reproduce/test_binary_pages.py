"""The pages on binary parts: what they measure is what they say."""

import numpy as np
import pytest
from scipy.stats import poisson

from partwise import BinaryNMF
from partwise.datasets import make_bars
from partwise.reproduce.bars import open_from
from partwise.reproduce.bars_runs import Published, published_run, true_likelihood
from partwise.reproduce.bars_studies import ablation_settings, grid_table
from partwise.reproduce.digits17_paper import independent_pixels, poisson_mixture, wholeness
from partwise.reproduce.notes import agreement, f_measure, matched, pieces, played, spectrogram


def test_f_is_the_harmonic_mean_and_parts_find_their_notes():
    rng = np.random.default_rng(0)
    truth = rng.random((50, 4)) < 0.4
    order = rng.permutation(4)
    assert np.array_equal(matched(truth[:, order], truth), truth)
    bits = truth ^ (rng.random(truth.shape) < 0.2)
    found = agreement(bits, truth)
    assert found["F"] == pytest.approx(2 / (1 / found["precision"] + 1 / found["recall"]))
    assert f_measure(truth, truth) == 1.0
    assert f_measure(~truth, truth) == 0.0


def test_frames_know_which_notes_are_played(monkeypatch):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    _, piece = next(pieces())
    frames, times = spectrogram(piece, 0.5)
    on = played(piece, times)
    assert frames.shape[0] == len(on) == len(times)
    assert frames.max() == 1.0
    assert on[times < 1.0].all(), "all notes together in the first second"
    # A frame is louder the more notes are on in it.
    assert frames[on.all(axis=1)].sum(axis=1).mean() > 1.5 * frames[on.sum(axis=1) == 1].sum(axis=1).mean()


def test_a_mixture_of_one_is_independent_pixels():
    X = np.random.default_rng(0).poisson(3.0, (60, 5)).astype(float)
    one = poisson_mixture(X[:40], X[40:], 1, 0)
    assert one.held_out == pytest.approx(independent_pixels(X[:40], X[40:]))
    assert one.held_out == pytest.approx(
        poisson.logpmf(X[40:], X[:40].mean(axis=0) + 1e-3).sum(axis=1).mean()
    )
    assert wholeness(X[:3], X) == pytest.approx(1.0)
    assert wholeness(np.eye(5)[:1], np.eye(5)[1:]) == 0.0


def test_every_switch_of_the_published_run_changes_it():
    bars = make_bars(200, random_state=0)
    base = published_run(bars, "truncated", 0)
    for taken in (Published(noise=0.5), Published(gamma=None), Published(widen=15), Published(widen_to=4)):
        other = published_run(bars, "truncated", 0, taken)
        assert other.history["log_likelihood"] != base.history["log_likelihood"]
    assert true_likelihood(bars) > base.history["log_likelihood"][0]


def test_options_and_settings():
    assert open_from("follow", 4, True, 8) == Published(gamma=None, widen_to=4)
    for wrong, words in ((("9", None, True, 8), "1 to 8"), (("2", None, False, 8), "add --paper")):
        with pytest.raises(ValueError, match=words):
            open_from(*wrong)
    settings = dict(ablation_settings())
    default = BinaryNMF().get_params()
    assert all(default[name] == value for name, value in settings["all (the default)"].items())
    assert len({str(sorted(one.items(), key=str)) for one in settings.values()}) == len(settings) == 10
    row = {"inference": "truncated", "noise": 0.02, "gamma": "follow", "widen": 5, "widen_to": "H"}
    cells = grid_table([{**row, "success": 0.8, "activation": 0.3}])["rows"][0]
    assert cells == ["truncated", "0.02", "⌈πH⌉", "5 to H", "80 %", "0.300"]
