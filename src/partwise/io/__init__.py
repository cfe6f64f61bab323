"""Data files in, tables and JSON out, and models kept in files that hold no code.

Names are imported when first used: the command line lists the formats before numerical libraries are loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partwise.io.registry import provide_models

if TYPE_CHECKING:
    from partwise.io.coding import Coding
    from partwise.io.errors import DataError, ModelFileError
    from partwise.io.label_sheets import row_labels
    from partwise.io.labels import label_names, read_labels, take_labels
    from partwise.io.model_file import load, save
    from partwise.io.readers import Reader, register_reader
    from partwise.io.reading import read
    from partwise.io.registry import register_model, register_value
    from partwise.io.table import Table
    from partwise.io.write import write_csv, write_json

_HOME = {
    "Coding": "partwise.io.coding",
    "DataError": "partwise.io.errors",
    "ModelFileError": "partwise.io.errors",
    "Reader": "partwise.io.readers",
    "Table": "partwise.io.table",
    "label_names": "partwise.io.labels",
    "load": "partwise.io.model_file",
    "read": "partwise.io.reading",
    "read_labels": "partwise.io.labels",
    "register_model": "partwise.io.registry",
    "register_reader": "partwise.io.readers",
    "register_value": "partwise.io.registry",
    "row_labels": "partwise.io.label_sheets",
    "save": "partwise.io.model_file",
    "take_labels": "partwise.io.labels",
    "write_csv": "partwise.io.write",
    "write_json": "partwise.io.write",
}

__all__ = [
    "Coding",
    "DataError",
    "ModelFileError",
    "Reader",
    "Table",
    "label_names",
    "load",
    "read",
    "read_labels",
    "register_model",
    "register_reader",
    "register_value",
    "row_labels",
    "save",
    "take_labels",
    "write_csv",
    "write_json",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.io' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


# Models register themselves when they are imported; loading a file is what first asks for them.
provide_models(lambda: importlib.import_module("partwise.models"))
