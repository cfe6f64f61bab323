"""Direction: the first components of a factor point along given directions, whatever their size.

For unit vectors y_t the penalty on the columns a_t of a factor A is

    weight · Σ_t [1 − cos²(a_t, y_t)] = weight · Σ_t min_b ‖y_t − b a_t‖².

The second form says why it is called guided NMF where the directions are seed words of topics (Vendrow, Haddock,
Rebrova & Needell 2021): each direction is a further sample, made of its own component alone. With b held at its best
value where the factor stands, the right-hand side is quadratic, touches the penalty there, and lies above it
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.priors.base import Coupling
from partwise.priors.terms import Terms


@dataclass(frozen=True, eq=False)
class Direction(Coupling):
    """The first components point along `directions`: weight · Σ_t [1 − cos²(a_t, y_t)].

    Parameters
    ----------
    directions : array of shape (n_rows, n_directions)
        Nonnegative, none of them zero; only where they point matters. Further components are free.
    weight : float
        Strength of the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.priors import Direction
    >>> first = Direction(np.array([[1.0], [0.0]]), weight=3.0)
    >>> first.value(np.array([[5.0, 1.0], [0.0, 1.0]])), first.value(np.array([[0.0, 1.0], [2.0, 1.0]]))
    (0.0, 3.0)
    """

    directions: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        Y = np.array(self.directions, dtype=float, ndmin=2)
        if Y.ndim != 2 or not np.isfinite(Y).all() or (Y < 0).any():
            raise ValueError(
                "Direction needs a table of finite, nonnegative numbers with a column for each direction."
            )
        size = np.linalg.norm(Y, axis=0)
        if not (size > 0).all():
            raise ValueError(
                f"Direction needs directions other than zero; column {int(np.argmin(size))} is zero."
            )
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"Direction needs a weight of at least 0; got {self.weight}.")
        object.__setattr__(self, "directions", Y / size)

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """``weight · Σ_t [1 − cos²(a_t, y_t)]``; a column of zeros has cosine 0."""
        along, squared = self._along(A)
        return float(self.weight * (len(along) - np.sum(along**2 / squared)))

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """``−2 weight b_t (y_t − b_t a_t)`` with b_t = a_t · y_t / ‖a_t‖²."""
        A = np.asarray(A, dtype=float)
        along, squared = self._along(A)
        b = along / squared
        out = np.zeros(A.shape)
        out[:, : len(b)] = -2.0 * self.weight * b * (self.directions - b * A[:, : len(b)])
        return out

    def majorise(self, A: np.ndarray) -> Terms:
        """Quadratic 2 weight b_t², linear −2 weight b_t y_t."""
        along, squared = self._along(A)
        b = along / squared
        linear, quadratic = np.zeros(np.shape(A)), np.zeros((1, np.shape(A)[1]))
        linear[:, : len(b)] = -2.0 * self.weight * b * self.directions
        quadratic[:, : len(b)] = 2.0 * self.weight * b**2
        return Terms(linear=linear, quadratic=quadratic)

    def check(self, n_rows: int) -> None:
        """Raise ValueError unless the directions have an entry for each row."""
        if len(self.directions) != n_rows:
            raise ValueError(
                f"The directions have {len(self.directions)} entries, and the factor that they guide has {n_rows} "
                "rows."
            )

    def _along(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a_t · y_t and ‖a_t‖² (1 where a_t is zero) of the guided components."""
        guided = np.asarray(A, dtype=float)[:, : self.directions.shape[1]]
        squared = (guided**2).sum(axis=0)
        return (guided * self.directions[:, : guided.shape[1]]).sum(axis=0), np.where(
            squared > 0, squared, 1.0
        )
