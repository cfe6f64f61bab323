"""The blocks that sections are made of: plain dicts, each of a kind that has a template.

A new kind of block is a function here and a file ``templates/block_KIND.html``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.reporting.colours import as_shown, branch_colour
from partwise.reporting.kept import thinned
from partwise.reporting.limits import POINTS, short


def text(said: str, *, strong: bool = False) -> dict[str, Any]:
    """A sentence.

    Parameters
    ----------
    said : str
        The sentence.
    strong : bool
        Whether it stands out.

    Returns
    -------
    dict
        The block.
    """
    return {"block": "text", "text": said, "strong": strong}


def heading(said: str) -> dict[str, Any]:
    """A heading inside a section.

    Parameters
    ----------
    said : str
        The heading.

    Returns
    -------
    dict
        The block.
    """
    return {"block": "heading", "text": said}


def facts(items: dict[str, Any]) -> dict[str, Any]:
    """Names with their values.

    Parameters
    ----------
    items : dict
        Those whose value is None are left out.

    Returns
    -------
    dict
        The block.
    """
    shown = [
        {"label": name, "value": value_text(value)} for name, value in items.items() if value is not None
    ]
    return {"block": "facts", "items": shown}


def table(
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    note: str = "",
    searchable: bool = True,
    wide: int | None = None,
) -> dict[str, Any]:
    """A table that a reader can sort, search and page through.

    Parameters
    ----------
    name : str
        Its id in the page.
    columns : sequence of str
        Headers.
    rows : sequence of sequences
        Text and numbers.
    caption : str
        What it shows.
    note : str
        What is not shown.
    searchable : bool
        Whether it has a field to search in.
    wide : int, optional
        The column that takes the room that is left.

    Returns
    -------
    dict
        The block.
    """
    plain = [[_cell(value) for value in row] for row in rows]
    numeric = [
        all(isinstance(row[j], int | float) or row[j] is None for row in plain) and bool(plain)
        for j in range(len(columns))
    ]
    return {
        "block": "table",
        "id": name,
        "columns": [{"label": short(one, 60), "numeric": number} for one, number in zip(columns, numeric)],
        "rows": plain,
        "caption": caption,
        "note": note,
        "searchable": searchable and len(plain) > 8,
        "wide": wide,
        "page": 20,
    }


def figure(
    name: str,
    data: list[dict[str, Any]],
    layout: dict[str, Any],
    *,
    alt: str,
    caption: str = "",
    height: int = 320,
) -> dict[str, Any]:
    """A chart that plotly draws.

    Parameters
    ----------
    name : str
        Its id in the page.
    data : list of dict
        Traces. A colour scale named "ink" is the page's own, light or dark.
    layout : dict
        Of the chart; colours and fonts come from the page.
    alt : str
        What it shows, for those who cannot see it.
    caption : str
        Written below.
    height : int
        Pixels.

    Returns
    -------
    dict
        The block.
    """
    return {
        "block": "figure",
        "id": name,
        "data": data,
        "layout": layout,
        "alt": alt,
        "caption": caption,
        "height": height,
    }


def curves(
    name: str,
    x: Any,
    lines: dict[str, Any],
    *,
    xlabel: str,
    alt: str,
    ylabel: str = "",
    log: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """Lines over one axis, thinned where they have more points than can be seen.

    Parameters
    ----------
    name : str
        Its id in the page.
    x : array
        Places of the points.
    lines : dict of arrays
        Name to heights.
    xlabel, ylabel : str
        Names of the axes.
    alt : str
        What it shows, for those who cannot see it.
    log : bool
        Whether heights that span a factor of twenty or more are on a logarithmic axis.
    **more : object
        Further parameters of `figure`.

    Returns
    -------
    dict
        The block.
    """
    x = np.asarray(x, dtype=float)
    chosen = thinned(np.arange(len(x)), POINTS)
    traces, decades = [], 0.0
    for i, (label, heights) in enumerate(lines.items()):
        y = np.asarray(heights, dtype=float)[chosen]
        finite = y[np.isfinite(y)]
        if log and len(finite) and finite.min() > 0:
            decades = max(decades, float(np.log10(finite.max() / finite.min())))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if len(chosen) <= 40 else "lines",
                "name": as_shown(short(label, 40)),
                "x": x[chosen].tolist(),
                "y": rounded(y),
                "line": {"color": branch_colour(i), "width": 2},
                "marker": {"size": 5},
                "hovertemplate": "%{x:.4~g}: %{y:.6~g}<extra></extra>",
            }
        )
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": as_shown(xlabel)}},
        "yaxis": {"title": {"text": as_shown(ylabel)}, "nticks": 6},
        "showlegend": len(traces) > 1,
    }
    if decades > np.log10(20):
        # One tick for each power of ten, or few between them.
        layout["yaxis"] |= {"type": "log", "dtick": 1 if decades > 2 else "D2", "exponentformat": "power"}
    return figure(name, traces, layout, alt=alt, **more)


def rounded(values: Any, digits: int = 6) -> Any:
    """Numbers with few digits, so that the page stays small; None where they are not finite.

    Parameters
    ----------
    values : array
        Numbers.
    digits : int
        That count.

    Returns
    -------
    list
        Nested as the array is.
    """
    if np.ndim(values) > 1:
        return [rounded(row, digits) for row in np.asarray(values)]
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, float).tolist()]


def value_text(value: Any) -> str:
    """A value of a parameter or figure as a person writes it.

    Parameters
    ----------
    value : object
        A number, text, list or dict.

    Returns
    -------
    str
        One line.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return short(", ".join(f"{name} {inner}" for name, inner in value.items()), 400)
    if isinstance(value, list | tuple):
        return short(", ".join(map(str, value[:40])), 400)
    return short(value, 400)


def counted(number: int, word: str) -> str:
    """A number of things in words: 1 part, 2 parts, 3 communities.

    Parameters
    ----------
    number : int
        How many.
    word : str
        What one of them is called.

    Returns
    -------
    str
        Both.
    """
    return f"{number:,} {plural(word) if number != 1 else word}"


def plural(word: str) -> str:
    """The plural of a name for parts.

    Parameters
    ----------
    word : str
        Such as part, tile, community.

    Returns
    -------
    str
        Parts, tiles, communities.
    """
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch")) else "s")


def _cell(value: Any) -> Any:
    """A cell of a table."""
    if value is None or isinstance(value, bool | str):
        return short(value, 400) if isinstance(value, str) else value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return short(value, 400)
