"""Matrices with a planted nonnegative factorization, so what a model should find is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from partwise.datasets._check import check_choice, check_count, check_float_dtype, check_number

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_BLOCK_ENTRIES = 1 << 22


def make_low_rank(
    n_samples: int = 100,
    n_features: int = 50,
    n_components: int = 5,
    *,
    density: float = 1.0,
    noise: Literal["gaussian", "poisson"] | None = None,
    noise_scale: float = 0.0,
    missing: float = 0.0,
    sparse: bool = False,
    dtype: DTypeLike = np.float64,
    random_state: Any = None,
) -> Bunch:
    """Draw a nonnegative matrix that is a product of two known nonnegative factors.

    The entries of both factors are exponential draws of mean 1, each kept with probability
    ``density`` and set to zero otherwise.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Sizes: W is n_samples × n_components, H is n_components × n_features.
    density : float, default 1.0
        Expected share of nonzero entries in each factor, in (0, 1].
    noise : {None, "gaussian", "poisson"}, default None
        "gaussian" adds normal noise and cuts the sum off at zero; "poisson" draws each entry as a
        count whose mean is the clean entry.
    noise_scale : float, default 0.0
        Standard deviation of the Gaussian noise as a multiple of the root mean square of the clean
        matrix. Only Gaussian noise takes it: the spread of a Poisson count follows from its mean.
    missing : float, default 0.0
        Probability that an entry of ``data`` is replaced by NaN, in [0, 1).
    sparse : bool, default False
        Whether ``data`` and ``clean`` are CSR arrays, which then never exist densely. They are
        sparse in earnest when ``n_components * density**2`` is small. Noise falls on stored entries only.
    dtype : {float32, float64}
        Type of everything returned.
    random_state : int, Generator or None
        Anything :func:`numpy.random.default_rng` takes; an int makes the draw repeatable.

    Returns
    -------
    Bunch
        ``data`` (with noise and gaps), ``W`` and ``H`` (the planted factors, dense) and ``clean``,
        which is ``W @ H``.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.datasets import make_low_rank
    >>> planted = make_low_rank(6, 4, 2, random_state=0)
    >>> planted.data.shape, planted.W.shape, planted.H.shape
    ((6, 4), (6, 2), (2, 4))
    >>> bool(np.allclose(planted.data, planted.W @ planted.H))
    True
    """
    from sklearn.utils import Bunch

    n_samples = check_count("n_samples", n_samples)
    n_features = check_count("n_features", n_features)
    n_components = check_count("n_components", n_components)
    density = check_number("density", density, low=0.0, high=1.0, closed="right")
    noise_scale, missing = _check_damage(noise, noise_scale, missing, sparse)
    kind = check_float_dtype(dtype)

    rng = np.random.default_rng(random_state)
    W = _draw_factor(rng, (n_samples, n_components), density, kind)
    H = _draw_factor(rng, (n_components, n_features), density, kind)
    if sparse:
        clean: Any = sp.csr_array(sp.csr_array(W) @ sp.csr_array(H))
        clean.sort_indices()
    else:
        clean = W @ H
    return Bunch(data=_damaged(rng, clean, noise, noise_scale, missing), W=W, H=H, clean=clean)


def _check_damage(noise: Any, noise_scale: Any, missing: Any, sparse: bool) -> tuple[float, float]:
    """Return ``noise_scale`` and ``missing`` as numbers, or raise a sentence if they cannot be had together."""
    noise_scale = check_number("noise_scale", noise_scale, low=0.0, high=math.inf, closed="left")
    missing = check_number("missing", missing, low=0.0, high=1.0, closed="left")
    check_choice("noise", noise, (None, "gaussian", "poisson"))
    if noise_scale > 0 and noise != "gaussian":
        raise ValueError(
            f"noise_scale={noise_scale} was given with noise={noise!r}, but only Gaussian noise has a scale; "
            "pass noise='gaussian' or leave noise_scale at 0."
        )
    if sparse and missing > 0:
        raise ValueError(
            f"missing={missing} was given with sparse=True, but a sparse matrix has no place for missing "
            "entries; pass missing=0 or sparse=False."
        )
    return noise_scale, missing


def _damaged(
    rng: np.random.Generator, clean: Any, noise: str | None, noise_scale: float, missing: float
) -> Any:
    """Return a copy of the clean matrix with noise and gaps."""
    data = clean.copy()
    # A one-row view lets the dense routines work on the stored values in place.
    values = data.data[np.newaxis] if sp.issparse(data) else data
    if noise is not None:
        energy = float(np.vdot(values, values)) / (data.shape[0] * data.shape[1])
        _add_noise(rng, values, noise, noise_scale * math.sqrt(energy))
    if missing > 0:
        _knock_out(rng, values, missing)
    if sp.issparse(data):
        data.eliminate_zeros()
    return data


def _draw_factor(
    rng: np.random.Generator, shape: tuple[int, int], density: float, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return exponential draws of which each is kept with probability ``density``."""
    factor = rng.standard_exponential(shape, dtype=dtype)
    if density < 1:
        factor[rng.random(shape, dtype=np.float32) >= density] = 0
    return factor


def _blocks(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views that together cover ``values``, small enough that working copies stay cheap."""
    n_rows, n_columns = values.shape
    if n_columns >= _BLOCK_ENTRIES:
        for row in values:
            for start in range(0, n_columns, _BLOCK_ENTRIES):
                yield row[start : start + _BLOCK_ENTRIES]
        return
    step = max(1, _BLOCK_ENTRIES // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield values[start : start + step]


def _add_noise(rng: np.random.Generator, values: NDArray[Any], noise: str, deviation: float) -> None:
    """Make ``values`` noisy in place, keeping them nonnegative."""
    for block in _blocks(values):
        if noise == "poisson":
            block[...] = rng.poisson(block)
        else:
            block += deviation * rng.standard_normal(block.shape, dtype=values.dtype)
            np.maximum(block, 0, out=block)


def _knock_out(rng: np.random.Generator, values: NDArray[Any], probability: float) -> None:
    """Replace entries of ``values`` by NaN in place, each with the given probability."""
    for block in _blocks(values):
        block[rng.random(block.shape, dtype=np.float32) < probability] = np.nan
