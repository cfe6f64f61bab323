"""partwise reproduce: published experiments. They are found in `partwise.reproduce`; none is named here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from partwise.cli.common import emit, make_folder
from partwise.cli.options import Json, Output


class Experiments(TyperGroup):
    """Commands that are listed without being imported; only the one that is called is."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all experiments."""
        from partwise.reproduce import experiments

        if not self.commands:
            self.commands.update(
                {name: TyperCommand(name, help=found.help) for name, found in experiments().items()}
            )
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """An experiment as it is listed: name and help."""
        self.list_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The experiment that is to be run, with its options."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else imported(name), rest


def imported(name: str) -> Any:
    """The whole command of an experiment."""
    from partwise.reproduce import experiments

    found = experiments()[name]
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(command_of(name, getattr(importlib.import_module(found.module), found.function)))
    return typer.main.get_command(single)


def command_of(name: str, experiment: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """An experiment as a function that typer understands: its options, the folder and --json."""

    def command(**given: Any) -> None:
        from partwise.core import whole_session

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
