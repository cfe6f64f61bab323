"""Options that several verbs have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.common import REPORT_WANTED
from partwise.io.readers import known_suffixes, listed

#: What stands for standard input and output.
STREAM = Path("-")


def named(path: Path | None) -> Path | None:
    """The path, unless it is the name of a stream: what is written there has no place in one."""
    if path == STREAM:
        raise typer.BadParameter("what is written has no place on standard output; give it a name.")
    return path


DataFile = Annotated[
    Path,
    typer.Argument(
        help=f"Rows are samples, columns are features: {listed(known_suffixes())}; - for stdin.",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.", callback=named)]
Key = Annotated[
    str | None, typer.Option(help="Which array of an .npz, layer of an .h5ad (or raw), sheet of an .xlsx.")
]
Seed = Annotated[int | None, typer.Option(help="Random seed; 0 if not given.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q",
        "--quiet",
        help="No progress bar (PARTWISE_QUIET=1: no notes either).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="A file with one label for each row; or a column of the table, or an array of an .npz.",
        show_default=False,
    ),
]

NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")]
#: Of verbs whose folder has another page of its own.
Folder = Annotated[Path, typer.Option("-o", "--output", help="Folder for what is written.", callback=named)]

Words = list[str] | None


def _said(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text, show_default=False, rich_help_panel="Reading data")


def _flag(name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel="Reading data")


#: What every verb that reads data can be told of them: options of `partwise.io.read`.
READING: dict[str, Any] = {
    "key": Key,
    "columns": Annotated[Words, _said("A,B,C", "Read these columns only; repeatable.")],
    "drop": Annotated[Words, _said("A,B,C", "Leave these columns out; repeatable.")],
    "id": Annotated[str | None, _said("COLUMN", "The column that names the rows.")],
    "yes": Annotated[Words, _said("WORD", "A cell that means yes; repeatable.")],
    "no": Annotated[Words, _said("WORD", "A cell that means no, '' for empty ones; repeatable.")],
    "missing": Annotated[Words, _said("WORD", "A cell that is missing, as 99; repeatable.")],
    "encoding": Annotated[str | None, _said("NAME", "Of a text table, as latin-1; UTF-8 if not given.")],
    "decimal": Annotated[str | None, _said("MARK", "What stands before decimals in text: . or ,")],
    "transpose": Annotated[
        bool, _flag("--transpose", "Samples are the columns of the file, features its rows.")
    ],
    "skip": Annotated[int, _said("ROWS", "Leave out so many rows above the table.")],
    "header": Annotated[
        bool | None,
        _flag(
            "--header/--no-header",
            "Whether the first row of a table names its columns; found out if not given.",
        ),
    ],
    "numbers": Annotated[
        bool, _flag("--numbers", "A table of 1 and 2 is one of numbers, not of yes and no.")
    ],
    "format": Annotated[str | None, _said("EXTENSION", "Read DATA as such a file, as npz.")],
}


#: Options whose default is not None.
OFF = {"transpose": False, "skip": 0, "numbers": False}


def reads_data(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb with the options of ``READING`` that it does not have itself; its ``reading`` is a dict of them."""
    own = inspect.signature(verb, eval_str=True).parameters
    shared = {name: annotation for name, annotation in READING.items() if name not in own}

    def command(**given: Any) -> Any:
        said = {name: given.pop(name) for name in shared}
        # An option that was not given is left to `read`; --no-header was given.
        return verb(
            **given,
            reading={
                name: value for name, value in said.items() if value or (name, value) == ("header", False)
            },
        )

    more = [
        inspect.Parameter(name, _NAMED, default=OFF.get(name), annotation=annotation)
        for name, annotation in shared.items()
    ]
    return _signed(command, verb, [p for p in own.values() if p.name != "reading"], more)


def writes_report(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The same verb; one that writes a folder of results (its ``output`` is an `Output`) has --no-report besides.

    The command line does this to every verb, so that none has to ask for it.
    """
    own = inspect.signature(verb, eval_str=True).parameters
    if "output" not in own or own["output"].annotation != Output or "no_report" in own:
        return verb

    def command(**given: Any) -> Any:
        wanted = REPORT_WANTED.set(not given.pop("no_report"))
        try:
            return verb(**given)
        finally:
            REPORT_WANTED.reset(wanted)

    option = inspect.Parameter("no_report", _NAMED, default=False, annotation=NoReport)
    return _signed(command, verb, list(own.values()), [option])


_NAMED = inspect.Parameter.KEYWORD_ONLY


def _signed(
    command: Callable[..., Any],
    verb: Callable[..., Any],
    own: list[inspect.Parameter],
    more: list[inspect.Parameter],
) -> Callable[..., Any]:
    """`command` with the name, the help and the options of a verb, and more options."""
    options = [*(parameter.replace(kind=_NAMED) for parameter in own), *more]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__doc__, command.__name__ = verb.__doc__, verb.__name__
    return command
