"""A word to whoever waits: kernels are compiled for this machine the first time they run, then kept on disk."""

from __future__ import annotations

import sys
import threading
from time import perf_counter
from typing import Any

from numba.core import event

#: Seconds of compiling after which something is said.
PATIENCE = 2.0


class Teller(event.Listener):
    """Adds up the time that our own kernels take to compile; says so once when it is long."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.said = False
        self._depth = 0
        self._begin = 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, what: Any) -> None:
        """A function begins to be compiled; those that it calls are compiled inside."""
        if not _ours(what):
            return
        self._depth += 1
        if self._depth == 1:
            self._begin = perf_counter()
        if self._depth == 1 and not self.said:
            self._timer = threading.Timer(max(0.0, PATIENCE - self.spent), self.say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, what: Any) -> None:
        """The function is compiled."""
        if not _ours(what):
            return
        self._depth -= 1
        if self._depth == 0:
            self.spent += perf_counter() - self._begin
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def say(self) -> None:
        """One line, once for each process."""
        if not self.said:
            self.said = True
            text = (
                "partwise: compiling for this machine; this happens once, later runs find the result on disk"
            )
            print(text, file=sys.stderr, flush=True)


def _ours(what: Any) -> bool:
    function = getattr((what.data or {}).get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("partwise.")


_teller: Teller | None = None
_lock = threading.Lock()


def tell_when_compiling() -> None:
    """Listen from now on; further calls change nothing."""
    global _teller
    with _lock:
        if _teller is None:
            _teller = Teller()
            event.register("numba:compile", _teller)


def clock() -> float:
    """Seconds, less those spent on compiling: for whoever has a limit to keep, also the first time."""
    return perf_counter() - (0.0 if _teller is None else _teller.spent)
