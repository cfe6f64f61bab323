"""Gene expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from partwise.datasets._npz import read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def fetch_all_aml(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the leukemia gene expressions of Golub et al., as used for NMF by Brunet et al.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (38 patients × 5000 genes), ``target`` (0 to 2), ``target_names`` (ALL-B, ALL-T, AML),
        ``feature_names`` (the genes), ``sample_names`` (the patients) and ``DESCR``.

    Notes
    -----
    The file ``genes/all_aml.npz`` holds ``X`` (genes × patients), ``y``, ``samples``, ``genes`` and
    ``classes``.
    """
    from sklearn.utils import Bunch

    arrays = read_arrays(locate("all_aml").path, "X", "y", "samples", "genes", "classes")
    return Bunch(
        data=np.ascontiguousarray(arrays["X"].T, dtype=dtype),
        target=arrays["y"],
        target_names=arrays["classes"],
        feature_names=arrays["genes"],
        sample_names=arrays["samples"],
        DESCR=describe("all_aml", "Leukemia gene expression (ALL-AML)"),
    )
