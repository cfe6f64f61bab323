"""Published experiments and the demo: one file each, run by the command line.

A file x_y.py with a function reproduce_x_y is the experiment x-y. Its docstring is the help, and its parameters that
are annotated with a `typer.Option` are the options. It takes a folder to write to, first, and returns a summary: a
dict with the "lines" that are printed. Nothing else has to know of it. Other packages name their experiments in the
entry points of the group "partwise.experiments".
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from partwise.plugins import named, package_of


@dataclass(frozen=True)
class Experiment:
    """Where an experiment is, and what it is about."""

    module: str
    function: str
    help: str


def experiments() -> dict[str, Experiment]:
    """All experiments by name, found by reading their files: importing them would load numerical libraries."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        function = f"reproduce_{file.stem}"
        for line in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.FunctionDef) and line.name == function:
                found[file.stem.replace("_", "-")] = Experiment(
                    f"{__name__}.{file.stem}", function, ast.get_docstring(line) or ""
                )
    for name, entry in named("partwise.experiments").items():
        about = f"From the package {package_of(entry)}."
        found.setdefault(name, Experiment(entry.module, entry.attr, about))
    return found
