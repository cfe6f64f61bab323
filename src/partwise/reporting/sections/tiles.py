"""A yes/no table in the order of its tiles, with the entries that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import as_shown, branch_colour
from partwise.reporting.limits import short
from partwise.reporting.source import Source

#: What the first codes of `partwise.reporting.kept.kept_tiles` mean.
MEANINGS = ("no", "yes, in no tile", "no, though in a tile", "missing", "yes, in several tiles")


def section(source: Source) -> dict[str, Any] | None:
    """The table in the order of its tiles.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for models without tiles.
    """
    stage = source.last
    if stage is None or stage.H.dtype != bool:
        return None
    kept = source.kept.get("tiles")
    title = "The table in the order of its tiles"
    if not kept or not kept["rows"]:
        return {
            "title": title,
            "blocks": [blocks.text("The data are needed to draw it, and were not given.")],
        }
    codes = np.array(kept["codes"], dtype=int)
    rows = [as_shown(short(source.rows[i], 40)) for i in kept["rows"]]
    columns = [as_shown(short(stage.features[j], 40)) for j in kept["columns"]]
    n, m = len(source.rows), len(stage.features)
    lead = "Entries of one tile have one colour. "
    wrong = int((codes == 1).sum() + (codes == 2).sum())
    drawn = len(rows) * len(columns)
    lead += f"Of the {drawn:,} entries drawn {wrong:,} are wrong: yes in no tile, or no inside a tile."
    if len(rows) < n or len(columns) < m:
        lead += (
            f" Drawn are {len(rows):,} of {n:,} rows and {len(columns):,} of {m:,} columns, evenly spaced."
        )
    size = len(MEANINGS) + len(stage.H)
    colours = [
        "paper",
        "missed",
        "wrong",
        "blank",
        "several",
        *(branch_colour(t) for t in range(len(stage.H))),
    ]
    names = [*MEANINGS, *(f"{as_shown(short(name, 30))} only" for name in stage.parts)]
    trace = {
        "type": "heatmap",
        "z": codes.tolist(),
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "zmin": -0.5,
        "zmax": size - 0.5,
        "codes": {"colours": colours, "names": names},
        "names": {"rows": rows, "columns": columns},
        "showscale": False,
        "xgap": 1 if len(columns) <= 60 else 0,
        "ygap": 1 if len(rows) <= 120 else 0,
    }
    all_rows, all_columns = len(rows) <= 130, len(columns) <= 60
    layout = {
        "xaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(columns))) if all_columns else [],
            "ticktext": [short(one, 16) for one in columns] if all_columns else [],
            # Upright, for a slanted label of the last column runs past the edge, where plotly hides it.
            "tickangle": -90,
            "ticklabeloverflow": "allow",
            "side": "top",
            "showgrid": False,
        },
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(rows))) if all_rows else [],
            "ticktext": [short(one, 16) for one in rows] if all_rows else [],
            "autorange": "reversed",
            "showgrid": False,
            "tickfont": {"size": 10 if len(rows) <= 60 else 8},
        },
    }
    present = [code for code in np.unique(codes).tolist() if code]
    legend = [{"colour": colours[code], "name": names[code].replace(" only", "")} for code in present[:26]]
    height = min(1400, max(260, (11 if all_rows else 3) * len(rows) + 140))
    made = blocks.figure(
        "tiles",
        [trace],
        layout,
        alt=f"Table of {len(rows)} rows and {len(columns)} columns, {wrong} wrong entries",
        height=height,
    )
    return {"title": title, "lead": lead, "blocks": [{"block": "legend", "entries": legend}, made]}
