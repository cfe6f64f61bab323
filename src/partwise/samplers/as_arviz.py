"""Draws as ArviZ knows them: an `InferenceData` of ArviZ 0.x, an xarray `DataTree` of ArviZ 1.x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def as_arviz(
    groups: Mapping[str, Mapping[str, Any]],
    dims: Mapping[str, Sequence[str]],
    coords: Mapping[str, Any],
) -> Any:
    """Put groups of draws together.

    Parameters
    ----------
    groups : mapping of str to mapping
        "posterior", "sample_stats", "log_likelihood", "posterior_predictive" (arrays that begin with the chain and
        the draw) and "observed_data" (arrays without these).
    dims : mapping of str to sequence of str
        Names of the further dimensions of a variable.
    coords : mapping of str to sequence
        Labels along the dimensions.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        What this version of ArviZ works with; ``to_netcdf`` and ``to_zarr`` write it to a file.
    """
    try:
        import arviz
    except ImportError as error:
        raise ImportError("to_arviz needs ArviZ: pip install arviz.") from error
    used = {name for group in groups.values() for name in group}
    named = {name: list(along) for name, along in dims.items() if name in used}
    spoken = {name for along in named.values() for name in along}
    labels = {name: values for name, values in coords.items() if name in spoken}
    given = {name: dict(group) for name, group in groups.items() if group}
    from_dict: Any = arviz.from_dict
    if int(arviz.__version__.split(".")[0]) >= 1:
        return from_dict(given, dims=named, coords=labels)
    return from_dict(**given, dims=named, coords=labels)
