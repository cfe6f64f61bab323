"""The bars test: images made of whole rows and columns, whose parts are therefore known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from partwise.datasets._check import check_choice, check_count, check_number

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_bars(
    n_samples: int = 1000,
    size: int = 4,
    *,
    activation: float = 0.3,
    value: float = 10.0,
    noise: Literal["poisson"] | None = "poisson",
    random_state: Any = None,
) -> Bunch:
    """Draw the linear bars test: images that are sums of bars, each bar on or off.

    Every image switches each of the ``2 * size`` bars on with probability ``activation``. Bars
    superpose linearly: where a horizontal and a vertical bar cross, the mean is twice ``value``. The
    pixels are then Poisson counts with these means. The defaults are the test by which binary
    nonnegative matrix factorization is judged: 1000 images of 4 × 4 pixels, eight bars of value 10,
    2.4 of them on in an average image.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of images.
    size : int, default 4
        Side of the square image, at least 2.
    activation : float, default 0.3
        Probability that a bar is on, in [0, 1].
    value : float, default 10.0
        What a bar adds to the mean of each of its pixels, above 0.
    noise : {"poisson", None}, default "poisson"
        With None, ``data`` equals ``mean``.
    random_state : int, Generator or None
        Anything :func:`numpy.random.default_rng` takes; an int makes the draw repeatable.

    Returns
    -------
    Bunch
        ``data`` (n_samples × size², float64), ``components`` (2·size × size²: horizontal bars from the
        top, then vertical bars from the left), ``latent`` (n_samples × 2·size, integers 0 and 1) and
        ``mean``, which is ``latent @ components``.

    Examples
    --------
    >>> from partwise.datasets import make_bars
    >>> bars = make_bars(5, size=3, random_state=0)
    >>> bars.data.shape, bars.components.shape, bars.latent.shape
    ((5, 9), (6, 9), (5, 6))
    >>> bars.components[0].reshape(3, 3)
    array([[10., 10., 10.],
           [ 0.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    from sklearn.utils import Bunch

    n_samples = check_count("n_samples", n_samples)
    size = check_count("size", size, minimum=2)
    activation = check_number("activation", activation, low=0.0, high=1.0)
    value = check_number("value", value, low=0.0, high=math.inf, closed="neither")
    check_choice("noise", noise, ("poisson", None))

    rng = np.random.default_rng(random_state)
    latent = (rng.random((n_samples, 2 * size)) < activation).astype(np.int64)
    horizontal = np.kron(np.eye(size), np.ones(size))
    vertical = np.tile(np.eye(size), size)
    components = value * np.vstack([horizontal, vertical])
    mean = latent @ components
    data = rng.poisson(mean).astype(np.float64) if noise == "poisson" else mean.copy()
    return Bunch(data=data, components=components, latent=latent, mean=mean)
