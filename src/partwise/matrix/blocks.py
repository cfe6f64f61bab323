"""A matrix that can be read only by row blocks, one after the other: a file, an iterator, a distributed array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from partwise.matrix.base import InMemory, Matrix


class RowBlocks(Matrix):
    """Row blocks, each made when it is asked for and forgotten afterwards.

    Parameters
    ----------
    read : callable
        Returns the blocks in order, from the first, at every call.
    heights : sequence of int
        Number of rows of each block.
    n_features : int
        Number of columns.
    dtype : dtype
        float32 or float64, the same for all blocks.
    weighted : bool
        Whether any block has missing or weighted entries.
    row_weight : array, optional
        How much each row counts; the blocks carry their own part of it.
    entries : int, optional
        How many entries the blocks hold; all of them by default.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[InMemory]],
        heights: Sequence[int],
        n_features: int,
        dtype: np.dtype,
        weighted: bool = False,
        row_weight: np.ndarray | None = None,
        entries: int | None = None,
    ) -> None:
        self._read = read
        self._starts = np.concatenate([[0], np.cumsum(heights)]).astype(int)
        self.shape = (int(self._starts[-1]), n_features)
        self.dtype = np.dtype(dtype)
        self._weighted = weighted
        self.row_weight = row_weight
        self._entries = self.shape[0] * self.shape[1] if entries is None else entries

    @property
    def weighted(self) -> bool:
        """Whether some entries are missing or weighted."""
        return self._weighted

    @property
    def entries(self) -> int:
        """Those that the blocks hold."""
        return self._entries

    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Read one block after the other.

        Raises
        ------
        ValueError
            If the blocks are not those that were there at the first reading.
        """
        read = iter(self._read())
        for start, stop in zip(self._starts[:-1], self._starts[1:]):
            block = next(read, None)
            if block is None:
                raise ValueError(
                    f"The row blocks of X ended after {start} of {self.shape[0]} rows when they were read again. X "
                    "is read once in every iteration: give a function that returns a new iterator at each call."
                )
            if block.shape != (stop - start, self.shape[1]):
                raise ValueError(
                    f"The row block of X that begins at row {start} has shape {block.shape} now and had "
                    f"{(int(stop - start), self.shape[1])} before. The blocks must be the same at every reading."
                )
            yield slice(int(start), int(stop)), block

    def rows(self, index: Any) -> InMemory:
        """Some of the rows, gathered in one reading."""
        chosen = np.arange(self.shape[0])[index]
        order = np.argsort(chosen, kind="stable")
        sorted_rows = chosen[order]
        parts = []
        for rows, block in self.blocks():
            inside = sorted_rows[
                np.searchsorted(sorted_rows, rows.start) : np.searchsorted(sorted_rows, rows.stop)
            ]
            if len(inside):
                parts.append(block.rows(inside - rows.start))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return type(parts[0]).stacked(parts).rows(back)
