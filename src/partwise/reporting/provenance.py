"""Where a result comes from: versions, a hash of the data, the seed, the time."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

#: Packages whose versions can change a result.
PACKAGES = ("partwise", "numpy", "scipy", "scikit-learn", "numba")


def provenance(model: Any, X: Any = None) -> dict[str, Any]:
    """What is needed to get a result again.

    Parameters
    ----------
    model : estimator
        The fitted model, or a pipeline.
    X : array, sparse matrix, table or sequence of texts, optional
        The data that it was fitted to.

    Returns
    -------
    dict
        "versions" (name to version, Python among them), "seed", "data_hash" (None without X) and "finished", the
        time in UTC.
    """
    return {
        "versions": versions(),
        "seed": seed_of(model),
        "data_hash": None if X is None else data_hash(X),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str]:
    """The versions of Python, of this library and of those that it computes with.

    Returns
    -------
    dict of str
        Name to version.
    """
    from partwise._version import __version__

    found = {"python": platform.python_version(), "partwise": __version__}
    return found | {name: version(name) for name in PACKAGES if name != "partwise"}


def seed_of(model: Any) -> int | str | None:
    """The seed of a model, or of the first step of a pipeline that has one.

    Parameters
    ----------
    model : estimator
        Its `random_state` is read.

    Returns
    -------
    int, str or None
        None is taken as 0, as the models do; a generator is described by its text; None where no step has a seed.
    """
    for _, step in getattr(model, "steps", [("", model)]):
        parameters = step.get_params(deep=False) if hasattr(step, "get_params") else {}
        if "random_state" in parameters:
            given = parameters["random_state"]
            if given is None:
                return 0
            return int(given) if isinstance(given, int | np.integer) else type(given).__name__
    return None


def data_hash(X: Any) -> str | None:
    """A short hash of data: the same for the same values in the same form.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or sequence of texts
        The data.

    Returns
    -------
    str or None
        24 hexadecimal digits; None for data that are read block by block, which would have to be read again.
    """
    from partwise.core import digest

    if hasattr(X, "tocsr"):
        return digest(X.shape, X)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, list | tuple):
        return digest(*X)
    if not isinstance(X, np.ndarray):
        return None
    return digest(*X.ravel().tolist()) if X.dtype == object else digest(X)
