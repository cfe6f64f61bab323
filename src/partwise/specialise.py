"""Kernels specialised at compile time: one template, compiled once for each set of functions that it calls.

A loss is a handful of functions of numbers; a kernel is a loop that calls them. Compiling the loop with the functions
of one loss inlined is as fast as writing it for that loss, and a new loss brings no new loops.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from partwise.jit import njit


def specialised(template: Callable[..., Any], tag: str, functions: dict[str, Any], **options: Any) -> Any:
    """Compile `template` with other functions in place of the global names that it calls.

    Parameters
    ----------
    template : function
        A plain Python function over arrays and numbers.
    tag : str
        Distinguishes the compiled versions, which are kept side by side on disk.
    functions : dict
        Name in the template → compiled function, or a constant.
    **options
        For `partwise.jit.njit`.

    Returns
    -------
    compiled function
        It is kept on disk if all its functions are the library's own: Numba cannot see when others change.
    """
    assert isinstance(template, FunctionType)
    name = f"{template.__name__}_{tag}"
    made = FunctionType(
        template.__code__,
        {**template.__globals__, **functions},
        name,
        template.__defaults__,
        template.__closure__,
    )
    made.__qualname__, made.__module__ = name, template.__module__
    made.__annotations__, made.__doc__ = template.__annotations__, template.__doc__
    own = all(str(getattr(f, "__module__", "partwise.")).startswith("partwise.") for f in functions.values())
    return njit(cache=own, nogil=True, error_model="numpy", **options)(made)
