"""What a model file must hold: each class declares its fitted attributes, and one function checks them.

A class declares a dict `file_contents` from attribute names to the kinds below. Shapes are given in named sizes, such
as ("n_components", "n_features"): the first attribute that has a size sets it, and all others must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.io.registry import step_of

_WORDS = {
    "b": "bool",
    "i": "whole numbers",
    "u": "whole numbers",
    "f": "fractional numbers",
    "U": "text",
    "O": "text",
}


class Unfit(ValueError):
    """Why a value is not what was declared, as a clause: "its components_ …"."""


@dataclass
class Sizes:
    """The named sizes met so far, each with the attribute that set it."""

    known: dict[str, tuple[int, str]] = field(default_factory=dict)

    def agree(self, size: int | str | None, found: int, name: str) -> None:
        """Set the size of this name, or raise `Unfit` if it was set to another number."""
        if size is None:
            return
        expected, origin = (size, "") if isinstance(size, int) else self.known.setdefault(size, (found, name))
        if found != expected:
            said = f", where {origin} has {expected}" if origin else f", not {expected}"
            raise Unfit(f"its {name} has {found} {size if isinstance(size, str) else 'entries'}{said}")


@dataclass(frozen=True)
class Number:
    """A number between `low` and `high`; `of` is "i" for whole numbers, and NaN and infinities only where `nan`."""

    of: str = "f"
    low: float = -np.inf
    high: float = np.inf
    nan: bool = False
    size: str | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such a number."""
        kinds = (int, np.integer) if self.of == "i" else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise Unfit(f"its {name} is {_shown(value)}, where {_WORDS[self.of][:-1]} belongs")
        _check_range(name, np.asarray(float(value)), self.low, self.high, self.nan)
        if self.size is not None:
            sizes.agree(self.size, int(value), name)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is neither."""
        if not isinstance(value, bool | np.bool_):
            raise Unfit(f"its {name} is {_shown(value)}, where True or False belongs")


@dataclass(frozen=True)
class Text:
    """Text, one of `choices` if there are any."""

    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such text."""
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise Unfit(
                f"its {name} is {_shown(value)}, not {' or '.join(map(repr, self.choices)) or 'text'}"
            )


@dataclass(frozen=True)
class Array:
    """An array of one of the dtype kinds `of`, of a shape in numbers and named sizes (None: any).

    Values are between `low` and `high`, and below the named size `below`; NaN and infinities only where `nan`.
    """

    of: str = "f"
    shape: tuple[int | str | None, ...] = ()
    low: float = -np.inf
    high: float = np.inf
    nan: bool = False
    below: str | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such an array."""
        if not isinstance(value, np.ndarray):
            raise Unfit(f"its {name} is {_shown(value)}, where an array belongs")
        _check_type(name, value.dtype, self.of)
        if value.ndim != len(self.shape):
            raise Unfit(f"its {name} has shape {value.shape}, not {len(self.shape)} dimensions")
        for size, found in zip(self.shape, value.shape):
            sizes.agree(size, found, name)
        high = self.high if self.below is None else sizes.known[self.below][0] - 1
        _check_range(name, value, self.low, high, self.nan)


@dataclass(frozen=True)
class Matrix(Array):
    """An array, or a sparse matrix in CSR."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is neither, of this shape."""
        if not hasattr(value, "tocsr"):
            super().check(name, value, sizes)
            return
        _check_type(name, value.dtype, self.of)
        for size, found in zip(self.shape, value.shape):
            sizes.agree(size, found, name)
        _check_range(name, value.data, self.low, self.high, self.nan)


@dataclass(frozen=True)
class ListOf:
    """A list of values of one kind, of a named or given length if there is a `size`."""

    each: Any
    size: str | int | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such a list or tuple."""
        if not isinstance(value, list | tuple):
            raise Unfit(f"its {name} is {_shown(value)}, where a list belongs")
        sizes.agree(self.size, len(value), name)
        for i, one in enumerate(value):
            self.each.check(f"{name}[{i}]", one, sizes)


@dataclass(frozen=True)
class Record:
    """A dict that has these entries; all others are of the kind `others`, if that is given."""

    entries: Mapping[str, Any] = field(default_factory=dict)
    others: Any = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such a dict."""
        if not isinstance(value, dict):
            raise Unfit(f"its {name} is {_shown(value)}, where named values belong")
        check_entries(self.entries, value, f"{name}[{{!r}}]", sizes)
        if self.others is not None:
            for key in value.keys() - self.entries.keys():
                self.others.check(f"{name}[{key!r}]", value[key], sizes)


@dataclass(frozen=True)
class Vocabulary:
    """A dict that numbers words 0, 1, …, `size` of them."""

    size: str

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is not such a dict."""
        numbers: list[Any] = list(value.values()) if isinstance(value, dict) else [None]
        whole = all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in numbers)
        if not whole or sorted(map(int, numbers)) != list(range(len(numbers))):
            raise Unfit(f"its {name} does not number its words 0, 1, …")
        sizes.agree(self.size, len(numbers), name)


@dataclass(frozen=True)
class Instance:
    """An object of a class of this name, or of one derived from it."""

    cls: str

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if the value is of another class."""
        if self.cls not in (cls.__name__ for cls in type(value).__mro__):
            raise Unfit(f"its {name} is {_shown(value)}, where a {self.cls} belongs")


@dataclass(frozen=True)
class Maybe:
    """What may be missing or None, unless the parameter `unless` is on."""

    kind: Any
    unless: str | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if there is a value of another kind."""
        if value is not None:
            self.kind.check(name, value, sizes)


@dataclass(frozen=True)
class OrNone:
    """What is there, but may be None."""

    kind: Any

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` if there is a value of another kind."""
        if value is not None:
            self.kind.check(name, value, sizes)


@dataclass(frozen=True)
class Either:
    """What is of one of several kinds."""

    kinds: tuple[Any, ...]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise the last kind's `Unfit` if the value is of none."""
        for kind in self.kinds[:-1]:
            try:
                return kind.check(name, value, Sizes(dict(sizes.known)))
            except Unfit:
                continue
        self.kinds[-1].check(name, value, sizes)


#: What scikit-learn's checks of X leave in every estimator.
FEATURES: dict[str, Any] = {
    "n_features_in_": Number("i", 1, size="n_features"),
    "feature_names_in_": Maybe(Array("OU", ("n_features",))),
    # Of models that were fitted to pictures, by the command line: height, width, and 3 where they have colours.
    "picture_shape_": Maybe(ListOf(Number("i", 1))),
    # What pixels without a known white were divided by: floating-point numbers, and whole numbers of 32 bits.
    "picture_white_": Maybe(ListOf(Number("f", 0))),
    # How the command line read the data; see `partwise.io.Coding`.
    "reading_": Maybe(
        Record(
            {
                "options": Record({}, others=Either((Text(), ListOf(Text()), Flag()))),
                "meanings": ListOf(Record({}, others=Text(("1", "0", ""))), size="n_meanings"),
                "meaning_of": Maybe(Array("i", ("n_features",), low=0, below="n_meanings")),
            }
        )
    ),
}


def check_contents(model: Any) -> None:
    """Check the parameters and, if it is fitted, the attributes of a model that declares what its file holds.

    Parameters are checked as `fit` does it, by `_validate_params`; what a declaration cannot say is left to the
    method `_check_contents`, where the model has one.

    Parameters
    ----------
    model : estimator
        One that declares nothing is not checked.

    Raises
    ------
    ValueError
        With a clause that says what is wrong.
    """
    step = step_of(type(model))
    if step is None:
        return
    homes = [vars(cls) for cls in type(model).__mro__ if cls.__name__ != "BaseEstimator"]
    # scikit-learn's own method, which every estimator inherits, fails where a class has not declared its parameters.
    if any("_validate_params" in home or "_parameter_constraints" in home for home in homes):
        model._validate_params()
    held, params = vars(model), model.get_params(deep=False)
    if step.contents and not any(name in held for name in step.contents):
        return
    needed = {
        name: kind.kind if isinstance(kind, Maybe) and params.get(kind.unless or "") else kind
        for name, kind in step.contents.items()
    }
    check_entries(needed, held, "{}", Sizes())
    if step.check is not None:
        step.check(model)


def check_entries(declared: Mapping[str, Any], held: Mapping[str, Any], called: str, sizes: Sizes) -> None:
    """Check each declared value of a dict; `called` makes a name of its key."""
    for key, kind in declared.items():
        if key in held:
            kind.check(called.format(key), held[key], sizes)
        elif not isinstance(kind, Maybe):
            raise Unfit(f"it lacks {called.format(key)}")


def _check_type(name: str, dtype: np.dtype[Any], of: str) -> None:
    # Kernels are compiled for native floats of 32 and 64 bits.
    usual = dtype.isnative and (dtype.kind != "f" or dtype.itemsize in (4, 8))
    if dtype.kind not in of.replace("i", "iu") or not usual:
        wanted = " or ".join(dict.fromkeys(_WORDS[kind] for kind in of))
        raise Unfit(f"its {name} holds values of type {dtype.str}, where {wanted} belong")


def _check_range(name: str, values: np.ndarray, low: float, high: float, nan: bool) -> None:
    if values.size == 0 or values.dtype.kind in "bUO":
        return
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        if not nan:
            raise Unfit(f"its {name} holds NaN or infinity")
        values = values[np.isfinite(values)]
    if values.size and (values.min() < low or values.max() > high):
        found = values.min() if values.min() < low else values.max()
        raise Unfit(f"its {name} holds {found:g}, outside {low:g} to {high:g}")


def _shown(value: Any) -> str:
    text = repr(value)
    return (
        text
        if isinstance(value, bool | int | float | str) and len(text) < 40
        else f"of type {type(value).__name__}"
    )
