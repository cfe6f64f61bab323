"""Data sets by name: those of this package, and those that other packages register."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, TypeVar

from partwise.plugins import add, find, load_plugins

_Function = TypeVar("_Function", bound=Callable[..., Any])

_functions: dict[str, Callable[..., Any]] = {}


def register_dataset(function: _Function) -> _Function:
    """Let ``fetch`` know a data set; a decorator.

    Parameters
    ----------
    function : callable
        ``make_NAME`` for a generator, ``load_NAME`` for data that come with the package, ``fetch_NAME`` for data that
        do not. Returns a :class:`sklearn.utils.Bunch`.

    Returns
    -------
    callable
        The one that was given.
    """
    verb, _, name = function.__name__.partition("_")
    if verb not in ("make", "load", "fetch") or not name:
        raise ValueError(
            f"A data set is a function make_NAME, load_NAME or fetch_NAME; got {function.__name__}."
        )
    add(_functions, name, function, "data set")
    return function


def fetch(name: str, **options: Any) -> Any:
    """Return a data set by its name, which is that of its function without make_, load_ or fetch_.

    Parameters
    ----------
    name : str
        One of ``dataset_names()``.
    **options : object
        Parameters of the function.

    Returns
    -------
    Bunch
        What the function returns.

    Examples
    --------
    >>> from partwise.datasets import fetch
    >>> fetch("bars", n_samples=5, random_state=0).data.shape
    (5, 16)
    """
    function = find(_functions, name)
    if function is None:
        near = difflib.get_close_matches(name, _functions, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"no data set is called '{name}'; there are {', '.join(sorted(_functions))}.{hint}")
    return function(**options)


def dataset_names() -> list[str]:
    """Return the names of all data sets, those of installed packages included.

    Returns
    -------
    list of str
        The names, sorted.
    """
    load_plugins()
    return sorted(_functions)
