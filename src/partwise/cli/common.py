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
    order = (-1.0 * model.components_).argsort(axis=1, kind="stable")[:, :count]
    return [[column_names[j] for j in row if part[j] > 0] for row, part in zip(order, model.components_)]


def what_was_found(model: Any) -> dict[str, Any]:
    """The figures that are the model's own."""
    if type(model).__name__ == "BinaryNMF":
        return {
            "model": "binary",
            "solver": f"{model.inference_} EM",
            "activation": model.activation_,
            "log_likelihood": model.log_likelihood_,
            "max_active": model.max_active_,
        }
    if type(model).__name__ == "BooleanMF":
        return {
            "model": "boolean",
            "solver": model.method,
            "wrong": model.reconstruction_err_,
            "description_length": model.description_length_,
        }
    return {
        "model": "nmf",
        "beta_loss": model.beta_loss,
        "solver": model.solver_,
        "objective": model.objective_,
        "reconstruction_err": model.reconstruction_err_,
    }


def outcome_words(summary: dict[str, Any]) -> str:
    """The same in a few words."""
    if summary["model"] == "binary":
        return (
            f"log-likelihood {summary['log_likelihood']:.6g}; π, the probability of a part being on: "
            + ", ".join(f"{pi:.4g}" for pi in _as_list(summary["activation"]))
        )
    if summary["model"] == "boolean":
        return f"{summary['wrong']} entries wrong, {summary['description_length']:.0f} bits"
    return f"reconstruction error {summary['reconstruction_err']:.6g}"


def _as_list(value: Any) -> list[float]:
    return list(value) if hasattr(value, "__len__") else [value]
