"""What passes between steps: `State` is what the next step needs, `Info` what a person may want to know."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(kw_only=True)
class RunState:
    """What every iterative method keeps between steps; methods add their own fields.

    Parameters
    ----------
    iteration : int
        Steps done so far.
    objective : float
        Objective at this state, NaN when not known.
    """

    iteration: int = 0
    objective: float = float("nan")

    def copy(self) -> Any:
        """A copy that later steps will not change.

        Returns
        -------
        RunState
            A deep copy, of the same class.
        """
        return copy.deepcopy(self)

    def pack(self) -> dict[str, Any]:
        """Fields as arrays and plain values, for a checkpoint.

        Fields whose metadata has ``packed=False`` are left out: `restore` must be able to find them again.

        Returns
        -------
        dict
            Values by field name; entries of a dict field by "field.key".
        """
        packed: dict[str, Any] = {}
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if not one.metadata.get("packed", True) or value is None:
                continue
            if isinstance(value, dict):
                packed |= {f"{one.name}.{key}": part for key, part in value.items()}
            else:
                packed[one.name] = value
        return packed

    def restore(self, packed: dict[str, Any]) -> None:
        """Set the fields to what `pack` returned.

        Parameters
        ----------
        packed : dict
            What `pack` returned.
        """
        for one in dataclasses.fields(self):
            if not one.metadata.get("packed", True):
                continue
            prefix = f"{one.name}."
            inside = {key[len(prefix) :]: part for key, part in packed.items() if key.startswith(prefix)}
            setattr(self, one.name, inside or packed.get(one.name))


@dataclass
class State(RunState):
    """The factors, each long × k: X ≈ W · Htᵀ. Steps write into these arrays.

    Parameters
    ----------
    W : array of shape (n_samples, n_components)
        The first factor.
    Ht : array of shape (n_features, n_components)
        The transpose of H, so that both factors look alike to a solver.
    extra : dict of str to array
        What a solver must remember beside the factors (momentum, step sizes).
    iteration : int
        Steps done so far.
    objective : float
        Objective at this state, NaN when not known.
    """

    W: np.ndarray
    Ht: np.ndarray
    extra: dict[str, np.ndarray] | None = None


@dataclass(frozen=True)
class Info:
    """What one step reports.

    Parameters
    ----------
    iteration : int
        Steps done so far.
    objective : float
        What the run lowers (or, for a likelihood, raises), after the step.
    violation : float
        Sum of the absolute projected gradients met during the step; NaN where the method has none.
    seconds : float
        Time since the run began, without compiling.
    notes : mapping
        Further named quantities; each becomes a column of the history.
    """

    iteration: int
    objective: float
    violation: float = float("nan")
    seconds: float = 0.0
    notes: Mapping[str, Any] = field(default_factory=dict)
