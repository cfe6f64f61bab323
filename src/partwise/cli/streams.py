"""Standard output and error that cannot be written: full disks, closed pipes, letters that an encoding lacks."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class Expendable:
    """A text stream whose messages get lost where they cannot be written; everything else is the stream's own.

    Results do not depend on messages: a full disk behind stderr must not end a fit at the next move of its bar.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if it can be written."""
        try:
            return self._stream.write(text)
        except OSError:
            drop(self._stream)
            return len(text)

    def flush(self) -> None:
        """Write what is held back if it can be written."""
        try:
            self._stream.flush()
        except OSError:
            drop(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def expendable_messages() -> Iterator[None]:
    """Let stderr be expendable during the block."""
    before = sys.stderr
    if before is not None:
        sys.stderr = Expendable(before)
    try:
        yield
    finally:
        sys.stderr = before


def let_letters_be_written() -> None:
    """Write results in UTF-8 where nobody chose an encoding, and as escapes what a chosen one lacks.

    In a job without a locale stdout is ASCII: the × in a summary would end a fit whose files are all written.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        chosen = sys.stdout.isatty() or os.environ.get("PYTHONIOENCODING")
        sys.stdout.reconfigure(encoding=None if chosen else "utf-8", errors="backslashreplace")


def drop(stream: TextIO) -> None:
    """Send what a stream holds, and what will be written to it, nowhere: Python would try once more when it ends."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def give_up_output() -> None:
    """Drop what stdout and stderr hold if it cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            drop(stream)
