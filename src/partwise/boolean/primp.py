"""Primp: a description length decides the rank and the thresholds (Hess, Morik & Piatkowski 2017).

The table is encoded row by row with a code table of patterns (the tiles' columns) and single items for what is
left wrong. With usages |Y_s|, wrong entries |N_i| of item i, and standard code lengths c_i = −log(|D_i| / |D|),
in nats:

    −Σ_s |Y_s| log(|Y_s| / S) − Σ_i |N_i| log(|N_i| / S)                      (the rows),     S = |Y| + |N|
    + Σ_s (X_sᵀ c − log(|Y_s| / S)) + Σ_{i: |N_i| > 0} (c_i − log(|N_i| / S))   (the code table)

Its relaxation is μ/2 ‖D − Y Xᵀ‖² + ½ G with μ = 1 + log n and

    G = −Σ_s (|Y_s| + 1) log((|Y_s| + 1) / (|Y| + r)) + |Xᵀ c| + |Y|.

Its gradients are ∂G/∂X_is = c_i and ∂G/∂Y_js = 1 − log((|Y_s| + 1) / (|Y| + r)): the derivatives of the other
logarithms add up to (|Y| + r) / (|Y| + r) = 1 and cancel the one of the product. A column of Y enters through its
sum alone, so ½ G adds at most m/2 to the Lipschitz modulus of Y's gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.palm import Relaxed, panpal
from partwise.boolean.search import THRESHOLDS, Tiles


@dataclass
class PrimpRelaxed(Relaxed):
    """State of PanPAL with the relaxed description length as its objective; `sparsity` is not used."""

    def __post_init__(self) -> None:
        n = self.D.shape[1]
        self.mu = 1.0 + np.log(n)
        ones = (self.D if self.entry is None else self.entry * self.D).sum(axis=0)
        self.codes = -np.log(np.maximum(ones, 0.5) / max(float(ones.sum()), 1.0))

    def objective(self) -> float:
        """μ/2 ‖D − Y Xᵀ‖² + ½ G."""
        usage = self.Y.sum(axis=0)
        rank = len(usage)
        G = -((usage + 1.0) * np.log((usage + 1.0) / (usage.sum() + rank))).sum()
        G += (self.X.T @ self.codes).sum() + usage.sum()
        return float(self.mu * self.loss() + 0.5 * G)

    def gradient_X(self) -> np.ndarray:
        """Gradient of the objective by X."""
        return self.mu * self.slope_X() + 0.5 * self.codes[:, None]

    def gradient_Y(self) -> np.ndarray:
        """Gradient of the objective by Y."""
        usage = self.Y.sum(axis=0)
        code = 1.0 - np.log((usage + 1.0) / (usage.sum() + len(usage)))
        return self.mu * self.slope_Y() + 0.5 * code

    def modulus_X(self) -> float:
        """Lipschitz modulus of the gradient by X."""
        return self.mu * super().modulus_X()

    def modulus_Y(self) -> float:
        """Upper bound on the Lipschitz modulus of the gradient by Y."""
        return self.mu * super().modulus_Y() + 0.5 * len(self.Y)


def code_length(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> float:
    """Description length above of binary tiles, in nats; `usage` is n × k, `columns` k × m.

    Tiles that no row uses cost nothing. An entry of weight w counts w times.
    """
    X, entry = table.unpacked()[0], table.entry_weights()
    cover = unpack(product(usage, pack(columns)), table.m) if len(columns) else np.zeros_like(X)
    ones = (entry * X).sum(axis=0)
    codes = -np.log(np.maximum(ones, 0.5) / max(float(ones.sum()), 1.0))
    used = usage.sum(axis=0).astype(float)
    wrong = (entry * (cover != X)).sum(axis=0)
    total = used.sum() + wrong.sum()
    if total == 0:
        return 0.0
    live, noisy = used > 0, wrong > 0
    pattern, single = -np.log(used[live] / total), -np.log(wrong[noisy] / total)
    rows = (used[live] * pattern).sum() + (wrong[noisy] * single).sum()
    book = (columns[live] @ codes + pattern).sum() + (codes[noisy] + single).sum()
    return float(rows + book)


def primp(
    table: BitTable,
    D: np.ndarray,
    rng: np.random.Generator,
    rank: int | None = None,
    step: int = 10,
    entry: np.ndarray | None = None,
) -> tuple[Tiles, tuple[float, float], list[tuple[int, float]]]:
    """Run Primp; without a rank, with `step` more tiles at a time for as long as that shortens the code.

    Tiles of a single row or a single column are dropped: they say no more than the entries themselves.

    Parameters
    ----------
    table : BitTable
    D : array of float of shape (n, m)
        The same table, unpacked.
    rng : numpy.random.Generator
    rank : int, optional
    step : int
    entry : array of shape (n, m), optional
        Weights of the entries, at most 1.

    Returns
    -------
    tuple
        The tiles, the thresholds of usage and of columns, and the number of tiles and code length of each run.
    """
    best: tuple[Tiles, tuple[float, float], float] | None = None
    lengths: list[tuple[int, float]] = []
    r = step if rank is None else rank
    while True:
        r = min(r, min(table.n, table.m))
        for state in panpal(
            D, r, rng, max_iter=500, tol=1e-5, weight=1.0, objective=PrimpRelaxed, entry=entry
        ):
            last = state
        now = cut_by_length(table, last.Y, last.X)
        lengths.append((len(now[0].columns), now[2]))
        better = best is None or now[2] < best[2]
        grew = best is None or len(now[0].columns) > len(best[0].columns)
        if better:
            best = now
        if rank is not None or not (better and grew) or r >= min(table.n, table.m):
            break
        r += step
    assert best is not None
    return best[0], best[1], lengths


def cut_by_length(table: BitTable, Y: np.ndarray, X: np.ndarray) -> tuple[Tiles, tuple[float, float], float]:
    """Cut both factors at the pair of thresholds with the shortest code; returns tiles, thresholds, length."""
    best: tuple[Tiles, tuple[float, float], float] | None = None
    for cut_Y in THRESHOLDS[1::2]:
        for cut_X in THRESHOLDS[1::2]:
            usage, columns = cut_Y < Y, np.ascontiguousarray((cut_X < X).T)
            kept = (usage.sum(axis=0) > 1) & (columns.sum(axis=1) > 1)
            usage, columns = np.ascontiguousarray(usage[:, kept]), columns[kept]
            length = code_length(table, usage, columns)
            if best is None or length < best[2]:
                best = Tiles(usage, columns, 0.0), (cut_Y, cut_X), length
    assert best is not None
    return best
