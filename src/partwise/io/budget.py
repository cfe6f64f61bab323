"""How much memory reading a file may take in all, counted while the file is read.

A few megabytes of a compressed file can unpack to any amount, and a few bytes can announce any shape. So every
reader says what it is about to allocate (`spend`), and the sum for one file is limited: to half of the memory there
is, or to ``PARTWISE_MAX_BYTES``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from partwise.io.errors import DataError

VARIABLE = "PARTWISE_MAX_BYTES"
#: The memory to go by where the system does not say how much it has.
_UNKNOWN = 8 * 2**30
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class _Budget:
    def __init__(self, source: str, limit: int, error: type[ValueError]) -> None:
        self.source, self.limit, self.error, self.spent = source, limit, error, 0

    def exceeded(self, how: str, most: int) -> ValueError:
        return self.error(
            f"{self.source} {how} more than {most:,} bytes, the limit of what reading it may take. "
            f"If the file is sound and there is memory for it, set {VARIABLE} to more: {VARIABLE}={2 * most}."
        )


_current: ContextVar[_Budget | None] = ContextVar("partwise_budget", default=None)


@contextlib.contextmanager
def limited(source: str, error: type[ValueError] = DataError) -> Iterator[None]:
    """What is read inside may take `max_bytes()` in all; otherwise ``error`` is raised, with a sentence."""
    budget = _Budget(source, max_bytes(), error)
    token = _current.set(budget)
    try:
        yield
    except MemoryError as trouble:
        raise error(f"{source} needs more memory than there is.") from trouble
    finally:
        _current.reset(token)


def spend(count: int) -> None:
    """Count ``count`` bytes that are about to be allocated."""
    budget = _current.get()
    if budget is not None:
        budget.spent += int(count)
        if budget.spent > budget.limit:
            raise budget.exceeded("needs", budget.limit)


def left() -> int:
    """How many bytes may still be spent."""
    budget = _current.get()
    return 1 << 62 if budget is None else budget.limit - budget.spent


class Unpacked(io.RawIOBase):
    """A decompressed stream, of which no more may come than reading may take, even if nothing of it is kept.

    Unless the user has set the limit, no more than 200 times the size of the file either: tables do not shrink as
    much, and to read through what a bomb unpacks to would take minutes.
    """

    def __init__(self, stream: Any, size: int) -> None:
        self._stream, self._passed, self._budget = stream, 0, _current.get()
        self._most = 1 << 62 if self._budget is None else self._budget.limit
        if not os.environ.get(VARIABLE):
            self._most = min(self._most, max(1 << 26, 200 * size))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset == whence == 0:
            self._passed = 0
        place: int = self._stream.seek(offset, whence)
        return place

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._passed += count
        if self._budget is not None and self._passed > self._most:
            raise self._budget.exceeded("unpacks to", self._most)
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


class Lines:
    """The lines of a text; no row may be so long that its cells would take more than may be spent.

    Who puts lines together into rows sets ``pending``, the length of the row so far, to 0 after each.
    """

    def __init__(self, stream: IO[str]) -> None:
        # A cell of two characters, "1,", takes about 60 bytes as a string in a list.
        self._stream, self._most, self.pending = stream, left() // 32, 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._most + 1)
        if not line:
            raise StopIteration
        self.pending += len(line)
        if self.pending > self._most:
            spend(32 * self.pending)
        return line


def max_bytes() -> int:
    """The limit: ``PARTWISE_MAX_BYTES`` (a number, also as 500M or 8G), or half of the memory there is."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return _memory() // 2
    match = re.fullmatch(r"(\d{1,18})([KMGT]?)i?B?", given, re.IGNORECASE)
    if match is None or not int(match[1]):
        raise DataError(
            f"{VARIABLE} is '{given[:40]}', which is no number of bytes. Write it as 8000000000 or 8G."
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def _memory() -> int:
    """The bytes of memory this process may use: of the machine, or of its container where that has fewer."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        found = _UNKNOWN
    limits = [found if found > 0 else _UNKNOWN]
    for file in _cgroup_files():
        with contextlib.suppress(OSError, ValueError):  # no such group, or "max": no limit
            limits.append(int(file.read_text()))
    return min(limits)


def _cgroup_files() -> list[Path]:
    """Where Linux keeps the limits of the process's control group and of those around it (versions 2 and 1)."""
    root = Path("/sys/fs/cgroup")
    files = [root / "memory.max", root / "memory" / "memory.limit_in_bytes"]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            group = Path(path.strip("/"))
            for folder in (group, *group.parents):
                if not kinds:
                    files.append(root / folder / "memory.max")
                elif "memory" in kinds.split(","):
                    files.append(root / "memory" / folder / "memory.limit_in_bytes")
    return files
