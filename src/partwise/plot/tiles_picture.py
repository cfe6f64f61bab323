"""A yes/no table in the order of its tiles, each in its colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.models.summary import feature_names_of, part_names
from partwise.plot.lines import draw_curve
from partwise.plot.style import INK, SERIES, figure, name_ticks, row_names_of

#: Rows and columns drawn, at most: more would be finer than the pixels.
MOST = 2000
#: Tiles in the legend, at most.
LISTED = 20
#: What is under the cross of a missing entry; and its colour where a cross would be too small to be seen: dark, so
#: that it is neither a tile's nor the pale one of a zero in a tile.
BLANK, DARK = "#e3e7eb", "#22313f"
_CROSS = "#8b98a5"
MORE = ("#393b79", "#9c9ede", "#b5cf6b", "#bd9e39", "#843c39", "#e7969c", "#ce6dbd")


def tiles(
    model: Any,
    X: Any,
    *,
    usage: Any = None,
    row_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Any:
    """Draw a table with rows and columns in the order of their tiles, and how many tiles it takes.

    Parameters
    ----------
    model : BooleanMF
        A fitted model.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table; NaN where an entry is missing.
    usage : array of bool of shape (n_samples, n_tiles), optional
        What `transform` returns for X, where it is known already.
    row_names : sequence of str, optional
        Names of the rows, shown where there is room; by default the index of a DataFrame, if it names them.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit.

    Returns
    -------
    matplotlib Figure
        Ones in the colour of their tile, outlined where a tile is in one piece; ones outside all tiles in grey, zeros
        inside a tile in a pale colour, missing entries crossed or, in large tables, dark. Beside it, where the fit
        met several numbers of tiles, the wrong entries and the bits by number of tiles.
    """
    check_is_fitted(model)
    usage = np.asarray(model.transform(X) if usage is None else usage, dtype=bool)
    row_names = row_names_of(X) if row_names is None else row_names
    columns = np.asarray(model.components_, dtype=bool)
    rows, cols = thinned(by_tiles(usage)), thinned(by_tiles(columns.T))
    table = _dense(X, rows)[:, cols]
    known = None if row_names is None else [row_names[i] for i in rows]
    names = feature_names_of(model, feature_names)
    curves = len(model.ranks_["tiles"]) > 1
    size = (
        min(11.0, max(4.0, 0.2 * len(cols) + 2.0)),
        min(11.0, max(3.8, 0.12 * len(rows) + 1.5)) if len(rows) <= 130 else 7.0,
    )
    mosaic = [["table", "wrong"], ["table", "bits"]] if curves else [["table"]]
    ratios = {"width_ratios": [size[0], 3.0]} if curves else {}
    drawing, axes = figure(mosaic, size=(size[0] + (5.2 if curves else 2.2), size[1]), **ratios)
    place = axes["table"]
    drawn = usage[rows], columns[:, cols]
    crossed = are_crossed(table)
    place.imshow(coloured(table, *drawn, BLANK if crossed else DARK), aspect="auto", interpolation="nearest")
    place.grid(False)
    _outline(place, *drawn)
    name_ticks(place.xaxis, [names[j] for j in cols], size[0] - 1.5)
    place.xaxis.tick_top()
    if known is None:
        place.set_yticks([])
    else:
        name_ticks(place.yaxis, known, size[1] - 1.5)
    if crossed:
        _cross_blanks(place, table)
    _legend(place, model, table, *drawn)
    place.set_xlabel(_what_is_shown(usage.shape[0], len(names), rows, cols), loc="left", fontsize=9)
    for name, title in (("wrong", "entries wrong"), ("bits", "bits to describe the table")) if curves else ():
        counts = model.ranks_["tiles"]
        draw_curve(
            axes[name], counts, model.ranks_[name], marker="o" if len(counts) <= 40 else "", title=title
        )
        axes[name].axvline(len(columns), color=INK, lw=0.8, ls=":")
        axes[name].locator_params(axis="x", integer=True)
        axes[name].set_xlabel("tiles" if name == "bits" else "")
    return drawing


def by_tiles(member: np.ndarray) -> np.ndarray:
    """An order of rows in which those of the same tiles stand together.

    Rows of `member` (which tiles each is in) are sorted as a reflected Gray code, in which neighbours differ in few
    tiles: the first two tiles are in one piece each, the others in few.
    """
    if not member.shape[1]:
        return np.arange(len(member))
    rank = np.logical_xor.accumulate(member, axis=1)
    return np.lexsort([~column for column in rank.T[::-1]])


def thinned(order: np.ndarray) -> np.ndarray:
    """Evenly spaced ones of these, `MOST` at most."""
    if len(order) <= MOST:
        return order
    return order[np.linspace(0, len(order) - 1, MOST).astype(int)]


def are_crossed(table: np.ndarray) -> bool:
    """Whether missing entries are marked by crosses: where they are few and large enough to be seen."""
    return int(np.isnan(table).sum()) <= 2000 and max(table.shape) <= 120


def coloured(table: np.ndarray, usage: np.ndarray, columns: np.ndarray, blank: str = BLANK) -> np.ndarray:
    """A picture of the entries: the mean colour of the tiles over each, pale where it is zero, and see `tiles`.

    Missing entries have the colour ``blank``.
    """
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(tile_colour(t)) for t in range(len(columns))]).reshape(-1, 3)
    covers = (usage.astype(np.float32) @ columns.astype(np.float32))[..., None]
    total = np.stack(
        [usage.astype(np.float32) @ (columns * c[:, None]).astype(np.float32) for c in palette.T], -1
    )
    mean = np.divide(total, covers, out=np.zeros_like(total), where=covers > 0)
    # Where tiles overlap the colour is darker too, so that it is that of neither.
    mean *= np.where(covers > 1, 0.75, 1.0)
    one = (table == 1)[..., None]
    picture = np.where(one, np.array(to_rgb("#9aa5ae")), 1.0)
    picture = np.where(covers > 0, np.where(one, mean, 0.22 * mean + 0.78), picture)
    return np.where(np.isnan(table)[..., None], np.array(to_rgb(blank)), picture)


def tile_colour(number: int) -> str:
    """The colour of a tile: of the house's, without its grey, and then others, round and round."""
    palette = (*SERIES[:-1], *MORE)
    return palette[number % len(palette)]


def runs(chosen: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of every stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def _outline(place: Any, usage: np.ndarray, columns: np.ndarray) -> None:
    """A frame around every tile that is in few pieces."""
    from matplotlib.patches import Rectangle

    for t, (rows, cols) in enumerate(zip(usage.T, columns)):
        frames = [(r, c) for r in runs(rows) for c in runs(cols)]
        if len(frames) > 12:
            continue
        for (top, bottom), (left, right) in frames:
            frame = Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False)
            frame.set(edgecolor=tile_colour(t), linewidth=1.6, zorder=3)
            place.add_patch(frame)


def _cross_blanks(place: Any, table: np.ndarray) -> None:
    """A cross on every missing entry."""
    blank = np.argwhere(np.isnan(table))
    place.scatter(blank[:, 1], blank[:, 0], marker="x", s=9, lw=0.7, color=_CROSS, zorder=4)


def _legend(place: Any, model: Any, table: np.ndarray, usage: np.ndarray, columns: np.ndarray) -> None:
    """What the colours mean; only what there is in the picture."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = part_names(model)
    sizes = zip(names, model.tiles_["rows"], model.tiles_["columns"])
    entries: list[Any] = [
        Patch(color=tile_colour(t), label=f"{name}: {_counted(rows, 'row')} × {_counted(cols, 'column')}")
        for t, (name, rows, cols) in enumerate(sizes)
    ][:LISTED]
    if len(names) > LISTED:
        entries.append(Patch(color="none", label=f"… and {len(names) - LISTED} more tiles"))
    covers = usage.astype(np.float32) @ columns.astype(np.float32)
    if (covers > 1).any():
        entries.append(Patch(color="#5e5a5a", label="darker, mixed: in several tiles"))
    if ((covers > 0) & (table == 0)).any():
        entries.append(Patch(facecolor="#dbe6ea", label="pale: no, though in a tile"))
    if ((covers == 0) & (table == 1)).any():
        entries.append(Patch(facecolor="#9aa5ae", label="yes, in no tile"))
    if np.isnan(table).any():
        entries.append(Patch(color=BLANK if are_crossed(table) else DARK, label="missing"))
    labels = [entry.get_label() for entry in entries]
    if labels and labels[-1] == "missing" and are_crossed(table):
        entries[-1] = (entries[-1], Line2D([], [], marker="x", color=_CROSS, ls="", ms=4, mew=0.9))
    if entries:
        place.legend(entries, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def _counted(number: int, word: str) -> str:
    """A number of things in words: 1 row, 2 rows."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _what_is_shown(n: int, m: int, rows: np.ndarray, cols: np.ndarray) -> str:
    """The size of the table, and which of its rows and columns are drawn."""
    said = [f"{_counted(n, 'row')} × {_counted(m, 'column')}"]
    for total, drawn, word in ((n, len(rows), "rows"), (m, len(cols), "columns")):
        if drawn < total:
            said.append(f"{drawn:,} of the {word} drawn, evenly spaced")
    return ", ".join(said)


def _dense(X: Any, rows: np.ndarray) -> np.ndarray:
    """These rows as numbers, NaN where missing."""
    if hasattr(X, "tocsr"):
        return np.asarray(X.tocsr()[rows].toarray(), dtype=float)
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[rows].to_numpy(dtype=float, na_value=np.nan))
    return np.asarray(np.asarray(X)[rows], dtype=float)
