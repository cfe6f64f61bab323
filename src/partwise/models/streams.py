"""Data that are read by row blocks: a function that returns them, or an array in a file that is too large to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from partwise.domains.annotated import backed_rows
from partwise.matrix import InMemory, RowBlocks
from partwise.matrix.base import block_height, stored_cuts, stored_most
from partwise.matrix.span import Span, span_of
from partwise.models.masks import without_mask
from partwise.models.units import divided, exponent_of
from partwise.well_formed import require_well_formed

#: Memory-mapped arrays above this size are read block by block; smaller ones are used where they lie.
STREAMED_BYTES = 1 << 30


def row_source(X: Any) -> Callable[[], Iterable[Any]] | None:
    """How to read X by row blocks, if that is how it is to be read; None for anything else.

    Parameters
    ----------
    X : object
        A function without arguments that returns row blocks (arrays or sparse matrices) from the first at every call,
        a `numpy.memmap` larger than 1 GiB, or an AnnData that was opened with ``backed="r"``.

    Raises
    ------
    ValueError
        If X is an iterator, which can be read only once.
    """
    if isinstance(X, np.memmap) and X.nbytes > STREAMED_BYTES and X.ndim == 2:
        height = block_height(X.shape[1])
        return lambda: (np.asarray(X[start : start + height]) for start in range(0, len(X), height))
    if isinstance(X, Iterator):
        raise ValueError(
            f"X is a {type(X).__name__}, which can be read only once, and a fit reads its data in every iteration. "
            "Give a function that returns a new iterator of row blocks at each call: fit(lambda: blocks())."
        )
    backed = backed_rows(X)
    if backed is not None:
        return backed
    return X if callable(X) and not hasattr(X, "__array__") and not hasattr(X, "shape") else None


def stream(
    read: Callable[[], Iterable[Any]],
    check: Callable[[Any], Span],
    wrap: Callable[[Any, np.ndarray | None], InMemory],
    row_weight: Callable[[int], np.ndarray | None],
    exponent: int | None = 0,
) -> tuple[RowBlocks, int]:
    """Row blocks as a matrix; they are read through once, to check them and to know their sizes.

    Parameters
    ----------
    read : callable
        Returns the blocks.
    check : callable
        Raises ValueError for a block with entries that cannot be, and returns the span of the others.
    wrap : callable
        From a block and the weights of its rows to a matrix.
    row_weight : callable
        From the number of rows to their weights.
    exponent : int or None
        The power of two to divide the data by; None finds it (see `partwise.models.units`).

    Returns
    -------
    RowBlocks
        Blocks are cut anew, to the heights that data in memory are cut to, so that both are summed in the same order.
    int
        The exponent.
    """
    heights: list[int] = []
    kinds: set[np.dtype] = set()
    width, weighted, largest, entries = None, False, 0.0, 0
    for block in _recut(_arrays(read())):
        width = block.shape[1]
        try:
            span = check(block)
        except ValueError as error:
            raise ValueError(f"In the row blocks, counted from row {sum(heights)}: {error}") from error
        heights.append(block.shape[0])
        entries += block.size
        kinds.add(block.dtype)
        weighted = weighted or wrap(block, None).weighted
        largest = max(largest, span.largest)
    if width is None:
        raise ValueError("X gave no row blocks; it must return at least one.")
    dtype = np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)
    weights = row_weight(sum(heights))
    power = exponent_of(largest) if exponent is None else exponent

    def blocks() -> Iterator[InMemory]:
        start = 0
        for block in _recut(_arrays(read())):
            stop = start + block.shape[0]
            part = None if weights is None else weights[start:stop]
            block = block.astype(dtype, copy=False)
            yield wrap(divided(block, power, span_of(block).largest), part)
            start = stop

    return RowBlocks(blocks, heights, width, dtype, weighted, weights, entries), power


def _arrays(blocks: Iterable[Any]) -> Iterator[Any]:
    """Each block as an array or a CSR matrix of float32 or float64; NaN is left for the model to judge."""
    width = None
    for number, block in enumerate(blocks):
        try:
            require_well_formed(block, "it")
            made = check_array(
                without_mask(block),
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=0,
            )
        except ValueError as error:
            raise ValueError(f"Row block {number} of X: {error}") from error
        if made.shape[0] == 0:
            # As a query of a database may give.
            continue
        width = made.shape[1] if width is None else width
        if made.shape[1] != width:
            raise ValueError(
                f"The row blocks of X differ in width: the first has {width} columns, and block {number} has "
                f"{made.shape[1]}."
            )
        if sp.issparse(made) and not made.has_canonical_format:
            made = made.copy()
            made.sum_duplicates()
        yield made


def _recut(blocks: Iterator[Any]) -> Iterator[Any]:
    """Blocks cut where data in memory are cut: `block_height` for dense rows, `stored_cuts` for sparse ones."""
    held: list[Any] = []
    size = 0
    for block in blocks:
        sparse = sp.issparse(block)
        if held and (sparse != sp.issparse(held[0]) or block.shape[1] != held[0].shape[1]):
            yield _joined(held)
            held, size = [], 0
        held.append(block)
        size += block.size
        # Several blocks wait for each other until they are one whole; most are less than that.
        if sparse:
            if size <= stored_most():
                continue
            joined = _joined(held)
            cuts = stored_cuts(joined.indptr)
        else:
            height = block_height(block.shape[1])
            if size < height * block.shape[1]:
                continue
            joined = _joined(held)
            # The last cut is that of the last whole block; nothing may be left behind it.
            cuts = [*range(0, len(joined), height), len(joined)]
            if len(joined) % height == 0:
                cuts.append(len(joined))
        for start, stop in pairwise(cuts[:-1]):
            yield joined[start:stop]
        held = [joined[cuts[-2] :]] if cuts[-2] < cuts[-1] else []
        size = sum(part.size for part in held)
    if held:
        yield _joined(held)


def _joined(held: list[Any]) -> Any:
    if len(held) == 1:
        return held[0]
    return sp.vstack(held, format="csr") if sp.issparse(held[0]) else np.concatenate(held)
