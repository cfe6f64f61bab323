"""Ctrl-C held back around statements of which all must be done, or none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A block that Ctrl-C does not end: it takes effect at the end of the block, as if pressed there.

    For a thread that is being started, a setting of a library that must be undone, files that belong together. Python
    runs signal handlers on the main thread, so on other threads there is nothing to hold back; nor where the program
    has no handler of its own for SIGINT.
    """
    on_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if on_main else None
    if not callable(handler):
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(pressed[0], None)
