"""Functions that only kernels call: left as they are, and optimised inside the kernels that they are linked into.

Numba optimises every function and turns it into machine code before it links it into whatever calls it, where both
are done once more: the innermost pieces of a kernel are optimised as often as calls are deep. What is never called
from Python needs neither. And where a piece has machine code of its own, a kernel compiled in this process would run
that, but a kernel found on disk the copy inside itself, which may differ in the last bits of a sum.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

#: Private to Numba: where it has no such names, pieces are compiled like any other function.
Library: Any = object
_target: Any = None
_compiler_lock: Any = None
with suppress(ImportError, AttributeError):
    Library = importlib.import_module("numba.core.codegen").JITCodeLibrary
    _compiler_lock = importlib.import_module("numba.core.compiler_lock").global_compiler_lock
    _needed = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "codegen")
    if all(hasattr(Library, name) for name in (*_needed, "get_pointer_to_function", "get_defined_functions")):
        _target = importlib.import_module("numba.core.registry").cpu_target


class LinkedOnly(Library):
    """The code of a function that others link, but that has no machine code unless somebody asks for its address."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._postponed = True

    def _optimize_final_module(self) -> None:
        if not self._postponed:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._postponed:
            self._finalize_dynamic_globals()
            self._finalized = True
        else:
            super()._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function for Python; 0 if the function has none, as pieces have none."""
        self._ensure_finalized()
        if self._postponed and any(found.name == name for found in self.get_defined_functions()):
            self._postponed = False
            self._optimize_final_module()
            self._finalize_final_module()
        return 0 if self._postponed else int(super().get_pointer_to_function(name))

    @property
    def codegen(self) -> Any:
        """Numba's, but for what it would write into machine code that there is not."""
        return _WithoutAddresses(self._codegen) if self._postponed else self._codegen


class _WithoutAddresses:
    """What makes machine code of libraries, for one that has none."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        """Nothing: the environment of a function is for raising errors with values in them, which no piece does."""


@contextmanager
def linked_only(wanted: bool) -> Iterator[None]:
    """Whether what Numba compiles inside is left for its callers to optimise.

    Functions that are compiled on the way, because they are called, decide for themselves.
    """
    if _target is None:
        yield
        return
    with _compiler_lock:
        codegen = _target.target_context.codegen()
        before = codegen._library_class
        codegen._library_class = LinkedOnly if wanted else Library
        try:
            yield
        finally:
            codegen._library_class = before
