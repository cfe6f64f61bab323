"""W as a clustered heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import as_shown
from partwise.reporting.kept import thinned
from partwise.reporting.limits import HEAT_ROWS, PARTS, POINTS, short
from partwise.reporting.source import Source
from partwise.reporting.spectra import has_spectra

#: Components with a curve of their own, at most.
CURVES = 12


def section(source: Source) -> dict[str, Any] | None:
    """The heat map of W.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results without W, and for a single sample.
    """
    stage, W = source.used, source.W
    if stage is None or W is None or len(W) < 2:
        return None
    if has_spectra(stage):
        return over_time(source, stage.parts, W)
    shades, probability = scaled(W[:, :PARTS])
    rows = spread_rows(shades)
    shades = shades[rows]
    down, across = clustered(shades), clustered(shades.T)
    z = shades[down][:, across]
    names = [as_shown(short(source.rows[i], 60)) for i in rows[down]]
    parts = [as_shown(short(stage.parts[j], 40)) for j in across]
    lead = "Samples down, parts across, both in an order in which those alike stand together."
    if len(rows) < len(W):
        lead += (
            f" {len(rows):,} of {len(W):,} samples, evenly spaced among those that use the same part most."
        )
    if W.shape[1] > PARTS:
        lead += f" The first {PARTS} of {W.shape[1]:,} parts."
    trace = {
        "type": "heatmap",
        "z": np.round(z, 3).tolist(),
        "x": list(range(z.shape[1])),
        "y": list(range(z.shape[0])),
        "colorscale": "ink",
        "zmin": 0,
        "zmax": 1,
        "customdata": names,
        "text": [parts],
        "hovertemplate": "",
        "colorbar": {
            "thickness": 10,
            "outlinewidth": 0,
            "title": {
                "text": "usage" if probability else "usage, against<br>the most of each part",
                "font": {"size": 11},
            },
        },
    }
    # Names of every cell would be far more than the numbers: the page puts them together from these two lists.
    trace["names"] = {"rows": names, "columns": parts}
    del trace["customdata"], trace["text"], trace["hovertemplate"]
    shown = len(parts) <= 40
    layout = {
        "xaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(parts))) if shown else [],
            "ticktext": [short(one, 14) for one in parts] if shown else [],
            "tickangle": -90 if len(parts) > 12 or max(map(len, parts)) > 8 else 0,
            "showgrid": False,
            "side": "bottom",
        },
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(names))) if len(names) <= 45 else [],
            "ticktext": [short(one, 20) for one in names] if len(names) <= 45 else [],
            "autorange": "reversed",
            "showgrid": False,
        },
    }
    made = blocks.figure(
        "usage",
        [trace],
        layout,
        alt=f"Heat map of how much {len(rows):,} samples use {len(parts):,} parts",
        height=min(620, max(260, 14 * len(names) + 120)),
    )
    return {"title": "Who uses what, at a glance", "lead": lead, "blocks": [made]}


def over_time(source: Source, parts: list[str], W: np.ndarray) -> dict[str, Any]:
    """When each component of a recording sounds: curves over time.

    Parameters
    ----------
    source : Source
        The result; its rows are moments in seconds.
    parts : list of str
        Names of the components.
    W : array of shape (n_moments, n_parts)
        How loud each component is.

    Returns
    -------
    dict
        The section.
    """
    seconds = np.array([float(name) for name in source.rows])
    step = -(-len(W) // POINTS)
    # The loudest of moments that share a point, so that no onset is lost.
    loud = np.array([W[i : i + step].max(axis=0) for i in range(0, len(W), step)])
    chart = blocks.curves(
        "usage",
        seconds[::step],
        {name: loud[:, j] for j, name in enumerate(parts[:CURVES])},
        xlabel="seconds",
        ylabel="activation",
        alt=f"How loud {min(len(parts), CURVES)} components are over {seconds[-1]:.1f} s",
        height=320,
    )
    lead = "" if len(parts) <= CURVES else f"The first {CURVES} of {len(parts):,} components."
    return {"title": "When each component sounds", "lead": lead, "blocks": [chart]}


def scaled(W: np.ndarray) -> tuple[np.ndarray, bool]:
    """Usage from 0 to 1, and whether it was so already: each part against its 99th percentile.

    Parameters
    ----------
    W : array of shape (n_samples, n_parts)
        How much of each part is in each sample.

    Returns
    -------
    shades : array
        Between 0 and 1.
    probability : bool
        Whether W itself was between 0 and 1.
    """
    A = np.abs(W)
    if A.max(initial=0.0) <= 1.0:
        return A, True
    # A percentile, because a few samples may be far above all others.
    top = np.array([np.percentile(column[column > 0], 99) if (column > 0).any() else 1.0 for column in A.T])
    return np.minimum(A / top, 1.0), False


def spread_rows(shades: np.ndarray) -> np.ndarray:
    """Rows evenly spaced in the order of the part that they use most.

    Parameters
    ----------
    shades : array of shape (n_samples, n_parts)
        Usage.

    Returns
    -------
    array of int
        `HEAT_ROWS` at most.
    """
    from partwise.plot.usage_picture import sorted_by_part

    return thinned(sorted_by_part(shades), HEAT_ROWS)


def clustered(rows: np.ndarray) -> np.ndarray:
    """An order of rows in which those alike stand together: average linkage of directions, leaves ordered.

    Parameters
    ----------
    rows : array of shape (n, m)
        The rows.

    Returns
    -------
    array of int
        The order. Rows of zeros come last.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    size = np.linalg.norm(rows, axis=1)
    some = np.flatnonzero(size > 0)
    if len(some) < 3:
        return np.concatenate([some, np.flatnonzero(size <= 0)])
    directions = rows[some] / size[some][:, None]
    order = leaves_list(linkage(directions, "average", optimal_ordering=True))
    return np.concatenate([some[order], np.flatnonzero(size <= 0)])
