"""Data files in, tables and JSON out, and models kept in files that hold no code."""

import importlib

from partwise.io.errors import DataError, ModelFileError
from partwise.io.model_file import load, save
from partwise.io.read import read
from partwise.io.registry import provide_models, register_model, register_value
from partwise.io.table import Table
from partwise.io.write import write_csv, write_json

__all__ = [
    "DataError",
    "ModelFileError",
    "Table",
    "load",
    "read",
    "register_model",
    "register_value",
    "save",
    "write_csv",
    "write_json",
]

# Models register themselves when they are imported; loading a file is what first asks for them.
provide_models(lambda: importlib.import_module("partwise.models"))
