"""The public estimators, and the files they are kept in (which name models, so models come first).

Each is imported when first used: whoever wants one model should not wait for the kernels of the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partwise.io.registry import provide_models

if TYPE_CHECKING:
    from partwise.io import load, save
    from partwise.models.binary import BinaryNMF
    from partwise.models.boolean import BooleanMF
    from partwise.models.function import non_negative_factorization
    from partwise.models.mixture import MixtureClassifier
    from partwise.models.nmf import NMF

_HOME = {
    "NMF": "partwise.models.nmf",
    "BinaryNMF": "partwise.models.binary",
    "BooleanMF": "partwise.models.boolean",
    "MixtureClassifier": "partwise.models.mixture",
    "non_negative_factorization": "partwise.models.function",
    "load": "partwise.io",
    "save": "partwise.io",
}

__all__ = ["NMF", "BinaryNMF", "BooleanMF", "MixtureClassifier", "load", "non_negative_factorization", "save"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def import_all() -> None:
    """Register every model, for whoever has met a name in a file."""
    for home in (*set(_HOME.values()), "partwise.models.pipeline"):
        importlib.import_module(home)


provide_models(import_all)
