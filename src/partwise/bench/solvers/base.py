"""The contract of a racer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np


class BaseRacer(ABC):
    """A solver made from a start, advanced by some iterations at a time, and asked for its factors in between."""

    name: ClassVar[str]
    #: Whether advancing by one iteration costs no more than the iteration itself.
    single_steps: ClassVar[bool] = False

    #: Whether its stopping rule has been met; used for partwise only, see `partwise.bench.matching`.
    converged: bool = False

    @classmethod
    @abstractmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """Why this racer cannot run here, or None."""

    @abstractmethod
    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None: ...

    @abstractmethod
    def advance(self, iterations: int) -> None:
        """Make this many iterations more; this is what the clock measures."""

    @abstractmethod
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """The current W and H."""
