"""From a model to what a model file holds: JSON for structure, arrays apart."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import numpy as np

from partwise.io import registry
from partwise.io.contents import check_contents
from partwise.io.errors import ModelFileError

#: Names of the number types that a model file keeps.
SCALARS = {"bool", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
#: Dicts of so many whole numbers are kept as arrays: a vocabulary would be most of the manifest.
_LONG = 100
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
    step = registry.step_of(cls)
    if step and registry.is_step(cls):
        return name in step.contents
    if name in getattr(cls, "_unsaved_attributes", ()):
        return False
    fitted = name.isidentifier() and name.endswith("_") and not name.startswith("_")
    return fitted or name in getattr(cls, "_saved_attributes", ())


def unsaved_params(cls: type) -> set[str]:
    """Parameters that are dropped on saving, and so are None in every model file."""
    return {"callbacks", *getattr(cls, "_unsaved_params", ())}


def check_only(cls: type, params: dict[str, Any]) -> None:
    """Refuse parameters that name a path, a cache or a function; raise ModelFileError."""
    step = registry.step_of(cls)
    for name, only in step.only.items() if step else ():
        value = params.get(name, only)
        if value is not only and not (type(value) is type(only) and value == only):
            raise ModelFileError(
                f"The parameter '{name}' of {cls.__name__} may name a path, a cache or a function, so a model file "
                f"holds it only as {only!r}. {(step and step.instead) or 'Set it so before saving.'}"
            )


class Encoder:
    """Turns values into JSON; the arrays met on the way are kept in ``arrays``, by their entry name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._entries: dict[int, str] = {}

    def model(self, model: Any) -> dict[str, Any]:
        """The class name, parameters and fitted attributes of a registered model."""
        cls = type(model)
        if not registry.is_model(model):
            raise ModelFileError(_unknown(cls, f"A {cls.__name__} cannot be saved"))
        self._check(model)
        unsaved = unsaved_params(cls)
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
            params[name] = self._kept(value, where, cls)
        fitted = {
            name: self._kept(getattr(model, name), f"attribute '{name}' of {cls.__name__}", cls)
            for name in saved_names(model)
        }
        output = getattr(model, "_sklearn_output_config", None)
        return {
            "class": cls.__name__,
            "params": params,
            "fitted": fitted,
            **({"output": dict(output)} if output else {}),
        }

    def _kept(self, value: Any, where: str, cls: type) -> Any:
        """The JSON of a parameter or attribute; the refusal of one says what this class can keep instead."""
        try:
            return self.value(value, where)
        except ModelFileError as error:
            step = registry.step_of(cls)
            if step is None or not step.instead:
                raise
            raise ModelFileError(f"{error} {step.instead}") from error

    def _check(self, model: Any) -> None:
        """Refuse to write what loading would refuse to read."""
        cls = type(model)
        check_only(cls, model.get_params(deep=False))
        try:
            check_contents(model)
        except (TypeError, ValueError) as error:
            step = registry.step_of(cls)
            raise ModelFileError(
                f"The {cls.__name__} cannot be saved: {error}. {step.instead if step else ''}".rstrip()
            ) from error

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
        if isinstance(value, np.dtype) and value.name in SCALARS | {"object"}:
            return {"$dtype": value.name}
        if isinstance(value, type) and issubclass(value, np.generic) and np.dtype(value).name in SCALARS:
            return {"$type": np.dtype(value).name}
        name = getattr(value, "__name__", None)
        if name is not None and registry.find_function(name) is value:
            return {"$function": name}
        raise ModelFileError(_unsupported(value, where))

    def _dict(self, value: dict[Any, Any], where: str) -> dict[str, Any]:
        for key in value:
            if type(key) is not str:
                raise ModelFileError(
                    f"The {where} is a dict with the key {key!r}; a model file keeps only string keys."
                )
        kinds = {type(inner) for inner in value.values()}
        if len(value) > _LONG and kinds in ({int}, {np.int64}):
            numbers = np.array(list(value.values()))
            if numbers.dtype == np.int64:
                words = self._array(np.array(list(value), dtype=object), where)
                return {"$index": words, "numbers": self._array(numbers, where), "plain": kinds == {int}}
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
            # Apart from the manifest, whose size is limited: bytes of all texts, and where each ends.
            parts = [text.encode("utf-8", "surrogatepass") for text in texts]
            ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
            data = np.frombuffer(b"".join(parts), dtype=np.uint8)
            return {
                "$strings": self._array(data, where),
                "ends": self._array(ends, where),
                "shape": list(array.shape),
            }
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


def _unknown(cls: type, begin: str) -> str:
    """The sentence for an estimator of a class that is not registered, with the nearest that is."""
    known = registry.known_models()
    instead = registry.instead_of(cls)
    if instead is None:
        instead = "Put @partwise.io.register_model above a class of your own."
    return f"{begin}: it is not one of {', '.join(known)}. {instead}"


def _unsupported(value: Any, where: str) -> str:
    kind = type(value).__name__
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _unknown(type(value), f"The {where} is a {kind}, which cannot be saved")
    if dataclasses.is_dataclass(value):
        return f"The {where} is an unregistered {kind}; put @partwise.io.register_value above its class."
    if callable(value):
        name = getattr(value, "__name__", kind)
        return (
            f"The {where} is a function or class ({name}), and a model file never holds code. Set it to None."
        )
    return f"The {where} is a {kind}, which a model file cannot keep. Use numbers, strings, lists or arrays."
