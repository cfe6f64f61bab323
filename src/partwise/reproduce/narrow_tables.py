"""Small tables in which many tiles are asked for: planted, drawn from models of surveys, or cut from real ones.

Two halves: constants of the search were chosen on "chosen" ones alone, so that the others tell what they are worth.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from partwise.datasets import fetch_boolean_records, load_zoo

#: Numbers of tiles, in turn.
TILES = (8, 10, 12)
#: Of each half: real tables, rows and columns drawn from them (0 for all), a seed, and the number of tiles.
CUTS = {
    "chosen": (
        ("lymp", 0, 30, 0, 10),
        ("chess_krvskp", 300, 30, 0, 12),
        ("nursery", 400, 0, 0, 10),
        ("dermatology", 0, 40, 0, 9),
        ("breast", 300, 36, 0, 12),
    ),
    "others": (
        ("heart", 0, 0, 0, 10),
        ("zoo", 0, 0, 0, 8),
        ("lymp", 0, 24, 5, 9),
        ("cmc", 300, 36, 1, 12),
        ("paleo", 300, 40, 1, 10),
        ("chess_krvskp", 240, 24, 5, 8),
    ),
}


def narrow_tables(half: str) -> Iterator[tuple[str, np.ndarray, int]]:
    """Name, table (bool) and number of tiles of each case; real ones where `PARTWISE_DATA` is set, else the zoo."""
    for j, draw in enumerate((overlapping, survey, correlated)):
        for seed in range(half == "others", 10, 2):
            yield f"{draw.__name__} {seed}", draw(seed), TILES[(seed + j) % 3]
    real = {"zoo": np.asarray(load_zoo().data)}
    if "PARTWISE_DATA" in os.environ:
        real |= fetch_boolean_records("large").data | fetch_boolean_records("small").data
        if half == "others":
            yield "tumor", tumor(real["tumor"]), 10
    for name, n, m, seed, k in CUTS[half]:
        if name in real:
            yield name, cut(np.asarray(real[name]), n, m, seed), k


def overlapping(seed: int) -> np.ndarray:
    """Tiles of random sizes that overlap freely, then flips."""
    rng = np.random.default_rng(100 + seed)
    n, m, k = int(rng.integers(120, 400)), int(rng.integers(18, 40)), int(rng.integers(8, 14))
    U = rng.random((n, k)) < rng.uniform(0.08, 0.35, k)
    V = rng.random((k, m)) < rng.uniform(0.1, 0.4, (k, 1))
    clean = (U.astype(int) @ V.astype(int)) > 0
    add, drop = rng.uniform(0.01, 0.08), rng.uniform(0.05, 0.25)
    return np.asarray(clean ^ (rng.random((n, m)) < np.where(clean, drop, add)))


def survey(seed: int) -> np.ndarray:
    """Questions of up to five answers, a column for each (one for yes or no); three traits set the odds."""
    rng = np.random.default_rng(200 + seed)
    n = int(rng.integers(150, 400))
    traits = rng.standard_normal((n, 3))
    columns: list[np.ndarray] = []
    while len(columns) < int(rng.integers(22, 30)):
        options = int(rng.integers(1, 6))
        weights = rng.standard_normal((3, max(options, 2))) * rng.uniform(0.3, 1.5)
        odds = traits @ weights + rng.gumbel(size=(n, max(options, 2))) + rng.normal(0, 0.7, max(options, 2))
        answer = odds.argmax(axis=1)
        columns += [answer == j for j in range(options)]
    return np.array(columns[:40]).T


def correlated(seed: int) -> np.ndarray:
    """Normal variables with a few common factors, each cut at a quantile of its own."""
    rng = np.random.default_rng(300 + seed)
    n, m, factors = int(rng.integers(120, 400)), int(rng.integers(18, 36)), int(rng.integers(3, 8))
    Z = rng.standard_normal((n, factors)) @ rng.standard_normal((factors, m))
    Z += rng.uniform(0.5, 1.5) * rng.standard_normal((n, m))
    return np.array([np.quantile(Z[:, j], 1 - p) for j, p in enumerate(rng.uniform(0.08, 0.5, m))]) < Z


def cut(X: np.ndarray, n: int, m: int, seed: int) -> np.ndarray:
    """Some rows, and some of the columns with three ones at least; missing entries are zeros."""
    rng = np.random.default_rng(seed)
    X = X[np.sort(rng.permutation(len(X))[: n or len(X)])]
    if m:
        X = X[:, np.sort(rng.permutation(np.flatnonzero((X == 1).sum(axis=0) >= 3))[:m])]
    return np.asarray(X == 1)


def tumor(X: np.ndarray) -> np.ndarray:
    """The 339 × 24 answers about tumours without their 21 classes; a column for each sex."""
    return np.column_stack((X[:, 21:] == 1, X[:, 24] == 0))
