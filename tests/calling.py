"""The command line, called as a person calls it."""

import pytest

from partwise.cli import main


def call(*arguments):
    """Run `partwise` with these arguments; returns the exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code
