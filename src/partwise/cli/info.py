"""partwise info: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.common import emit, names_or_numbers, outcome_words, top_features, what_was_found


def info(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Tell what a model file holds: its class, parameters, shape and parts."""
    from partwise import load

    fitted = load(model)
    k, m = fitted.components_.shape
    columns = names_or_numbers(getattr(fitted, "feature_names_in_", None), m, "column")
    default = type(fitted)().get_params()
    changed = {
        name: value if isinstance(value, int | float | str | None) else repr(value)
        for name, value in fitted.get_params().items()
        if repr(value) != repr(default[name])
    }
    summary: dict[str, Any] = {
        "model": str(model),
        "class": type(fitted).__name__,
        "n_components": k,
        "n_features": m,
        "parameters": changed,
        "top_features": top_features(fitted, columns),
    }
    for name in ("n_iter", "converged"):
        if hasattr(fitted, f"{name}_"):
            summary[name] = getattr(fitted, f"{name}_")
    found = what_was_found(fitted)
    summary |= {name: value for name, value in found.items() if name != "model"}
    steps = []
    if "n_iter" in summary:
        word = "converged" if summary["converged"] else "not converged"
        steps = [f"{summary['n_iter']} iterations", word]
    lines = [
        f"{model}: {summary['class']} with {k} parts over {m} features",
        "parameters: " + (", ".join(f"{a}={b!r}" for a, b in changed.items()) or "all at their defaults"),
        ", ".join([str(summary["solver"]), *steps, outcome_words(found)]),
        *(f"  part {i}: {', '.join(names)}" for i, names in enumerate(summary["top_features"])),
    ]
    emit(summary, as_json, lines)
