"""Raw data of one kind and the matrix that is factorized.

annotated.py, AnnData; image.py, upright pictures; networks.py, activations of layers.

Names are imported when first used, since estimators need scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.domains.annotated import layer_of, store
    from partwise.domains.image import DeslantCrop
    from partwise.domains.networks import activations, with_activations

_HOME = {
    "DeslantCrop": "partwise.domains.image",
    "activations": "partwise.domains.networks",
    "layer_of": "partwise.domains.annotated",
    "store": "partwise.domains.annotated",
    "with_activations": "partwise.domains.networks",
}

__all__ = ["DeslantCrop", "activations", "layer_of", "store", "with_activations"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.domains' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
