"""What partwise says while it works: records of the logger "partwise", which people see where no program listens.

A program that configures `logging` gets every message as a record of level INFO or above. Where none does, messages
are lines on stderr, if that is a terminal or a notebook. The environment variable PARTWISE_QUIET silences these lines
and all progress bars; errors are exceptions and are not silenced.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("partwise")


def quiet() -> bool:
    """Whether PARTWISE_QUIET is set, to anything but "" and "0"."""
    return os.environ.get("PARTWISE_QUIET", "") not in ("", "0")


class Lines(logging.Handler):
    """Prints records on stderr where nobody else handles them.

    Attributes
    ----------
    is_program : bool
        Whether the command line runs, which prints its messages wherever stderr goes.
    held_back : int
        How many fits that want no messages are under way.
    """

    is_program = False
    held_back = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record, if people are meant to see it."""
        if self.shows() and sys.stderr is not None and not hasattr(record, "bar"):
            lead = getattr(record, "lead", "partwise: ")
            print(f"{lead}{record.getMessage()}", file=sys.stderr, flush=True)

    def shows(self) -> bool:
        """Whether lines are printed now."""
        if quiet() or self.held_back:
            return False
        return self.is_program or (not others_listen() and for_people())


def draws_bars() -> bool:
    """Whether bars are drawn where `verbose` asks for them: not where a program listens and no person looks."""
    # (Without a stderr the bar would go to stdout, into the results.)
    return (
        sys.stderr is not None and not quiet() and (_lines.is_program or for_people() or not others_listen())
    )


def others_listen() -> bool:
    """Whether a program has set up handlers for this logger's records."""
    idle = (Lines, logging.NullHandler)
    return any(not isinstance(handler, idle) for handler in (*logger.handlers, *logging.getLogger().handlers))


def for_people() -> bool:
    """Whether stderr is a terminal, or shown in a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


_lines = Lines()
logger.addHandler(_lines)


def inform(text: str, lead: str = "partwise: ") -> None:
    """Say something that is no error.

    Parameters
    ----------
    text : str
        The message; a record of level INFO.
    lead : str
        Written before it where it is printed as a line.
    """
    if logger.isEnabledFor(logging.INFO):
        logger.info(text, extra={"lead": lead})
    elif logger.level == logging.NOTSET:
        # The level that applies is the root's default, WARNING: nobody has decided on messages of partwise.
        record = logger.makeRecord(logger.name, logging.INFO, "", 0, text, (), None, extra={"lead": lead})
        _lines.handle(record)


@contextmanager
def printed() -> Iterator[None]:
    """Print messages on stderr whatever it is, as the command line does."""
    before, _lines.is_program = _lines.is_program, True
    try:
        yield
    finally:
        _lines.is_program = before


@contextmanager
def held_back() -> Iterator[None]:
    """Print no messages during the block; they are records all the same."""
    _lines.held_back += 1
    try:
        yield
    finally:
        _lines.held_back -= 1
