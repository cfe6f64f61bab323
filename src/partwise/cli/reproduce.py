"""partwise reproduce: published experiments. They are found in `partwise.reproduce`; none is named here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import typer

from partwise.cli.common import emit, make_folder
from partwise.cli.groups import ListedGroup
from partwise.cli.options import Json, Output


class Experiments(ListedGroup):
    """All experiments."""

    def listed(self) -> dict[str, str]:
        """Their names and docstrings."""
        from partwise.reproduce import experiments

        return {name: found.help for name, found in experiments().items()}

    def imported(self, name: str) -> Callable[..., Any]:
        """An experiment with its options."""
        from partwise.reproduce import experiments

        found = experiments()[name]
        return command_of(name, getattr(importlib.import_module(found.module), found.function))


def command_of(name: str, experiment: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """An experiment as a function that typer understands: its options, the folder and --json."""

    def command(**given: Any) -> None:
        from partwise.core import whole_session
        from partwise.plot import require_matplotlib

        # Experiments that draw import this name; they ask before hours of work, not after.
        if "save_figure" in getattr(experiment, "__globals__", {}):
            require_matplotlib()
        folder, as_json = make_folder(given.pop("output")), given.pop("as_json")
        # Ctrl-C ends the experiment, not only the fit under way.
        with whole_session():
            summary = experiment(folder, **given)
        emit(summary, as_json, summary["lines"])

    option, either = inspect.Parameter, inspect.Parameter.KEYWORD_ONLY
    options = [
        parameter.replace(kind=either)
        for parameter in inspect.signature(experiment, eval_str=True).parameters.values()
        if any(isinstance(part, typer.models.OptionInfo) for part in get_args(parameter.annotation)[1:])
    ]
    folder = option("output", either, default=Path(f"partwise-{name}-results"), annotation=Output)
    as_json = option("as_json", either, default=False, annotation=Json)
    command.__signature__ = inspect.Signature([folder, *options, as_json])  # type: ignore[attr-defined]
    command.__doc__ = experiment.__doc__
    return command


app = typer.Typer(
    cls=Experiments, help="Run a published experiment and print its figures.", no_args_is_help=True
)
