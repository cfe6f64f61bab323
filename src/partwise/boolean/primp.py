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
from functools import partial
from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.palm import RelaxedProblem, descend
from partwise.boolean.threshold import THRESHOLDS
from partwise.boolean.tiles import Tiles
from partwise.core import Result, Session, State

#: Most steps of each run.
MAX_ITER = 500


@dataclass(frozen=True)
class ItemCodes:
    """½|Xᵀ c|: what the patterns' items cost in the code table."""

    codes: np.ndarray

    def value(self, A: np.ndarray) -> float:
        """Half the code lengths of the items of all patterns."""
        return 0.5 * float((A.T @ self.codes).sum())

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """Half the code length of each item."""
        return np.asarray(0.5 * self.codes[:, None])

    def modulus(self, A: np.ndarray) -> float:
        """0: the gradient is constant."""
        return 0.0


class UsageCodes:
    """The part of ½ G that depends on Y: how long the codes of the patterns are, and how often they are written."""

    def value(self, A: np.ndarray) -> float:
        """½ (|Y| − Σ_s (|Y_s| + 1) log((|Y_s| + 1) / (|Y| + r)))."""
        usage = A.sum(axis=0)
        G = -((usage + 1.0) * np.log((usage + 1.0) / (usage.sum() + len(usage)))).sum()
        return 0.5 * float(G + usage.sum())

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """½ (1 − log((|Y_s| + 1) / (|Y| + r))), the same for all rows."""
        usage = A.sum(axis=0)
        return np.asarray(0.5 * (1.0 - np.log((usage + 1.0) / (usage.sum() + len(usage)))))

    def modulus(self, A: np.ndarray) -> float:
        """Half the number of rows."""
        return 0.5 * len(A)


def primp_problem(D: np.ndarray, weight: float = 1.0, entry: np.ndarray | None = None) -> RelaxedProblem:
    """The relaxed description length of D (n × m), with W for Y and Ht for X; `weight` and `entry` as there."""
    ones = (D if entry is None else entry * D).sum(axis=0)
    return RelaxedProblem(
        D, UsageCodes(), ItemCodes(item_codes(ones)), weight, entry, scale=float(1.0 + np.log(D.shape[1]))
    )


def item_codes(ones: np.ndarray) -> np.ndarray:
    """Standard code length of each item, from how many ones it has."""
    return np.asarray(-np.log(np.maximum(ones, 0.5) / max(float(ones.sum()), 1.0)))


def code_length(table: BitTable, usage: np.ndarray, columns: np.ndarray) -> float:
    """Description length above of binary tiles, in nats; `usage` is n × k, `columns` k × m.

    Tiles that no row uses cost nothing. An entry of weight w counts w times.
    """
    return length_of(table.unpacked()[0], table.entry_weights(), usage, columns)


def length_of(X: np.ndarray, entry: np.ndarray, usage: np.ndarray, columns: np.ndarray) -> float:
    """The same for a table given by its ones X and by what its entries weigh (both n × m)."""
    cover = unpack(product(usage, pack(columns)), X.shape[1]) if len(columns) else np.zeros_like(X)
    codes = item_codes((entry * X).sum(axis=0))
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


class Described(NamedTuple):
    """Tiles, the thresholds of usage and of columns that they were cut at, and their code length."""

    tiles: Tiles
    thresholds: tuple[float, float]
    length: float


def primp(
    session: Session,
    table: BitTable,
    D: np.ndarray,
    rng: np.random.Generator,
    rank: int | None = None,
    step: int = 10,
    entry: np.ndarray | None = None,
    max_iter: int = MAX_ITER,
) -> tuple[Described, Result[State]]:
    """Run Primp; without a rank, with `step` more tiles at a time for as long as that shortens the code.

    Tiles of a single row or a single column are dropped: they say no more than the entries themselves.

    Parameters
    ----------
    session : Session
        Ends the runs, and takes note of Ctrl-C.
    table : BitTable
    D : array of float of shape (n, m)
        The same table, unpacked.
    rng : numpy.random.Generator
    rank : int, optional
    step : int
    entry : array of shape (n, m), optional
        Weights of the entries, at most 1.
    max_iter : int
        Most steps of each run.

    Returns
    -------
    tuple
        The tiles with the shortest code, and the run that they come from.
    """
    problem = primp_problem(D, entry=entry)
    most = min(table.n, table.m)
    best: tuple[Described, Result[State]] | None = None
    with session.interruptible():
        r = min(step if rank is None else rank, most)
        while True:
            result = descend(problem, r, rng, max_iter, 1e-5, name=f"primp{r}")
            now = session.completed(partial(cut_by_length, table, result.state.W, result.state.Ht))
            better = best is None or now.length < best[0].length
            grew = best is None or len(now.tiles.columns) > len(best[0].tiles.columns)
            if better:
                best = now, result
            if rank is not None or not (better and grew) or r >= most or session.stopped:
                break
            r = min(r + step, most)
    if best is None:
        raise KeyboardInterrupt
    return best


def cut_by_length(table: BitTable, W: np.ndarray, Ht: np.ndarray) -> Described:
    """Cut both factors at the pair of thresholds with the shortest code."""
    X, entry = table.unpacked()[0], table.entry_weights()
    best: Described | None = None
    for cut_W in THRESHOLDS[1::2]:
        for cut_Ht in THRESHOLDS[1::2]:
            usage, columns = cut_W < W, np.ascontiguousarray((cut_Ht < Ht).T)
            kept = (usage.sum(axis=0) > 1) & (columns.sum(axis=1) > 1)
            usage, columns = np.ascontiguousarray(usage[:, kept]), columns[kept]
            length = length_of(X, entry, usage, columns)
            if best is None or length < best.length:
                best = Described(Tiles(usage, columns, 0.0), (cut_W, cut_Ht), length)
    assert best is not None
    return best
