"""Ctrl-C held back around statements of which all must be done, or none, and repeated where Python ignored it;
SIGTERM heard as Ctrl-C is.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import CodeType, FrameType

#: Seconds after which Ctrl-C, pressed again, ends a block that it was held back in. (Programs that start others may
#: pass on a signal that these get from the terminal as well: two within milliseconds are one.)
PATIENCE = 1.0
#: Seconds after which a Ctrl-C that Python ignored is repeated, if the callback that it came in has ended by then.
REPEATED_AFTER = 0.002


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A block that Ctrl-C does not end: it takes effect at the end of the block, as if pressed there.

    For a thread that is being started, a setting of a library that must be undone, files that belong together. Who
    waits too long may press again, `PATIENCE` seconds later, and is heard at once. Python runs signal handlers on the
    main thread, so on other threads there is nothing to hold back; nor where the program has no handler for SIGINT.
    """
    on_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if on_main else None
    if not callable(handler):
        yield
        return
    pressed: list[float] = []

    def hold_back(number: int, frame: FrameType | None) -> None:
        pressed.append(monotonic())
        if pressed[-1] - pressed[0] > PATIENCE:
            handler(number, frame)

    signal.signal(signal.SIGINT, hold_back)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(signal.SIGINT, None)


@contextmanager
def never_ignored() -> Iterator[None]:
    """A block in which no Ctrl-C is lost to a callback.

    Python ignores exceptions in `__del__`, in callbacks of weak references and in functions that C code calls back: a
    KeyboardInterrupt that happens to be raised there goes to `sys.unraisablehook`, and the program goes on as if
    nobody had pressed. In this block that hook repeats it. Where another thread opened the block, nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook

    def repeat(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            before(ignored)
            return
        # From another thread: a signal sent from here would be raised here, in the same callback. (The threads of
        # `threading` are waited for until they run, and on a busy machine the press would come while they are.)
        _thread.start_new_thread(press_outside, (repeat.__code__,))

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = before


def press_outside(code: CodeType) -> None:
    """Press Ctrl-C as soon as the main thread is not in a function with this code."""
    main, inside = threading.main_thread().ident, True
    while inside:
        sleep(REPEATED_AFTER)
        frame = sys._current_frames().get(main or 0)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        inside = frame is not None
    _thread.interrupt_main()


@contextmanager
def terminable() -> Iterator[list[int]]:
    """A block in which SIGTERM does what Ctrl-C does, so that what was found is kept.

    Yields a list that is empty as long as SIGTERM has not come. Where the program has a handler for SIGTERM, or on
    another thread than the main one, nothing is changed.
    """
    on_main = threading.current_thread() is threading.main_thread()
    came: list[int] = []
    if not on_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield came
        return

    def as_interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        handler = signal.getsignal(signal.SIGINT)
        # A shell makes programs in the background deaf to Ctrl-C: they have no handler for it.
        if not callable(handler):
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    signal.signal(signal.SIGTERM, as_interrupt)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def ignore_from_now_on() -> None:
    """Ctrl-C no longer does anything in this process: for a program that is done, and whose exit code is settled.

    Python's own last acts (it waits for threads, and calls what was to be called at its end) would print a traceback.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
