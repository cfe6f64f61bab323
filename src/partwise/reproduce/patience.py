"""What the default patience of `BooleanMF` is worth: small tables, against searches that do not end by it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from partwise.datasets import fetch_boolean_records, load_zoo, make_boolean
from partwise.io import write_json
from partwise.models import BooleanMF
from partwise.reproduce.bars import with_progress

#: Real tables, the rows that are drawn from them (0 for all), and the number of tiles.
REAL = (
    ("zoo", 0, 2),
    ("heart", 0, 5),
    ("lymp", 0, 5),
    ("lymp", 0, 10),
    ("apb", 0, 10),
    ("tumor", 0, 8),
    ("chess_krvskp", 400, 8),
    ("breast", 250, 8),
    ("dermatology", 150, 5),
    ("nursery", 500, 6),
    ("paleo", 200, 6),
    ("cmc", 300, 8),
)
#: Planted tables: rows, columns, tiles, and how often zeros and ones are flipped.
PLANTED = (
    (435, 16, 3, 0.10, 0.10),
    (435, 16, 5, 0.05, 0.20),
    (100, 30, 5, 0.05, 0.15),
    (200, 50, 10, 0.05, 0.20),
    (60, 60, 8, 0.02, 0.30),
    (300, 40, 12, 0.02, 0.10),
    (150, 100, 6, 0.10, 0.25),
    (500, 25, 4, 0.20, 0.20),
    (80, 200, 9, 0.03, 0.15),
)


def reproduce_patience(
    folder: Path,
    trials: Annotated[int, typer.Option(min=1, help="Trials of the long search.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of all searches.")] = 0,
) -> dict[str, Any]:
    """What the default patience is worth: wrong entries of `BooleanMF` and of a longer search, on small tables."""
    cases = list(tables())
    rows: list[dict[str, Any]] = []
    for i in with_progress(len(cases), "tables"):
        name, X, k = cases[i]
        default = BooleanMF(k, objective="error", random_state=seed).fit(X)
        long = BooleanMF(
            k, objective="error", patience=trials, max_iter=trials, max_time=None, random_state=seed
        )
        long.fit(X)
        rows.append(
            {
                "table": f"{name} {X.shape[0]} × {X.shape[1]}",
                "k": k,
                "wrong": default.reconstruction_err_,
                "trials": default.n_iter_,
                "ended_by": default.ended_by_,
                "wrong_long": long.reconstruction_err_,
                "trials_long": long.n_iter_,
            }
        )
    summary = {"table": rows, "lines": lines(rows)}
    write_json(folder / "patience.json", summary)
    return summary


def tables() -> Iterator[tuple[str, np.ndarray, int]]:
    """Name, table and number of tiles of every case; of the real ones only the zoo, if `PARTWISE_DATA` is not set."""
    real: dict[str, np.ndarray] = {"zoo": np.asarray(load_zoo().data, float)}
    if "PARTWISE_DATA" in os.environ:
        real |= fetch_boolean_records("small").data | fetch_boolean_records("large").data
    for k in (5, 10):
        yield "zoo", real["zoo"], k
    for name, drawn, k in REAL:
        if name in real:
            X = real[name]
            rows = np.random.default_rng(0).permutation(len(X))[: drawn or len(X)]
            yield name, X[np.sort(rows)], k
    for i, (n, m, k, add, drop) in enumerate(PLANTED):
        planted = make_boolean(n, m, k, noise_add=add, noise_drop=drop, random_state=i)
        yield "planted", np.asarray(planted.data, float), k


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """The table as lines of text, and how many searches the longer one improved on."""
    out = [f"{'table':24s} tiles  wrong   trials  ended by   wrong   trials (long search)"]
    for row in rows:
        out.append(
            f"{row['table']:24s} {row['k']:5d} {row['wrong']:6.0f} {row['trials']:8d}  {row['ended_by']:9s} "
            f"{row['wrong_long']:6.0f} {row['trials_long']:8d}"
        )
    worse = [row["wrong"] / row["wrong_long"] - 1 for row in rows if row["wrong"] > row["wrong_long"]]
    fewer = sum(row["wrong"] < row["wrong_long"] for row in rows)
    out.append(
        f"as good as the long search in {len(rows) - len(worse) - fewer} of {len(rows)}, better in {fewer}, worse in "
        f"{len(worse)}" + (f" (by {100 * max(worse):.1f} % at most)" if worse else "")
    )
    return out
