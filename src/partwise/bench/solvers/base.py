"""The contract of a racer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np


class BaseRacer(ABC):
    """A solver under way: made at the start, advanced leg by leg, asked for its factors in between."""

    name: ClassVar[str]
    #: Whether a leg of one iteration costs no more than the iteration itself.
    fine: ClassVar[bool] = False

    #: Whether its own stopping rule has been met; only ours is asked, see `partwise.bench.matching`.
    standing: bool = False

    @classmethod
    @abstractmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """Why this racer cannot run here, or None."""

    @abstractmethod
    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None: ...

    @abstractmethod
    def advance(self, iterations: int) -> None:
        """So many iterations more; this is what the clock measures."""

    @abstractmethod
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """W and H as they stand."""
