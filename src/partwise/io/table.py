"""Table: what every reader returns, and the check that its numbers are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.io.errors import DataError


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix read from a file, with the names the file gave its rows and columns.

    ``data`` is a 2-d array of bools, ints, float32 or float64, as the file had them, or a
    ``scipy.sparse.csr_matrix``. ``row_names`` and ``column_names`` are None when the file has none.
    ``source`` is the path as it was given.
    """

    data: Any
    row_names: list[str] | None
    column_names: list[str] | None
    source: str

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

        return csr_matrix(array, dtype=wanted)
    return array if dtype == wanted else array.astype(wanted)


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
