"""The time that compiling takes: a message when it is long, and a clock that leaves it out.

Kernels are compiled for this machine the first time they run, then kept on disk.
"""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import suppress
from time import perf_counter
from typing import Any

from partwise.messages import inform

#: Private to Numba: where it has no such names there is no message, and compiling counts as any other work.
Listener: Any = object
register: Any = None
with suppress(ImportError, AttributeError):
    event = importlib.import_module("numba.core.event")
    Listener, register = event.Listener, event.register

#: Seconds of compiling after which there is a message.
PATIENCE = 2.0


class CompileListener(Listener):
    """Measures the wall time during which at least one of partwise's kernels is being compiled, on any thread."""

    def __init__(self) -> None:
        self._announced = False
        self._spent = 0.0
        self.forget_open()

    def forget_open(self) -> None:
        """Take no kernel to be under way; in a forked child the threads that compiled are gone."""
        self._lock = threading.Lock()
        self._open = 0
        self._begin = 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function; functions that it calls begin and end before it ends."""
        if not _is_ours(event):
            return
        with self._lock:
            self._open += 1
            if self._open > 1:
                return
            self._begin = perf_counter()
            if not self._announced:
                self._timer = threading.Timer(max(0.0, PATIENCE - self._spent), self.announce)
                self._timer.daemon = True
                self._timer.start()

    def on_end(self, event: Any) -> None:
        """Numba has compiled a function, or failed to."""
        if not _is_ours(event):
            return
        with self._lock:
            if self._open == 0:  # It began before we listened.
                return
            self._open -= 1
            if self._open > 0:
                return
            self._spent += perf_counter() - self._begin
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def announce(self) -> None:
        """Say so, once for each process."""
        with self._lock:
            if self._announced:
                return
            self._announced = True
        inform("compiling for this machine; where the result can be kept on disk, this happens once")

    def clock(self) -> float:
        """Seconds, less those of compiling: stands still while a kernel is under way."""
        with self._lock:
            return (self._begin if self._open else perf_counter()) - self._spent


def _is_ours(event: Any) -> bool:
    """Whether an event of Numba's is about a function of partwise."""
    data = getattr(event, "data", None)
    function = getattr(data.get("dispatcher"), "py_func", None) if isinstance(data, dict) else None
    return str(getattr(function, "__module__", "")).startswith("partwise.")


_listener: CompileListener | None = None
_lock = threading.Lock()


def listen_for_compiling() -> None:
    """Measure compiling from now on; further calls change nothing."""
    global _listener
    with _lock:
        if _listener is None and register is not None:
            listener = CompileListener()
            try:
                register("numba:compile", listener)
            except (AssertionError, TypeError, ValueError):  # Another Numba may know no such event.
                return
            _listener = listener


def clock() -> float:
    """Seconds that pass without those spent on compiling, for limits of time that hold in a first run, too."""
    return perf_counter() if _listener is None else _listener.clock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    if _listener is not None:
        _listener.forget_open()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
