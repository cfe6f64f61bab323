"""The classes that model files may name. Loading looks names up here and nowhere else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from partwise.plugins import find, load_plugins

_Class = TypeVar("_Class", bound=type)

_models: dict[str, type] = {}
_values: dict[str, type] = {}
_providers: list[Callable[[], object]] = []


def register_model(cls: _Class) -> _Class:
    """Let models of this class be saved and loaded; a decorator for scikit-learn style estimators.

    Parameters
    ----------
    cls : class
        The class; model files know it by its name alone.

    Returns
    -------
    class
        The class that was given.

    Raises
    ------
    TypeError
        If the class has no ``get_params``.
    ValueError
        If another class of this name is registered.
    """
    if not callable(getattr(cls, "get_params", None)):
        raise TypeError(
            f"{cls.__name__} has no get_params; register_model takes scikit-learn style estimators."
        )
    return _register(_models, cls)


def register_value(cls: _Class) -> _Class:
    """Let this dataclass be a parameter or attribute of saved models; a decorator above @dataclass.

    Parameters
    ----------
    cls : class
        The dataclass; model files know it by its name alone.

    Returns
    -------
    class
        The class that was given.

    Raises
    ------
    TypeError
        If the class is not a dataclass.
    ValueError
        If another class of this name is registered.
    """
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass (yet); put @register_value above @dataclass.")
    return _register(_values, cls)


def provide_models(provider: Callable[[], object]) -> None:
    """Have ``provider`` called once before names are looked up, to import the modules that register theirs.

    So ``load`` works before any model was imported, and this package need not know where models live.
    """
    _providers.append(provider)


def find_model(name: str) -> type | None:
    """The registered model class of this name, or None."""
    _call_providers()
    return find(_models, name)


def find_value(name: str) -> type | None:
    """The registered dataclass of this name, or None."""
    _call_providers()
    return find(_values, name)


def known_models() -> list[str]:
    """The names of all registered model classes, sorted."""
    _call_providers()
    load_plugins()
    return sorted(_models)


def known_values() -> list[str]:
    """The names of all registered dataclasses, sorted."""
    _call_providers()
    load_plugins()
    return sorted(_values)


def is_model(value: Any) -> bool:
    """Whether the value is of exactly a registered model class."""
    if type(value).__name__ not in _models:
        _call_providers()
    return _models.get(type(value).__name__) is type(value)


def is_value(value: Any) -> bool:
    """Whether the value is of exactly a registered dataclass."""
    return _values.get(type(value).__name__) is type(value)


def _register(kind: dict[str, type], cls: _Class) -> _Class:
    name = cls.__name__
    held = kind.get(name)
    # A module that is imported again makes its classes anew; that is the same class, not a second one.
    if held is not None and (held.__module__, held.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"The name {name} is already registered for {held.__module__}.{held.__qualname__}; "
            f"rename {cls.__module__}.{cls.__qualname__}, since model files know classes by name alone."
        )
    kind[name] = cls
    return cls


def _call_providers() -> None:
    while _providers:
        _providers.pop()()
