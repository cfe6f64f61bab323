"""Whether the parts of a sparse matrix fit together.

Compiled loops, scipy's own and those of partwise, follow row pointers and indices without asking whether they stay
inside the arrays. A matrix from a damaged file, or one whose parts were set by hand, would make them read and write
anywhere in memory, so its parts are checked first: one pass over the indices, before any conversion.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def require_well_formed(X: Any, name: str = "X") -> None:
    """Raise ValueError unless every index and pointer of a scipy sparse matrix lies inside its arrays.

    Parameters
    ----------
    X : sparse matrix or array, or anything else
        In any of scipy's formats. What is not sparse is left alone.
    name : str
        What to call it in the sentence.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    check = _CHECKS.get(getattr(X, "format", "")) if hasattr(X, "tocsr") else None
    if check is None:
        return
    try:
        shape = tuple(int(side) for side in X.shape)
        trouble = "a side of its shape is negative" if min(shape) < 0 else check(X, shape)
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError) as error:
        trouble = f"its parts are not what the format {X.format} has ({error})"
    if trouble:
        raise ValueError(
            f"{name} is a damaged sparse matrix ({X.format}, shape {X.shape}): {trouble}. "
            "Build it again from its rows, columns and values, for instance with scipy.sparse.coo_array."
        )


def _compressed(X: Any, shape: tuple[int, ...]) -> str:
    outer, inner = shape if X.format == "csr" else shape[::-1]
    return _pointers(X, outer, inner, 1)


def _blocks(X: Any, shape: tuple[int, ...]) -> str:
    if X.data.ndim != 3 or 0 in X.data.shape[1:]:
        return f"its blocks have shape {X.data.shape[1:]}"
    height, width = X.data.shape[1:]
    if shape[0] % height or shape[1] % width:
        return f"its blocks of {height} × {width} do not fill the shape"
    return _pointers(X, shape[0] // height, shape[1] // width, 3)


def _pointers(X: Any, outer: int, inner: int, ndim: int) -> str:
    """Compressed rows (or columns): `outer` of them, with indices below `inner`."""
    indptr, indices = X.indptr, X.indices
    trouble = _integers(indptr, "indptr") or _integers(indices, "indices")
    if trouble:
        return trouble
    if X.data.ndim != ndim or len(X.data) != len(indices):
        return f"it has {len(indices):,} indices and values of shape {X.data.shape}"
    if len(indptr) != outer + 1:
        return f"indptr has {len(indptr):,} numbers, where the shape asks for {outer + 1:,}"
    if indptr[0] != 0:
        return f"indptr begins with {indptr[0]}, not with 0"
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        return f"indptr falls at place {int(np.argmax(falls)) + 1}, where it can only rise"
    if indptr[-1] > len(indices):
        return f"indptr ends with {indptr[-1]}, beyond the {len(indices):,} stored entries"
    return _inside(indices, inner, "indices")


def _coordinates(X: Any, shape: tuple[int, ...]) -> str:
    parts = getattr(X, "coords", None) or (X.row, X.col)
    if len(parts) != len(shape) or X.data.ndim != 1:
        return f"it has {len(parts)} arrays of coordinates and values of shape {X.data.shape}"
    for axis, (part, side) in enumerate(zip(parts, shape)):
        name = f"coords[{axis}]"
        trouble = _integers(part, name)
        if not trouble and len(part) != len(X.data):
            trouble = f"{name} has {len(part):,} numbers for {len(X.data):,} values"
        if trouble or (trouble := _inside(part, side, name)):
            return trouble
    return ""


def _diagonals(X: Any, shape: tuple[int, ...]) -> str:
    trouble = _integers(X.offsets, "offsets")
    if trouble:
        return trouble
    if X.data.ndim != 2 or len(X.data) != len(X.offsets):
        return f"it has {len(X.offsets)} offsets and values of shape {X.data.shape}"
    # Offsets outside of the matrix hold nothing; so far outside, the sums of scipy's loops wrap around.
    most = np.iinfo(X.offsets.dtype).max - max(*shape, X.data.shape[1])
    if len(X.offsets) and max(int(X.offsets.max()), -int(X.offsets.min())) > most:
        return "an offset lies outside of the matrix"
    return ""


def _lists(X: Any, shape: tuple[int, ...]) -> str:
    if X.rows.shape != shape[:1] or X.data.shape != shape[:1]:
        return f"it has {X.rows.shape} lists of columns and {X.data.shape} of values"
    lengths = [len(row) for row in X.rows]
    if lengths != [len(row) for row in X.data]:
        return "a row has more columns than values, or fewer"
    columns = np.fromiter(itertools.chain.from_iterable(X.rows), np.int64, sum(lengths))
    return _inside(columns, shape[1], "rows")


def _keys(X: Any, shape: tuple[int, ...]) -> str:
    keys = np.array(list(X.keys()), dtype=np.int64).reshape(-1, len(shape))
    for axis, side in enumerate(shape):
        if trouble := _inside(keys[:, axis], side, f"its keys along axis {axis}"):
            return trouble
    return ""


def _integers(part: Any, name: str) -> str:
    """What is wrong with an array of indices: it must be one of those that scipy makes."""
    if not isinstance(part, np.ndarray) or part.ndim != 1:
        return f"{name} is not an array of one dimension"
    if part.dtype not in (np.int32, np.int64):
        return f"{name} holds numbers of type {part.dtype}, not int32 or int64"
    return ""


def _inside(indices: np.ndarray, side: int, name: str) -> str:
    if not len(indices):
        return ""
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= side:
        return f"{name} holds {low if low < 0 else high}, outside of 0 … {side - 1}"
    return ""


_CHECKS = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _blocks,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}
