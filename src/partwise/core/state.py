"""What passes between steps: `State` is what the next step needs, `Info` what a person may want to know."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class State:
    """The factors, each long × k: X ≈ W · Htᵀ. Steps write into these arrays.

    Attributes
    ----------
    W : array of shape (n_samples, n_components)
    Ht : array of shape (n_features, n_components)
        The transpose of H, so that both factors look alike to a solver.
    iteration : int
        Steps done so far.
    objective : float
        Objective at these factors, NaN when not known.
    extra : dict of str to array
        What a solver must remember beside the factors (momentum, step sizes).
    """

    W: np.ndarray
    Ht: np.ndarray
    iteration: int = 0
    objective: float = float("nan")
    extra: dict[str, np.ndarray] | None = None

    def copy(self) -> State:
        """A state that later steps will not change."""
        extra = None if self.extra is None else {name: a.copy() for name, a in self.extra.items()}
        return State(self.W.copy(), self.Ht.copy(), self.iteration, self.objective, extra)

    def save(self, path: str | os.PathLike[str], rng: np.random.Generator | None = None) -> None:
        """Write the state, and the generator's place in its stream, to an .npz file; atomic."""
        head: dict[str, Any] = {"format": "partwise-state", "version": 1, "iteration": self.iteration}
        head["objective"] = self.objective.hex()
        if rng is not None:
            head["rng"] = rng.bit_generator.state
        arrays = {f"extra_{name}": a for name, a in (self.extra or {}).items()}
        text = np.frombuffer(json.dumps(head, default=_plain).encode(), dtype=np.uint8)
        path = Path(path)
        partial = path.with_name(path.name + ".partial")
        with open(partial, "wb") as file:
            np.savez(file, **{"W": self.W, "Ht": self.Ht, "head": text, **arrays})  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], rng: np.random.Generator | None = None) -> State:
        """Read what `save` wrote; `rng`, if given, is set to where it was."""
        try:
            with np.load(path, allow_pickle=False) as file:
                head = json.loads(bytes(file["head"]))
                W, Ht = file["W"], file["Ht"]
                extra = {name[6:]: file[name] for name in file.files if name.startswith("extra_")}
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(f"{path} is not a saved state of a run: {error}") from error
        if head.get("format") != "partwise-state" or head.get("version") != 1:
            raise ValueError(f"{path} is not a saved state that this version can read.")
        if rng is not None and "rng" in head:
            rng.bit_generator.state = head["rng"]
        return cls(W, Ht, head["iteration"], float.fromhex(head["objective"]), extra or None)


def _plain(value: Any) -> Any:
    """Numpy numbers inside a bit generator's state, as JSON."""
    return value.tolist()


@dataclass(frozen=True)
class Info:
    """What one step has to say.

    Attributes
    ----------
    iteration : int
    objective : float
        Loss plus priors after the step.
    violation : float
        Sum of the absolute projected gradients met during the step; NaN where the solver has none.
    seconds : float
        Time since the run began.
    """

    iteration: int
    objective: float
    violation: float = float("nan")
    seconds: float = 0.0
