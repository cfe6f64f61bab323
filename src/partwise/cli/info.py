"""partwise info: what is in a model file."""

from __future__ import annotations

from partwise.cli.common import emit
from partwise.cli.describe import lines_of_model
from partwise.cli.options import Json, ModelFile


def info(model: ModelFile, as_json: Json = False) -> None:
    """Show what a model file holds: its class, parameters, shape and parts; for a pipeline, of each step."""
    from partwise import load
    from partwise.io import Coding
    from partwise.models.summary import summary_of

    fitted = load(model)
    summary = summary_of(fitted)
    coding = Coding.of(fitted)
    described = "" if coding is None else coding.described()
    lines = lines_of_model(summary, str(model))
    if described:
        lines.insert(1, f"data read with: {described}")
    emit({"model": str(model), **summary, "reading": described}, as_json, lines)
