"""Are tiles that pass the test chance? False discoveries in tables of noise and in planted ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from partwise.datasets import make_boolean
from partwise.io import write_json
from partwise.models import BooleanMF
from partwise.reproduce.bars import with_progress

#: Rows, columns and planted tiles of every table.
SHAPE, PLANTED = (200, 100), 6
#: Tables of noise: their shares of ones. Planted tables: how often zeros and ones are flipped.
SHARES = (0.1, 0.3, 0.5)
NOISE = ((0.02, 0.10), (0.05, 0.15), (0.10, 0.25), (0.15, 0.35), (0.20, 0.45))
#: Tiles that share this part of their joint area are the same.
SAME = 0.8
#: By name: what is fitted, given the level. More tiles than are planted, so that some of them have to be chance.
METHODS = {
    "TrustPal": lambda level: BooleanMF(method="trustpal", fdr=level, random_state=0),
    "search, tested": lambda level: BooleanMF(12, fdr=level, patience=200, random_state=0),
    "search": lambda level: BooleanMF(12, patience=200, random_state=0),
    "PanPAL": lambda level: BooleanMF(12, method="panpal", random_state=0),
}


def reproduce_trustpal(
    folder: Path,
    tables: Annotated[int, typer.Option(min=1, help="Tables of each kind.")] = 6,
    level: Annotated[float, typer.Option(min=0.0, max=1.0, help="The level of the test.")] = 0.05,
) -> dict[str, Any]:
    """False discoveries of TrustPal, of the search with and without its test, and of PanPAL."""
    rows = []
    kinds = [*kinds_of_tables()]
    for i in with_progress(len(kinds), "kinds of tables"):
        for name, make in METHODS.items():
            found = [judged(make(level), *kinds[i](seed)) for seed in range(tables)]
            rows.append(
                {
                    "tables": kinds[i].title,
                    "method": name,
                    "tiles": float(np.mean([one["tiles"] for one in found])),
                    "false": int(sum(one["false"] for one in found)),
                    "tables_with_false": int(sum(one["false"] > 0 for one in found)),
                    "false_rate": float(np.mean([one["false"] / max(1, one["tiles"]) for one in found])),
                    "planted_found": float(np.mean([one["planted_found"] for one in found])),
                }
            )
    summary = {
        "level": level,
        "n_tables": tables,
        "planted": PLANTED,
        "rows": rows,
        "tables": {"false": by_kind(rows)},
        "lines": lines(rows, tables, level),
    }
    write_json(folder / "trustpal.json", summary)
    return summary


class Kind:
    """A kind of tables: called with a seed, a table, the same before noise, and the planted tiles, if any."""

    def __init__(
        self, title: str, share: float | None = None, flips: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        self.title, self.share, self.flips = title, share, flips

    def __call__(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.share is not None:
            table = np.random.default_rng(seed).random(SHAPE) < self.share
            return table, np.zeros(SHAPE, bool), np.zeros((0, *SHAPE), bool)
        planted = make_boolean(
            *SHAPE, PLANTED, 0.2, noise_add=self.flips[0], noise_drop=self.flips[1], random_state=seed
        )
        return planted.data, planted.clean, areas(planted.usage, planted.components)


def kinds_of_tables() -> Iterator[Kind]:
    """Noise of several densities, then planted tiles under ever more noise."""
    for share in SHARES:
        yield Kind(f"noise, {100 * share:.0f} % ones", share=share)
    for flips in NOISE:
        yield Kind(f"planted, noise {flips[0]:.2f}/{flips[1]:.2f}", flips=flips)


def areas(usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The entries of each tile, as an array of bool of shape (tiles, n, m)."""
    return np.asarray(usage.T[:, :, None] & columns[:, None, :])


def judged(model: BooleanMF, table: np.ndarray, clean: np.ndarray, planted: np.ndarray) -> dict[str, int]:
    """How many tiles a model finds, how many of them are false, and how many planted ones are found.

    A tile is false if of the ones that it alone covers fewer than half are ones without the noise.
    """
    found = areas(model.fit_transform(table), model.components_)
    alone = found & (found.sum(axis=0) == 1) & table
    false = 2 * (alone & clean).sum(axis=(1, 2)) < np.maximum(alone.sum(axis=(1, 2)), 1)
    again = 0
    for tile in planted:
        joint = (found | tile).sum(axis=(1, 2))
        again += bool(((found & tile).sum(axis=(1, 2)) >= SAME * joint).any())
    return {"tiles": len(found), "false": int(false.sum()), "planted_found": again}


def by_kind(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """For each kind of tables and each method: tiles on average, false ones in all, planted ones found on average."""
    kinds = list(dict.fromkeys(row["tables"] for row in rows))
    cells = {
        (row["tables"], row["method"]): f"{row['tiles']:.1f}, {row['false']}"
        + (f", {row['planted_found']:.1f}" if row["tables"].startswith("planted") else "")
        for row in rows
    }
    body = [[kind, *(cells[kind, name] for name in METHODS)] for kind in kinds]
    return {"columns": ["tables", *METHODS], "rows": body}


def lines(rows: list[dict[str, Any]], tables: int, level: float) -> list[str]:
    """The table as lines of text."""
    out = [
        f"{SHAPE[0]} × {SHAPE[1]}, {tables} tables of each kind, level {level:g}; planted: {PLANTED} tiles",
        f"{'tables':26s} {'method':15s} tiles  false in all  tables with false  planted found",
    ]
    for row in rows:
        out.append(
            f"{row['tables']:26s} {row['method']:15s} {row['tiles']:5.1f} {row['false']:13d} "
            f"{row['tables_with_false']:18d} {row['planted_found']:14.2f}"
        )
    return out
