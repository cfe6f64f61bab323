"""Parameters, checked once, each with a sentence that says what was expected."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from partwise.models.convention import SCALES
from partwise.priors import Prior
from partwise.solvers import make_solver


def whole(name: str, value: Any, low: int = 1) -> int:
    """An integer of at least `low`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {value!r}.")
    return int(value)


def real(name: str, value: Any, low: float = 0.0, high: float = np.inf) -> float:
    """A finite number between `low` and `high`."""
    ok = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not ok or not (low <= float(value) <= high) or not np.isfinite(float(value)):
        upper = f" and at most {high:g}" if np.isfinite(high) else ""
        finite = "a finite number" if ok and not np.isfinite(float(value)) else "a number"
        raise ValueError(f"{name} must be {finite} of at least {low:g}{upper}; got {value!r}.")
    return float(value)


def choice(name: str, value: Any, options: Any) -> Any:
    """One of `options`."""
    if value not in options:
        raise ValueError(f"{name} must be one of {list(options)}; got {value!r}.")
    return value


def missing_mark(value: Any) -> None:
    """What marks a missing entry: nan, 0 or None."""
    if value is not None and not (isinstance(value, Real) and (np.isnan(float(value)) or value == 0)):
        raise ValueError(f"missing_values must be nan, 0 or None; got {value!r}.")


def check_nmf(model: Any) -> None:
    """Every parameter of `NMF` that can be judged without data."""
    if model.n_components is not None and model.n_components != "auto":
        whole("n_components", model.n_components)
    choice("init", model.init, (None, *model._inits))
    if model.solver != "auto":
        make_solver(model.solver)
    real("tol", model.tol)
    whole("max_iter", model.max_iter)
    whole("n_init", model.n_init)
    choice("scale", model.scale, SCALES)
    real("alpha_W", model.alpha_W)
    if model.alpha_H != "same":
        real("alpha_H", model.alpha_H)
    real("l1_ratio", model.l1_ratio, 0.0, 1.0)
    if model.max_time is not None:
        real("max_time", model.max_time)
    missing_mark(model.missing_values)
    for name in ("prior_W", "prior_H"):
        prior = getattr(model, name)
        if prior is not None and not isinstance(prior, Prior):
            raise ValueError(
                f"{name} must be a prior such as partwise.priors.Gamma(shape=2, rate=1); got {prior!r}."
            )
    check_callbacks(model)


def check_callbacks(model: Any) -> None:
    """Every callback can be called."""
    given = () if model.callbacks is None else model.callbacks
    if not isinstance(given, Iterable):
        raise ValueError(
            f"callbacks must be a list of callables that take (info, state); got {given!r}, which is no list."
        )
    for callback in given:
        if not callable(callback):
            raise ValueError(f"callbacks must be callables that take (info, state); got {callback!r}.")


def check_boolean(model: Any) -> None:
    """Every parameter of `BooleanMF` that can be judged without data."""
    auto = isinstance(model.n_components, str) and model.n_components == "auto"
    if not auto:
        whole("n_components", model.n_components)
    choice("method", model.method, ("auto", "panpal", "primp", "trustpal"))
    if auto and model.method == "panpal" and model.objective != "sparse":
        raise ValueError(
            "method='panpal' needs a number of tiles, but for objective='sparse'; 'auto', 'primp' and 'trustpal' "
            "choose one."
        )
    if model.fdr is not None:
        real("fdr", model.fdr, 0.0, 1.0)
    choice("objective", model.objective, ("auto", "error", "likelihood", "sparse"))
    real("regularization", model.regularization)
    choice("thresholds", model.thresholds, ("one", "each"))
    whole("n_init", model.n_init)
    if model.patience != "auto":
        whole("patience", model.patience, 0)
    if model.max_iter is not None:
        whole("max_iter", model.max_iter)
    if model.max_time not in ("auto", None):
        real("max_time", model.max_time)
