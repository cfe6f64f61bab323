"""The loop: reasons to stop, callbacks, Ctrl-C, and going on from a file."""

import numpy as np
import pytest
from sweeps import data, factors

from partwise.core import (
    History,
    Info,
    Interrupted,
    ObjectiveEveryTen,
    Problem,
    RelativeProgress,
    State,
    ViolationRatio,
    run,
)
from partwise.losses import BetaDivergence
from partwise.matrix import Dense
from partwise.solvers import make_solver


@pytest.fixture
def setting():
    X = Dense.of(data(20, 15, 0))
    problem = Problem(X, BetaDivergence(2.0))
    solver = make_solver("hals", shuffle=True)
    return problem, solver, factors(20, 15, 4, 1)


def go(setting, state=None, max_iter=10, rng=None, **more):
    problem, solver, start = setting
    state = solver.init(problem, *start) if state is None else state
    more.setdefault("stopping", RelativeProgress(0.0))
    return run(problem, solver, state, max_iter=max_iter, rng=rng, **more)


def test_history_has_the_start_and_every_step(setting):
    history = History()
    result = go(setting, callbacks=[history])
    assert len(history.objective) == len(history.seconds) == 11
    assert result.reason == "max_iter"
    assert history.objective[0] == pytest.approx(setting[0].objective(*setting[2]))
    assert np.all(np.diff(history.seconds) >= 0)


def test_a_run_stops_when_time_is_up(setting):
    result = go(setting, max_time=0.0)
    assert (result.reason, result.state.iteration) == ("max_time", 1)


def test_a_converged_run_says_so(setting):
    result = go(setting, max_iter=10_000, stopping=RelativeProgress(1e-3))
    assert result.converged
    assert result.state.iteration < 10_000


def test_ctrl_c_keeps_the_factors_reached(setting):
    def press(info, state):
        if info.iteration == 4:
            raise KeyboardInterrupt

    with pytest.warns(Interrupted, match="after 4 iterations"):
        result = go(setting, callbacks=[press])
    assert result.reason == "interrupted"
    problem, _, start = setting
    assert problem.objective(result.state.W, result.state.Ht) < problem.objective(*start)


def test_a_saved_run_goes_on_as_if_never_stopped(setting, tmp_path):
    whole = go(setting, max_iter=12, rng=np.random.default_rng(3)).state
    rng = np.random.default_rng(3)
    half = go(setting, max_iter=5, rng=rng).state
    half.save(tmp_path / "state.npz", rng)
    other = np.random.default_rng(99)
    loaded = State.load(tmp_path / "state.npz", other)
    assert loaded.iteration == 5
    assert loaded.objective == half.objective
    assert set(loaded.extra) == set(half.extra) != set()
    resumed = go(setting, state=loaded, max_iter=12, rng=other).state
    assert np.array_equal(resumed.W, whole.W)
    assert np.array_equal(resumed.Ht, whole.Ht)


def test_a_file_that_is_no_state_is_refused(tmp_path):
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="is not a saved state"):
        State.load(bad)
    np.savez(bad, W=np.ones(2), Ht=np.ones(2), head=np.frombuffer(b'{"format": "other"}', np.uint8))
    with pytest.raises(ValueError, match="this version can read"):
        State.load(bad)


def test_a_copy_is_not_touched_by_later_steps(setting):
    problem, solver, start = setting
    state = solver.init(problem, *start)
    kept = state.copy()
    solver.step(problem, state, np.random.default_rng(0))
    assert np.array_equal(kept.W, start[0])


def test_relative_progress_averages_over_its_window():
    rule = RelativeProgress(0.01)
    rule.begin(200.0)
    values = [100.0 * 0.9**i for i in range(12)] + [28.0 - 0.001 * i for i in range(20)]
    stops = [rule.done(Info(i + 1, v)) for i, v in enumerate(values)]
    assert not any(stops[:15])
    assert stops[-1]


def test_zero_tolerance_never_converges():
    for rule in (RelativeProgress(0.0), ViolationRatio(0.0), ObjectiveEveryTen(0.0)):
        rule.begin(1.0)
        assert not any(rule.done(Info(i, 1.0, violation=1.0)) for i in range(1, 40))


def test_scikit_learns_rules():
    rule = ViolationRatio(0.1)
    rule.begin(1.0)
    assert [rule.done(Info(i, 1.0, violation=v)) for i, v in ((1, 10.0), (2, 1.5), (3, 0.9))] == [
        False,
        False,
        True,
    ]
    rule = ObjectiveEveryTen(1e-2)
    rule.begin(50.0)
    assert not rule.done(Info(9, 50.0))
    assert not rule.done(Info(10, 40.0))
    assert rule.done(Info(20, 39.99))
