"""Tables of yes-or-no attributes, for Boolean factorization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise.datasets._check import check_choice, check_float_dtype
from partwise.datasets._npz import read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_MISSING = 255


def fetch_boolean_records(
    size: Literal["small", "large"] = "small", *, dtype: DTypeLike = np.float64
) -> Bunch:
    """Fetch binary tables on which Boolean factorizations are compared.

    Parameters
    ----------
    size : {"small", "large"}, default "small"
        "small": zoo, heart, lymp and apb, complete. "large": chess_krvskp, breast, dermatology,
        nursery, paleo, tumor and cmc, some with missing entries.
    dtype : {float32, float64}
        Type of the tables; floating, so that a missing entry can be NaN.

    Returns
    -------
    Bunch
        ``data`` (a dict from the name of a table to the table, records × attributes, of 0, 1 and NaN
        where missing), ``names`` (the tables in order) and ``DESCR``.

    Notes
    -----
    The files ``boolean/records_small.npz`` and ``boolean/records_large.npz`` hold one uint8 array per
    table, in which 255 stands for missing.
    """
    from sklearn.utils import Bunch

    check_choice("size", size, ("small", "large"))
    kind = check_float_dtype(dtype)
    name = f"boolean_records_{size}"
    tables = {key: _with_gaps(table, kind) for key, table in read_arrays(locate(name).path).items()}
    return Bunch(data=tables, names=list(tables), DESCR=describe(name, f"Boolean records ({size})"))


def _with_gaps(table: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    values = table.astype(dtype)
    values[table == _MISSING] = np.nan
    return values
