"""From a model to what a model file holds: JSON for structure, arrays apart."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import numpy as np

from partwise.io import registry
from partwise.io.errors import ModelFileError

_RANDOM = (np.random.RandomState, np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)


def saved_names(model: Any) -> list[str]:
    """The fitted attributes of ``model`` that a model file keeps, in the order they were set."""
    extra = getattr(type(model), "_saved_attributes", ())
    held = vars(model)
    return [name for name in held if may_be_saved(type(model), name)] + [
        name for name in extra if name not in held and hasattr(model, name)
    ]


def may_be_saved(cls: type, name: str) -> bool:
    """Whether an attribute of this name is part of the fitted state of ``cls``."""
    if name in getattr(cls, "_unsaved_attributes", ()):
        return False
    fitted = name.isidentifier() and name.endswith("_") and not name.startswith("_")
    return fitted or name in getattr(cls, "_saved_attributes", ())


class Encoder:
    """Turns values into JSON; the arrays met on the way are kept in ``arrays``, by their entry name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._entries: dict[int, str] = {}

    def model(self, model: Any) -> dict[str, Any]:
        """The class name, parameters and fitted attributes of a registered model."""
        cls = type(model)
        if not registry.is_model(model):
            raise ModelFileError(
                f"A {cls.__name__} cannot be saved: it is not one of {', '.join(registry.known_models())}. "
                "Put @partwise.io.register_model above a class of your own."
            )
        unsaved = {"callbacks", *getattr(cls, "_unsaved_params", ())}
        params = {}
        for name, value in model.get_params(deep=False).items():
            where = f"parameter '{name}' of {cls.__name__}"
            if value is not None and name in unsaved:
                warnings.warn(f"The {where} is not saved; set it again after loading.", stacklevel=3)
                value = None
            elif name == "random_state" and isinstance(value, _RANDOM):
                warnings.warn(
                    f"The {where} is a random generator, which is not saved; it will be None after loading. "
                    "Give an integer to have it kept.",
                    stacklevel=3,
                )
                value = None
            params[name] = self.value(value, where)
        fitted = {
            name: self.value(getattr(model, name), f"attribute '{name}' of {cls.__name__}")
            for name in saved_names(model)
        }
        return {"class": cls.__name__, "params": params, "fitted": fitted}

    def value(self, value: Any, where: str) -> Any:
        """The JSON of one value; ``where`` names it in the sentence when it cannot be saved."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if kind is list:
            return [self.value(inner, where) for inner in value]
        if kind is tuple:
            return {"$tuple": [self.value(inner, where) for inner in value]}
        if kind is dict:
            return self._dict(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if registry.is_model(value):
            return {"$model": self.model(value)}
        if registry.is_value(value):
            fields = {
                field.name: self.value(getattr(value, field.name), f"{where} ({kind.__name__}.{field.name})")
                for field in dataclasses.fields(value)
                if field.init
            }
            return {"$dataclass": kind.__name__, "fields": fields}
        if hasattr(value, "tocsr"):
            return self._sparse(value, where)
        raise ModelFileError(_unsupported(value, where))

    def _dict(self, value: dict[Any, Any], where: str) -> dict[str, Any]:
        for key in value:
            if type(key) is not str:
                raise ModelFileError(
                    f"The {where} is a dict with the key {key!r}; a model file keeps only string keys."
                )
        encoded = {key: self.value(inner, where) for key, inner in value.items()}
        # A dict of the user's own must not be taken for one of the tags.
        return {"$dict": encoded} if any(key.startswith("$") for key in encoded) else encoded

    def _array(self, array: np.ndarray[Any, Any], where: str) -> dict[str, Any]:
        if isinstance(array, np.ma.MaskedArray):
            raise ModelFileError(f"The {where} is a masked array, whose mask a model file cannot keep.")
        if array.dtype.kind == "O":
            texts = array.ravel().tolist()
            if not all(type(text) is str for text in texts):
                raise ModelFileError(
                    f"The {where} is an array of Python objects other than strings, "
                    "which a model file cannot keep."
                )
            return {"$strings": texts, "shape": list(array.shape)}
        if array.dtype.kind not in "biufU":
            raise ModelFileError(
                f"The {where} is an array of {array.dtype}; a model file keeps bool, int, float and text."
            )
        # The arrays are held until the file is written, so an id cannot come back for another array.
        entry = self._entries.get(id(array))
        if entry is None:
            entry = f"arrays/{len(self.arrays)}.npy"
            self._entries[id(array)] = entry
            self.arrays[entry] = array
        return {"$array": entry}

    def _scalar(self, value: np.generic, where: str) -> Any:
        if isinstance(value, np.str_):
            return str(value)
        plain = value.item()
        if value.dtype.kind not in "biuf" or isinstance(plain, np.generic):
            raise ModelFileError(f"The {where} is a {value.dtype} scalar, which a model file cannot keep.")
        return {"$scalar": value.dtype.name, "value": self.value(plain, where)}

    def _sparse(self, value: Any, where: str) -> dict[str, Any]:
        from scipy import sparse

        if not sparse.issparse(value) or value.format != "csr":
            raise ModelFileError(f"The {where} is a {type(value).__name__}; save it as CSR, with .tocsr().")
        parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
        rows, columns = value.shape
        return {"$csr": [*parts, [int(rows), int(columns)]], "is_array": isinstance(value, sparse.sparray)}


def _unsupported(value: Any, where: str) -> str:
    kind = type(value).__name__
    if dataclasses.is_dataclass(value):
        return f"The {where} is an unregistered {kind}; put @partwise.io.register_value above its class."
    if callable(value):
        name = getattr(value, "__name__", kind)
        return (
            f"The {where} is a function or class ({name}), and a model file never holds code. Set it to None."
        )
    return f"The {where} is a {kind}, which a model file cannot keep. Use numbers, strings, lists or arrays."
