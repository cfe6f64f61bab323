"""The folder and the files that compiled kernels are kept in, and what is done where they cannot be kept.

Numba takes the first folder that can be written to: NUMBA_CACHE_DIR, `__pycache__` beside the source, the cache
folder of the user; without one it refuses to compile. Here a temporary folder of the user's own comes next, and
without that one kernels are compiled for each process. Either is said once, by a warning of the logger "partwise".

Numba's files trust what they hold. Here each compiled version has a file of its own with a checksum and what it was
compiled for, so that a damaged, foreign or half-written file is compiled anew instead of being run.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import logging
import os
import pickle
import secrets
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

#: Private to Numba: where it has no such names, its own files are used.
FunctionCache: Any = object
CacheImpl: Any = object
UserFolder: Any = object
GivenFolder: Any = object
_pack: Any = None
_locators: list[Any] = []
with suppress(ImportError, AttributeError, KeyError):
    _caching = importlib.import_module("numba.core.caching")
    FunctionCache, CacheImpl = _caching.FunctionCache, _caching.CompileResultCacheImpl
    _locators = list(CacheImpl._locator_classes)
    _named = {one.__name__.lstrip("_"): one for one in _locators}  # old versions have the underscore
    UserFolder, GivenFolder = _named["UserWideCacheLocator"], _named["UserProvidedCacheLocator"]
    _pack = importlib.import_module("numba.core.serialize").dumps

_CHECKSUM = 32


def keep(dispatcher: Any) -> None:
    """Keep on disk what a function of Numba's compiles, if there is a folder for it."""
    try:
        if _pack is None:
            dispatcher.enable_caching()
        else:
            dispatcher._cache = KernelCache(dispatcher.py_func)
    except (RuntimeError, OSError):  # Numba found no folder.
        warn_once(
            "there is no folder for compiled kernels that you, and only you, can write to, so each process compiles "
            "its own. Set NUMBA_CACHE_DIR to such a folder."
        )


@functools.cache
def warn_once(text: str) -> None:
    """A warning of the logger "partwise", once for each process."""
    logging.getLogger("partwise").warning("%s", text)


class HomeLocator(UserFolder):
    """The user's cache folder; none for a user without a home, where Numba would make a folder "~" wherever it is."""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """The place for a function, or None."""
        place = cls(py_func, py_file)
        return super().from_function(py_func, py_file) if os.path.isabs(place.get_cache_path()) else None


class TemporaryLocator(GivenFolder):
    """A folder of the user's own among the temporary files."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = temporary_folder()
        if folder is None:
            raise PermissionError("there is no safe temporary folder")
        self._cache_path = os.path.join(folder, self.get_suitable_cache_subpath(py_file))

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """The place for a function, or None."""
        with suppress(OSError):
            place = cls(py_func, py_file)
            place.ensure_cache_path()
            warn_once(
                f"no cache folder can be written to; compiled kernels are kept in {temporary_folder()}. "
                "Set NUMBA_CACHE_DIR to keep them elsewhere."
            )
            return place
        return None


def temporary_folder() -> str | None:
    """A folder that nobody else can write to; None if there is none.

    What lies in it is run, and others may write to /tmp. So it must be a folder (no link), ours, closed to others;
    and nobody else may be able to put another one in its place.
    """
    with suppress(OSError):
        parent = tempfile.gettempdir()
        if not hasattr(os, "getuid"):  # Windows, where the temporary files are the user's own
            return os.path.join(parent, "partwise-kernels")
        user = os.getuid()
        folder = os.path.join(parent, f"partwise-kernels-{user}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        around, found = os.stat(parent), os.lstat(folder)
        closed = not around.st_mode & 0o022 or bool(around.st_mode & stat.S_ISVTX)
        if closed and around.st_uid in (0, user) and _is_private(found, user):
            return folder
    return None


def _is_private(status: os.stat_result, user: int) -> bool:
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o077


class KernelFiles:
    """One file for each compiled version of a function: a checksum, what it was compiled for, and the code.

    Numba's own files are numbered, and an index says which is which: two processes that compile for different types
    at the same time give both the same number, and then one would run what was compiled for the other.
    """

    def __init__(self, folder: str, base: str, stamp: Any) -> None:
        self._folder = Path(folder)
        self._base = base
        self._stamp = stamp

    def _path(self, key: Any) -> Path:
        name = hashlib.sha256(repr((numba.__version__, self._stamp, key)).encode()).hexdigest()[:16]
        return self._folder / f"{self._base}.{name}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved for a key; None if nothing was, or if it is damaged."""
        with suppress(Exception):  # what is unpickled may raise anything
            held = self._path(key).read_bytes()
            if hashlib.sha256(held[_CHECKSUM:]).digest() == held[:_CHECKSUM]:
                saved_key, data = pickle.loads(held[_CHECKSUM:])
                if saved_key == key:
                    return data
        return None

    def save(self, key: Any, data: Any) -> None:
        """Save what was compiled for a key, whole or not at all."""
        packed = _pack((key, data))
        target = self._path(key)
        temporary = target.with_name(f"{target.name}.tmp.{secrets.token_hex(8)}")
        try:
            temporary.write_bytes(hashlib.sha256(packed).digest() + packed)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise

    def flush(self) -> None:
        """Nothing: what a function is compiled to anew takes the place of what there was."""


class KernelImpl(CacheImpl):
    """How Numba packs compiled functions, with our choice of folders."""

    _locator_classes = [HomeLocator if one is UserFolder else one for one in _locators] + [TemporaryLocator]


class KernelCache(FunctionCache):
    """What a function was compiled to, on disk."""

    _impl_class = KernelImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = KernelFiles(self.cache_path, self._impl.filename_base, stamp)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled version; a full disk, or a folder that is gone, must not end the fit."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_once(f"compiled kernels cannot be kept in {self.cache_path}: {error.strerror or error}.")
