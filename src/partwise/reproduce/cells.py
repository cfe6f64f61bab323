"""Figures of a long experiment, each kept in a file as soon as it is found, so that it can go on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from partwise import __version__
from partwise.io import write_json
from partwise.messages import inform


class Cells:
    """The cells of a table, by name.

    Parameters
    ----------
    path : Path
        A JSON file; cells that are in it already are not computed again, if this version wrote them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Any] = {}
        if not path.exists():
            return
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            version, found = kept["version"], dict(kept["cells"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path} does not hold the cells of an experiment; move it away, or name another folder with -o."
            ) from None
        if version != __version__:
            inform(f"{path} is of partwise {version}, not {__version__}: its figures are found anew.")
            return
        self.found = found

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """A cell, computed and kept if it is not there.

        Parameters
        ----------
        name : str
            Of the cell.
        compute : callable
            Returns what JSON can hold.

        Returns
        -------
        object
            The cell.
        """
        if name not in self.found:
            self.found[name] = compute()
            write_json(self.path, {"version": __version__, "cells": self.found})
        return self.found[name]
