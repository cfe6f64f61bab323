"""Pieces that other packages bring, found by their entry points; and what the registries of pieces have in common.

In the group "partwise" a package names modules, each of which registers pieces when it is imported: losses, priors,
solvers, models, data sets, readers. They are imported when a name is asked for that is not known without them. In the
groups "partwise.verbs" and "partwise.experiments" it names functions, which the command line lists without importing.
"""

from __future__ import annotations

import warnings
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any, TypeVar

_Piece = TypeVar("_Piece")

_lock = RLock()
_begun = False


def load_plugins() -> None:
    """Import the modules that installed packages name in the group "partwise"; only the first call does anything.

    A module that cannot be imported is left out, with a warning that names its package.
    """
    global _begun
    # Other threads wait; a module that asks for a piece while it is imported does not begin anew.
    with _lock:
        if _begun:
            return
        _begun = True
        for entry in entry_points(group="partwise"):
            try:
                entry.load()
            except Exception as error:
                warnings.warn(
                    f"{entry.value}, which the package {package_of(entry)} brings for partwise, cannot be imported "
                    f"and is left out: {type(error).__name__}: {error}. Upgrade or uninstall the package.",
                    stacklevel=2,
                )


def find(registry: dict[str, _Piece], name: str) -> _Piece | None:
    """The piece of this name, or None; installed packages are asked where the registry does not have it."""
    if name not in registry:
        load_plugins()
    return registry.get(name)


def add(registry: dict[str, Any], name: str, piece: Any, word: str) -> None:
    """Register a piece, a class or a function.

    A module that is imported again may replace its own pieces.

    Raises
    ------
    ValueError
        If another piece has this name.
    """
    held = registry.get(name)
    if held is not None and _home(held) != _home(piece):
        raise ValueError(f"The {word} '{name}' is already registered, by {_home(held)}; choose another name.")
    registry[name] = piece


def named(group: str) -> dict[str, EntryPoint]:
    """What installed packages name in a group of entry points, not yet imported."""
    return {entry.name: entry for entry in entry_points(group=group)}


def package_of(entry: EntryPoint) -> str:
    """The name of the package that an entry point belongs to."""
    return entry.module.partition(".")[0] if entry.dist is None else entry.dist.name


def _home(piece: Any) -> str:
    return f"{piece.__module__}.{piece.__qualname__}"
