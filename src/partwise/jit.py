"""How kernels are compiled, and kept on disk.

Numba keeps a compiled function for as long as the file that it stands in does not change. But what a function calls
is compiled into it, and may stand in another file: after an upgrade, or a pull, an old kernel would run on with old
code inside. So what we keep is named after all files that have kernels.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.options import DefaultOptions

#: Nothing but the code: no way in from Python, no check for a division by zero, and, by an option that Numba keeps
#: for its own strings, no reference counts; without that one all works, but slower.
_BARE: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
    **({"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}),
}


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`; what it keeps on disk is forgotten when any kernel changes."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(**options)(function)
        # Private to Numba: where it is otherwise, or nothing is kept, so be it.
        kept: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if hasattr(kept, "_source_stamp") and hasattr(kept, "_index_name"):
            base = kept._index_name.removesuffix(".nbi")
            dispatcher._cache._cache_file = IndexDataCacheFile(
                kept._cache_path, f"{base}-{fingerprint()}", kept._source_stamp
            )
        return dispatcher

    return decorate


def leaf(**options: Any) -> Any:
    """Compile a small function that only compiled code calls, very often, and that neither makes nor returns arrays.

    A call counts a reference to every array that it is given, atomically, up and down: some 5 ns each, several
    times what the work on a word or two takes.
    """
    return njit(**_BARE, **options)


@functools.cache
def fingerprint() -> str:
    """Of all our files with kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"partwise.jit import" in source or path.name == "jit.py":
            digest.update(source)
    return digest.hexdigest()[:8]
