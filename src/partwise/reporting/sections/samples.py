"""Which samples use which part: a table to sort, search and page through."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.kept import table_rows
from partwise.reporting.limits import EXCERPT, SAMPLES, excerpt, short
from partwise.reporting.source import Source

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
        None for results without samples or parts.
    """
    stage, word = source.used, source.word
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
    rows = []
    for place, i in enumerate(chosen.tolist()):
        used = [j for j in leading[place].tolist() if share[place, j] > 0]
        others = used[1:] if not yes_no else np.flatnonzero(size[place])[1:8].tolist()
        rows.append(
            [
                short(source.rows[i], 80),
                *([labels.get(str(i), "")] if labels else []),
                short(stage.parts[used[0]], 40) if used else "none",
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
