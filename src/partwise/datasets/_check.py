"""Checks of the generators' parameters, each failing with a sentence that names the parameter."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_count(name: str, value: Any, *, minimum: int = 1) -> int:
    """Return ``value`` as an int, or raise if it is not a whole number of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, but {value!r} was given; pass an int.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but {value!r} was given; pass a larger number.")
    return int(value)


def check_number(name: str, value: Any, *, low: float, high: float, closed: str = "both") -> float:
    """Return ``value`` as a float, or raise if it lies outside the interval from ``low`` to ``high``.

    ``closed`` says which ends belong to the interval: "both", "left", "right" or "neither".
    """
    left, right = closed in ("both", "left"), closed in ("both", "right")
    interval = f"{'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number in {interval}, but {value!r} was given; pass a float.")
    number = float(value)
    above = number >= low if left else number > low
    below = number <= high if right else number < high
    if not (above and below):
        raise ValueError(
            f"{name} must lie in {interval}, but {value!r} was given; pass a number in that range."
        )
    return number


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise if ``value`` is none of ``choices``."""
    allowed = list(choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name} must be one of {listed}, but {value!r} was given; pass one of these.")


def check_float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return ``dtype`` as float32 or float64, or raise: these are the types random draws come in."""
    resolved = np.dtype(dtype)
    if resolved not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64, but {resolved} was given; pass one of the two.")
    return resolved
