"""The app: verbs put together, and errors turned into one sentence and an exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from partwise._version import __version__
from partwise.cli import bench, classify, demo, fit, info, reproduce, tiles, transform

app = typer.Typer(
    name="partwise",
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


app.command("fit")(fit.fit)
app.command("tiles")(tiles.tiles)
app.command("classify")(classify.classify)
app.command("transform")(transform.transform)
app.command("info")(info.info)
app.command("demo")(demo.demo)
app.command("bench")(bench.bench)
app.add_typer(reproduce.app, name="reproduce")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input ends with one sentence on stderr and exit code 2."""
    try:
        code = app(args=arguments, standalone_mode=False)
    except KeyboardInterrupt:
        _stopped()
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        print(f"partwise: {_sentence(error)}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        # Usage errors know how to show themselves. They are told by that, since typer may carry a click of its own.
        if type(error).__name__ == "Abort":
            _stopped()
        if not (hasattr(error, "show") and hasattr(error, "exit_code")):
            raise
        error.show()
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _stopped() -> NoReturn:
    print("Stopped.", file=sys.stderr)
    sys.exit(130)


def _sentence(error: BaseException) -> str:
    """The error on one line."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return text or "out of memory. Use float32 or sparse data, or fewer components."
    return text or type(error).__name__
