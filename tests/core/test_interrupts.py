"""Ctrl-C held back: nothing of a block is lost, and nothing of the signal."""

import signal
import threading

import pytest

from partwise.interrupts import uninterrupted


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
