"""Writing a file whole or not at all: a temporary file beside it takes its place once it is on disk."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from partwise.io.errors import DataError

#: A temporary file that was not written to for so many seconds belongs to a process that was killed.
LEFT_SECONDS = 3600.0


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], error: type[ValueError] = DataError) -> Iterator[IO[bytes]]:
    """Open a binary file to write; ``path`` changes only when the block ends without an exception.

    Raises ``error``, with a sentence, when the place cannot be written to, or is full.
    """
    source = os.fspath(path)
    try:
        with _replacing(source, error) as stream:
            yield stream
    except OSError as trouble:
        raise error(f"{source} cannot be written: {trouble.strerror or trouble}.") from trouble


@contextlib.contextmanager
def _replacing(source: str, error: type[ValueError]) -> Iterator[IO[bytes]]:
    """A stream to a temporary file that takes the place of `source` at the end of the block."""
    # A link keeps pointing where it did: its target is replaced, not the link.
    target = Path(os.path.realpath(source))
    mode = _mode(target, source, error)
    if mode is not None and not stat.S_ISREG(mode):
        # A device or pipe such as /dev/stdout cannot be replaced, only written to.
        with target.open("wb") as stream:
            yield stream
        return
    _delete_leftovers(target)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    stream = temporary.open("xb")
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _delete_leftovers(target: Path) -> None:
    """Delete temporary files of this target that processes which were killed have left behind."""
    ours = re.compile(rf"\.{re.escape(target.name[:100])}\.[0-9a-f]{{12}}\.tmp")
    begin = time.time() - LEFT_SECONDS
    with contextlib.suppress(OSError):
        for left in filter(ours.fullmatch, os.listdir(target.parent)):
            if (target.parent / left).stat().st_mtime < begin:
                (target.parent / left).unlink()


def write_bytes_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to ``path``, whole or not at all."""
    with atomic_file(path) as stream:
        stream.write(data)


def _mode(target: Path, source: str, error: type[ValueError]) -> int | None:
    """The mode of the file that will be replaced, None if there is none yet."""
    if not target.parent.is_dir():
        raise error(
            f"{source} cannot be written: the folder {target.parent} does not exist. Create it first."
        )
    if target.is_dir():
        raise error(f"{source} cannot be written: it is a folder. Give the name of a file.")
    return target.stat().st_mode if target.exists() else None


def _sync_folder(folder: Path) -> None:
    """Make the new name itself last through a crash, where the system can open folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
