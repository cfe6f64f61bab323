"""The classes that model files may name. Loading looks names up here and nowhere else."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from partwise.plugins import find, load_plugins

_Class = TypeVar("_Class", bound=type)


class Step(NamedTuple):
    """How model files keep an estimator of another library.

    Parameters
    ----------
    contents : dict
        The attributes that are kept, and their kinds; see `partwise.io.contents`.
    only : dict
        Parameters of which only one value is kept, for others would name a path, a cache or a function.
    instead : str
        What to do where an attribute or parameter cannot be kept, as a sentence.
    check : callable, optional
        Called with a fitted model, to raise ValueError with what the declaration cannot say.
    """

    contents: Mapping[str, Any]
    only: Mapping[str, Any] = {}
    instead: str = ""
    check: Callable[[Any], object] | None = None


_models: dict[str, type] = {}
_values: dict[str, type] = {}
_steps: dict[str, Step] = {}
_homes: dict[str, str] = {}
_functions: dict[str, str] = {}
_instead: dict[str, str] = {}
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


def register_step(path: str, step: Step) -> None:
    """Let estimators of another library be saved, with the attributes that `step` declares and no others.

    Parameters
    ----------
    path : str
        Module and class, as in "sklearn.decomposition.PCA"; imported when a model of this class is saved or loaded.
    step : Step
        What is kept.
    """
    home, _, name = path.rpartition(".")
    _steps[name] = step
    _homes[name] = home


def register_function(path: str) -> None:
    """Let a function be a parameter of saved models; files hold its name, which is looked up here."""
    home, _, name = path.rpartition(".")
    _functions[name] = home


def suggest(names: str, instead: str) -> None:
    """Have the refusal of classes of these names (a text, with blanks between) end with the sentence `instead`."""
    _instead.update(dict.fromkeys(names.split(), instead))


def instead_of(cls: type) -> str | None:
    """What to use instead of a class of another library, as a sentence; None where nothing was suggested."""
    _call_providers()
    return _instead.get(cls.__name__)


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
    if name in _homes and name not in _models:
        register_model(getattr(importlib.import_module(_homes[name]), name))
    return find(_models, name)


def find_value(name: str) -> type | None:
    """The registered dataclass of this name, or None."""
    _call_providers()
    return find(_values, name)


def step_of(cls: type) -> Step | None:
    """How model files keep this class: as registered, else as its `file_contents` declares; None if it does not."""
    if is_step(cls):
        return _steps[cls.__name__]
    if not hasattr(cls, "file_contents"):
        return None
    return Step(cls.file_contents, check=getattr(cls, "_check_contents", None))


def is_step(cls: type) -> bool:
    """Whether this class is of another library, so that only declared attributes are kept."""
    return cls.__name__ in _steps and _models.get(cls.__name__) is cls


def find_function(name: str) -> Callable[..., Any] | None:
    """The registered function of this name, or None."""
    _call_providers()
    if name not in _functions:
        return None
    found: Callable[..., Any] = getattr(importlib.import_module(_functions[name]), name)
    return found


def known_models() -> list[str]:
    """The names of all registered model classes, sorted."""
    _call_providers()
    load_plugins()
    return sorted({*_models, *_steps})


def known_values() -> list[str]:
    """The names of all registered dataclasses, sorted."""
    _call_providers()
    load_plugins()
    return sorted(_values)


def is_model(value: Any) -> bool:
    """Whether the value is of exactly a registered model class."""
    if type(value).__name__ not in _models:
        find_model(type(value).__name__)
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
