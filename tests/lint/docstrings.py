"""Check the docstrings of what partwise exports, public methods included, with numpydoc's validator.

Run by `make lint` as `python tests/lint/docstrings.py`. The objects follow from the exports of `PACKAGES`, the rules
from `[tool.numpydoc_validation]` in pyproject.toml. One line is printed for each fault; the exit status is 1 if
there are any.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PACKAGES = (
    "partwise",
    "partwise.datasets",
    "partwise.domains",
    "partwise.losses",
    "partwise.priors",
    "partwise.core",
    "partwise.matrix",
    "partwise.solvers",
    "partwise.io",
    "partwise.plot",
    "partwise.comparison",
)
#: Rules that a method may leave to the docstring of the method it overrides.
LEFT_TO_BASE = {"GL08", "PR01", "RT01", "YD01"}


def configured_checks() -> set[str]:
    """Codes of the rules chosen in pyproject.toml."""
    return set(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"])


def exported() -> Iterator[Any]:
    """Every exported class and function; functions made by a factory are documented where they are assigned."""
    for package in map(importlib.import_module, PACKAGES):
        for value in (getattr(package, name) for name in package.__all__):
            if (inspect.isclass(value) or inspect.isfunction(value)) and "<locals>" not in value.__qualname__:
                yield value


def public_methods(cls: type) -> Iterator[tuple[Any, bool]]:
    """Public methods of a class and of its bases in the same package; properties are exempt.

    Yields
    ------
    function
        The method.
    bool
        Whether it overrides a documented method with the same parameters, which it need not document again.
        Methods of estimators must: they are what most users read.
    """
    home = cls.__module__.partition(".")[0]
    for name in dir(cls):
        if name.startswith("_"):
            continue
        defined = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
        functions = [f for f in (getattr(one, "__func__", one) for one in defined) if inspect.isfunction(f)]
        for i, method in enumerate(functions):
            if method.__module__.partition(".")[0] == home:
                same = any(f.__doc__ and parameters(f) == parameters(method) for f in functions[i + 1 :])
                yield method, same and not hasattr(cls, "get_params")


def parameters(function: Any) -> list[str]:
    """Names of a function's parameters, in order."""
    return list(inspect.signature(function).parameters)


def faults(value: Any, checks: set[str]) -> list[str]:
    """What numpydoc finds wrong with the docstring of a class or function, methods not included.

    Parameters
    ----------
    value : class or function
        The object whose docstring is read.
    checks : set of str
        Codes of the rules that count.

    Returns
    -------
    list of str
        Code and explanation of each fault.
    """
    if getattr(value, "_is_protocol", False):  # never constructed: its signature is a stand-in
        checks = checks - {"PR01"}
    if inspect.isfunction(value) and "." not in value.__qualname__ and parameters(value)[:1] == ["cls"]:
        checks = checks - {
            "PR02"
        }  # a decorator of classes: numpydoc drops a first "cls" from every signature
    doc = get_doc_object(value)
    found = list(validate(doc)["errors"])
    if inspect.isfunction(value) and doc["Summary"]:
        # numpydoc looks for `return` in the source, which abstract methods have not.
        returned = inspect.signature(value).return_annotation
        if returned not in (None, "None", inspect.Signature.empty) and not (doc["Returns"] or doc["Yields"]):
            found.append(("RT01", "No Returns section found"))
    return [f"{code} {text}" for code, text in dict.fromkeys(found) if code in checks]


def all_faults(value: Any, checks: set[str]) -> list[str]:
    """Faults of a class or function and of its public methods.

    Parameters
    ----------
    value : class or function
        The object.
    checks : set of str
        Codes of the rules that count.

    Returns
    -------
    list of str
        One line for each fault, with the name of the object that has it.
    """
    objects = [(value, checks)]
    if inspect.isclass(value):
        objects += [(one, checks - LEFT_TO_BASE if same else checks) for one, same in public_methods(value)]
    return [
        f"{one.__module__}.{one.__qualname__}: {fault}"
        for one, kept in objects
        for fault in faults(one, kept)
    ]


def main() -> int:
    """Print the faults of every exported object, each once, and return the exit status."""
    checks = configured_checks()
    found = dict.fromkeys(fault for value in exported() for fault in all_faults(value, checks))
    print("\n".join(found) or "numpydoc finds no fault in the public docstrings.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
