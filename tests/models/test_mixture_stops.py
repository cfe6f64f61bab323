"""MixtureClassifier when it is stopped: Ctrl-C, a time limit, and going on from a checkpoint."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from partwise import MixtureClassifier
from partwise.core import Checkpoint, Interrupted
from partwise.mixture import contrastive, multiplicative, penalty, start
from partwise.mixture.generative import GaussianEM
from partwise.mixture.lbfgs import Lbfgs
from partwise.mixture.multiplicative import Multiplicative
from partwise.mixture.penalty import PENALTIES, choose_penalty
from partwise.models import mixture

REASONS = ("converged", "max_iter", "max_time", "interrupted")
#: A score that guessing among three classes does not reach.
CHANCE = 0.45
SETTINGS = {
    "auto": {"max_iter": 100},
    "lbfgs": {"penalty": 1e-4},
    "early": {"penalty": 0.0, "early_stopping": True, "validation_fraction": 0.2},
    "multiplicative": {"optimizer": "multiplicative", "max_iter": 40},
    "em": {"training": "em", "init": "random", "tol": 0.0, "max_iter": 40},
}


@pytest.fixture(autouse=True)
def few_penalties(monkeypatch):
    """Among three: each takes ten fits."""
    monkeypatch.setattr(penalty, "FEW", (1e-4, 1e-2, 1.0))


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    centres = ((0, 0, 3), (6, 6, 0), (0, 6, 0), (6, 0, 2), (3, 3, 6), (8, 3, 1))
    X = np.vstack([rng.gamma(3.0, 1.0, (40, 3)) + m for m in centres])
    return X, np.repeat(["a", "b", "c"], 80)


def model(name, **changes):
    return MixtureClassifier(2, random_state=0, **{**SETTINGS[name], **changes})


class Calls:
    """Counts the calls of a function and raises KeyboardInterrupt in one of them."""

    def __init__(self, function, stop_at=None):
        self.function, self.stop_at, self.count = function, stop_at, 0

    def __call__(self, *args, **kwargs):
        self.count += 1
        if self.count == self.stop_at:
            raise KeyboardInterrupt
        return self.function(*args, **kwargs)


def count_objective(monkeypatch, stop_at=None):
    """Every evaluation of the objective, contrastive or of EM, goes through the counter."""
    calls = Calls(None, stop_at)

    def through(function):
        def called(*args, **kwargs):
            calls.function = function
            return calls(*args, **kwargs)

        return called

    for module in (contrastive, multiplicative, start, mixture):
        monkeypatch.setattr(
            module, "sums", through(contrastive.sums if module is contrastive else module.sums)
        )
    monkeypatch.setattr(GaussianEM, "value", through(GaussianEM.value))
    return calls


def check_fitted(found, X, y):
    """All attributes are there and agree with each other."""
    J = len(found.component_class_)
    assert found.exponents_.shape == found.means_.shape == (J, X.shape[1])
    assert found.log_weights_.shape == (J,)
    assert np.isfinite(found.exponents_).all()
    assert np.isfinite(found.log_weights_).all()
    assert found.ended_by_ in REASONS
    assert found.converged_ == (found.ended_by_ == "converged")
    assert set(found.history_) == {"objective", "seconds", "validation"}
    assert len(found.history_["objective"]) == len(found.history_["seconds"])
    assert len(found.history_["validation"]) in (0, len(found.history_["objective"]))
    assert found.penalty_ >= 0
    assert set(found.penalties_) == {"penalty", "error", "loss"}
    assert len(found.penalties_["penalty"]) == len(found.penalties_["loss"])
    assert found.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    if found.history_["objective"].size:
        assert found.n_iter_ == len(found.history_["objective"]) - 1
        assert found.objective_ in found.history_["objective"]
    return found.score(X, y)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ctrl_c_at_any_evaluation_keeps_the_best_so_far(name, samples, monkeypatch):
    X, y = samples
    with monkeypatch.context() as patch:
        calls = count_objective(patch)
        whole = model(name).fit(X, y)
    check_fitted(whole, X, y)
    assert calls.count > 20
    moments = sorted({*range(1, 9), *np.linspace(9, calls.count, 12).astype(int)})
    scores = []
    for moment in moments:
        with monkeypatch.context() as patch:
            count_objective(patch, moment)
            with pytest.warns(Interrupted, match="best found so far is kept"):
                found = model(name).fit(X, y)
        scores.append(check_fitted(found, X, y))
        # The last evaluation of a fit is for the means alone: by then training has ended by itself.
        assert found.ended_by_ == ("interrupted" if moment < calls.count else whole.ended_by_)
    assert min(scores) > CHANCE
    assert scores[-1] == whole.score(X, y)


def test_ctrl_c_in_k_means_begins_the_other_classes_at_samples(samples, monkeypatch):
    X, y = samples
    for moment in (1, 2, 3):
        for settings in ({"penalty": 1e-3}, {"training": "em"}):
            counter = Calls(KMeans.fit, moment)
            with monkeypatch.context() as patch:
                patch.setattr(KMeans, "fit", lambda *a, _c=counter, **k: _c(*a, **k))
                with pytest.warns(Interrupted):
                    found = MixtureClassifier(2, random_state=0, **settings).fit(X, y)
            assert counter.count == moment, "no k-means after Ctrl-C"
            assert check_fitted(found, X, y) > CHANCE
            assert (found.ended_by_, found.n_iter_) == ("interrupted", 0)


def test_ctrl_c_while_the_penalty_is_chosen_trains_nothing_more(samples, monkeypatch):
    X, y = samples
    steps = Calls(Lbfgs.step, 30)
    monkeypatch.setattr(Lbfgs, "step", lambda *a: steps(*a))
    with pytest.warns(Interrupted):
        found = model("auto").fit(X, y)
    assert steps.count == 30
    assert found.penalty_ in PENALTIES
    assert check_fitted(found, X, y) > 0.8


@pytest.mark.parametrize("name", SETTINGS)
def test_the_time_limit_is_kept_and_something_is_trained(name, samples):
    X, y = samples
    found = model(name, max_time=0.0).fit(X, y)
    assert check_fitted(found, X, y) > CHANCE
    assert (found.ended_by_, found.n_iter_) == ("max_time", 1)


@pytest.mark.parametrize(
    ("name", "every"), [("auto", 131), ("lbfgs", 7), ("early", 3), ("multiplicative", 9), ("em", 4)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_is_interrupted_again_and_again_ends_with_the_same_bits(
    name, every, samples, monkeypatch, tmp_path
):
    X, y = samples
    whole = model(name).fit(X, y)
    method = {"multiplicative": Multiplicative, "em": GaussianEM}.get(name, Lbfgs)
    for attempt in range(200):  # noqa: B007
        steps = Calls(method.step, every + 1)
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", Interrupted)
            patch.setattr(method, "step", lambda *a, _s=steps: _s(*a))
            found = model(name).fit(X, y, checkpoint=Checkpoint(tmp_path / "fit", interval=0.0))
        if found.ended_by_ != "interrupted":
            break
    assert attempt > 1
    assert found.ended_by_ == whole.ended_by_
    assert found.exponents_.tobytes() == whole.exponents_.tobytes()
    assert found.log_weights_.tobytes() == whole.log_weights_.tobytes()
    assert found.penalties_ == whole.penalties_
    for key in ("objective", "validation"):
        assert np.array_equal(found.history_[key], whole.history_[key])
    again = model(name).fit(X, y, checkpoint=tmp_path / "fit")
    assert again.exponents_.tobytes() == whole.exponents_.tobytes(), "a finished fit is found as it ended"


@pytest.mark.parametrize("name", ["lbfgs", "em"])
def test_ctrl_c_while_a_checkpoint_is_written_loses_nothing(name, samples, monkeypatch, tmp_path):
    X, y = samples
    for moment in (1, 2, 5):
        saves = Calls(Checkpoint.save, moment)
        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "save", lambda *a, _s=saves: _s(*a))
            with pytest.warns(Interrupted):
                found = model(name).fit(X, y, checkpoint=Checkpoint(tmp_path / str(moment), interval=0.0))
        assert check_fitted(found, X, y) > CHANCE
        assert found.ended_by_ == "interrupted"


def test_samples_held_out_for_early_stopping_do_not_choose_the_penalty(samples, monkeypatch):
    X, y = samples
    seen = []

    def spy(data, *args, **kwargs):
        seen.append(len(data.y))
        return choose_penalty(data, *args, **kwargs)

    monkeypatch.setattr(mixture, "choose_penalty", spy)
    found = model("auto", early_stopping=True).fit(X, y)
    assert seen == [216]
    assert len(found.history_["validation"]) == len(found.history_["objective"])
    assert found.objective_ == found.history_["objective"][found.history_["validation"].argmin()]


def test_more_steps_go_on_from_a_checkpoint(samples, tmp_path):
    X, y = samples
    with pytest.warns(ConvergenceWarning):
        short = model("lbfgs", max_iter=5).fit(X, y, checkpoint=tmp_path / "fit")
    assert (short.ended_by_, short.n_iter_) == ("max_iter", 5)
    longer = model("lbfgs", max_iter=500).fit(X, y, checkpoint=tmp_path / "fit")
    assert longer.exponents_.tobytes() == model("lbfgs").fit(X, y).exponents_.tobytes()
    with pytest.raises(ValueError, match=r"labels was .* and is now"):
        model("lbfgs").fit(X, np.roll(y, 1), checkpoint=tmp_path / "fit")


SCRIPT = """
import os, signal, sys, threading, warnings
import numpy as np
from partwise import MixtureClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = np.vstack([rng.gamma(2.0, 1.0, (500, 12)) + 3 * rng.random(12) for _ in range(6)])
y = np.repeat([0, 1, 2], 1000)
settings, delays = eval(sys.argv[1]), eval(sys.argv[2])
MixtureClassifier(2, max_iter=2, **settings).fit(X[::5], y[::5])
for delay in delays:
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    said = "nothing"
    try:
        timer.start()
        model = MixtureClassifier(6, tol=0.0, max_iter=10**5, random_state=0, **settings).fit(X, y)
        said = f"{model.ended_by_} {model.n_iter_} {model.score(X, y)}"
        timer.join()
    except KeyboardInterrupt:
        pass
    print(delay, said, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process there")
@pytest.mark.parametrize(
    "settings", ["{}", "{'penalty': 1e-4}", "{'training': 'em', 'covariance': 'diagonal'}"]
)
def test_a_real_ctrl_c_at_random_moments(settings):
    delays = [0.0, *np.random.default_rng().uniform(0.0, 0.1, 5), *np.linspace(0.2, 0.9, 4)]
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT, settings, repr([float(delay) for delay in delays])],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.returncode == 0, child.stderr
    assert "Traceback" not in child.stderr
    lines = [line.split() for line in child.stdout.splitlines()]
    assert len(lines) == len(delays)
    for delay, reason, *rest in lines:
        if reason == "nothing":
            assert float(delay) < 0.5, "after the start there is something to keep"
        else:
            assert reason in ("interrupted", "converged")
            assert float(rest[1]) > CHANCE
