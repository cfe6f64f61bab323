"""Names that are imported when first used, read from a package's stub, where type checkers read them too.

A package lists what it exports once, in `__init__.pyi`, one import each. `exports` turns that list into `__all__` and
into what `__getattr__` looks up.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def exports(package: str, file: str) -> dict[str, str]:
    """Name → the module that has it, from the stub beside a package's `__init__.py`.

    Parameters
    ----------
    package, file : str
        The `__name__` and `__file__` of the package.

    Returns
    -------
    dict
        For ``from m import a as a``, {"a": "m"}; for ``from m import *``, m's own exports, all found in m.
    """
    root = Path(file).parents[package.count(".") + 1]
    out: dict[str, str] = {}
    for line in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(line, ast.ImportFrom) and line.module is not None:
            home = line.module
            for alias in line.names:
                names = [alias.name]
                if alias.name == "*":
                    names = list(exports(home, str(root.joinpath(*home.split("."), "__init__.py"))))
                out.update(dict.fromkeys(names, home))
    return out


def importer(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in these modules."""

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(home), name)

    return get
