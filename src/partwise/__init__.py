"""partwise learns the parts of data: nonnegative, binary and Boolean matrix factorization.

Names are imported when first used, so that the command line answers before numerical libraries are loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partwise._version import __version__

if TYPE_CHECKING:
    from partwise import datasets, domains, losses, priors
    from partwise.models import (
        NMF,
        BinaryNMF,
        BooleanMF,
        MixtureClassifier,
        load,
        non_negative_factorization,
        save,
    )
    from partwise.parallel import get_threads, set_threads, thread_limit

_HOME = {
    "NMF": "partwise.models",
    "BinaryNMF": "partwise.models",
    "BooleanMF": "partwise.models",
    "MixtureClassifier": "partwise.models",
    "non_negative_factorization": "partwise.models",
    "load": "partwise.models",
    "save": "partwise.models",
    "get_threads": "partwise.parallel",
    "set_threads": "partwise.parallel",
    "thread_limit": "partwise.parallel",
}
_MODULES = ("datasets", "domains", "losses", "priors")

__all__ = [
    "NMF",
    "BinaryNMF",
    "BooleanMF",
    "MixtureClassifier",
    "__version__",
    "datasets",
    "domains",
    "get_threads",
    "load",
    "losses",
    "non_negative_factorization",
    "priors",
    "save",
    "set_threads",
    "thread_limit",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"partwise.{name}")
    raise AttributeError(f"module 'partwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
