"""Models by the short names that the command line knows them by."""

from __future__ import annotations

import difflib
import importlib
from importlib.util import find_spec

from partwise.io.registry import find_model, known_models


def known_kinds() -> dict[str, type]:
    """Every registered model class that has a `kind`, by it; those registered by other packages, too."""
    found = [find_model(name) for name in known_models()]
    return {cls.kind: cls for cls in found if cls is not None and hasattr(cls, "kind")}


def find_kind(kind: str) -> type:
    """The model class of this kind; where there is none, the error names those there are."""
    home = f"partwise.models.{kind}"
    if kind.isidentifier() and find_spec(home) is not None:
        # Found without importing the kernels of every other model.
        for value in vars(importlib.import_module(home)).values():
            if isinstance(value, type) and value.__module__ == home and getattr(value, "kind", None) == kind:
                return value
    kinds = known_kinds()
    if kind not in kinds:
        near = difflib.get_close_matches(kind, kinds, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"no model is called '{kind}'; there are {', '.join(sorted(kinds))}.{hint}")
    return kinds[kind]
