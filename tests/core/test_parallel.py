"""The thread pool: whole coverage, no effect on answers, safe from several threads and after fork."""

import multiprocessing
import os
import threading
from time import sleep
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import partwise
from partwise import NMF, compiling
from partwise.compiling import Teller
from partwise.datasets import make_low_rank
from partwise.parallel import get_threads, over_rows, set_threads, thread_limit


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


def test_thread_limit_is_undone_and_checked():
    before = get_threads()
    with thread_limit(3):
        assert get_threads() == 3
    assert get_threads() == before
    with pytest.raises(ValueError, match="at least 1"):
        set_threads(0)


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
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


def test_a_word_is_said_when_compiling_takes_long(capsys, monkeypatch):
    kernel = SimpleNamespace(py_func=SimpleNamespace(__module__="partwise.solvers.sweep"))
    foreign = SimpleNamespace(py_func=SimpleNamespace(__module__="elsewhere"))
    teller = Teller()
    monkeypatch.setattr(compiling, "PATIENCE", 0.05)
    for what, wait in ((foreign, 0.2), (kernel, 0.0), (kernel, 0.3), (kernel, 0.3)):
        begin = SimpleNamespace(data={"dispatcher": what})
        teller.on_start(begin)
        sleep(wait)
        teller.on_end(begin)
        if what is foreign or wait == 0.0:
            assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.count("compiling") == 1
