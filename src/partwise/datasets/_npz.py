"""Reading the stored arrays, never running code that a file might carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

Arrays = dict[str, NDArray[Any]]


def read_arrays(path: Path, *wanted: str) -> Arrays:
    """Return the arrays of an ``.npz`` file by name, all of them unless some are named."""
    with np.load(path, allow_pickle=False) as archive:
        lacking = [name for name in wanted if name not in archive.files]
        if lacking:
            raise ValueError(
                f"{path} holds the arrays {', '.join(archive.files)}, but not {', '.join(lacking)}; "
                "it is not the file this loader reads. Replace it by the registered one."
            )
        return {name: archive[name] for name in (wanted or archive.files)}


def csr_from(arrays: Arrays, dtype: DTypeLike, prefix: str = "") -> sp.csr_array:
    """Return the CSR array stored as ``data``, ``indices``, ``indptr``, ``shape``, one row per sample."""
    indptr = arrays[prefix + "indptr"]
    first, second = (int(n) for n in arrays[prefix + "shape"])
    # Some files give the shape of the transpose; the row pointer gives the true number of rows.
    n_rows = indptr.size - 1
    n_columns = second if first == n_rows else first
    values = arrays[prefix + "data"].astype(dtype)
    return sp.csr_array((values, arrays[prefix + "indices"], indptr), shape=(n_rows, n_columns))
