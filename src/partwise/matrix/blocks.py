"""A matrix that can be read only by row blocks: a file too large for memory, a Dask array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from partwise.matrix.base import InMemory, Matrix


class RowBlocks(Matrix):
    """Row blocks, each made when it is asked for and forgotten afterwards.

    Parameters
    ----------
    loaders : sequence of callables
        Each returns one block; together they cover the rows in order.
    heights : sequence of int
        Number of rows of each block.
    n_features : int
        Number of columns.
    dtype : dtype
        float32 or float64, the same for all blocks.
    weighted : bool
        Whether any block has missing or weighted entries.
    row_weight : array, optional
        How much each row counts; the loaders' blocks carry their own part of it.
    """

    def __init__(
        self,
        loaders: Sequence[Callable[[], InMemory]],
        heights: Sequence[int],
        n_features: int,
        dtype: np.dtype,
        weighted: bool = False,
        row_weight: np.ndarray | None = None,
    ) -> None:
        self._loaders = list(loaders)
        self._starts = np.concatenate([[0], np.cumsum(heights)]).astype(int)
        self.shape = (int(self._starts[-1]), n_features)
        self.dtype = np.dtype(dtype)
        self._weighted = weighted
        self.row_weight = row_weight

    @property
    def weighted(self) -> bool:
        """Whether some entries are missing or weighted."""
        return self._weighted

    def blocks(self) -> Iterator[tuple[slice, InMemory]]:
        """Load one block after the other."""
        for load, start, stop in zip(self._loaders, self._starts[:-1], self._starts[1:]):
            yield slice(int(start), int(stop)), load()
