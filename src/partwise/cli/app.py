"""The app: verbs put together, and errors turned into one sentence and an exit code."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from partwise._version import __version__
from partwise.cli.common import printing
from partwise.cli.groups import ListedGroup
from partwise.cli.options import writes_report
from partwise.cli.streams import expendable_messages, give_up_output, let_letters_be_written
from partwise.interrupts import ignore_from_now_on, never_ignored, terminable
from partwise.messages import printed
from partwise.plugins import named, package_of

#: Exit codes of calls that Ctrl-C and SIGTERM ended, and of those whose output nobody reads any more (`… | head -1`):
#: 128 and the number of the signal that stands for it.
INTERRUPTED, TERMINATED, UNREAD = 130, 143, 141
#: Every verb: its name, and the module and the function (or the group of verbs) that it is. One file, one line.
VERBS = {
    "fit": "partwise.cli.fit:fit",
    "tiles": "partwise.cli.tiles:tiles",
    "posterior": "partwise.cli.posterior:posterior",
    "parts": "partwise.cli.parts:parts",
    "communities": "partwise.cli.communities:communities",
    "classify": "partwise.cli.classify:classify",
    "topics": "partwise.cli.topics:topics",
    "compare": "partwise.cli.compare:compare",
    "separate": "partwise.cli.separate:separate",
    "transform": "partwise.cli.transform:transform",
    "predict": "partwise.cli.predict:predict",
    "info": "partwise.cli.info:info",
    "report": "partwise.cli.report:report",
    "tree": "partwise.cli.tree:tree",
    "demo": "partwise.cli.demo:demo",
    "bench": "partwise.cli.bench:bench",
    "reproduce": "partwise.cli.reproduce:app",
}


class _StoppedError(Exception):
    """Ctrl-C ended a verb that had nothing to keep."""


class Verbs(ListedGroup):
    """The verbs above, and those that installed packages name in the entry points of the group "partwise.verbs"."""

    def listed(self) -> dict[str, str]:
        """Verbs of installed packages; they are imported when they are called."""
        return {
            name: f"From the package {package_of(entry)}." for name, entry in named("partwise.verbs").items()
        }

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; the library of the command line would end on Ctrl-C without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _StoppedError from None

    def imported(self, name: str) -> Callable[..., Any] | typer.Typer:
        """The function of such a verb, or its group."""
        found: Callable[..., Any] | typer.Typer = named("partwise.verbs")[name].load()
        return found if isinstance(found, typer.Typer) else writes_report(found)


app = typer.Typer(
    name="partwise",
    cls=Verbs,
    help="Learn the parts of data: nonnegative, binary and Boolean matrix factorization.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        print(f"partwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Learn the parts of data: nonnegative, binary and Boolean matrix factorization."""


for _name, _place in VERBS.items():
    # Verbs import numerical libraries when they run, so that all of them together are quick to import.
    _module, _, _what = _place.partition(":")
    _verb = getattr(importlib.import_module(_module), _what)
    if isinstance(_verb, typer.Typer):
        app.add_typer(_verb, name=_name)
    else:
        app.command(_name)(writes_report(_verb))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; bad input ends with one sentence on stderr and exit code 2."""
    let_letters_be_written()
    with expendable_messages(), never_ignored(), terminable() as terminated:
        code = outcome(arguments)
    if arguments is None:  # The program itself, and not one that calls it.
        ignore_from_now_on()
    sys.exit(TERMINATED if terminated and code == INTERRUPTED else code)


def outcome(arguments: list[str] | None) -> int:
    """The exit code of a call; errors that a user can act on were printed."""
    try:
        with printed():
            code = app(args=arguments, standalone_mode=False)
            with printing():
                # What is still to be written is written here, and not when Python ends.
                pass
    except (KeyboardInterrupt, _StoppedError):
        return _stopped()
    except BrokenPipeError:
        give_up_output()
        return UNREAD
    except SystemExit as stop:
        # The library of the command line itself ends a call whose pipe was closed, with exit code 1.
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        give_up_output()
        return UNREAD
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        give_up_output()
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                print(f"partwise: {_sentence(error)}", file=sys.stderr, flush=True)
        give_up_output()
        return 2
    except Exception as error:
        # Usage errors have a method `show`; typer may bundle its own click, so their class cannot be tested.
        if type(error).__name__ == "Abort":
            return _stopped()
        if not (hasattr(error, "show") and hasattr(error, "exit_code")):
            raise
        error.show()
        return int(error.exit_code)
    return code if isinstance(code, int) else 0


def _stopped() -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print("partwise: stopped.", file=sys.stderr, flush=True)
    return INTERRUPTED


def _sentence(error: BaseException) -> str:
    """The error on one line."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return text or "out of memory. Use float32 or sparse data, or fewer components."
    return text or type(error).__name__
