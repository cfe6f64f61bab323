"""A fit that was stopped after any step ends, when it is called again, with the bits of one that never was."""

import signal
import warnings

import numpy as np
import pytest
from sweeps import data

from partwise import NMF
from partwise.core import Checkpoint, Interrupted
from partwise.solvers import REGISTRY, Hals

FITS = {
    **{name: {"solver": name} for name in REGISTRY},
    "shuffled": {"shuffle": True},
    "kullback-leibler": {"beta_loss": "kullback-leibler"},
    "negative-binomial": {"beta_loss": "negative-binomial"},
    "restarts": {"n_init": 3, "init": "random"},
    "converging": {"tol": 1e-3, "max_iter": 60},
}


@pytest.mark.parametrize("k", [1, 4, 9])
@pytest.mark.parametrize("case", FITS)
def test_a_resumed_fit_has_the_same_bits(case, k, tmp_path):
    parameters = {"tol": 0.0, "max_iter": 12, "random_state": 3, **FITS[case]}
    X = np.floor(3 * data(30, 20, 1))
    if case == "filled":
        X[::3, ::4] = np.nan
    whole = NMF(4, **parameters).fit(X)
    steps = []

    def press(info, state):
        steps.append(info.iteration)
        if len(steps) == k + 1:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Interrupted)
        for callbacks in ([press], None):
            model = NMF(4, callbacks=callbacks, **parameters)
            model.fit(X, checkpoint=Checkpoint(tmp_path, interval=0.0))
    assert model.ended_by_ == whole.ended_by_
    assert np.array_equal(model.components_, whole.components_)
    assert np.array_equal(model.history_["objective"], whole.history_["objective"])
    assert model.restarts_ == whole.restarts_


@pytest.mark.parametrize("by", ["a callback", "a signal within a step"])
def test_ctrl_c_writes_a_checkpoint_however_long_ago_the_last_one_was(by, tmp_path, monkeypatch):
    X = data(30, 20, 1)
    whole = NMF(4, tol=0, max_iter=20).fit(X)
    attempt = Hals.attempt
    tries = []

    def pressed(self, *given):
        tries.append(1)
        if by == "a signal within a step" and len(tries) == 8:
            signal.raise_signal(signal.SIGINT)
        return attempt(self, *given)

    def press(info, state):
        if by == "a callback" and info.iteration == 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(Hals, "attempt", pressed)
    with pytest.warns(Interrupted):
        stopped = NMF(4, tol=0, max_iter=20, callbacks=[press]).fit(X, checkpoint=tmp_path)
    assert 0 < stopped.n_iter_ <= 8
    monkeypatch.undo()
    seen = []
    model = NMF(4, tol=0, max_iter=20, callbacks=[lambda info, state: seen.append(info.iteration)])
    model.fit(X, checkpoint=tmp_path)
    assert seen[0] == stopped.n_iter_ + 1
    np.testing.assert_array_equal(model.components_, whole.components_)


def test_what_differs_is_named(tmp_path):
    X = data(10, 8, 0)
    NMF(2, max_iter=2, tol=0).fit(X, checkpoint=tmp_path)
    for model, given, words in (
        (NMF(3, max_iter=2, tol=0), X, "n_components was 2 and is now 3"),
        (NMF(2, max_iter=2, tol=0, beta_loss=1), X, "beta_loss was 'frobenius' and is now 1"),
        (NMF(2, max_iter=2, tol=0), X[:, :7], "the data's contents was"),
        (NMF(2, max_iter=2, tol=0), X + 1, "the data's contents was"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(given, checkpoint=tmp_path)
    NMF(2, max_iter=5, tol=0, verbose=0).fit(X, checkpoint=tmp_path)


def test_a_generator_that_has_moved_on_is_not_the_same(tmp_path):
    X = data(10, 8, 0)
    rng = np.random.default_rng(0)
    NMF(2, max_iter=2, tol=0, init="random", random_state=rng).fit(X, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="random_state was"):
        NMF(2, max_iter=2, tol=0, init="random", random_state=rng).fit(X, checkpoint=tmp_path)
