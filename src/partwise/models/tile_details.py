"""What is known of each tile of a BooleanMF, as plain data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.models.summary import counted


def tile_details(
    columns: np.ndarray, figures: dict[str, Any], trust: dict[str, Any], names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """One dict for each tile.

    Parameters
    ----------
    columns : array of bool of shape (n_tiles, n_features)
    figures : dict of arrays
        `BooleanMF.tiles_`.
    trust : dict
        What `BooleanMF.trust` returned, or nothing.
    names : sequence of str or None
        Names of the features.
    """
    if names is None:
        names = [f"column{j}" for j in range(columns.shape[1])]

    def named(chosen: np.ndarray) -> list[str]:
        return [str(names[j]) for j in np.flatnonzero(chosen).tolist()]

    out: list[dict[str, Any]] = []
    for t, tile in enumerate(columns):
        details: dict[str, Any] = {name: values[t] for name, values in figures.items()}
        details["column_names"] = named(tile)
        sentence = (
            f"{counted(details['rows'], 'row')} × {counted(details['columns'], 'column')}, "
            f"{100 * details['density']:.0f} % ones, "
            f"adds {details['adds']:.0f}"
        )
        if trust:
            details |= {name: values[t] for name, values in trust.items() if name != "alternatives"}
            details["alternatives"] = [
                {"column_names": named(one["columns"]), "rows": one["rows"], "change": one["change"]}
                for one in trust["alternatives"][t]
            ]
            sentence += (
                f", returns in {100 * details['restarts']:.0f} % of restarts and "
                f"{100 * details['resamples']:.0f} % of resamples, "
                f"{len(details['alternatives'])} others would do as well"
            )
        out.append({**details, "sentence": sentence})
    return out
