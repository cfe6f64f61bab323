"""From options of the command line to a model: each is a parameter, and a model without it says so."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

MISSING = {"nan": float("nan"), "zero": 0.0, "none": None}


def loss_from(text: str) -> str | float:
    """A loss from its name, its short name, or a number β."""
    from partwise.losses import ALIASES, REGISTRY, find_loss

    try:
        return float(text)
    except ValueError:
        name = text.lower()
    if find_loss(name) is None:
        known = ", ".join(sorted({*REGISTRY, *ALIASES}))
        raise ValueError(f"--loss must be a number or one of {known}; got '{text}'.")
    return ALIASES.get(name, name)


def missing_from(text: str) -> float | None:
    """What marks an entry that was not observed."""
    if text not in MISSING:
        raise ValueError(f"--missing must be nan, zero or none; got '{text}'.")
    return MISSING[text]


def count_from(text: str) -> int | str:
    """A number of parts, or auto."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"-k must be a number or auto; got '{text}'.") from None


def graph_from(text: str) -> Any:
    """A way to make a graph from the data, or the table of a file, which `place_graph` puts in order."""
    from partwise.io import DataError, read

    if text in ("knn", "similarity"):
        return text
    try:
        table = read(text)
    except DataError:
        refuse_edges(text)
        raise
    if table.shape[0] != table.shape[1]:
        refuse_edges(text)
    return table


def refuse_edges(text: str) -> None:
    """An error if a file that is no square table is a list of edges."""
    from partwise.domains.edge_lists import is_edge_list
    from partwise.domains.graph_files import EDGE_SUFFIXES
    from partwise.io import DataError

    path = Path(text)
    if not (path.is_file() and path.stat().st_size):
        # What is wrong with it was said, or will be.
        return
    if path.name.lower().removesuffix(".gz").endswith(EDGE_SUFFIXES) and is_edge_list(path, text, None):
        raise DataError(
            f"{text} is a list of edges, and --graph takes a square table of weights, with a row and a column for "
            "each row of the data (0 for no edge). In Python, partwise.domains.read_graph(path).adjacency is one."
        )


def layers_from(text: str) -> tuple[int, ...]:
    """Numbers of parts, separated by commas."""
    try:
        return tuple(int(size) for size in text.split(","))
    except ValueError:
        raise ValueError(f"--layers takes numbers separated by commas, as 400,100; got '{text}'.") from None


def gamma_from(text: str) -> Any:
    """A Gamma prior from SHAPE,RATE."""
    from partwise.priors import Gamma

    try:
        shape, rate = (float(number) for number in text.split(","))
    except ValueError:
        raise ValueError(
            f"--gamma-w and --gamma-h take a shape and a rate, as 2,0.5; got '{text}'."
        ) from None
    return Gamma(shape, rate)


def ard_from(text: str) -> Any:
    """An ARD prior from its norm."""
    from partwise.priors import ARD

    if text not in ("l1", "l2"):
        raise ValueError(f"--ard must be l1 or l2; got '{text}'.")
    return ARD(text)


#: Options whose parameter has another name, or whose value has to be read; all others are parameters as they are.
READ: dict[str, tuple[str | tuple[str, ...], Callable[[Any], Any]]] = {
    "-k": ("n_components", count_from),
    "--layers": ("layers", layers_from),
    "--loss": ("beta_loss", loss_from),
    "--missing": ("missing_values", missing_from),
    "--alpha-w": ("alpha_W", float),
    "--alpha-h": ("alpha_H", float),
    "--gamma-w": ("prior_W", gamma_from),
    "--gamma-h": ("prior_H", gamma_from),
    "--ard": (("prior_W", "prior_H"), ard_from),
    "--graph": ("graph", graph_from),
    "--seed": ("random_state", int),
}


def build_model(
    kind: str, given: Mapping[str, Any], settings: Sequence[str] = (), *, quiet: bool = False
) -> Any:
    """A model of this kind.

    Parameters
    ----------
    kind : str
        As in `--model`.
    given : mapping
        Option → value; None is an option that was not given.
    settings : sequence of str
        What `--set` was given: NAME=VALUE, the value as JSON, else as text.
    quiet : bool
        No progress bar, and no line about compiling.
    """
    from partwise.models.kinds import find_kind

    cls = find_kind(kind)
    known = [name for name in inspect.signature(cls).parameters if name != "self"]
    parameters: dict[str, Any] = {}
    for option, value in given.items():
        if value is not None:
            names, read = READ.get(option, (option.lstrip("-").replace("-", "_"), lambda same: same))
            for name in (names,) if isinstance(names, str) else names:
                if name not in known:
                    raise ValueError(
                        f"{option} does not apply to --model {kind}, which has no parameter {name}. "
                        f"It has: {', '.join(known)}."
                    )
                if name in parameters:
                    raise ValueError(f"{option} and another option both set {name}; leave one out.")
                parameters[name] = read(value)
    for text in settings:
        name, value = setting_from(text, known, kind)
        if name in parameters:
            raise ValueError(f"{name} was given twice; --set {text} is one of them. Leave one out.")
        parameters[name] = value
    if "n_components" in known and "n_components" not in parameters:
        raise ValueError("how many parts? Give their number, as -k 10.")
    if parameters.get("n_components") == "auto" and not getattr(cls, "chooses_count", False):
        further = (
            " With --ard a generous number is cut down to what the data need." if "prior_W" in known else ""
        )
        raise ValueError(
            f"--model {kind} does not choose how many parts there are. Give their number, as -k 10.{further}"
        )
    if "verbose" in known:
        parameters.setdefault("verbose", -1 if quiet else 1)
    return cls(**parameters)


def setting_from(text: str, known: Sequence[str], kind: str) -> tuple[str, Any]:
    """NAME=VALUE as a parameter and its value."""
    name, mark, value = text.partition("=")
    name = name.strip()
    if not mark:
        raise ValueError(f"--set takes NAME=VALUE, as in --set n_init=3; got '{text}'.")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known
        raise ValueError(
            f"--set {text}: --model {kind} has no parameter {name}; the nearest are {', '.join(near)}."
        )
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
