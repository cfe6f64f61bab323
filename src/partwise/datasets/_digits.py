"""The handwritten digits that come with scikit-learn, so they need no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load_digits(*, as_frame: bool = False) -> Bunch:
    """Load scikit-learn's bundled 8 × 8 images of handwritten digits.

    Parameters
    ----------
    as_frame : bool, default False
        Whether ``data`` and ``target`` come as pandas objects (pandas must then be installed).

    Returns
    -------
    Bunch
        ``data`` (1797 × 64, float64 with values 0 to 16), ``target`` (the digit of each image),
        ``target_names``, ``images`` (1797 × 8 × 8), ``feature_names``, ``frame`` (a DataFrame of data
        and target with ``as_frame``, else None) and ``DESCR``.

    Examples
    --------
    >>> from partwise.datasets import load_digits
    >>> digits = load_digits()
    >>> digits.data.shape, digits.images.shape
    ((1797, 64), (1797, 8, 8))
    """
    import sklearn.datasets

    return sklearn.datasets.load_digits(as_frame=as_frame)
