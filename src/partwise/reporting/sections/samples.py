"""Which samples use which part: a table to sort, search and page through."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.models.summary import leading as leading_features
from partwise.reporting import blocks
from partwise.reporting.kept import table_rows
from partwise.reporting.limits import EXCERPT, SAMPLES, excerpt, short
from partwise.reporting.source import Source, Stage
from partwise.reporting.spectra import has_spectra

#: Parts named for each sample.
LEADING = 3


def section(source: Source) -> dict[str, Any] | None:
    """The table of samples.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results without samples or parts, and for recordings, whose samples are moments.
    """
    stage, word = source.used, source.word
    if stage is not None and has_spectra(stage):
        return None
    title = f"Which samples use which {word}"
    if stage is None or source.W is None or not len(source.W):
        if not source.stages:
            return None
        return {
            "title": title,
            "blocks": [blocks.text("The result does not say which samples use which part.")],
        }
    W = source.W
    chosen = table_rows(W)
    size = np.abs(W[chosen])
    total = size.sum(axis=1)
    share = size / np.where(total > 0, total, 1.0)[:, None]
    leading = np.argsort(-share, axis=1, kind="stable")[:, : min(LEADING, W.shape[1])]
    labels, texts = source.kept.get("labels"), source.kept.get("texts")
    yes_no = stage.H.dtype == bool
    columns = [
        "sample",
        *(["label"] if labels else []),
        f"main {word}",
        *([] if yes_no else ["its share"]),
        "others",
        *(["text"] if texts else []),
    ]
    titles = part_titles(source, stage)
    rows: list[list[Any]] = []
    for place, i in enumerate(chosen.tolist()):
        used = [j for j in leading[place].tolist() if share[place, j] > 0]
        others = used[1:] if not yes_no else np.flatnonzero(size[place])[1:8].tolist()
        rows.append(
            [
                short(source.rows[i], 80),
                *([labels.get(str(i), "")] if labels else []),
                titles[used[0]] if used else "none",
                *([] if yes_no else [round(float(share[place, used[0]]), 3) if used else None]),
                ", ".join(
                    short(stage.parts[j], 40)
                    + ("" if yes_no else f"\u00a0{100 * share[place, j]:.0f}\u00a0%")
                    for j in others
                ),
                *([excerpt(texts.get(str(i), ""), EXCERPT)] if texts else []),
            ]
        )
    note = ""
    if len(W) > SAMPLES:
        note = (
            f"{len(chosen):,} of {len(W):,} samples: those that use each {word} most, and others evenly spaced "
            "through the data. All are in the table of W in the folder of results."
        )
    made = blocks.table(
        "samples",
        columns,
        rows,
        caption=f"Samples and the {blocks.plural(word)} that they use",
        note=note,
        wide=len(columns) - 1,
    )
    return {"title": title, "blocks": [made]}


def part_titles(source: Source, stage: Stage) -> list[str]:
    """Names of parts with the two features that lead each, where features have names that say something.

    Parameters
    ----------
    source : Source
        The result.
    stage : Stage
        The step whose parts these are.

    Returns
    -------
    list of str
        One for each part.
    """
    names = [short(name, 40) for name in stage.parts]
    if source.shape is not None or stage.features[:1] == ["column0"] or stage.H.dtype == bool:
        return names
    out = []
    for name, row in zip(names, np.asarray(stage.H, dtype=float)):
        first = [short(stage.features[j], 24) for j in leading_features(row, 2)]
        out.append(f"{name}: {', '.join(first)}" if first else name)
    return out
