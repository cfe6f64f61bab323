"""The bases of several methods side by side: as pictures, as words, or as heat maps."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from partwise.comparison import METHODS, Comparison
from partwise.plot import style
from partwise.plot.images import image_grid
from partwise.plot.style import FAINT, INK, SERIES, figure, name_ticks, shortened

#: Basis vectors drawn as pictures, at most: seven by seven, as Lee & Seung draw them.
PICTURES = 49
#: Basis vectors of which words are written, and columns of a heat map, at most.
TOPICS, COLUMNS = 10, 40
#: Letters of a line of words.
LINE = 38


def comparison(
    found: Comparison,
    X: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    example: int = 0,
    n_words: int = 8,
) -> Any:
    """Draw the bases that several methods found in the same data, side by side.

    Parameters
    ----------
    found : Comparison
        What `partwise.compare` returned.
    X : array or sparse matrix of shape (n_samples, n_features), optional
        The data; of it the example is drawn, where samples are pictures.
    shape : tuple of int, optional
        Height and width where samples are pictures: bases are drawn as pictures, with the code of one sample and its
        reconstruction, as in figure 1 of Lee & Seung (1999). Otherwise words are listed where columns are words, and
        heat maps are drawn where they are not.
    example : int, default=0
        The sample whose code is drawn.
    n_words : int, default=8
        Words of each basis vector, by absolute weight.

    Returns
    -------
    matplotlib Figure
        What is below zero is in another colour.
    """
    if shape is not None:
        m = next(iter(found.factors.values())).bases.shape[1]
        if shape[0] * shape[1] != m:
            raise ValueError(f"shape {shape} has {shape[0] * shape[1]} pixels; the data have {m} columns.")
        if not 0 <= example < found.shape[0]:
            raise ValueError(f"example must be a row between 0 and {found.shape[0] - 1}; got {example}.")
        return _pictures(found, X, shape, example)
    return _words(found, n_words) if found.text else _heat_maps(found)


def _pictures(found: Comparison, X: Any, shape: tuple[int, int], example: int) -> Any:
    """A column for each method: its bases, the code of one sample on the same grid, the sample given and rebuilt."""
    methods = list(found.factors)
    k = found.n_components
    shown = min(k, PICTURES)
    across = ceil(sqrt(shown))
    down = ceil(shown / across)
    high = 2.7 * (down * shape[0]) / (across * shape[1])
    rows = ("bases", "code", "sample")
    heights = [high, 2.7 * down / across, 1.35 * shape[0] / shape[1]]
    mosaic = [[f"{name} {row}" for name in methods] for row in rows]
    size = (2.75 * len(methods) + 0.2, sum(heights) + 1.3)
    drawing, axes = figure(mosaic, size=size, height_ratios=heights)
    given = _row(X, example)
    for name in methods:
        factors = found.factors[name]
        rebuilt = factors.reconstruction([example])[0]
        code = factors.sized_codes([example])[0]
        sample = rebuilt[None] if given is None else np.vstack([given, rebuilt])
        gap = max(1, round(0.05 * shape[0]))
        panels = {
            "bases": image_grid(factors.bases[:shown], shape, across, gap),
            "code": image_grid(
                code[:shown, None] / max(np.abs(code).max(), 1e-300), (1, 1), across, 0, False
            ),
            "sample": image_grid(_finite(sample) / _top(sample), shape, len(sample), gap, False),
        }
        titles = {
            "bases": f"{_title(found, name)}: bases",
            "code": f"code of sample {example}",
            "sample": ("rebuilt" if given is None else "given, rebuilt")
            + ("" if factors.mean is None else " with the mean"),
        }
        for row in rows:
            place = axes[f"{name} {row}"]
            place.imshow(panels[row], cmap=_signed(), vmin=-1, vmax=1, interpolation="nearest")
            style.title(place, titles[row])
            place.grid(False)
            place.set_xticks([])
            place.set_yticks([])
            for side in place.spines.values():
                side.set_visible(row == "code")
                side.set_color(FAINT)
    what = "" if shown == k else f"the first {shown} of "
    style.heading(
        drawing,
        f"{what}{k} basis vectors of each method, each against its largest pixel; what is below zero in orange",
    )
    return drawing


def _words(found: Comparison, n_words: int) -> Any:
    """A column for each method, a line for each topic of the first and what resembles it most in the others."""
    methods = _distinct(found)
    shown = min(found.n_components, TOPICS)
    cells = {name: _word_lines(found, name, n_words)[:shown] for name in methods}
    lines = [max(len(cells[name][i]) for name in methods) for i in range(shown)]
    high = 0.135 * sum(lines) + 0.09 * shown
    drawing, axes = figure([["words"]], size=(2.45 * len(methods) + 0.2, high + 0.75))
    place = axes["words"]
    place.set_axis_off()
    place.set_xlim(0, len(methods))
    place.set_ylim(sum(lines) + 0.67 * shown, -1.6)
    for column, name in enumerate(methods):
        place.text(column, -0.9, methods[name], fontsize=9.5, fontweight="bold", va="center")
        top = 0.0
        for topic in range(shown):
            if column == 0:
                place.axhline(top - 0.33, color=FAINT, lw=0.6)
            for offset, (text, negative) in enumerate(cells[name][topic]):
                colour = SERIES[1] if negative else INK
                place.text(column, top + offset + 0.4, text, fontsize=7.6, color=colour, va="center")
            top += lines[topic] + 0.67
    first = next(iter(methods.values()))
    what = f"{shown} of {found.n_components}" if shown < found.n_components else f"{shown}"
    style.heading(
        drawing,
        f"Words of most weight in {what} basis vectors, beside those of {first} that they resemble most; "
        "words of negative weight in orange",
    )
    return drawing


def _word_lines(found: Comparison, name: str, n_words: int) -> list[list[tuple[str, bool]]]:
    """Words of each basis vector in lines, and whether their weights are negative; ordered as the first method's."""
    tops = found.top_features(name, n_words)
    cells = []
    for place in found.aligned(name):
        lines: list[tuple[str, bool]] = []
        for negative in (False, True):
            words = [shortened(word, 18) for word, weight in tops[place] if (weight < 0) == negative]
            text = ""
            for word in (f"−{word}" if negative else word for word in words):
                if text and len(text) + len(word) + 1 > LINE:
                    lines.append((text, negative))
                    text = ""
                text = f"{text} {word}".strip()
            if text:
                lines.append((text, negative))
        cells.append(lines or [("(nothing)", False)])
    return cells


def _heat_maps(found: Comparison) -> Any:
    """A panel for each method: basis vectors down, the columns that vary most across."""
    titles = _distinct(found)
    methods = list(titles)
    bases = {name: found.factors[name].bases[found.aligned(name)].astype(float) for name in methods}
    scaled = {name: B / np.maximum(np.abs(B).max(axis=1, keepdims=True), 1e-300) for name, B in bases.items()}
    m = next(iter(bases.values())).shape[1]
    spread = sum(np.ptp(B, axis=0) for B in scaled.values())
    chosen = np.sort(np.argsort(-np.asarray(spread), kind="stable")[:COLUMNS])
    names = found.feature_names or [f"column{j}" for j in range(m)]
    across = min(3, len(methods))
    down = ceil(len(methods) / across)
    wide = min(5.0, max(2.6, 0.17 * len(chosen) + 0.9))
    high = min(6.0, max(1.6, 0.17 * found.n_components + 1.3))
    cells = [methods[i * across : (i + 1) * across] for i in range(down)]
    cells[-1] += ["."] * (across - len(cells[-1]))
    drawing, axes = figure(cells, size=(wide * across, high * down + 0.4))
    for name in methods:
        place = axes[name]
        place.imshow(
            scaled[name][:, chosen], cmap=_signed(), vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
        )
        place.grid(False)
        name_ticks(place.xaxis, [names[j] for j in chosen], wide - 0.6, 14)
        place.set_yticks([])
        style.title(place, titles[name])
    some = "" if len(chosen) == m else f", the {len(chosen)} of {m} columns that vary most"
    style.heading(
        drawing,
        f"{found.n_components} basis vectors, each against its largest entry{some}; below zero in orange",
    )
    return drawing


def _title(found: Comparison, name: str) -> str:
    return str(next(row["title"] for row in found.rows if row["method"] == name))


def _distinct(found: Comparison) -> dict[str, str]:
    """Methods and their titles; those whose bases are the same but for lengths, as splits of an SVD, are one."""
    titles: dict[str, str] = {}
    for name, factors in found.factors.items():
        splits = [] if METHODS[name].seeded else [other for other in titles if not METHODS[other].seeded]
        same = (other for other in splits if _parallel(factors.bases, found.factors[other].bases))
        other = next(same, None)
        if other is None:
            titles[name] = _title(found, name)
        else:
            titles[other] += f", {_title(found, name).removeprefix('SVD ')}"
    return titles


def _parallel(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether the basis vectors of two methods point the same way, one by one."""
    lengths = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    return bool(np.allclose(np.einsum("ij,ij->i", A, B), lengths, rtol=1e-6))


def _row(X: Any, i: int) -> np.ndarray | None:
    """A row of the data, dense; None without data."""
    if X is None:
        return None
    row = X.iloc[i] if hasattr(X, "iloc") else X[[i]]
    return np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=float).ravel()


def _finite(rows: np.ndarray) -> np.ndarray:
    return np.nan_to_num(rows)


def _top(rows: np.ndarray) -> float:
    return float(max(np.nanmax(np.abs(rows)), 1e-300))


def _signed() -> Any:
    """Ink above zero, white at it, orange below; gaps are faint."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("signed", [SERIES[1], "#ffffff", INK]).with_extremes(bad=FAINT)
