"""What several verbs share: talking to a person or to a program, names, and loss names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

LOSSES = {
    "frobenius": "frobenius",
    "euclidean": "frobenius",
    "l2": "frobenius",
    "kullback-leibler": "kullback-leibler",
    "kl": "kullback-leibler",
    "poisson": "kullback-leibler",
    "itakura-saito": "itakura-saito",
    "is": "itakura-saito",
}


def loss_from(text: str) -> str | float:
    """A loss from its name, its short name, or a number β."""
    if text.lower() in LOSSES:
        return LOSSES[text.lower()]
    try:
        return float(text)
    except ValueError:
        known = ", ".join(sorted(LOSSES))
        raise ValueError(f"--loss must be a number or one of {known}; got '{text}'.") from None


def say(text: str) -> None:
    """A line for the person at the terminal; stdout is kept for results."""
    print(text, file=sys.stderr)


def emit(summary: dict[str, Any], as_json: bool, lines: list[str]) -> None:
    """The outcome on stdout: JSON for a program, or lines for a person."""
    if as_json:
        from partwise.io.write import json_text

        print(json_text(summary))
    else:
        print("\n".join(lines))


def names_or_numbers(names: Any, count: int, word: str) -> list[str]:
    """Given names, or word0, word1, …"""
    return [f"{word}{i}" for i in range(count)] if names is None else [str(name) for name in names]


def make_folder(path: Path) -> Path:
    """The folder for results, made if it is not there."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; give a folder for the results with -o.")
    path.mkdir(parents=True, exist_ok=True)
    return path


def top_features(model: Any, column_names: list[str], count: int = 8) -> list[list[str]]:
    """For each component the features that weigh most in it."""
    order = (-model.components_).argsort(axis=1, kind="stable")[:, :count]
    return [[column_names[j] for j in row if part[j] > 0] for row, part in zip(order, model.components_)]
