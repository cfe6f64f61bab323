"""partwise info: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.common import emit, names_or_numbers, top_features


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
    for name in ("n_iter_", "converged_", "objective_", "reconstruction_err_", "solver_"):
        if hasattr(fitted, name):
            summary[name.rstrip("_")] = getattr(fitted, name)
    lines = [
        f"{model}: {summary['class']} with {k} parts over {m} features",
        "parameters: " + (", ".join(f"{a}={b!r}" for a, b in changed.items()) or "all at their defaults"),
        f"{summary.get('solver')}, {summary.get('n_iter')} iterations, "
        f"{'converged' if summary.get('converged') else 'not converged'}, "
        f"reconstruction error {summary.get('reconstruction_err', float('nan')):.6g}",
        *(f"  part {i}: {', '.join(names)}" for i, names in enumerate(summary["top_features"])),
    ]
    emit(summary, as_json, lines)
