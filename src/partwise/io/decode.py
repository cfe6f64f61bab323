"""From what a model file holds back to a model. Every name in the file is looked up, none is imported."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from partwise.io import registry
from partwise.io.contents import check_contents
from partwise.io.encode import SCALARS, check_only, may_be_saved, unsaved_params
from partwise.io.errors import ModelFileError

_OUTPUTS = [{"transform": name} for name in ("default", "pandas", "polars")]
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Turns the JSON of a model file into values; ``fetch`` returns the array of an entry name."""

    def __init__(self, source: str, fetch: Callable[[str], np.ndarray[Any, Any]]) -> None:
        self._source = source
        self._fetch = fetch
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._tags: dict[str, Callable[[dict[str, Any]], Any]] = {
            "$float": lambda held: _FLOATS[held["$float"]],
            "$tuple": lambda held: tuple(self.value(inner) for inner in self._list(held["$tuple"])),
            "$dict": lambda held: self._dict(held["$dict"]),
            "$array": lambda held: self._array(held["$array"]),
            "$strings": self._strings,
            "$scalar": self._scalar,
            "$index": self._index,
            "$dtype": lambda held: np.dtype(self._type(held["$dtype"], "object")),
            "$type": lambda held: np.dtype(self._type(held["$type"])).type,
            "$function": lambda held: self._function(held["$function"]),
            "$csr": self._csr,
            "$dataclass": self._dataclass,
            "$model": lambda held: self.model(held["$model"]),
        }

    def model(self, held: Any) -> Any:
        """Return the model whose class name, parameters and fitted attributes are ``held``."""
        if not isinstance(held, dict) or not isinstance(held.get("class"), str):
            raise self._damaged("it names no class")
        name = held["class"]
        cls = registry.find_model(name)
        if cls is None:
            raise ModelFileError(
                f"{self._source} holds a model of the class {name!r}, which this partwise does not know. "
                f"It knows {', '.join(registry.known_models())}."
            )
        params, fitted = self._dict(held.get("params")), self._dict(held.get("fitted"))
        self._check_params(cls, params)
        try:
            model = cls(**params)
        except Exception as error:  # whatever the constructor thinks of these values
            raise ModelFileError(
                f"{self._source}: {name} does not accept the parameters in the file: {error}"
            ) from error
        for attribute, value in fitted.items():
            if not may_be_saved(cls, attribute):
                raise self._damaged(f"{attribute!r} is no fitted attribute of {name}")
            try:
                setattr(model, attribute, value)
            except (AttributeError, TypeError, ValueError) as error:
                raise self._damaged(
                    f"the attribute {attribute!r} of {name} cannot be set: {error}"
                ) from error
        self._set_output(model, held.get("output"))
        self._check_contents(model)
        return model

    def _check_contents(self, model: Any) -> None:
        """Refuse a model that is not what its class declares; see `partwise.io.contents`."""
        try:
            check_contents(model)
        except Exception as error:  # whatever the checks of the parameters think of these values
            raise self._damaged(
                f"the {type(model).__name__} in it is not complete or not sound: {str(error).removesuffix('.')}"
            ) from error

    def _set_output(self, model: Any, output: Any) -> None:
        if output is None:
            return
        if not hasattr(model, "set_output") or output not in _OUTPUTS:
            raise self._damaged("it asks for an output that scikit-learn does not know")
        model._sklearn_output_config = output

    def value(self, held: Any) -> Any:
        """Return the value that ``held`` encodes."""
        if isinstance(held, list):
            return [self.value(inner) for inner in held]
        if not isinstance(held, dict):
            return held
        tags = [key for key in held if key.startswith("$")]
        if not tags:
            return {key: self.value(inner) for key, inner in held.items()}
        read = self._tags.get(tags[0])
        if read is None or len(tags) > 1:
            raise self._damaged(f"it has a value of the unknown kind {tags[0]!r}")
        try:
            return read(held)
        except ModelFileError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise self._damaged(f"a value of the kind {tags[0]!r} is malformed: {error}") from error

    def _check_params(self, cls: type, params: dict[str, Any]) -> None:
        kept = [name for name in unsaved_params(cls) if params.get(name) is not None]
        if kept:
            raise self._damaged(f"it gives {cls.__name__} a value for '{kept[0]}', which no model file keeps")
        try:
            check_only(cls, params)
        except ModelFileError as error:
            raise ModelFileError(f"{self._source} is not loaded. {error}") from error
        accepted = inspect.signature(cls).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values()):
            return
        unknown = [name for name in params if name not in accepted]
        if unknown:
            raise ModelFileError(
                f"{self._source} gives {cls.__name__} the parameter '{unknown[0]}', which it does not accept "
                f"here (it accepts {', '.join(accepted)}). Load the file with the partwise that wrote it."
            )

    def _dict(self, held: Any) -> dict[str, Any]:
        if not isinstance(held, dict):
            raise self._damaged("a list of named values is missing")
        return {key: self.value(inner) for key, inner in held.items()}

    def _list(self, held: Any) -> list[Any]:
        if not isinstance(held, list):
            raise TypeError("a list was expected")
        return held

    def _array(self, entry: Any) -> np.ndarray[Any, Any]:
        if not isinstance(entry, str):
            raise TypeError("an array must be named")
        # Attributes that shared one array when saved share one again.
        if entry not in self._arrays:
            self._arrays[entry] = self._fetch(entry)
        return self._arrays[entry]

    def _strings(self, held: dict[str, Any]) -> np.ndarray[Any, Any]:
        data, ends = self.value(held["$strings"]), self.value(held["ends"])
        for part, dtype in ((data, np.uint8), (ends, np.int64)):
            if not isinstance(part, np.ndarray) or part.dtype != dtype or part.ndim != 1:
                raise TypeError("text must be bytes, and where each string ends")
        bounds = [0, *ends.tolist()]
        if bounds != sorted(bounds) or bounds[-1] != len(data):
            raise ValueError("strings must end one after the other")
        raw = data.tobytes()
        array = np.empty(len(ends), dtype=object)
        array[:] = [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
        return array.reshape(held["shape"])

    def _scalar(self, held: dict[str, Any]) -> Any:
        if held["$scalar"] not in SCALARS:
            raise ValueError("not the name of a number type")
        plain = self.value(held["value"])
        if not isinstance(plain, (bool, int, float)):
            raise TypeError("a number was expected")
        return np.dtype(held["$scalar"]).type(plain)

    def _type(self, name: Any, *more: str) -> str:
        if not isinstance(name, str) or name not in SCALARS.union(more):
            raise ValueError("not the name of a number type")
        return name

    def _function(self, name: Any) -> Callable[..., Any]:
        function = registry.find_function(name) if isinstance(name, str) else None
        if function is None:
            raise ValueError(f"{name!r} is not one of the functions that a model file may name")
        return function

    def _index(self, held: dict[str, Any]) -> dict[str, Any]:
        words, numbers = self.value(held["$index"]), self.value(held["numbers"])
        if not isinstance(numbers, np.ndarray) or words.shape != numbers.shape or words.ndim != 1:
            raise TypeError("words and their numbers were expected")
        return dict(zip(words.tolist(), numbers.tolist() if held["plain"] else numbers))

    def _csr(self, held: dict[str, Any]) -> Any:
        from scipy import sparse

        data, indices, indptr, shape = self._list(held["$csr"])
        rows, columns = self._list(shape)
        build = sparse.csr_array if held.get("is_array") is True else sparse.csr_matrix
        matrix = build((self.value(data), self.value(indices), self.value(indptr)), shape=(rows, columns))
        # The indices come from a file: without the full check a bad one reads outside the arrays.
        matrix.check_format(full_check=True)
        return matrix

    def _dataclass(self, held: dict[str, Any]) -> Any:
        name = held["$dataclass"]
        cls = registry.find_value(name) if isinstance(name, str) else None
        if cls is None:
            raise ModelFileError(
                f"{self._source} holds a value of the class {name!r}, which this partwise does not know. "
                f"It knows {', '.join(registry.known_values())}."
            )
        fields = self._dict(held["fields"])
        try:
            return cls(**fields)
        except Exception as error:  # whatever the constructor thinks of these values
            raise ModelFileError(
                f"{self._source}: {name} does not accept the values in the file: {error}"
            ) from error

    def _damaged(self, reason: str) -> ModelFileError:
        return ModelFileError(
            f"{self._source} is not a valid model file: {reason}. Save the model again with partwise.save."
        )
