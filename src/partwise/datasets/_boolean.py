"""Boolean tables with planted tiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partwise.datasets._check import check_count, check_number

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_boolean(
    n: int = 512,
    m: int = 512,
    rank: int = 30,
    density: float = 0.1,
    *,
    noise_add: float = 0.01,
    noise_drop: float = 0.05,
    random_state: Any = None,
) -> Bunch:
    """Draw a yes/no table made of overlapping tiles, then flip some entries.

    Algorithm 3.3 of Gonsior (2019). Every tile has ⌈n/100⌉ rows and ⌈m/100⌉ columns that are its
    alone, and takes a share `density` of the others at random; the table is the Boolean product. Zeros become
    ones with probability `noise_add`, ones become zeros with probability `noise_drop`. The defaults are the
    "clean" data of Gonsior (2019); the "noisy" data there have 0.05 and 0.15.

    The printed algorithm swaps the two sides in its step 4 and takes the ordinary product in step 6; both are
    corrected here.

    Parameters
    ----------
    n, m : int, default 512
        Rows and columns.
    rank : int, default 30
        Number of tiles.
    density : float, default 0.1
        Share of the shared rows, and columns, that a tile takes.
    noise_add, noise_drop : float
        Probabilities of a flip, of zeros and of ones.
    random_state : int, Generator or None
        Anything :func:`numpy.random.default_rng` takes.

    Returns
    -------
    Bunch
        ``data`` (n × m, bool), ``clean`` (before the flips), ``usage`` (n × rank) and ``components`` (rank ×
        m), all bool.

    Examples
    --------
    >>> from partwise.datasets import make_boolean
    >>> table = make_boolean(100, 80, 5, random_state=0)
    >>> table.data.shape, table.usage.shape, table.components.shape
    ((100, 80), (100, 5), (5, 80))
    >>> bool(((table.usage.astype(int) @ table.components > 0) == table.clean).all())
    True
    """
    from sklearn.utils import Bunch

    n, m = check_count("n", n), check_count("m", m)
    rank = check_count("rank", rank)
    density = check_number("density", density, low=0.0, high=1.0)
    noise_add = check_number("noise_add", noise_add, low=0.0, high=1.0)
    noise_drop = check_number("noise_drop", noise_drop, low=0.0, high=1.0)
    for side, name in ((n, "n"), (m, "m")):
        if math.ceil(side / 100) * rank > side:
            raise ValueError(
                f"{rank} tiles with {math.ceil(side / 100)} of their own do not fit {name}={side}; lower rank."
            )
    rng = np.random.default_rng(random_state)
    usage, components = _factor(n, rank, density, rng), _factor(m, rank, density, rng).T
    clean = (usage.astype(np.int64) @ components) > 0
    flip = rng.random((n, m)) < np.where(clean, noise_drop, noise_add)
    return Bunch(data=clean ^ flip, clean=clean, usage=usage, components=np.ascontiguousarray(components))


def _factor(side: int, rank: int, density: float, rng: np.random.Generator) -> np.ndarray:
    """Steps 2 to 5: rows of each tile's own, then rows taken at random."""
    own = math.ceil(side / 100)
    out = np.zeros((side, rank), dtype=bool)
    for t in range(rank):
        out[t * own : (t + 1) * own, t] = True
        shared = side - own * rank
        out[own * rank + rng.choice(shared, int(shared * density), replace=False), t] = True
    return out
