"""Work that a fit must finish even after Ctrl-C, because nothing is of use without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from partwise.core import Session

_Outcome = TypeVar("_Outcome")


def completed(session: Session, compute: Callable[[], _Outcome]) -> _Outcome:
    """The result of `compute`, which is computed again if Ctrl-C ends it.

    Parameters
    ----------
    session : Session
        Takes note of Ctrl-C.
    compute : callable
        Short work without effects; it may do less if `session.interrupted`.

    Returns
    -------
    object
        What `compute` returned. A second Ctrl-C is not caught.
    """
    try:
        return compute()
    except KeyboardInterrupt:
        session.interrupt()
    return compute()
