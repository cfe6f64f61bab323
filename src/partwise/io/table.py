"""Table: what every reader returns, and the check that its numbers are numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from partwise.io.budget import spend
from partwise.io.errors import DataError
from partwise.well_formed import require_well_formed

if TYPE_CHECKING:
    from partwise.io.coding import Coding


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix read from a file, with the names the file gave its rows and columns.

    Parameters
    ----------
    data : ndarray or scipy.sparse.csr_matrix
        Two-dimensional, of bools, ints, float32 or float64, as the file had them.
    row_names, column_names : list of str or None
        None when the file has none.
    source : str
        The path as it was given.
    text : dict of str to list of str
        What the file says of each row in words: columns of text, which are not part of ``data``; the string arrays
        beside the matrix of a .npz, one string for each row; the text columns of ``obs`` in an .h5ad. Each cell is
        as the file has it, in text tables without the blanks around it, and "" where it is empty.
    extra : dict of str to ndarray
        What the file says of each row in numbers, but keeps beside the matrix: the other arrays of a .npz that have
        one number for each row, and the numeric columns of ``obs`` in an .h5ad.
    corner : str
        The name of the column that gave ``row_names``, "" if it has none.
    meta : dict of str to plain values
        What else the reader knows of the data, such as the "shape" of the items of a stack.
    notes : tuple of str
        Sentences for the user: what was left out of ``data``, though it stood among its columns.
    coding : Coding, optional
        How its cells were read; ``read(another, coding=table.coding)`` reads another file in the same way.
    """

    data: Any
    row_names: list[str] | None
    column_names: list[str] | None
    source: str
    text: dict[str, list[str]] = field(default_factory=dict)
    extra: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    corner: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    coding: Coding | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.data.shape
        return int(rows), int(columns)


def numeric_matrix(array: Any, where: str) -> Any:
    """Return ``array`` as a native 2-d matrix of numbers; raise DataError when it is not one.

    ``where`` opens the sentence of the error: the file and, if it has several arrays, which one.
    Dense arrays and scipy sparse matrices are both taken; sparse ones come back as CSR.
    """
    sparse = hasattr(array, "tocsr")
    dtype = array.dtype
    _require_numbers(array, dtype, where)
    if array.ndim != 2:
        raise DataError(f"{where} has {_shape_trouble(array.shape)}")
    if 0 in array.shape:
        rows, columns = array.shape
        raise DataError(
            f"{where} is empty: {rows} rows and {columns} columns. Give a table with numbers in it."
        )
    wanted = _plain_dtype(dtype)
    if sparse:
        from scipy.sparse import csr_matrix

        try:
            require_well_formed(array, where)
        except ValueError as error:
            raise DataError(str(error)) from error
        # As CSR, with indices of 8 bytes; whoever fits it needs at least a number for each row and column.
        spend((wanted.itemsize + 8) * array.nnz + 8 * sum(array.shape))
        return _converted(lambda: csr_matrix(array, dtype=wanted), where)
    if dtype == wanted:
        return array
    spend(wanted.itemsize * array.size)
    return _converted(lambda: array.astype(wanted), where)


def _converted(convert: Callable[[], Any], where: str) -> Any:
    """The converted matrix; numbers beyond its type become infinite, which the model will name, not numpy."""
    try:
        with np.errstate(all="ignore"):
            return convert()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(f"{where} cannot be read as a matrix of numbers: {error}. Save it again.") from error


def unstacked(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Return an array of more than two dimensions as one row for each item, and {"shape": shape of an item}.

    Any other array comes back as it is, with an empty dict.
    """
    if array.ndim <= 2:
        return array, {}
    columns = math.prod(array.shape[1:])
    return array.reshape(array.shape[0], columns), {"shape": [int(n) for n in array.shape[1:]]}


def _require_numbers(array: Any, dtype: np.dtype[Any], where: str) -> None:
    if dtype.kind in "biuf":
        return
    if dtype.kind == "c":
        raise DataError(
            f"{where} holds complex numbers ({dtype}); partwise factorizes real ones. "
            "Save its magnitude np.abs(a), or real and imaginary parts side by side."
        )
    if dtype.kind == "O":
        raise DataError(
            f"{where} holds Python objects, which partwise does not unpickle. "
            "Convert it first: np.save(path, a.astype(float))."
        )
    if dtype.kind in "US":
        example = f", e.g. {array.flat[0]!s:.40}" if array.size else ""
        raise DataError(
            f"{where} holds text ({dtype}){example}. Save numbers: np.save(path, a.astype(float))."
        )
    if dtype.names is not None:
        raise DataError(
            f"{where} holds records with the fields {', '.join(dtype.names)}. Make them the columns of a "
            "plain array first: numpy.lib.recfunctions.structured_to_unstructured(a)."
        )
    raise DataError(
        f"{where} holds values of type {dtype}, which are not numbers. Convert them to floats first."
    )


def _shape_trouble(shape: tuple[int, ...]) -> str:
    head = f"shape {tuple(int(n) for n in shape)}, but partwise needs rows and columns (2 dimensions). "
    if len(shape) == 0:
        return head + "A single number cannot be factorized."
    if len(shape) == 1:
        return head + "Save it as one row, a[None, :], or as one column, a[:, None]."
    return head + "Make each item one row: a.reshape(len(a), -1)."


def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype to compute with: native byte order, float16 and long double replaced."""
    if dtype.kind == "f" and dtype.itemsize < 4:
        return np.dtype(np.float32)
    if dtype.kind == "f" and dtype.itemsize > 8:
        return np.dtype(np.float64)
    return dtype.newbyteorder("=")
