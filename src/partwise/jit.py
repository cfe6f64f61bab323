"""How kernels are compiled, and kept on disk (in which files: `kernel_cache.py`).

Numba keeps a compiled function until the file that defines it changes. But what a function calls is compiled into
it, and may be defined in another file: after an upgrade, an old kernel would run on with old code inside. So the
files on disk are named after a fingerprint of all files that define kernels.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba import types

from partwise.interrupts import uninterrupted
from partwise.kernel_cache import keep
from partwise.linked_only import linked_only

#: Numba's list of options, which is private.
_known_options: Any = None
with suppress(ImportError, AttributeError):
    _known_options = importlib.import_module("numba.core.options").DefaultOptions

#: Options of `piece`: no wrapper for calls from Python, no check for a division by zero.
_PIECE_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
}
#: No reference counts, by a private option of Numba; where it has no such option all works, but slower.
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(_known_options, "_nrt") else {}

#: Every function compiled by `leaf`, for the tests.
leaves: list[Any] = []

#: Names of the files of a compiled function: name-fingerprint-line.python.key.nbc; Numba's own may end in .nbi.
_KEPT_NAME = re.compile(r"-(?P<fingerprint>[0-9a-f]{8})-\d+\.py\d+\w*(\.\w+)?\.nb[ic](?P<torn>\.tmp\.\w+)?$")

#: Compiled functions of other versions are deleted when they were not used for this many days.
KEPT_DAYS = 30


def njit(*, cache: bool = False, linked: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`; compiled code on disk is found again only while no file with kernels has changed.

    Ctrl-C while a function is compiled, or read from disk, takes effect afterwards: Numba would keep its lock on all
    compiling, and the next function would wait for it forever.

    Arithmetic is strict unless `fastmath` says otherwise. Numba would take the flags of whichever function calls this
    one first, so that its last bits, and what it makes of NaN, would depend on the order of compiling.

    With `linked` the function is optimised only inside the kernels that call it (see `partwise.linked_only`).
    """
    options.setdefault("fastmath", False)

    def decorate(function: Callable[..., Any]) -> Any:
        # Numba names the files after the function's qualified name, which it reads when caching is switched on.
        name = function.__qualname__
        function.__qualname__ = f"{name}-{fingerprint()}"
        try:
            dispatcher: Any = numba.njit(**options)(function)
            if cache and hasattr(
                dispatcher, "enable_caching"
            ):  # NUMBA_DISABLE_JIT leaves the plain function.
                keep(dispatcher)
        finally:
            function.__qualname__ = name
        compile_anytime = getattr(dispatcher, "compile", None)
        if compile_anytime is not None:

            def compile_whole(signature: Any) -> Any:
                with uninterrupted(), linked_only(linked):
                    return compile_anytime(signature)

            dispatcher.compile = compile_whole
        folder = getattr(getattr(dispatcher, "stats", None), "cache_path", None)
        if folder is not None:
            delete_unused(folder)
        return dispatcher

    return decorate


def piece(**options: Any) -> Any:
    """Compile a function that only compiled code calls: it exists nowhere but inside the kernels that call it."""
    return njit(linked=True, **{**_PIECE_OPTIONS, **options})


def inlined(**options: Any) -> Any:
    """Compile a piece of a kernel that is always inlined into the kernel that calls it."""
    return piece(forceinline=True, **options)


def leaf(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a small piece that is called very often, and that neither makes nor returns arrays.

    A call counts a reference to every array that it is given, atomically, up and down: some 5 ns each, several
    times what the work on a word or two takes. A leaf does not count. Numba refuses to compile one that makes an
    array; but a caller would give up a reference to a returned array that nobody counted, and the array would be
    freed too early. So to compile a leaf that returns anything but numbers raises a TypeError.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = piece(**{**_UNCOUNTED, **options})(function)
        compile_unchecked = getattr(dispatcher, "compile", None)
        if compile_unchecked is None:
            return dispatcher

        def compile_checked(signature: Any) -> Any:
            entry_point = compile_unchecked(signature)
            for compiled in dispatcher.nopython_signatures:
                if not _is_plain(compiled.return_type):
                    raise TypeError(
                        f"{function.__module__}.{function.__qualname__} returns {compiled.return_type}, but a "
                        "function compiled by `leaf` may return only numbers; compile it by `njit`."
                    )
            return entry_point

        dispatcher.compile = compile_checked
        leaves.append(dispatcher)
        return dispatcher

    return decorate


def _is_plain(kind: Any) -> bool:
    """Whether values of a type of Numba's are numbers, tuples of numbers, or None: nothing with a reference count."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return all(_is_plain(part) for part in parts)
    return isinstance(kind, (types.Number, types.Boolean, types.NoneType))


@functools.cache
def fingerprint() -> str:
    """Eight hexadecimal digits that change with any of partwise's files that define kernels."""
    digest = hashlib.sha256()
    for path in kernel_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


#: What a file imports that defines functions for Numba: by this module, or by one that compiles by it.
_COMPILERS = (b"partwise.jit import", b"partwise.specialise import", b"partwise.losses.base import")


def kernel_files() -> list[Path]:
    """The files of partwise that define kernels, or pieces of kernels."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return [
        path
        for path in files
        if path.name in ("jit.py", "linked_only.py") or any(name in path.read_bytes() for name in _COMPILERS)
    ]


@functools.cache
def delete_unused(folder: str) -> None:
    """Delete what other versions of partwise have compiled into a folder of Numba's and nobody used of late.

    Called once for each process and folder. Another version may still be in use, in a process that runs or in a
    branch to come back to; what is missing is only compiled again, so a file is kept for `KEPT_DAYS` days after it
    was last read or written. (Most systems note the first reading of a day; where none is noted, writing counts.)
    """
    begin = time.time() - KEPT_DAYS * 24 * 3600
    # Another process may delete the same files, and the folder may be read-only.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _KEPT_NAME.search(entry.name)
            if match is None or (match["fingerprint"] == fingerprint() and not match["torn"]):
                continue
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if max(status.st_atime, status.st_mtime) < begin:
                    os.unlink(entry.path)
