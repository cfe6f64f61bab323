"""What several verbs share: notes and results on the terminal, names, and folders."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from partwise.messages import inform

#: Whether verbs write report.html; --no-report says no.
REPORT_WANTED: ContextVar[bool] = ContextVar("report_wanted", default=True)


def say(text: str) -> None:
    """A line on stderr, which PARTWISE_QUIET silences; stdout is kept for results."""
    inform(text, lead="")


def emit(summary: dict[str, Any], as_json: bool, lines: list[str]) -> None:
    """Print the outcome on stdout, as JSON or as lines of text."""
    if as_json:
        from partwise.io.write import json_text

        lines = [json_text(summary)]
    with printing():
        print("\n".join(lines))


@contextmanager
def printing() -> Iterator[None]:
    """Statements that print results on stdout; an error says that it is stdout that cannot be written."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ValueError(
            f"the result cannot be written to standard output: {error.strerror or error}. Let the output go "
            "elsewhere, or make room there."
        ) from error


def names_or_numbers(names: Any, count: int, word: str) -> list[str]:
    """Given names, or word0, word1, …"""
    return [f"{word}{i}" for i in range(count)] if names is None else [str(name) for name in names]


def make_folder(path: Path) -> Path:
    """The folder for results, made if it is not there; tried out before the work, not after it."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; give a folder for the results with -o.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written to: {error.strerror or error}. Give another folder with -o."
        ) from error
    return path
