"""The thread pool: whole coverage, no effect on answers, safe from several threads and after fork."""

import gc
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
import weakref
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import partwise
from partwise import NMF, parallel
from partwise.datasets import make_low_rank
from partwise.parallel import get_threads, matmul, over_rows, own_threads, set_threads, thread_limit

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
no_fork_warning = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def finishes(work, seconds=30):
    """Whether `work` returns on a thread of its own; a deadlock must not stop the test suite."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


@given(n=st.integers(0, 500), threads=st.integers(1, 5), grain=st.integers(1, 100))
def test_every_row_is_visited_once(n, threads, grain):
    seen = np.zeros(n, int)

    def visit(start, stop):
        seen[start:stop] += 1

    with thread_limit(threads):
        over_rows(visit, n, grain)
    assert (seen == 1).all()


def test_an_error_in_a_task_reaches_the_caller():
    def fail(start, stop):
        if stop == 1000:
            raise KeyError("row 999")

    with thread_limit(3), pytest.raises(KeyError):
        over_rows(fail, 1000, 10)


def test_after_an_error_no_further_ranges_are_begun():
    begun = []

    def fail(start, stop):
        begun.append(start)
        raise KeyError(start)

    with thread_limit(3), pytest.raises(KeyError):
        over_rows(fail, 160, 10)
    assert len(begun) <= 3


@pytest.fixture
def new_pool(monkeypatch):
    """A pool that has no more threads than the test asks for."""
    while parallel._helpers:  # Those of the pool before are about to go.
        time.sleep(1e-3)
    monkeypatch.setattr(parallel, "_pool", None)
    monkeypatch.setattr(parallel, "_pool_size", 0)


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_while_a_thread_of_the_pool_starts_comes_after_its_start(new_pool, monkeypatch):
    """Else the pool would not know the thread, and the interpreter would wait for it forever at exit."""
    start = threading.Thread.start

    def pressed_start(thread):
        press_ctrl_c()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", pressed_start)
    with thread_limit(2), pytest.raises(KeyboardInterrupt):
        over_rows(lambda start, stop: None, 1000, 10)
    assert len(parallel._pool._threads) == 1


def test_after_ctrl_c_in_the_caller_no_further_ranges_are_begun(new_pool, monkeypatch):
    call, begun, goes_on = parallel._call_helpers, [], threading.Event()

    def pressed_call(job):
        call(job)
        while not begun:
            time.sleep(1e-3)
        goes_on.set()
        raise KeyboardInterrupt

    def task(start, stop):
        begun.append(start)
        goes_on.wait(30)
        time.sleep(0.05)

    monkeypatch.setattr(parallel, "_call_helpers", pressed_call)
    with thread_limit(2), pytest.raises(KeyboardInterrupt):
        over_rows(task, 1600, 10)
    assert len(begun) <= 2


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends a process there")
def test_ctrl_c_while_the_caller_waits_for_helpers_comes_when_they_are_done(new_pool):
    """Nobody may write to the caller's arrays once it goes on."""
    caller, helping, written = threading.current_thread(), threading.Event(), []

    def task(start, stop):
        if threading.current_thread() is caller:
            helping.wait(30)
            return
        helping.set()
        if not written:
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)  # To the main thread, where the caller is.
            time.sleep(0.3)
            written.append(start)

    with thread_limit(2), pytest.raises(KeyboardInterrupt):
        over_rows(task, 1600, 10)
    assert written


def test_ctrl_c_while_the_limit_on_blas_is_set_or_undone_leaves_it_undone(monkeypatch):
    before = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    for name in ("_hold", "_release"):
        with monkeypatch.context() as patch:
            whole = getattr(parallel, name)
            patch.setattr(
                parallel, name, lambda libraries, whole=whole: (whole(libraries), press_ctrl_c())[0]
            )
            with pytest.raises(KeyboardInterrupt), own_threads():
                pass
        after = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
        assert (after, parallel._blas_users, parallel._held) == (before, 0, None)


def test_rows_inside_a_task_are_visited_on_the_thread_of_the_task(new_pool):
    """On a thread of the pool as on that of the caller."""
    threads, seen, both = set(), np.zeros((2, 40), int), threading.Barrier(2, timeout=30)

    def outer(start, stop):
        both.wait()
        here = threading.get_ident()

        def inner(a, b):
            threads.add((here, threading.get_ident()))
            seen[start:stop, a:b] += 1

        over_rows(inner, 40, 1)

    def work():
        with thread_limit(2):
            over_rows(outer, 2, 1)

    assert finishes(work)
    assert (seen == 1).all()
    assert len(threads) == 2
    assert all(outer == inner for outer, inner in threads)


def test_a_short_call_does_not_wait_for_a_long_one_of_another_thread(new_pool):
    begun, may_end, seen, tasks = threading.Semaphore(0), threading.Event(), np.zeros(100, int), []

    def long_task(start, stop):
        begun.release()
        may_end.wait(60)

    def long_call():
        with thread_limit(3):
            over_rows(long_task, 3, 1)

    def short_calls():
        for _ in range(10):

            def task(start, stop):
                seen[start:stop] += 1

            tasks.append(weakref.ref(task))
            with thread_limit(3):
                over_rows(task, 100, 10)

    busy = threading.Thread(target=long_call, daemon=True)
    busy.start()
    for _ in range(3):
        assert begun.acquire(timeout=30)
    try:
        assert finishes(short_calls)
        assert (seen == 10).all()
        # The pool, too busy to look at them, does not keep tasks and their arrays alive.
        gc.collect()
        assert not any(task() for task in tasks)
    finally:
        may_end.set()
        busy.join(30)


def test_helpers_join_a_call_that_began_while_they_were_busy(new_pool):
    begun, may_end, threads = threading.Semaphore(0), threading.Event(), set()

    def first_task(start, stop):
        begun.release()
        may_end.wait(60)

    def second_task(start, stop):
        may_end.set()
        threads.add(threading.get_ident())
        # Ranges last until the helper, free by now, has taken one, too.
        for _ in range(3000):
            if len(threads) > 1:
                return
            threading.Event().wait(0.01)

    def call(task):
        with thread_limit(2):
            over_rows(task, 2, 1)

    busy = threading.Thread(target=call, args=(first_task,), daemon=True)
    busy.start()
    for _ in range(2):
        assert begun.acquire(timeout=30)
    assert finishes(lambda: call(second_task), 60)
    assert len(threads) == 2
    busy.join(30)


def test_tasks_see_the_context_of_the_caller():
    """Its limit of threads and NumPy's handling of errors, on every thread."""
    seen, both = {}, threading.Barrier(2, timeout=30)

    def task(start, stop):
        both.wait()
        seen[threading.get_ident()] = get_threads(), np.geterr()["divide"]

    with thread_limit(2), np.errstate(divide="raise"):
        over_rows(task, 2, 1)
    assert list(seen.values()) == [(2, "raise")] * 2


def test_thread_limit_is_undone_and_checked():
    before = get_threads()
    with thread_limit(3):
        assert get_threads() == 3
        with thread_limit(None):
            assert get_threads() == before
        assert get_threads() == 3
    assert get_threads() == before
    for wrong in (set_threads, lambda n: thread_limit(n).__enter__()):
        for number in (0, -1, 2.5, "2", True):
            with pytest.raises(ValueError, match="whole number of at least 1"):
                wrong(number)


def test_limits_of_overlapping_blocks_in_two_threads_do_not_meet():
    """Enter 2, enter 3 elsewhere, leave 2, leave 3."""
    before, seen = get_threads(), []
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def second():
        first_is_in.wait(30)
        seen.append(get_threads())
        with thread_limit(3):
            second_is_in.set()
            first_is_out.wait(30)
            seen.append(get_threads())
        seen.append(get_threads())

    thread = threading.Thread(target=second)
    thread.start()
    with thread_limit(2):
        first_is_in.set()
        second_is_in.wait(30)
        seen.append(get_threads())
    seen.append(get_threads())
    first_is_out.set()
    thread.join(30)
    assert seen == [before, 2, before, 3, before]
    assert get_threads() == before


def test_set_threads_is_for_the_process_and_gives_way_to_a_block():
    seen = []
    try:
        with thread_limit(3):
            set_threads(2)
            seen.append(get_threads())
            thread = threading.Thread(target=lambda: seen.append(get_threads()))
            thread.start()
            thread.join()
        seen.append(get_threads())
    finally:
        set_threads(None)
    assert seen == [3, 2, 2]


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_until_the_last_block_is_left():
    A = np.random.default_rng(0).random((400, 300))
    inside, may_leave = threading.Event(), threading.Event()

    def other():
        with own_threads():
            inside.set()
            may_leave.wait(30)

    with threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=other)
        with own_threads():
            thread.start()
            inside.wait(30)
            assert blas_threads() == {1}
        assert blas_threads() == {1}
        assert np.allclose(matmul(A, A.T), A @ A.T)
        may_leave.set()
        thread.join(30)
        assert blas_threads() == {2}


class Library:
    """A BLAS library as threadpoolctl shows it, whose number of threads is the process's or each thread's own."""

    user_api = "blas"

    def __init__(self, shared):
        self.setting = SimpleNamespace() if shared else threading.local()

    def get_num_threads(self):
        return getattr(self.setting, "n", 2)

    def set_num_threads(self, n):
        self.setting.n = n


def test_blas_libraries_are_known_before_a_helper_starts(monkeypatch, new_pool):
    known = []
    monkeypatch.setattr(
        parallel, "_blas_libraries", lambda: known.append(threading.current_thread()) or ([], [])
    )
    with parallel.thread_limit(2):
        parallel.over_rows(lambda start, stop: None, 1000, grain=1)
    assert known[0] is threading.current_thread()


def test_blas_libraries_are_told_apart_and_each_thread_is_held_where_it_must_be(monkeypatch, new_pool):
    libraries = shared, of_each_thread = Library(True), Library(False)
    found = SimpleNamespace(lib_controllers=[*libraries, SimpleNamespace(user_api="openmp")])
    monkeypatch.setattr("threadpoolctl.ThreadpoolController", lambda: found)
    kinds = parallel._blas_libraries.__wrapped__()
    assert kinds == ([shared], [of_each_thread])
    monkeypatch.setattr(parallel, "_blas_libraries", lambda: kinds)
    seen, steps = {}, threading.Barrier(2, timeout=30)

    def note(when):
        seen[when] = [library.get_num_threads() for library in libraries]

    def other():
        with own_threads():
            steps.wait()
            steps.wait()
            note("other inside, first outside")
        note("other outside")

    thread = threading.Thread(target=other)
    with own_threads(), own_threads():
        thread.start()
        steps.wait()
        with thread_limit(2):
            both = threading.Barrier(2, timeout=30)
            over_rows(lambda a, b: (both.wait(), note(f"task {a}")), 2, 1)
    note("first outside, other inside")
    steps.wait()
    thread.join(30)
    note("first outside")
    assert seen == {
        "task 0": [1, 1],
        "task 1": [1, 1],
        "first outside, other inside": [1, 2],
        "other inside, first outside": [1, 1],
        "other outside": [2, 2],
        "first outside": [2, 2],
    }


def answer_of_child(question):
    """What `question()` returns in a forked child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(question()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return json.loads(answer)


@needs_fork
@no_fork_warning
def test_a_child_forked_inside_a_block_leaves_it_properly():
    def leave_and_enter():
        seen = []
        block.__exit__(None, None, None)
        seen.append(max(blas_threads()))
        with own_threads():
            seen.append(max(blas_threads()))
        return [*seen, max(blas_threads())]

    with threadpool_limits(2, user_api="blas"):
        block = own_threads()
        block.__enter__()
        in_child = answer_of_child(leave_and_enter)
        assert blas_threads() == {1}
        block.__exit__(None, None, None)
        assert blas_threads() == {2}
    assert in_child == [2, 1, 2]


@needs_fork
@no_fork_warning
def test_a_child_forked_beside_a_block_of_another_thread_can_use_its_own():
    A = np.random.default_rng(0).random((400, 300))
    inside, may_leave = threading.Event(), threading.Event()

    def other():
        with own_threads():
            inside.set()
            may_leave.wait(60)

    def enter_and_leave():
        split = []
        with pytest.MonkeyPatch.context() as patch, thread_limit(2):
            patch.setattr(parallel, "over_rows", lambda *args, **options: split.append(True))
            matmul(A, A.T)
        # Products are split over our threads if and only if BLAS has but one.
        agree = bool(split) == (blas_threads() == {1})
        with own_threads():
            during = max(blas_threads())
        return [agree, during, max(blas_threads())]

    with threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(30)
        in_child = answer_of_child(enter_and_leave)
        may_leave.set()
        thread.join(30)
    assert in_child == [True, 1, 2]


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
def test_answers_do_not_depend_on_the_number_of_threads(loss):
    X = make_low_rank(300, 200, 5, noise="poisson", random_state=0).data + 0.01
    results = []
    for threads in (1, 2, 4):
        with thread_limit(threads):
            results.append(partwise.NMF(5, beta_loss=loss, max_iter=30, tol=0).fit(X))
    for other in results[1:]:
        # Our kernels split rows, which changes no bit; BLAS keeps its own number of threads here.
        assert np.array_equal(other.components_, results[0].components_)
        assert other.objective_ == results[0].objective_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_one_and_two_threads_agree_blas_included(loss, dtype):
    X = make_low_rank(500, 300, 8, noise="poisson", random_state=0).data.astype(dtype)
    objectives = []
    for threads in (1, 2):
        with thread_limit(threads), threadpool_limits(threads):
            objectives.append(partwise.NMF(8, beta_loss=loss, max_iter=50, tol=0).fit(X).objective_)
    assert objectives[1] == pytest.approx(objectives[0], rel=1e-6 if dtype == np.float64 else 1e-4)


def test_two_threads_may_fit_at_once():
    X = make_low_rank(400, 150, 6, noise="poisson", random_state=1).data
    serial = [partwise.NMF(6, beta_loss=b, max_iter=20, tol=0).fit(X).components_ for b in (2, 1)]
    together = [None, None]

    def work(i, beta):
        together[i] = partwise.NMF(6, beta_loss=beta, max_iter=20, tol=0).fit(X).components_

    threads = [threading.Thread(target=work, args=(i, b)) for i, b in enumerate((2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(serial, together):
        assert np.allclose(a, b, rtol=1e-9)


def _fit_in_child(X, queue):
    queue.put(partwise.NMF(3, max_iter=5, tol=0).fit(X).objective_)


@needs_fork
@no_fork_warning
def test_a_forked_child_can_fit_after_its_parent_did():
    X = make_low_rank(300, 80, 3, random_state=2).data
    with thread_limit(2):
        expected = partwise.NMF(3, max_iter=5, tol=0).fit(X).objective_
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_fit_in_child, args=(X, queue))
        child.start()
        got = queue.get(timeout=120)
        child.join(30)
    assert got == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_four_processes_give_the_serial_answers(loss):
    problems = [np.random.default_rng(seed).random((60, 40)) for seed in range(4)]
    serial = [fitted(X, loss) for X in problems]
    parallel = joblib.Parallel(n_jobs=4)(joblib.delayed(fitted)(X, loss) for X in problems)
    for one, other in zip(serial, parallel):
        assert np.allclose(one, other, rtol=1e-10, atol=1e-12)


def fitted(X, loss):
    return NMF(5, beta_loss=loss, max_iter=20, tol=0).fit(X).components_
