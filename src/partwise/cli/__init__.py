"""The command line: one verb per file. Numerical libraries are imported by the verbs, not here."""

from partwise.cli.app import main

__all__ = ["main"]
