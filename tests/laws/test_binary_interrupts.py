"""Laws of stopping BinaryNMF: Ctrl-C at any moment leaves a fitted model; a checkpoint goes on to the same bits."""

import contextlib
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from partwise import BinaryNMF
from partwise.core import Checkpoint, Interrupted
from partwise.datasets import make_bars
from partwise.latent import binary_start, em, inference, noise, rescue
from partwise.latent.em import ExpectationMaximization

BARS = make_bars(150, random_state=2)
#: A component is dead, so that the rescue has something to do.
DEAD = np.concatenate([BARS.components[:7] + 0.01, np.full((1, 16), 1e-9)])
CASES = {
    "exact": {},
    "truncated": {"inference": "truncated"},
    "per component": {"per_component": True, "init": "data", "perturb": [0.3] * 4},
    "rescue": {"init": DEAD},
    "rescue, truncated": {"init": DEAD, "inference": "truncated"},
    "widened": {
        "inference": "truncated",
        "n_candidates": "all",
        "max_active": 2,
        "widen": 3,
        "update": "least-squares",
    },
}


def model(case, **more):
    return BinaryNMF(8, **{"max_iter": 30, "random_state": 1, **CASES[case], **more})


class Presses:
    """Presses Ctrl-C at the n-th call of what a fit is made of, and counts the calls that follow."""

    places = (
        (inference, "enumerated"),
        (noise, "preselected"),
        (noise, "gram_preselected"),
        (noise, "em_update"),
        (noise, "nonnegative_update"),
        (em, "activation_update"),
        (em, "log_likelihood"),
        (rescue, "moves"),
        (rescue, "split"),
        (rescue, "replant"),
        (binary_start, "start_factors"),
        (binary_start, "cut_nmf"),
    )

    def __init__(self, monkeypatch):
        self.at, self.calls = 0, []
        for place, name in self.places:
            monkeypatch.setattr(place, name, self.wrapped(name, getattr(place, name)))
        monkeypatch.setattr(
            ExpectationMaximization, "init", self.wrapped("init", ExpectationMaximization.init)
        )
        monkeypatch.setattr(
            ExpectationMaximization, "step", self.wrapped("step", ExpectationMaximization.step)
        )

    def wrapped(self, name, function):
        def call(*args, **options):
            self.calls.append(name)
            if len(self.calls) == self.at:
                raise KeyboardInterrupt
            return function(*args, **options)

        return call

    def fit(self, model, at=0, **options):
        """Fit, and press at the given call; the calls made before and after."""
        self.at, self.calls = at, []
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(BARS.data, **options)
        assert any(issubclass(one.category, Interrupted) for one in said) == (at > 0)
        return self.calls[: max(at - 1, 0)], self.calls[at:]


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_at_any_call_leaves_a_model_and_ends_the_work(case, monkeypatch):
    presses = Presses(monkeypatch)
    total = len(presses.fit(model(case, n_init=3))[1])
    assert total > 20
    moments = np.random.default_rng(0).choice(total, min(total, 25), replace=False)
    for at in [1, 2, *(int(i) + 1 for i in moments), total]:
        interrupted = model(case, n_init=3)
        try:
            before, after = presses.fit(interrupted, at)
        except KeyboardInterrupt:
            assert "init" not in presses.calls[: at - 1], "there was a start to keep"
            continue
        # Nothing that takes long may begin; the start that was being chosen may still be made a state.
        assert set(after) <= {"init"}, (at, before[-3:], after)
        reasons = [one["ended_by"] for one in interrupted.restarts_]
        assert "interrupted" not in reasons[:-1]
        assert interrupted.ended_by_ in reasons
        assert np.isfinite(interrupted.transform(BARS.data)).all()


def test_an_interrupted_fit_says_so(monkeypatch):
    fit = BinaryNMF(8, init="random", random_state=0, n_init=3, anneal=False)
    seen = []

    class Pressed(ExpectationMaximization):
        def step(self, problem, state, rng):
            seen.append(state.iteration)
            if len(seen) == 5:
                raise KeyboardInterrupt
            return super().step(problem, state, rng)

    monkeypatch.setattr("partwise.models.binary.ExpectationMaximization", Pressed)
    with pytest.warns(Interrupted, match="best found so far is kept"):
        fit.fit(BARS.data)
    assert seen == [0, 1, 2, 3, 4]
    assert (fit.ended_by_, fit.converged_, fit.n_iter_) == ("interrupted", False, 4)
    assert fit.restarts_ == [{"log_likelihood": fit.log_likelihood_, "n_iter": 4, "ended_by": "interrupted"}]
    assert fit.log_likelihood_ == fit.history_["log_likelihood"].max()


def test_ctrl_c_while_the_rows_of_a_fit_are_transformed_loses_neither(monkeypatch):
    whole, calls = BinaryNMF.transform, []

    def pressed(self, X):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(self, X)

    monkeypatch.setattr(BinaryNMF, "transform", pressed)
    model = BinaryNMF(8, max_iter=5, rescue=False, random_state=0)
    with pytest.warns(Interrupted):
        W = model.fit_transform(BARS.data)
    monkeypatch.undo()
    assert np.array_equal(W, model.transform(BARS.data))


SCRIPT = """
    import _thread, threading, time, warnings
    import numpy as np
    from partwise import BinaryNMF
    from partwise.core import Interrupted
    from partwise.datasets import make_bars
    from partwise.latent.em import ExpectationMaximization

    X = make_bars(300, random_state=0).data
    started = []
    init = ExpectationMaximization.init
    ExpectationMaximization.init = lambda self, *args: (started.append(1), init(self, *args))[1]
    warnings.simplefilter("ignore")
    for options in ({"inference": "exact"}, {"inference": "truncated"}):
        fit = lambda: BinaryNMF(8, n_init=3, max_iter=30, random_state=0, tol=1e-9, **options).fit(X)
        fit()
        begin = time.perf_counter()
        fit()
        length = time.perf_counter() - begin
        for delay in np.random.default_rng(0).uniform(0, length, 10):
            started.clear()
            pressed = []
            timer = threading.Timer(delay, lambda: (pressed.append(time.perf_counter()), _thread.interrupt_main()))
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    timer.start()
                    model = fit()
                    timer.cancel()
                    heard = any(issubclass(one.category, Interrupted) for one in said)
                except KeyboardInterrupt:
                    assert not started, "there was a start to keep"
                    continue
            if pressed and not heard:
                continue  # It came after the fit.
            assert heard == bool(pressed)
            if pressed:
                assert time.perf_counter() - pressed[0] < max(1.0, 0.3 * length), "it went on"
            assert np.isfinite(model.transform(X)).all()
    print("heard")
"""


def test_ctrl_c_at_random_moments_is_heard():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "heard", done.stderr


# ------------------------------------------------------------------ checkpoints


@pytest.mark.parametrize("case", CASES)
def test_a_fit_stopped_at_any_call_goes_on_to_the_same_bits(case, monkeypatch, tmp_path):
    presses = Presses(monkeypatch)
    whole = model(case, n_init=2)
    total = len(presses.fit(whole)[1])
    for at in sorted({3, 9, total // 4, total // 2, 3 * total // 4, total - 1}):
        folder = tmp_path / str(at)
        with contextlib.suppress(KeyboardInterrupt):
            presses.fit(model(case, n_init=2), at, checkpoint=Checkpoint(folder, interval=0.0))
        resumed = model(case, n_init=2)
        presses.fit(resumed, checkpoint=folder)
        same(resumed, whole)


def same(one, two):
    assert np.array_equal(one.components_, two.components_)
    assert np.array_equal(one.activation_, two.activation_)
    for name in ("log_likelihood", "activation"):
        assert np.array_equal(one.history_[name], two.history_[name])
    assert one.restarts_ == two.restarts_
    assert (one.n_iter_, one.ended_by_) == (two.n_iter_, two.ended_by_)


def test_a_fit_that_ran_out_of_time_goes_on_to_the_same_bits(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = model("truncated").fit(BARS.data)
        for _ in range(100):
            part = model("truncated", max_time=0.0).fit(BARS.data, checkpoint=tmp_path)
            assert part.ended_by_ in ("max_time", "converged", "max_iter")
            assert part.n_iter_ >= 1
            assert len(part.restarts_) == 1
        resumed = model("truncated").fit(BARS.data, checkpoint=tmp_path)
    same(resumed, whole)


def test_a_finished_fit_is_not_fitted_again(monkeypatch, tmp_path):
    presses = Presses(monkeypatch)
    first, again = model("rescue"), model("rescue")
    presses.fit(first, checkpoint=tmp_path)
    _, calls = presses.fit(again, checkpoint=tmp_path)
    assert "step" not in calls
    same(again, first)


def test_a_checkpoint_of_other_counts_is_refused(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model("exact", max_iter=2).fit(BARS.data, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="contents"):
        model("exact").fit(BARS.data + 1, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="inference"):
        model("truncated").fit(BARS.data, checkpoint=tmp_path)
