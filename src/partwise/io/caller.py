"""Whose line a warning is about."""

from __future__ import annotations

import sys

#: Code between a caller and a warning: this package, and what scikit-learn wraps methods in.
_BETWEEN = ("partwise", "sklearn")


def callers_level() -> int:
    """The `stacklevel` with which a warning of the function that asks points to the code that called the package.

    Returns
    -------
    int
        For `warnings.warn`.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    return level
