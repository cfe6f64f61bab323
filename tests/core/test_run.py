"""The loop: reasons to stop, callbacks, Ctrl-C, and going on from a file."""

import signal
import warnings

import numpy as np
import pytest
from sweeps import data, factors

from partwise import parallel
from partwise.core import (
    Checkpoint,
    History,
    Info,
    Interrupted,
    ObjectiveEveryTen,
    Problem,
    RelativeProgress,
    RunState,
    ViolationRatio,
    current_session,
    open_session,
    run,
    whole_session,
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

    with pytest.warns(Interrupted, match="the best found so far is kept"):
        result = go(setting, callbacks=[press])
    assert result.reason == "interrupted"
    problem, _, start = setting
    assert problem.objective(result.state.W, result.state.Ht) < problem.objective(*start)


@pytest.mark.parametrize("k", [1, 3, 7, 11])
def test_a_run_stopped_after_any_step_goes_on_to_the_same_bits(setting, tmp_path, k):
    whole = go(setting, max_iter=12, rng=np.random.default_rng(3))

    def press(info, state):
        if info.iteration == k:
            raise KeyboardInterrupt

    for callbacks in ([press], []):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Interrupted)
            with open_session(checkpoint=Checkpoint(tmp_path, interval=0.0)):
                rng = np.random.default_rng(3)
                resumed = go(setting, max_iter=12, rng=rng, callbacks=callbacks, name="run")
    assert np.array_equal(resumed.state.W, whole.state.W)
    assert np.array_equal(resumed.state.Ht, whole.state.Ht)
    assert resumed.history.objective == whole.history.objective


def test_a_converged_run_is_not_run_again(setting, tmp_path):
    seen = []
    for _ in range(2):
        with open_session(checkpoint=Checkpoint(tmp_path)):
            result = go(
                setting,
                max_iter=10_000,
                stopping=RelativeProgress(1e-3),
                name="run",
                callbacks=[lambda info, state: seen.append(info.iteration)],
            )
        assert result.converged
    assert len(seen) == len(set(seen))


def test_a_file_that_is_no_checkpoint_is_refused(setting, tmp_path):
    (tmp_path / "run.npz").write_bytes(b"not a zip")
    with (
        open_session(checkpoint=Checkpoint(tmp_path)),
        pytest.raises(ValueError, match="not a readable checkpoint"),
    ):
        go(setting, name="run")
    head = np.frombuffer(b'{"format": "other"}', np.uint8)
    np.savez(tmp_path / "run.npz", head=head)
    with (
        open_session(checkpoint=Checkpoint(tmp_path)),
        pytest.raises(ValueError, match="this version can read"),
    ):
        go(setting, name="run")


def test_a_checkpoint_of_another_fit_is_refused_by_the_difference(tmp_path):
    Checkpoint(tmp_path).claim("NMF", {"n_components": 3, "max_iter": 10}, {"contents": "abc"})
    Checkpoint(tmp_path).claim("NMF", {"n_components": 3, "max_iter": 99}, {"contents": "abc"})
    for model, k, contents, words in (
        ("BinaryNMF", 3, "abc", "made by NMF, this is BinaryNMF"),
        ("NMF", 4, "abc", "n_components was 3 and is now 4"),
        ("NMF", 3, "xyz", "data's contents was 'abc' and is now 'xyz'"),
    ):
        with pytest.raises(ValueError, match=words):
            Checkpoint(tmp_path).claim(model, {"n_components": k}, {"contents": contents})
    with pytest.raises(ValueError, match="must be a folder"):
        Checkpoint(tmp_path / "fit.json")


def test_an_interrupted_inner_run_ends_the_outer_one(setting):
    def press(info, state):
        if info.iteration == 2:
            raise KeyboardInterrupt

    def both():
        with open_session() as session:
            return go(setting, callbacks=[press]), go(setting), session

    with pytest.warns(Interrupted, match="best found so far is kept"):
        inner, outer, session = both()
    assert (inner.reason, inner.state.iteration) == ("interrupted", 2)
    assert (outer.reason, outer.state.iteration) == ("interrupted", 0)
    assert session.interrupted


def test_ctrl_c_in_an_inner_fit_ends_the_fit_around_it(setting):
    def press(info, state):
        raise KeyboardInterrupt

    def nested():
        with open_session() as outer:
            with open_session() as inner:
                go(setting, callbacks=[press])
            return inner.interrupted, outer.stopped

    with pytest.warns(Interrupted):
        assert nested() == (True, True)


def test_restarts_keep_every_outcome_and_end_with_ctrl_c():
    def attempt(i):
        if i == 2:
            raise KeyboardInterrupt
        return i

    def attempts(**options):
        with open_session(**options) as session:
            return session.restarts(5, attempt)

    with pytest.warns(Interrupted):
        assert attempts() == [0, 1]
    assert attempts(max_time=0.0) == [0]
    with open_session() as session, pytest.raises(KeyboardInterrupt):
        session.restarts(1, lambda i: attempt(2))


def test_the_latest_outcome_is_kept_when_ctrl_c_ends_the_search():
    def outcomes(count):
        yield from range(count)
        raise KeyboardInterrupt

    def latest(count):
        with open_session() as session:
            return session.latest(outcomes(count))

    with pytest.warns(Interrupted):
        assert latest(3) == 2
    with pytest.raises(KeyboardInterrupt):
        latest(0)


def test_a_stage_that_was_cut_short_is_not_kept(tmp_path):
    for limit, calls in ((0.0, 1), (None, 2), (None, 2)):
        with open_session(max_time=limit, checkpoint=Checkpoint(tmp_path)) as session:
            seen = session.stage("start", lambda calls=calls: {"calls": calls})
        assert seen == {"calls": calls}


def test_a_stage_that_time_cut_short_is_not_saved(tmp_path):
    for limit, n_files in ((0.0, 0), (None, 1)):
        with open_session(max_time=limit, checkpoint=Checkpoint(tmp_path)) as session:
            assert session.stage("start", lambda: {"place": 1}) == {"place": 1}
        assert len(list(tmp_path.glob("*.npz"))) == n_files


def test_ctrl_c_while_the_bar_closes_loses_nothing():
    class Bar:
        def start(self):
            pass

        def close(self):
            raise KeyboardInterrupt

    def done():
        with open_session(bar=Bar()):
            return "done"

    with pytest.warns(Interrupted):
        assert done() == "done"


def press():
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_while_blas_gets_its_threads_back_keeps_the_run(setting, monkeypatch):
    release = parallel._release
    monkeypatch.setattr(
        parallel, "_release", lambda held: (release(held), held and held[0][1] > 1 and press())[0]
    )
    with pytest.warns(Interrupted):
        result = go(setting, max_iter=3)
    assert (result.state.iteration, result.reason) == (3, "interrupted")


def test_what_a_fit_has_kept_ctrl_c_cannot_take_away():
    kept, calls = [], []

    def set_attributes():
        calls.append(1)
        if len(calls) == 1:
            press()
        kept.append("attributes")

    def fit():
        with open_session() as session:
            session.keep(set_attributes)
            press()
        return "fitted"

    with pytest.warns(Interrupted):
        assert fit() == "fitted"
    assert kept == ["attributes"]


def test_a_fit_after_ctrl_c_in_the_same_session_begins_interrupted(setting):
    def pipeline():
        with open_session() as outer:
            outer.interrupt()
            with open_session() as second:
                return second.interrupted, go(setting).state.iteration

    with pytest.warns(Interrupted):
        assert pipeline() == (True, 0)


def test_whole_work_is_done_whole_or_not_at_all(setting):
    def pressed(info, state):
        if info.iteration == 2:
            press()

    def work():
        with whole_session(), open_session() as fit:
            fit.restarts(3, lambda i: go(setting, callbacks=[pressed] if i == 1 else ()))

    with pytest.raises(KeyboardInterrupt):
        work()

    def after_ctrl_c():
        with open_session() as fit:
            fit.interrupt()
            with whole_session():
                return go(setting, max_iter=3).state.iteration

    with pytest.warns(Interrupted):
        assert after_ctrl_c() == 3
    assert current_session() is None


def test_a_sampler_needs_no_stopping_rule_and_reports_what_it_likes(tmp_path):
    class Walk:
        def value(self, problem, state):
            return 0.0

        def step(self, problem, state, rng):
            state.iteration += 1
            state.objective += rng.normal()
            return state, Info(
                state.iteration, state.objective, notes={"accepted": True, "draw": np.arange(2)}
            )

    whole = run(None, Walk(), RunState(), max_iter=30, rng=np.random.default_rng(0))
    assert (whole.reason, len(whole.history.notes["accepted"])) == ("max_iter", 30)
    for steps in (10, 30):
        with open_session(checkpoint=Checkpoint(tmp_path)):
            result = run(None, Walk(), RunState(), max_iter=steps, rng=np.random.default_rng(0), name="chain")
    assert result.state.objective == whole.state.objective
    assert len(result.history.notes["draw"]) == 30


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
