"""Groups of commands that are listed without being imported; only the one that is called is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class ListedGroup(TyperGroup):
    """A group some of whose commands are known by name and help alone until they are called."""

    def listed(self) -> dict[str, str]:
        """Name → help of the commands that are not imported."""
        raise NotImplementedError

    def imported(self, name: str) -> Callable[..., Any] | typer.Typer:
        """The function of such a command, or its group."""
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        for name, text in self.listed().items():
            self.commands.setdefault(name, Listed(name, help=text))
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command as it is listed."""
        if cmd_name not in self.commands:
            self.list_commands(ctx)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to be run, with its options."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and isinstance(command, Listed):
            command = whole_command(name, self.imported(name))
        return name, command, rest


class Listed(TyperCommand):
    """What a list of commands shows of one that is not imported."""


def whole_command(name: str, verb: Callable[..., Any] | typer.Typer) -> Any:
    """The command of a function, or of a group of verbs."""
    if not isinstance(verb, typer.Typer):
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(name)(verb)
        verb = single
    return typer.main.get_command(verb)
