"""What a model found, as plain data: for the command line, for reports, for other programs.

Every model has a `summary()`, which passes what is particular to it to `summarise`. Code that shows a summary needs
to know no class.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.domains.text_measures import NEGLIGIBLE

#: Features named for each part.
TOP = 8


def summarise(
    model: Any,
    feature_names: Sequence[str] | None = None,
    *,
    sentence: str = "",
    figures: dict[str, Any] | None = None,
    chosen: dict[str, str] | None = None,
    part_details: Sequence[dict[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The summary of one fitted model.

    Parameters
    ----------
    model : estimator
        Read from it, where it has them: `kind`, `part_word` and `parts_attribute` of its class, parameters,
        `n_samples_fit_`, `n_features_in_`, `feature_names_in_`, `converged_`, `n_iter_`, `history_`, and its parts.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit, else column0, column1, …
    sentence : str
        How the fit went, on one line.
    figures : dict of numbers
        What the model measures itself by.
    chosen : dict of str
        What it settled on where its parameters left that open.
    part_details : sequence of dict
        More about each part. "sentence" is shown where parts are listed.
    **more
        Further entries of the summary.

    Returns
    -------
    dict
        Of dicts, lists, text, numbers, bool and None only: "kind", "class", "n_samples", "n_features",
        "feature_names" (None where the data had none), "n_components", "part_word", "parameters" (those that differ
        from their defaults), "chosen", "converged", "n_iter", "figures", "sentence", "parts" (each with "name" and
        "top_features"), "history" (lists of numbers), and `more`.
    """
    check_is_fitted(model)
    weights = parts_of(model)
    n_features = getattr(model, "n_features_in_", None)
    names = feature_names_of(model, feature_names)
    given = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    named = None if given is None else [str(name) for name in given]
    history = getattr(model, "history_", None) or {}
    parts: list[dict[str, Any]] = []
    if weights is not None:
        parts = [
            {
                "name": name,
                "top_features": [{"name": names[j], "weight": float(row[j])} for j in leading(row, TOP)],
            }
            for name, row in zip(part_names(model), weights)
        ]
    for part, details in zip(parts, part_details or ()):
        part.update(details)
    summary = {
        "kind": getattr(model, "kind", None),
        "class": type(model).__name__,
        "n_samples": getattr(model, "n_samples_fit_", None),
        "n_features": n_features,
        "feature_names": named,
        "n_components": None if weights is None else len(weights),
        "part_word": getattr(model, "part_word", "part"),
        "parameters": changed_parameters(model),
        "chosen": chosen or {},
        "converged": getattr(model, "converged_", None),
        "n_iter": getattr(model, "n_iter_", None),
        "figures": figures or {},
        "sentence": sentence,
        "parts": parts,
        "history": {name: values for name, values in history.items() if np.ndim(values) == 1},
        **more,
    }
    return {name: plain(value) for name, value in summary.items()}


def summary_of(model: Any, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
    """The summary of any fitted model: its own, that of its steps for a pipeline, else what every model has."""
    if hasattr(model, "summary"):
        return dict(model.summary() if feature_names is None else model.summary(feature_names))
    if not hasattr(model, "steps"):
        return summarise(model, feature_names)
    steps: list[dict[str, Any]] = []
    for name, step in model.steps:
        if hasattr(step, "get_params"):
            steps.append({"name": name, **summary_of(step, feature_names)})
            feature_names = names_out(step)
    return {
        "kind": "pipeline",
        "class": type(model).__name__,
        "n_samples": next((step["n_samples"] for step in steps if step["n_samples"] is not None), None),
        "n_features": steps[0]["n_features"] if steps else None,
        "feature_names": steps[0]["feature_names"] if steps else None,
        "n_components": steps[-1]["n_components"] if steps else None,
        "part_word": steps[-1]["part_word"] if steps else "part",
        "parameters": {},
        "chosen": {},
        "converged": all(step["converged"] is not False for step in steps),
        "n_iter": None,
        "figures": {},
        "sentence": ", then ".join(step["class"] for step in steps),
        "parts": [],
        "history": {},
        "steps": steps,
    }


def parts_of(model: Any) -> np.ndarray | None:
    """The parts of a fitted model over its features, one in each row; None where it has none."""
    found = getattr(model, getattr(model, "parts_attribute", "components_"), None)
    return None if found is None else np.asarray(found)


def part_names(model: Any) -> list[str]:
    """Names of a model's parts: those of the columns of `transform`, else its word for a part, numbered."""
    found = names_out(model)
    if found is None:
        weights = parts_of(model)
        word = getattr(model, "part_word", "part")
        return [f"{word}{i}" for i in range(0 if weights is None else len(weights))]
    return found


def names_out(model: Any) -> list[str] | None:
    """Names of the columns that `transform` gives, or None where there are none."""
    if not hasattr(model, "get_feature_names_out"):
        return None
    return [str(name) for name in model.get_feature_names_out()]


def feature_names_of(model: Any, given: Sequence[str] | None = None) -> list[str]:
    """Names of the columns: those given, else those of the fit, else column0, column1, …"""
    parts = parts_of(model)
    count = getattr(model, "n_features_in_", 0) if parts is None else parts.shape[1]
    names = getattr(model, "feature_names_in_", None) if given is None else given
    if names is None:
        return [f"column{j}" for j in range(count)]
    if len(names) != count:
        raise ValueError(f"{len(names)} feature_names were given for {count} columns.")
    return [str(name) for name in names]


def leading(weights: np.ndarray, n: int) -> list[int]:
    """The `n` places of most weight, largest first; never those of no weight, or of a millionth of the largest."""
    order = np.argsort(-1.0 * weights, kind="stable")[:n]
    least = NEGLIGIBLE * max(weights[order[0]], 0) if len(order) else 0.0
    return [int(j) for j in order if weights[j] > least]


def changed_parameters(model: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    known = inspect.signature(type(model)).parameters
    # By their text, for an array equals nothing and nan not even itself.
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in known or repr(value) != repr(known[name].default)
    }


def ending(model: Any, word: str = "iterations") -> str:
    """How a fit ended, in words, as far as the model says."""
    converged, steps = getattr(model, "converged_", None), getattr(model, "n_iter_", None)
    if steps is None:
        return {None: "", True: "converged", False: "did not converge"}[converged]
    begun = {None: "took", True: "converged after", False: "did not converge in"}[converged]
    limited = " (the time limit ended it)" if getattr(model, "ended_by_", None) == "max_time" else ""
    return f"{begun} {counted(steps, word.removesuffix('s'))}{limited}"


def counted(count: int, word: str) -> str:
    """A number with its word: 1 row, 2 rows."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def plain(value: Any) -> Any:
    """The value in dicts, lists, text, numbers, bool and None; anything else as its text."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
