"""Compiling: a message when it is long, and a clock that leaves it out."""

import threading
from time import sleep
from types import SimpleNamespace

import pytest

from partwise import compiling, messages
from partwise.compiling import CompileListener


def event_of(module):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


OURS, FOREIGN = event_of("partwise.solvers.sweep"), event_of("elsewhere")


@pytest.fixture
def time(monkeypatch):
    """What the clock on the wall shows."""
    wall = SimpleNamespace(now=100.0)
    monkeypatch.setattr(compiling, "perf_counter", lambda: wall.now)
    monkeypatch.setattr(compiling, "PATIENCE", 1e6)
    return wall


def test_a_message_is_printed_once_when_compiling_takes_long(capsys, monkeypatch):
    monkeypatch.setattr(messages._lines, "is_program", True)
    listener = CompileListener()
    monkeypatch.setattr(compiling, "PATIENCE", 0.05)
    for event, wait in ((FOREIGN, 0.2), (OURS, 0.0), (OURS, 0.3), (OURS, 0.3)):
        listener.on_start(event)
        sleep(wait)
        listener.on_end(event)
        if event is FOREIGN or wait == 0.0:
            assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.count("compiling") == 1


def on_another_thread(call, *args):
    thread = threading.Thread(target=call, args=args)
    thread.start()
    thread.join()


@pytest.mark.parametrize("elsewhere", [lambda call, *args: call(*args), on_another_thread])
def test_the_clock_stands_still_while_anything_of_ours_is_compiled(time, elsewhere):
    """Two functions, one inside the other or on two threads that overlap: their union is left out, once."""
    listener = CompileListener()
    begin = listener.clock()
    listener.on_start(OURS)
    time.now += 1
    elsewhere(listener.on_start, OURS)
    time.now += 1
    listener.on_end(OURS)
    time.now += 1
    assert listener.clock() == begin
    elsewhere(listener.on_end, OURS)
    assert listener.clock() == begin
    time.now += 5
    assert listener.clock() == begin + 5


def test_the_clock_counts_what_others_compile(time):
    listener = CompileListener()
    begin = listener.clock()
    listener.on_start(FOREIGN)
    time.now += 2
    listener.on_end(FOREIGN)
    assert listener.clock() == begin + 2


def test_an_end_without_a_beginning_changes_nothing(time):
    """A kernel was under way when the listener was registered."""
    listener = CompileListener()
    begin = listener.clock()
    listener.on_end(OURS)
    for _ in range(2):
        listener.on_start(OURS)
        time.now += 1
        listener.on_end(OURS)
    assert listener.clock() == begin


def test_a_forked_child_does_not_wait_for_threads_of_its_parent(time, monkeypatch):
    listener = CompileListener()
    monkeypatch.setattr(compiling, "_listener", listener)
    listener.on_start(OURS)
    time.now += 1
    compiling._after_fork()
    begin = compiling.clock()
    time.now += 1
    assert compiling.clock() == begin + 1


def test_without_events_the_clock_is_that_on_the_wall(time, monkeypatch):
    """Another Numba may have no such events, or none of this name."""

    def refuse(kind, listener):
        raise ValueError(f"{kind} is not a valid event kind")

    monkeypatch.setattr(compiling, "_listener", None)
    for register in (None, refuse):
        monkeypatch.setattr(compiling, "register", register)
        compiling.listen_for_compiling()
        assert compiling.clock() == time.now


def test_events_of_another_shape_are_not_taken_for_ours(time):
    listener = CompileListener()
    begin = listener.clock()
    for event in (SimpleNamespace(), SimpleNamespace(data=None), SimpleNamespace(data=[1]), event_of(None)):
        listener.on_start(event)
    time.now += 1
    assert listener.clock() == begin + 1
