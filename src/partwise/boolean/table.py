"""A yes/no table, packed both ways, with what was observed of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bits import count, pack, words


@dataclass(frozen=True)
class Table:
    """Rows and columns as bits; `seen` and `seen_columns` mark observed entries. Unobserved bits are zero."""

    n: int
    m: int
    rows: np.ndarray
    columns: np.ndarray
    seen: np.ndarray
    seen_columns: np.ndarray

    @classmethod
    def of(cls, X: Any, observed: Any = None) -> Table:
        """From a 0/1 matrix, dense or sparse, and a matrix of what was observed (all, if not given)."""
        n, m = X.shape
        rows, columns = pack(X), pack(X.T)
        if observed is None:
            seen, seen_columns = filled(n, m), filled(m, n)
        else:
            seen, seen_columns = pack(observed), pack(observed.T)
        return cls(n, m, rows & seen, columns & seen_columns, seen, seen_columns)

    @property
    def n_observed(self) -> int:
        """Entries that were observed."""
        return int(count(self.seen).sum())

    @property
    def n_ones(self) -> int:
        """Observed ones."""
        return int(count(self.rows).sum())


def filled(n: int, m: int) -> np.ndarray:
    """N packed rows of m ones."""
    row = np.zeros(words(m), np.uint64)
    row[: m // 64] = ~np.uint64(0)
    if m % 64:
        row[m // 64] = (np.uint64(1) << np.uint64(m % 64)) - np.uint64(1)
    return np.tile(row, (n, 1))
