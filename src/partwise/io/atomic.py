"""Writing a file whole or not at all: a temporary file beside it takes its place once it is on disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from partwise.io.errors import DataError


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], error: type[ValueError] = DataError) -> Iterator[IO[bytes]]:
    """Open a binary file to write; ``path`` changes only when the block ends without an exception.

    Raises ``error``, with a sentence, when the place cannot be written to.
    """
    source = os.fspath(path)
    # A link keeps pointing where it did: its target is replaced, not the link.
    target = Path(os.path.realpath(source))
    mode = _mode(target, source, error)
    if mode is not None and not stat.S_ISREG(mode):
        # A device or pipe such as /dev/stdout cannot be replaced, only written to.
        with target.open("wb") as stream:
            yield stream
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        stream = temporary.open("xb")
    except OSError as trouble:
        raise error(f"{source} cannot be written: {trouble.strerror or trouble}.") from trouble
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
