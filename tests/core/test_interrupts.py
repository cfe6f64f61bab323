"""Ctrl-C held back: nothing of a block is lost, and nothing of the signal."""

import _thread
import signal
import sys
import threading
import time
import weakref

import pytest
from numba.core import event

from partwise.core.session import Interrupted, open_session
from partwise.interrupts import never_ignored, uninterrupted
from partwise.jit import njit


def press():
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_comes_at_the_end_of_the_block():
    done = []

    def work():
        with uninterrupted():
            press()
            done.append("first")
            with uninterrupted():
                press()
                done.append("second")
            done.append("third")
        done.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["first", "second", "third"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_presses_again_after_a_while_is_heard_at_once(monkeypatch):
    monkeypatch.setattr("partwise.interrupts.PATIENCE", 0.05)
    done = []

    def work():
        with uninterrupted():
            press()
            press()
            done.append("first")
            time.sleep(0.1)
            press()
            done.append("second")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_a_kernel_is_compiled_comes_afterwards():
    """Numba's lock on compiling is free again, and the kernel is there."""

    def twice(x):
        return 2 * x

    kernel = njit()(twice)

    class Pressed(event.Listener):
        def on_start(self, event):
            if event.data.get("dispatcher") is kernel:
                press()

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Pressed()), pytest.raises(KeyboardInterrupt):
        kernel(1)
    assert len(kernel.signatures) == 1
    assert kernel(1) == 2


def test_without_ctrl_c_the_block_is_as_any_other():
    with uninterrupted():
        pass
    with pytest.raises(KeyError), uninterrupted():
        raise KeyError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_the_program_is_the_one_that_is_called():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with uninterrupted():
            press()
            assert not seen
        assert seen == [signal.SIGINT]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with uninterrupted():
            press()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_on_another_thread_nothing_is_held_back():
    seen = []

    def work():
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


class Thing:
    pass


def press_in_a_callback():
    """Ctrl-C while a weak reference is told that its object is gone: Python ignores what is raised there."""
    thing = Thing()
    told = []
    reference = weakref.ref(thing, lambda gone: (told.append(gone), press()))
    del thing
    assert told == [reference]


def wait_for_it():
    for _ in range(200):
        time.sleep(0.01)


def test_ctrl_c_in_a_callback_that_python_ignores_is_repeated():
    before = sys.unraisablehook
    done = []

    def work():
        with never_ignored():
            press_in_a_callback()
            done.append("after the callback")
            wait_for_it()
            done.append("nothing came")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["after the callback"]
    assert sys.unraisablehook is before


def test_the_repeated_ctrl_c_does_not_come_where_it_would_be_ignored_again(monkeypatch):
    """On a busy machine the hook that repeats it may take longer than the wait before it."""
    start = _thread.start_new_thread

    def start_slowly(*args):
        start(*args)
        for _ in range(20):
            time.sleep(0.005)

    def work():
        with never_ignored():
            press_in_a_callback()
            wait_for_it()

    monkeypatch.setattr(_thread, "start_new_thread", start_slowly)
    with pytest.raises(KeyboardInterrupt):
        work()


def test_a_fit_hears_ctrl_c_that_came_in_a_callback():
    def fit():
        with open_session() as session:
            session.kept = True
            press_in_a_callback()
            wait_for_it()
            pytest.fail("the press was lost")

    with pytest.warns(Interrupted):
        fit()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_exceptions_in_callbacks_go_where_they_went():
    seen = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda ignored: seen.append(ignored.exc_type)
    try:
        with never_ignored():
            thing = Thing()
            reference = weakref.ref(thing, lambda gone: 1 / 0)
            del thing
            assert reference() is None
    finally:
        sys.unraisablehook = before
    assert seen == [ZeroDivisionError]
